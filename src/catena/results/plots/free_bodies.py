"""Free-body diagrams: every body apart, with its weight and the forces of its joints by name, as
the steps of newton_euler have them ([Baysec1996], figure 3).
"""

from __future__ import annotations

from matplotlib.figure import Figure

from ...teaching.worksheets import Mark, free_bodies
from ..result import Result
from .style import COLOURS, FAINT, page

LINES = {
    "link": {"color": COLOURS[0], "linewidth": 3.0, "solid_capstyle": "round"},
    "dashed": {"color": FAINT, "linewidth": 0.8, "linestyle": "--"},
}
POINTS = {"dot": "k.", "pin": "wo", "ground": "wo", "block": "s"}


def draw(result: Result) -> Figure:
    """Draw the free-body diagrams of the mechanism; the configuration is that of a sketch."""
    drawn = free_bodies(result.mechanism)
    figure = page(1, each=4.5)
    ax = figure.subplots()
    for mark in drawn.marks:
        _mark(ax, mark)
    ax.set_aspect("equal")
    ax.axis("off")
    ax.margins(0.08)
    return figure


def _mark(ax: object, mark: Mark) -> None:
    """Draw one mark of the sketch."""
    x, y = mark.points.T
    if mark.kind in LINES:
        ax.plot(x, y, **LINES[mark.kind])  # type: ignore[attr-defined]
    elif mark.kind in POINTS:
        ax.plot(  # type: ignore[attr-defined]
            x, y, POINTS[mark.kind], markersize=7, markeredgecolor="black", zorder=4
        )
    elif mark.kind.endswith("arrow"):
        colour = COLOURS[1] if mark.kind == "arrow" else "black"
        ax.annotate(  # type: ignore[attr-defined]
            "",
            xy=(x[-1], y[-1]),
            xytext=(x[0], y[0]),
            arrowprops={"arrowstyle": "-|>", "color": colour, "shrinkA": 0, "shrinkB": 0},
        )
        ax.plot(x, y, alpha=0.0)  # type: ignore[attr-defined]  # so that the axes contain it
    if mark.text:
        ax.annotate(  # type: ignore[attr-defined]
            mark.text, (x[-1], y[-1]), xytext=(4, 3), textcoords="offset points", fontsize=8
        )
