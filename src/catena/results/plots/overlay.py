"""Overlay: the same plot of several runs in one figure. The first run is drawn as usual, and lines
and outlines of the others are put behind it.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon

# opacity of the other runs: TOTAL_OPACITY / their number, and at least LEAST_OPACITY
LEAST_OPACITY = 0.06
TOTAL_OPACITY = 2.4


def overlay(first: Figure, others: list[Figure]) -> Figure:
    """Return the first figure, with the lines of the others added behind its own in paler
    colours.
    """
    pale = float(np.clip(TOTAL_OPACITY / max(1, len(others)), LEAST_OPACITY, 0.45))
    for other in others:
        for ax, source in zip(first.axes, other.axes):
            if not hasattr(ax, "_colorbar"):
                _copy(ax, source, pale)
    return first


def _copy(ax: Axes, source: Axes, pale: float) -> None:
    """Copy lines, collections of lines and outlines to another panel, with their colours, and
    extend its limits.
    """
    low = [min(a, b) for a, b in zip(_corner(ax, 0), _corner(source, 0))]
    high = [max(a, b) for a, b in zip(_corner(ax, 1), _corner(source, 1))]
    for line in source.lines:
        if line.get_transform() != source.transData:
            continue  # a mark across the panel
        new = Line2D(line.get_xdata(), line.get_ydata())
        new.update_from(line)
        _put(ax, new, pale)
        ax.add_line(new)
    for lines in source.collections:
        if isinstance(lines, LineCollection):
            new_lines = LineCollection(
                lines.get_segments(),
                colors=lines.get_colors(),
                linewidths=lines.get_linewidth(),
                linestyles=lines.get_linestyle(),
            )
            _put(ax, new_lines, pale)
            ax.add_collection(new_lines)
    for patch in source.patches:
        if isinstance(patch, Polygon):
            new_patch = Polygon(patch.get_xy())
            new_patch.update_from(patch)
            _put(ax, new_patch, pale)
            ax.add_patch(new_patch)
    if not (source.lines or source.collections):
        return
    if ax.get_adjustable() == "datalim":  # equal scales: matplotlib finds the limits
        ax.update_datalim([low, high])
        ax.autoscale_view()
    else:
        ax.set_xlim(low[0], high[0])
        ax.set_ylim(low[1], high[1])


def _corner(ax: Axes, k: int) -> tuple[float, float]:
    return ax.get_xlim()[k], ax.get_ylim()[k]


def _put(ax: Axes, artist: Line2D | LineCollection | Polygon, pale: float) -> None:
    """Add a line or outline of another run to a plot: paler, behind the others, and not in the
    legend.
    """
    own = artist.get_alpha()
    artist.set_alpha(pale * (1.0 if own is None else float(own)))
    artist.set_zorder(artist.get_zorder() - 1.0)
    artist.set_transform(ax.transData)
    artist.set_clip_path(ax.patch)
    artist.set_label("_other run")


def listed(runs: list[int]) -> str:
    """Return the indices of runs as a short text: "0", "0, 3, 5", "0 to 99", "0, 3, ... 90 (12 of
    them)".
    """
    if len(runs) > 2 and all(b - a == 1 for a, b in pairwise(runs)):
        return f"{runs[0]} to {runs[-1]}"
    return (
        ", ".join(map(str, runs))
        if len(runs) <= 6
        else f"{runs[0]}, {runs[1]}, ... {runs[-1]} ({len(runs)} of them)"
    )
