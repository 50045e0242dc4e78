"""Mirror images of mechanisms: a right arm from a left one.

With S the reflection, positions and slide directions p become S p, rotations R become S R S, and
the axis a of a turn, an axial vector, becomes -S a. Coordinates, speeds and forces then keep their
values: the image moves with the same numbers. Only the quaternions of ball and free joints and the
positions of free joints are those of the image, and so have other values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..errors import MechanismError, UnknownNameError
from .mechanism import Body, Frame, Joint, Mechanism
from .pose import Pose, Vector
from .shapes import Shape

SIGNS = {"x": (-1.0, 1.0, 1.0), "y": (1.0, -1.0, 1.0), "z": (1.0, 1.0, -1.0)}
TURNS = ("revolute", "universal", "gimbal", "helical")
SLIDES = ("prismatic",)
PLAIN = ("fixed", "ball", "free")


def mirrored(mechanism: Mechanism, normal: str = "y") -> Mechanism:
    """Return the mirror image of a mechanism in the plane through the ground's origin whose normal
    is "x", "y" or "z".

    Names stay the same; `attach` can put a prefix before them. Raise MechanismError, with all
    reasons, where a record has no mirror image of the same kind.
    """
    if normal not in SIGNS:
        raise UnknownNameError("axis", normal, SIGNS, "mirrored")
    m, S = mechanism, SIGNS[normal]
    if found := list(_without_image(m, normal)):
        raise MechanismError(f"mechanism {m.name!r} has no mirror image:", found)
    return replace(
        m,
        bodies=tuple(_body(b, S) for b in m.bodies),
        joints=tuple(_joint(j, S) for j in m.joints),
        loops=tuple(_joint(j, S) for j in m.loops),
        frames=tuple(Frame(f.name, f.body, _pose(f.pose, S)) for f in m.frames),
        ground=tuple(_shape(s, S) for s in m.ground),
        gravity=_vector(m.gravity, S),
    )


def _without_image(m: Mechanism, normal: str) -> Iterator[str]:
    known = (*TURNS, *SLIDES, *PLAIN)
    yield from (
        f"joint {j.name!r} is {j.kind}; those of kind {', '.join(known)} are mirrored"
        for j in (*m.joints, *m.loops)
        if j.kind not in known
    )
    yield from (
        f"body {b.name!r} is flexible"
        for b in m.bodies
        if b.flexible is not None or any(x.body == b.name for x in m.beams)
    )
    for x in (*m.loads, *m.row_records):
        if x.holding(
            "expression", "expressions", "text", "position", "profile", "direction", "turning"
        ):
            yield (
                f"{x.kind} {x.name!r} has directions or expressions of its own; write those of the"
                " image"
            )
    if normal == "z" and any(
        s.kind == "plane" for s in (*m.ground, *(s for b in m.bodies for s in b.shapes))
    ):
        yield "a plane that collides is mirrored in x or y only"


def _vector(p: Vector, S: Vector) -> Vector:
    x, y, z = (a * s if s < 0 else a for a, s in zip(p, S))
    return (x, y, z)


def _pose(X: Pose, S: Vector) -> Pose:
    rows = tuple(
        tuple(R * (a * b) if a * b < 0 else R for R, b in zip(row, S))
        for row, a in zip(X.rotation, S)
    )
    return Pose(rows, _vector(X.position, S))  # type: ignore[arg-type]


def _body(b: Body, S: Vector) -> Body:
    xx, xy, xz, yy, yz, zz = b.inertia
    x, y, z = S
    return replace(
        b,
        com=_vector(b.com, S),
        inertia=(xx, xy * (x * y), xz * (x * z), yy, yz * (y * z), zz),
        shapes=tuple(_shape(s, S) for s in b.shapes),
    )


def _shape(s: Shape, S: Vector) -> Shape:
    size = tuple(a * b for a, b in zip(s.size, S)) if s.kind in ("mesh", "line") else s.size
    return replace(s, pose=_pose(s.pose, S), size=size)


def _joint(j: Joint, S: Vector) -> Joint:
    sign = -1.0 if j.kind in TURNS else 1.0
    axes = [tuple(sign * x + 0.0 for x in _vector(a, S)) for a in j.axis]
    pitch = -j.pitch if j.kind == "helical" else j.pitch
    return replace(
        j,
        placement=_pose(j.placement, S),
        offset=_pose(j.offset, S),
        pitch=pitch,
        **({"axis": axes} if axes else {}),  # type: ignore[arg-type]
    )
