"""Overview: stick figures, energies, coordinates and speeds (or the deflection of flexible bodies)
on one page, and the ledger in one line.
"""

from __future__ import annotations

import textwrap

import numpy as np
from matplotlib.figure import Figure

from ..result import Result
from . import bending, cyclograph, energies, series
from .style import FAINT, WIDTH, Picture

PANEL_LINES = 7  # the largest number of lines in a panel
LAST_UNITS = ("1",)  # units, of quaternions, that are shown only where there are no others


def draw(result: Result, degrees: bool = False) -> Figure:
    """Draw stick figures and energies on the left; on the right coordinates and speeds, one panel
    per unit with those that move most. How many are left out is written below.
    """
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
        (
            bending.panel(ax, result)
            if name == "bending"
            else series.panel(ax, result, name, names, degrees)
        )
    panels[-1].set_xlabel("time (s)")
    book = result.ledger
    line = (
        f"{book.outcome}; {book.formulation}, {book.integrator}, tolerance {book.tolerance:g};"
        f" energy balance to {energies.balance(result)}"
    )
    more = f"; {left_out} more coordinates are in the plot 'coordinates'" if left_out else ""
    figure.supxlabel(textwrap.fill(line + more, 165), fontsize=7.5, color=FAINT, x=0.01, ha="left")
    return figure


def _rows(result: Result) -> tuple[list[tuple[str, list[str]]], int]:
    """Return (quantity, names) of each panel on the right, and the number of coordinates that are
    left out.
    """
    rows, left_out = [], 0
    for name in ("q",) if result.mechanism.beams else ("q", "v"):
        names, units = series.labels(result, name)
        groups = _groups(result, name, names, units)
        rows += [(name, group) for group in groups]
        left_out += len(names) - sum(map(len, groups)) if name == "q" else 0
    return [*rows, *([("bending", [])] if result.mechanism.beams else [])], left_out


def _groups(result: Result, name: str, names: list[str], units: list[str]) -> list[list[str]]:
    """Return the names of each unit that move most, in their order. Units of LAST_UNITS have panels
    only where there are no others.
    """
    places = list(series.units(result, name))
    moves = dict(zip(places, np.ptp(result.data[name].values, axis=0)))
    kinds = list(dict.fromkeys(units))
    found = []
    for unit in [u for u in kinds if u not in LAST_UNITS] or kinds:
        own = [n for n, u in zip(names, units) if u == unit]
        most = set(sorted(own, key=lambda n: -moves[n])[:PANEL_LINES])
        found.append([n for n in own if n in most])
    return found
