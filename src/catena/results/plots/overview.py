"""Overview: stick figures, coordinates, speeds (or how flexible bodies bend) and energies on one page, and the ledger in one line."""

from __future__ import annotations

from matplotlib.figure import Figure

from ..result import Result
from . import bending, cyclograph, energies, series
from .style import FAINT, WIDTH, by_unit


def draw(result: Result, degrees: bool = False) -> Figure:
    """Two by two panels; where a mechanism has many coordinates, the first seven of one unit."""
    figure = Figure(figsize=(1.45 * WIDTH, 6.2), layout="constrained")
    panels = figure.subplots(2, 2, width_ratios=[1, 1.1])
    cyclograph.Cyclograph(result).draw(panels[0, 0])
    bends = bool(result.mechanism.beams)
    if bends:
        bending.panel(panels[1, 1], result)
        panels[1, 1].set_xlabel("time (s)")
    for ax, name in ((panels[0, 1], "q"), (panels[1, 1], "v"))[: 1 if bends else 2]:
        names, units = series.labels(result, name)
        _, places = by_unit(units)[0]
        series.panel(ax, result, name, [names[k] for k in places], degrees)
        ax.set_xlabel("time (s)")
    energies.panel(panels[1, 0], result)
    panels[1, 0].set_xlabel("time (s)")
    book = result.ledger
    line = (f"{book.outcome}; {book.formulation}, {book.integrator}, tolerance {book.tolerance:g}; energy balance to "
            f"{book.relative_energy_balance:.1e} of the largest kinetic energy")  # fmt: skip
    figure.supxlabel(line, fontsize=7.5, color=FAINT, x=0.01, ha="left")
    return figure
