"""The faults of joints, of joints that follow others, and of loops; a part of `validation`."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..errors import unknown
from .joint_kinds import CATALOGUE, KINDS
from .joints import PER_SPEED, Joint
from .mechanism import GROUND, Mechanism
from .pose import Pose
from .values import value_of


def joint_faults(m: Mechanism) -> Iterator[str]:
    """Yield every fault of the joints and loops, and of mimics."""
    for j in (*m.joints, *m.loops):
        yield from _ends(j, m)
        yield from (f"joint {j.name!r}: {fault}" for fault in (*_kind(j, m), *_numbers(j, m)))
    yield from _mimics(m)
    yield from _loops(m)


def _ends(j: Joint, m: Mechanism) -> Iterator[str]:
    here = f"joint {j.name!r}"
    for side, body in (("parent", j.parent), ("child", j.child)):
        if body == GROUND and side == "child" and j not in m.loops:
            yield (
                f"{here}: its child is {GROUND!r}, which nothing carries; exchange parent and"
                " child, or make it a loop"
            )
        elif body != GROUND and body not in m._bodies:
            yield f"{here}: its {side}: {unknown('body', body, [GROUND, *m._bodies])}"
    if j.parent == j.child:
        yield f"{here}: it joins {j.parent!r} to itself; a joint needs two bodies"


def _kind(j: Joint, m: Mechanism) -> Iterator[str]:
    kind = CATALOGUE.get(j.kind)
    if kind is None or kind.internal != (j.deflection is not None):
        yield unknown("joint kind", j.kind, KINDS)
    elif len(j.axis) != len(kind.axes):
        yield f"a {j.kind} joint takes {len(kind.axes)} axis vectors, found {len(j.axis)}"
    elif none := [a for a in j.axis if len(a) != 3 or not abs(math.hypot(*a) - 1) < 1e-9]:
        yield f"axis {none[0]} has no direction; give three finite numbers that are not all zero"
    elif not j.sound and kind.words:
        yield f"sequence {j.sequence} has a freedom that is not one of {', '.join(kind.words)}"
    elif not j.sound:
        yield f"a {j.kind} joint takes no sequence; {_takers('words')}"
    else:
        yield from kind.faults(j.axis, value_of(j.pitch, m.parameters), j.sequence)


def _takers(field: str) -> str:
    names = [name for name, kind in KINDS.items() if getattr(kind, field)]
    return f"only a {' or '.join(names)} joint does"


def _numbers(j: Joint, m: Mechanism) -> Iterator[str]:
    if j.sound:
        yield from _per_speed(j, m)
    for what, X in (("placement", j.placement), ("offset", j.offset)):
        if fault := pose_fault(X):
            yield f"{what} {fault}"


def _per_speed(j: Joint, m: Mechanism) -> Iterator[str]:
    for attribute in PER_SPEED:
        values = getattr(j, attribute)
        if len(values) != j.nv:
            yield (
                f"{attribute} has {len(values)} values; one for each of its {j.nv} speeds is"
                " needed, or one for all"
            )
            return
        if any(isinstance(x, float) and math.isnan(x) for x in values):
            yield f"{attribute} is not a number"
        elif attribute not in ("lower", "upper"):
            low = min(
                (v for x in values if (v := value_of(x, m.parameters)) is not None), default=0.0
            )
            if low < 0:
                yield f"{attribute} is {low:g}; it is zero or more"
    for lower, upper in zip(j.lower, j.upper):
        if lower > upper:
            yield f"lower limit {lower:g} is above upper limit {upper:g}"


def pose_fault(X: Pose) -> str:
    """Return why a pose is not a rotation with a finite position, as the end of a sentence; ""
    where it is one.
    """
    entries = X.scalars()
    if not all(isinstance(x, float) for x in entries):
        return ""
    if not all(math.isfinite(x) for x in entries):
        return "has a number that is not finite"
    R = X.rotation
    worst = max(
        abs(sum(R[i][k] * R[j][k] for k in range(3)) - (i == j)) for i in range(3) for j in range(3)
    )
    if worst > 1e-6:
        return f"is not a rotation: R R' differs from one by {worst:.2g}"
    (a, b, c), (d, e, f), (g, h, i) = R
    mirrored = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) < 0
    return (
        "is not a rotation but a reflection: its determinant is -1; turn one axis round"
        if mirrored
        else ""
    )


def _mimics(m: Mechanism) -> Iterator[str]:
    for j in m.joints:
        if j.mimic is None or not j.sound or j.deflection:
            continue  # the places of flexible bodies mimic too; catena makes those itself
        tree = {k.name: k for k in m.joints}
        leader = m._joints.get(j.mimic.joint)
        values = [value_of(x, m.parameters) for x in (j.mimic.multiplier, j.mimic.offset)]
        if not all(x is None or math.isfinite(x) for x in values):
            yield (
                f"joint {j.name!r} mimics {j.mimic.joint!r} with multiplier {values[0]} and offset"
                f" {values[1]}; both are finite"
            )
        if j.mimic.function and (
            lost := [
                name for name in j.of_coordinates() if name in ("damping", "friction", "armature")
            ]
        ):
            yield (
                f"joint {j.name!r} follows {j.mimic.joint!r} by a function; its {', '.join(lost)}"
                " would not be felt: give the other joint some"
            )
        if leader is None:
            yield f"joint {j.name!r} mimics {unknown('joint', j.mimic.joint, tree)}"
        elif leader.name not in tree:
            yield (
                f"joint {j.name!r} mimics {leader.name!r}, which closes a loop and has no"
                " coordinate; name a joint of the tree"
            )
        elif not leader.sound or leader.deflection:
            continue
        elif leader is j:
            yield f"joint {j.name!r} mimics itself; name the joint it follows"
        elif j.nv != 1 or leader.nv != 1:
            yield (
                f"joint {j.name!r} mimics {leader.name!r}; both need one freedom, they have {j.nv}"
                f" and {leader.nv}"
            )
        elif leader.mimic is not None:
            yield (
                f"joint {j.name!r} mimics {leader.name!r}, which mimics {leader.mimic.joint!r};"
                " name that one directly"
            )


def _loops(m: Mechanism) -> Iterator[str]:
    """Yield the loop joints that mimic another joint or impose no constraint; a loop joint has no
    coordinate.
    """
    for j in m.loops:
        if j.mimic is not None:
            yield (
                f"loop {j.name!r} mimics {j.mimic.joint!r}; a loop has no coordinate that could"
                " follow: make it a joint of the tree"
            )
        if j.sound and not j.closure:
            yield (
                f"loop {j.name!r} is {j.kind}: it forbids nothing and closes nothing; leave it out"
            )


def unused(m: Mechanism) -> Iterator[str]:
    """Yield the damping, limits and other values of loop joints that have no effect, since a loop
    joint has no coordinate.
    """
    for j in m.loops:
        if said := [name for name in j.of_coordinates() if name != "mimic"]:
            yield (
                f"loop {j.name!r}: its {' and '.join(said)} {'is' if len(said) == 1 else 'are'} not"
                " used, as a loop has no coordinate; cut the loop at another joint, or add a load"
            )
