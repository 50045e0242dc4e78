"""Overview: stick figures, energies, coordinates and speeds (or how flexible bodies bend) on one page, and the ledger in one line."""

from __future__ import annotations

from matplotlib.figure import Figure

from ..result import Result
from . import bending, cyclograph, energies, series
from .style import FAINT, WIDTH, Picture, by_unit

MOST = 2  # panels of coordinates, and of speeds


def draw(result: Result, degrees: bool = False) -> Figure:
    """On the left stick figures and energies; on the right coordinates and speeds, one panel per unit. What has no room is counted."""
    rows, left_out = _rows(result)
    figure = Picture(figsize=(1.45 * WIDTH, max(6.2, 0.5 + 1.75 * len(rows))), layout="constrained")
    grid = figure.add_gridspec(1, 2, width_ratios=[1, 1.1])
    left = grid[0].subgridspec(2, 1)
    cyclograph.Cyclograph(result).draw(figure.add_subplot(left[0]))
    below = figure.add_subplot(left[1])
    energies.panel(below, result)
    below.set_xlabel("time (s)")
    panels = grid[1].subgridspec(len(rows), 1).subplots(sharex=True, squeeze=False)[:, 0]
    for ax, (name, names) in zip(panels, rows):
        bending.panel(ax, result) if name == "bending" else series.panel(ax, result, name, names, degrees)
    panels[-1].set_xlabel("time (s)")
    book = result.ledger
    line = (f"{book.outcome}; {book.formulation}, {book.integrator}, tolerance {book.tolerance:g}; energy balance to "
            f"{book.relative_energy_balance:.1e} of the largest kinetic energy")  # fmt: skip
    more = f"; {left_out} more coordinates: see the plot of them" if left_out else ""
    figure.supxlabel(line + more, fontsize=7.5, color=FAINT, x=0.01, ha="left")
    return figure


def _rows(result: Result) -> tuple[list[tuple[str, list[str]]], int]:
    """(quantity, names) of each panel on the right, and how many coordinates have none."""
    rows, left_out = [], 0
    for name in ("q",) if result.mechanism.beams else ("q", "v"):
        names, units = series.labels(result, name)
        groups = [[names[k] for k in places] for _, places in by_unit(units)]
        rows += [(name, group) for group in groups[:MOST]]
        left_out += sum(map(len, groups[MOST:])) if name == "q" else 0
    return [*rows, *([("bending", [])] if result.mechanism.beams else [])], left_out
