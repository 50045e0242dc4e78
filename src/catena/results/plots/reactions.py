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
from ..scene.skeleton import typical_length
from .resolution import resolution, widen
from .series import Names
from .style import FAINT, balanced, legend, named, pen, stacked

SHOWN_REASONS = 4  # the number of reasons that are written below a picture
# the least |cosine| between a plane's normal and an axis of the ground that count as parallel
PARALLEL_NORMAL_COSINE = 1.0 - 1e-12
REASON_LENGTH = 120  # the largest number of letters of such a line


def draw(result: Result, joints: Names = None, axes: str = "joint") -> Figure:
    """Draw the components along `axes` of one joint's wrench, or the magnitudes for several joints.
    By default fixed joints, free joints and those inside flexible bodies are left out.

    axes: "joint", at the joint's frame, where a free pin carries no torque about its axis; "body"
    and "world", about the origin of the child. A joint marked "in part" has components that are not
    determined and not part of its magnitude. Lines below say why; for a planar mechanism they say
    once that forces across its plane are not determined. Torques that are zero have no line.
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
        figure = _magnitudes(result, names, found, open_)
    if notes := open_.notes():
        figure.supxlabel("\n".join(notes), fontsize=7.5, color=FAINT, x=0.01, ha="left")
    return figure


def _magnitudes(result: Result, names: Sequence[str], found: np.ndarray, open_: Open) -> Figure:
    """Draw the magnitudes of forces and torques of several joints."""
    force = open_.known(_magnitude(found[..., 3:]), open_.force)
    torque = open_.known(_magnitude(found[..., :3]), open_.torque)
    turned = [k for k in range(len(names)) if _has_torque(result, torque[:, k], force)]
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
    """Draw the components of the wrench of one joint."""
    kinds = [("force", "N", wrench[:, 3:]), ("torque", "N m", wrench[:, :3])]
    shown = kinds if _has_torque(result, wrench[:, :3], wrench[:, 3:]) else kinds[:1]
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
    """The components of joint wrenches in a picture that are not determined. torque, force (time,
    joints): whether some component of each is not; for a planar mechanism only components in its
    plane count. across: whether a component across the plane is not. reasons: {joint: what the
    records of constraints do not state}.
    """

    names: tuple[str, ...]
    torque: np.ndarray
    force: np.ndarray
    across: bool
    reasons: Mapping[str, tuple[str, ...]]

    @staticmethod
    def of(result: Result, names: Sequence[str], found: np.ndarray) -> Open:
        """Return the undetermined components of wrenches (time, joints, 6) along any axes."""
        m = result.mechanism
        reasons = undetermined(result.machine) if m.row_records else {}
        open_ = np.isnan(found)
        normal = plane(m)
        if normal is None or not open_.any() or max(map(abs, normal)) < PARALLEL_NORMAL_COSINE:
            torque, force = (x.any(axis=-1) for x in (open_[..., :3], open_[..., 3:]))
            return Open(tuple(names), torque, force, False, reasons)
        n = int(np.argmax(np.abs(normal)))
        inside = np.arange(3) != n
        world = np.isnan(result.reactions("world").sel(joint=names).values)
        across = world[..., :3][..., inside].any() or world[..., 3 + n].any()
        force = world[..., 3:][..., inside].any(axis=-1)
        return Open(tuple(names), world[..., n], force, bool(across), reasons)

    def known(self, sizes: np.ndarray, unknown: np.ndarray) -> np.ndarray:
        """Return the magnitudes (time, joints), with NaN where a force of unknown place or size may
        be the larger part.
        """
        named = np.array([name in self.reasons for name in self.names])
        return np.where(named & unknown, np.nan, sizes)

    def label(self, place: int, values: np.ndarray) -> str:
        """Return the remark that follows the name of a joint in a label."""
        if np.isnan(values).all():
            return " (not determined)"
        part = self.torque[:, place].any() or self.force[:, place].any()
        return " (in part)" if part and self.names[place] not in self.reasons else ""

    def notes(self) -> list[str]:
        """Return the lines below the picture."""
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
        found += [
            textwrap.shorten(line, REASON_LENGTH, placeholder=" ...")
            for line in lines[:SHOWN_REASONS]
        ]
        more = len(lines) - SHOWN_REASONS
        return found + [f"and {more} more reasons"] * (more > 0)


def _magnitude(vectors: np.ndarray) -> np.ndarray:
    """Return lengths over the last axis, without components that are not determined (NaN); NaN
    where none is.
    """
    open_ = np.isnan(vectors)
    return np.where(
        open_.all(axis=-1), np.nan, np.linalg.norm(np.where(open_, 0.0, vectors), axis=-1)
    )


def _has_torque(result: Result, torque: np.ndarray, force: np.ndarray) -> bool:
    """Return whether torques exceed the resolution of the run, also relative to the forces times a
    length; these are far above the weight in a fast machine.
    """
    lever = typical_length(result.mechanism) * np.abs(np.nan_to_num(force)).max(initial=0.0)
    largest = np.abs(np.nan_to_num(torque)).max(initial=0.0)
    return bool(largest > resolution(result, "N m", lever))
