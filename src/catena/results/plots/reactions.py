"""Reactions: the force and the torque that each joint carries."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from ...machine import undetermined
from ...model import plane
from ..result import Result, chosen
from ..scene.description import typical_length
from .resolution import resolution, widen
from .series import Names
from .style import FAINT, balanced, legend, named, pen, stacked

MOST = 4  # reasons that are written below a picture
ALIGNED = 1.0 - 1e-12  # the cosine of a plane's normal and an axis of the ground that it is along
WIDE = 120  # letters of such a line


def draw(result: Result, joints: Names = None, axes: str = "joint") -> Figure:
    """For one joint its components along `axes`; for several their sizes, without fixed ones, free
    ones and those inside flexible bodies.

    axes: "joint", at the joint's frame, where a free pin carries no torque about its axis; "body"
    and "world", about the origin of the child. "in part": some components in that joint are not
    determined, and not in its size. Lines below say why; of a planar mechanism they say once that
    what joints carry across its plane is not determined. Torques that are zero have no line.
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
    open_ = Open.of(result, names, found)
    if len(names) == 1:
        figure = _components(result, names[0], found[:, 0], axes)
    else:
        figure = _sizes(result, names, found, open_)
    if notes := open_.notes():
        figure.supxlabel("\n".join(notes), fontsize=7.5, color=FAINT, x=0.01, ha="left")
    return figure


def _sizes(result: Result, names: Sequence[str], found: np.ndarray, open_: Open) -> Figure:
    """The sizes of forces and torques of several joints."""
    force = open_.known(_size(found[..., 3:]), open_.force)
    torque = open_.known(_size(found[..., :3]), open_.torque)
    turned = [k for k in range(len(names)) if _some(result, torque[:, k], force)]
    kinds = [("force in the joint", "N", force, list(range(len(names))))]
    kinds += [("torque in the joint", "N m", torque, turned)] if turned else []
    panels = [
        (quantity, unit, values, [places[k] for k in group])
        for quantity, unit, values, places in kinds
        for group in balanced(len(places), 7)
    ]
    figure, drawn = stacked(len(panels), each=1.9)
    for ax, (quantity, unit, values, group) in zip(drawn, panels):
        for k, place in enumerate(group):
            label = names[place] + open_.label(place, values[:, place])
            ax.plot(result.time, values[:, place], label=label, **pen(k))
        widen(ax, result, unit, float(np.nan_to_num(values).max(initial=0.0)))
        ax.set_ylabel(named(quantity, unit))
        legend(ax)
    return figure


def _components(result: Result, joint: str, wrench: np.ndarray, axes: str) -> Figure:
    kinds = [("force", "N", wrench[:, 3:]), ("torque", "N m", wrench[:, :3])]
    shown = kinds if _some(result, wrench[:, :3], wrench[:, 3:]) else kinds[:1]
    figure, panels = stacked(len(shown), each=2.1)
    for ax, (quantity, unit, values) in zip(panels, shown):
        for k, axis in enumerate("xyz"):
            if not np.isnan(values[:, k]).all():
                ax.plot(result.time, values[:, k], label=f"{axis} ({axes} axes)", **pen(k))
        widen(ax, result, unit, float(np.abs(np.nan_to_num(values)).max(initial=0.0)))
        ax.set_ylabel(named(f"{quantity} in {joint}", unit))
        legend(ax)
    return figure


@dataclass(frozen=True)
class Open:
    """What is not determined of the joints of a picture. torque, force (time, joints): where some
    component is not, of a planar mechanism those that act in its plane. across: whether something
    across the plane is not. reasons: {joint: what constraints do not say}.
    """

    names: tuple[str, ...]
    torque: np.ndarray
    force: np.ndarray
    across: bool
    reasons: Mapping[str, tuple[str, ...]]

    @staticmethod
    def of(result: Result, names: Sequence[str], found: np.ndarray) -> Open:
        """Of the wrenches (time, joints, 6) along any axes."""
        m = result.mechanism
        reasons = undetermined(result.machine) if m.row_records else {}
        open_ = np.isnan(found)
        normal = plane(m)
        if normal is None or not open_.any() or max(map(abs, normal)) < ALIGNED:
            torque, force = (x.any(axis=-1) for x in (open_[..., :3], open_[..., 3:]))
            return Open(tuple(names), torque, force, False, reasons)
        n = int(np.argmax(np.abs(normal)))
        inside = np.arange(3) != n
        world = np.isnan(result.reactions("world").sel(joint=names).values)
        across = world[..., :3][..., inside].any() or world[..., 3 + n].any()
        force = world[..., 3:][..., inside].any(axis=-1)
        return Open(tuple(names), world[..., n], force, bool(across), reasons)

    def known(self, sizes: np.ndarray, unknown: np.ndarray) -> np.ndarray:
        """Sizes (time, joints) without those in which a force of unknown place or size may be the
        larger part.
        """
        named = np.array([name in self.reasons for name in self.names])
        return np.where(named & unknown, np.nan, sizes)

    def label(self, place: int, values: np.ndarray) -> str:
        """What stands behind the name of a joint."""
        if np.isnan(values).all():
            return " (not determined)"
        part = self.torque[:, place].any() or self.force[:, place].any()
        return " (in part)" if part and self.names[place] not in self.reasons else ""

    def notes(self) -> list[str]:
        """The lines below the picture."""
        found = []
        if self.across:
            found.append(
                "forces across the plane of motion, and torques about axes in it, are not"
                " determined and not shown"
            )
        part = (self.torque | self.force).any(axis=0)
        if any(x and name not in self.reasons for x, name in zip(part, self.names)):
            found.append(
                "in part: redundant constraints leave some components open; the size is that of"
                " the others"
            )
        by: dict[str, list[str]] = {}
        for name, x in zip(self.names, part):
            for why in self.reasons.get(name, ()) if x else ():
                by.setdefault(why, []).append(name)
        lines = [
            f"not determined in {', '.join(joints)}: constraint {why}" for why, joints in by.items()
        ]
        found += [textwrap.shorten(line, WIDE, placeholder=" ...") for line in lines[:MOST]]
        return found + [f"and {len(lines) - MOST} more reasons"] * (len(lines) > MOST)


def _size(vectors: np.ndarray) -> np.ndarray:
    """Lengths over the last axis, of what is determined: components that redundant rows leave open
    are NaN.
    """
    open_ = np.isnan(vectors)
    return np.where(
        open_.all(axis=-1), np.nan, np.linalg.norm(np.where(open_, 0.0, vectors), axis=-1)
    )


def _some(result: Result, torque: np.ndarray, force: np.ndarray) -> bool:
    """Whether torques are more than the run can tell from none, also relative to the forces: those
    of a fast machine are far above its weight.
    """
    lever = typical_length(result.mechanism) * np.abs(np.nan_to_num(force)).max(initial=0.0)
    largest = np.abs(np.nan_to_num(torque)).max(initial=0.0)
    return bool(largest > resolution(result, "N m", lever))
