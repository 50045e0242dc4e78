"""Bending: the deflection of the tip of each flexible body from its undeformed place."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...errors import CatenaError
from ...model import value_of
from ..result import Result
from .resolution import widen
from .style import FAINT, legend, pen, stacked

Array = np.ndarray


def draw(result: Result) -> Figure:
    """Draw the deflection of each tip over time."""
    figure, (ax,) = stacked(1, each=2.3)
    panel(ax, result)
    return figure


def panel(ax: Axes, result: Result) -> None:
    """Draw a line for each tip and each direction in which it moves."""
    for k, (label, w) in enumerate(deflections(result).items()):
        ax.plot(result.time, w, label=label, **pen(k))
    ax.axhline(0.0, color=FAINT, linewidth=0.6, zorder=0)
    widen(ax, result, "m")
    ax.set_ylabel("deflection of the tip (m)")
    legend(ax)


def deflections(result: Result) -> dict[str, Array]:
    """Return {"boom along y": (rows,)}: the tip of each flexible body in the axes of its frame,
    relative to its undeformed place, m. Directions in which it moves by less than 1e-9 of the
    length are left out.
    """
    m = result.mechanism
    machine = result.machine
    if not m.beams:
        raise CatenaError(f"mechanism {m.name!r} has no flexible body; its bodies do not bend")
    own = result.data["parameters"].values if "parameters" in result.data else None
    q = result.data["q"].values
    found: dict[str, Array] = {}
    for flexed in m.beams:
        length = float(value_of(flexed.beam.length, m.parameters))
        X, tip = (
            machine.pose(q, name, parameters=own) for name in (flexed.body, f"{flexed.body}.tip")
        )
        w = np.einsum("tji,tj->ti", X[:, :3, :3], tip[:, :3, 3] - X[:, :3, 3]) - [length, 0.0, 0.0]
        size = np.abs(w).max(axis=0)
        found |= {
            f"{flexed.body} along {axis}": w[:, k]
            for k, axis in enumerate("xyz")
            if size[k] > 1e-9 * length
        }
    return found
