"""Reactions: the force and the torque that each joint carries."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from ..result import Result, chosen
from .resolution import resolution, widen
from .series import Names
from .style import FAINT, balanced, legend, named, pen, stacked


def draw(result: Result, joints: Names = None, axes: str = "joint") -> Figure:
    """For one joint its components along `axes`; for several their sizes, without fixed ones, free
    ones and those inside flexible bodies.

    axes: "joint", at the joint's frame, where a free pin carries no torque about its axis; "body"
    and "world", about the origin of the child. "in part": some components in that joint are not
    determined by rigid bodies, and not in its size; a line below says so.
    """
    m = result.mechanism
    known = [j.name for j in (*m.ordered, *m.loops)]
    inner = {j.name for j in m.elastic} if m.beams else set()
    moving = [
        j.name for j in (*m.ordered, *m.loops) if 0 < j.nv < 6 and j.name not in inner
    ] or known
    names = (
        chosen(joints, known, "joint", f"mechanism {m.name!r}") if joints is not None else moving
    )
    found = result.reactions(axes).sel(joint=names).values
    if len(names) == 1:
        return _components(result, names[0], found[:, 0], axes)
    force = _size(found[..., 3:])
    torque = _size(found[..., :3])
    groups = balanced(len(names), 7)
    kinds = [
        ("force in the joint", "N", force),
        *([("torque in the joint", "N m", torque)] if _some(result, torque) else []),
    ]
    figure, panels = stacked(len(kinds) * len(groups), each=1.9)
    for ax, (quantity, unit, values, group) in zip(
        panels, [(*kind, g) for kind in kinds for g in groups]
    ):
        for k, place in enumerate(group):
            part = " (in part)" if np.isnan(found[:, place]).any() else ""  # see _size
            ax.plot(result.time, values[:, place], label=names[place] + part, **pen(k))
        widen(ax, result, unit, float(np.nan_to_num(values).max(initial=0.0)))
        ax.set_ylabel(named(quantity, unit))
        legend(ax)
    if np.isnan(found).any():
        figure.supxlabel(
            "in part: redundant constraints leave some components open; the size is that of the"
            " others",
            fontsize=7.5,
            color=FAINT,
            x=0.01,
            ha="left",
        )
    return figure


def _components(result: Result, joint: str, wrench: np.ndarray, axes: str) -> Figure:
    kinds = [("force", "N", wrench[:, 3:]), ("torque", "N m", wrench[:, :3])]
    shown = kinds if _some(result, wrench[:, :3]) else kinds[:1]
    figure, panels = stacked(len(shown), each=2.1)
    for ax, (quantity, unit, values) in zip(panels, shown):
        for k, axis in enumerate("xyz"):
            ax.plot(result.time, values[:, k], label=f"{axis} ({axes} axes)", **pen(k))
        widen(ax, result, unit, float(np.abs(np.nan_to_num(values)).max(initial=0.0)))
        ax.set_ylabel(named(f"{quantity} in {joint}", unit))
        legend(ax)
    return figure


def _size(vectors: np.ndarray) -> np.ndarray:
    """Lengths over the last axis, of what is determined: components that redundant rows leave open
    are NaN.
    """
    open_ = np.isnan(vectors)
    return np.where(
        open_.all(axis=-1), np.nan, np.linalg.norm(np.where(open_, 0.0, vectors), axis=-1)
    )


def _some(result: Result, torque: np.ndarray) -> bool:
    """Whether the torques are more than the run can tell from none."""
    return bool(np.abs(np.nan_to_num(torque)).max(initial=0.0) > resolution(result, "N m"))
