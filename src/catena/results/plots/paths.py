"""Paths of tips: in the plane of a planar mechanism; else seen along each axis of the ground."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..result import Result
from ..scene.view import view_of
from .series import Names
from .style import WIDTH, Picture, fitted, legend, pen
from .tip_paths import pins, positions
from .view import letters


def draw(result: Result, frames: Names = None) -> Figure:
    """Draw the path of each tip, or of each moving joint where there is no tip. A dot marks its
    start, a ring its end.
    """
    found = positions(result, frames) or pins(result)
    v = view_of(result.mechanism)
    if v.planar:
        flat = {name: v.flat(path) for name, path in found.items()}
        reach = np.concatenate(list(flat.values()))
        figure = fitted(reach.min(axis=0), reach.max(axis=0))
        ax = figure.subplots()
        _lines(ax, flat, *letters(v))
        legend(ax)
        return figure
    figure = Picture(figsize=(WIDTH, 5.6), layout="constrained")
    panels = figure.subplots(2, 2)
    for ax, (i, j) in zip((panels[0, 0], panels[0, 1], panels[1, 0]), ((0, 2), (1, 2), (0, 1))):
        _lines(ax, {name: path[:, [i, j]] for name, path in found.items()}, "xyz"[i], "xyz"[j])
    panels[1, 1].axis("off")
    panels[1, 1].legend(*panels[0, 0].get_legend_handles_labels(), loc="upper left")
    return figure


def _lines(ax: Axes, flat: dict[str, np.ndarray], across: str, upwards: str) -> None:
    for k, (name, path) in enumerate(flat.items()):
        ax.plot(*path.T, label=name, **pen(k))
        ax.plot(*path[0], "o", color=pen(k)["color"], markersize=4.5)
        ax.plot(*path[-1], "o", color=pen(k)["color"], markersize=4.5, markerfacecolor="white")
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.06)
    ax.set(xlabel=f"{across} (m)", ylabel=f"{upwards} (m)")
