"""The registry of plot styles: the width of a column and the letters of a journal.

`Result.plot(style=...)`, `catena plot --style` and the documentation read it. The widths are those
that the publishers state for figures of one and of two columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...registry import Registry

MILLIMETRE = 1 / 25.4  # inches
# narrower than this (inches), a legend stands inside its panel, where it takes no width from it
NARROW = 5.0
# both fonts come with matplotlib; the second has what the first lacks
SERIF = {"font.family": ["STIXGeneral", "DejaVu Sans"], "mathtext.fontset": "stix"}


@dataclass(frozen=True)
class Style:
    """A style of plots.

    name: its name. doc: what it is for. width: of the figure, inches; None leaves that of the plot.
    settings: of matplotlib, in addition to those that all plots have.
    """

    name: str
    doc: str
    width: float | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def fit(self, figure: Any) -> None:
        """Give a figure the width of the style; its height shrinks by less, and legends of narrow
        figures move inside their panels.
        """
        if self.width is None:
            return
        width, height = figure.get_size_inches()
        figure.set_size_inches(self.width, height * max(0.6, min(1.0, self.width / width)))
        if self.width > NARROW:
            return
        for ax in figure.axes:
            if ax.get_legend() is not None:
                lines, names = ax.get_legend_handles_labels()
                ax.legend(lines, names, loc="best", ncols=2)


STYLES: Registry[Style] = Registry("style")

for _style in (
    Style("house", "the plots of the documentation"),
    Style("ieee", "one column of IEEE, 3.5 in", 3.5, {**SERIF, "font.size": 8}),
    Style("ieee-wide", "two columns of IEEE, 7.16 in", 7.16, {**SERIF, "font.size": 8}),
    Style("elsevier", "one column of Elsevier, 90 mm", 90 * MILLIMETRE, {"font.size": 7}),
    Style("elsevier-wide", "two columns of Elsevier, 190 mm", 190 * MILLIMETRE, {"font.size": 7}),
    Style("springer", "one column of Springer, 84 mm", 84 * MILLIMETRE, {"font.size": 8}),
    Style("springer-wide", "two columns of Springer, 174 mm", 174 * MILLIMETRE, {"font.size": 8}),
    Style(
        "slides", "slides: wide, with large letters", 10.0, {"font.size": 14, "lines.linewidth": 2}
    ),
):
    STYLES.register(_style)


def settings(name: str) -> dict[str, Any]:
    """Return the settings of matplotlib of a style; all letters have its size."""
    own = dict(STYLES.find(name).settings)
    if size := own.get("font.size"):
        own |= dict.fromkeys(("axes.titlesize", "axes.labelsize", "legend.fontsize"), size)
        own |= {"xtick.labelsize": size, "ytick.labelsize": size, "figure.titlesize": size}
    return own
