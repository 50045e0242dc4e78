"""Stops of joints that close loops. Such joints have no coordinate, so their limits are modelled as
contacts without friction.

    slide    the child's point on the axis against a plane across it, at the limit: gap = q - lower
    turn     a point of the child, at an arm l from the axis, against a half-plane of the parent
             through the axis at the limit: gap = l sin(q - lower), which is right up to half a
             turn; stops farther apart are not modelled

The normal force of a turn's stop times l is its moment.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ..collision import ContactPoint
from ..model import Contact, Joint, Mechanism, Motion, Pose, Vector, plane_of


def has_limits(j: Joint) -> bool:
    """Return whether any limit of a joint is set."""
    return any(x != -math.inf for x in j.lower) or any(x != math.inf for x in j.upper)


def can_stop(j: Joint) -> bool:
    """Whether the limits of a loop joint can be modelled: those of one slide, or of one turn
    through less than half a turn.
    """
    if len(j.freedoms) != 1 or j.freedoms[0].motion not in (Motion.SLIDE, Motion.TURN):
        return False
    return j.freedoms[0].motion is Motion.SLIDE or j.upper[0] - j.lower[0] < math.pi


def loop_stops(m: Mechanism, restitution: float, arm: float) -> list[tuple[ContactPoint, Contact]]:
    """Return the stops of the loop joints of a mechanism as contacts, numbered after its own
    contacts. arm: the length l, m.
    """
    like = m.contacts[0] if m.contacts else None
    laws = (
        {key: getattr(like, key) for key in ("law", "impacts", "paradox")}
        if like is not None
        else {}
    )
    found: list[tuple[ContactPoint, Contact]] = []
    for name, j, centre, pose in _stops(m, arm):
        c = Contact((j.child, j.parent), 0.0, restitution, name=name, **laws)
        found.append(
            (
                ContactPoint(
                    len(m.contacts) + len(found), name, j.child, centre, 0.0, j.parent, pose
                ),
                c,
            )
        )
    return found


def _stops(m: Mechanism, arm: float) -> Iterator[tuple[str, Joint, Vector, Pose]]:
    """Yield (name, joint, point on the child, plane on the parent) of every finite limit."""
    for j in (j for j in m.loops if has_limits(j) and can_stop(j)):
        for side, limit, sign in (("lower", j.lower[0], 1.0), ("upper", j.upper[0], -1.0)):
            if math.isfinite(limit):
                yield (
                    f"{j.name} {side} stop",
                    j,
                    *(_slide if j.freedoms[0].motion is Motion.SLIDE else _turn)(
                        j, limit, sign, arm
                    ),
                )


def _slide(j: Joint, limit: float, sign: float, arm: float) -> tuple[Vector, Pose]:
    """Return the point on the child and the plane on the parent of a slide's stop."""
    axis = np.array(j.freedoms[0].axis, float)
    return j.offset.position, j.placement @ _facing(sign * axis, limit * axis)


def _turn(j: Joint, limit: float, sign: float, arm: float) -> tuple[Vector, Pose]:
    """Return the point on the child and the plane on the parent of a turn's stop."""
    e, across = (np.array(x, float) for x in plane_of(j.freedoms[0].axis))
    normal = sign * (math.cos(limit) * across - math.sin(limit) * e)
    return j.offset.point(tuple(arm * e)), j.placement @ _facing(normal, np.zeros(3))


def _facing(z: np.ndarray, at: np.ndarray) -> Pose:
    """Return a frame at `at` whose z axis is the unit vector z."""
    n = (float(z[0]), float(z[1]), float(z[2]))
    x, y = plane_of(n)
    return Pose(tuple(zip(x, y, n)), tuple(float(a) for a in at))  # type: ignore[arg-type]
