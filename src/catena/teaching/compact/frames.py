"""The frames of a mechanism, one elementary motion each: the rows of the table in a compact form,
over which the index i runs.

A joint with several degrees of freedom is several frames, of which the last carries the body. A
joint that is welded, or whose child has its frame at another place than the joint, adds a frame
that does not move. Frame i is in its carrier p at b_i, rotated by P_i; then it turns about e_i, or
slides along d_i.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...errors import FormulationError
from ...model import GROUND, IDENTITY, Body, Freedom, Joint, Mechanism, Motion, Pose, RowKind

GROUNDED = -1  # the index of the ground


@dataclass(frozen=True)
class Frame:
    """One row of the table. joint: the joint that it belongs to. carrier: the index of the frame
    that carries it. body: the body whose frame it is, if any. pose: its pose on the carrier at
    coordinate zero.

    motion: its elementary motion, None for a welded frame. q, v: the indices of its first
    coordinate and speed. rotor: the armature along each speed.
    """

    joint: Joint
    carrier: int
    pose: Pose
    motion: Freedom | None
    q: int
    v: int
    body: Body | None
    rotor: tuple[Any, ...] = ()

    @property
    def nq(self) -> int:
        """The number of coordinates."""
        return self.motion.nq if self.motion else 0

    @property
    def nv(self) -> int:
        """The number of speeds."""
        return self.motion.nv if self.motion else 0

    @property
    def slides(self) -> bool:
        """Whether its motion is a slide."""
        return self.motion is not None and self.motion.motion == Motion.SLIDE

    @property
    def ball(self) -> bool:
        """Whether its motion is that of a ball joint."""
        return self.motion is not None and self.motion.motion == Motion.BALL

    @property
    def turned(self) -> bool:
        """Whether its pose has a rotation."""
        return self.pose.rotation != IDENTITY


@dataclass(frozen=True)
class LoopRow:
    """A constraint row of a joint that closes a loop. P, C: the frames of the two bodies. a, b: its
    directions in these frames. at: the poses of the joint on P and on C.
    """

    loop: Joint
    kind: RowKind
    P: int
    C: int
    at: tuple[Pose, Pose]
    a: Any
    b: Any
    value: Any
    label: str


@dataclass(frozen=True)
class Frames:
    """All frames, carriers first, and the rows of loops."""

    mechanism: Mechanism
    all: tuple[Frame, ...]
    rows: tuple[LoopRow, ...]

    def heavy(self, i: int) -> bool:
        """Whether frame i carries a body with mass or inertia."""
        body = self.all[i].body
        return body is not None and any(x != 0 for x in (body.mass, *body.inertia))

    @property
    def bodies(self) -> list[int]:
        """The frames of bodies with mass or inertia that move."""
        return [
            i
            for i in range(len(self.all))
            if self.heavy(i) and any(self.all[j].nv for j in self.path(i))
        ]

    @property
    def freedoms(self) -> list[int]:
        """The frames that move relative to their carriers."""
        return [i for i, f in enumerate(self.all) if f.nv]

    def path(self, i: int) -> list[int]:
        """Return the frames from the ground to i, i included."""
        found = []
        while i != GROUNDED:
            found.append(i)
            i = self.all[i].carrier
        return found[::-1]

    def carried(self, i: int) -> list[int]:
        """Return the frames that i carries directly."""
        return [k for k, f in enumerate(self.all) if f.carrier == i]

    def has(self, what: Callable[[Frame], bool]) -> bool:
        """Return whether some frame has a property, given as a function of the frame."""
        return any(what(f) for f in self.all)


def frames(m: Mechanism, active: list[int]) -> Frames:
    """Return the frames of a mechanism. active: the numbers of the rows of its loops that can act.
    Raise a FormulationError where the compact form cannot express the mechanism.
    """
    lacking = {
        "flexible bodies by modes": any(b.modal for b in m.beams),
        "rows of speeds": m.nonholonomic,
        "position constraints": m.constraints,
        "joints that follow others": any(j.mimic for j in m.joints),
        "screws": any(f.motion == Motion.SCREW for j in m.joints for f in j.freedoms),
    }
    if found := [what for what, here in lacking.items() if here]:
        raise FormulationError(
            f"the compact form does not treat {', '.join(found)}, which mechanism {m.name!r} has"
        )
    made: list[Frame] = []
    seat = {GROUND: GROUNDED}
    q = v = 0
    for joint in m.ordered:
        carrier = seat[joint.parent]
        pose = joint.placement
        motions = list(joint.freedoms)
        away, first = joint.offset != Pose(), v
        for k, f in enumerate(motions):
            last = k == len(motions) - 1 and not away
            rotor = joint.armature[v - first : v - first + f.nv]
            made.append(
                Frame(joint, carrier, pose, f, q, v, m.body(joint.child) if last else None, rotor)
            )
            q = q + f.nq
            v = v + f.nv
            carrier = len(made) - 1
            pose = Pose()
        if away or not motions:
            made.append(
                Frame(
                    joint, carrier, pose @ joint.offset.inverse(), None, q, v, m.body(joint.child)
                )
            )
        seat[joint.child] = len(made) - 1
    every = [(j, row) for j in m.loops for row in j.closure]
    rows = tuple(
        LoopRow(
            j,
            row.kind,
            seat[j.parent],
            seat[j.child],
            (j.placement, j.offset),
            row.a,
            row.b,
            row.value,
            row.label,
        )
        for j, row in (every[k] for k in active)
    )
    if any(row.kind == RowKind.SCREW for row in rows):
        raise FormulationError(
            f"the compact form does not treat screws, which a loop of mechanism {m.name!r} has"
        )
    return Frames(m, tuple(made), rows)
