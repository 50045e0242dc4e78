"""The joint catalogue: one record per kind of joint, which holds everything particular to that
kind.

    kind          motions, in the joint's own frame                        coordinates, then speeds
    fixed         none                                                     -
    revolute      turn about the axis                                      angle
    prismatic     slide along the axis                                     distance
    helical       turn about the axis and slide along it by pitch          angle
    cylindrical   turn about the axis, slide along it                      angle, distance
    universal     turn about the first axis, then about the second         two angles
    gimbal        turns about three axes, by default x, y, z   three angles, called after their axes
    ball          any rotation, no singularity             quaternion; angular velocity in the child
    planar        slides along the plane's two directions, turn about n    x, y, angle
    free  slides along x, y, z of the parent, then a ball
            position, quaternion; velocity in the parent,
                                                                           angular velocity in the
                                                                           child
    general  any of Rx Ry Rz Dx Dy Dz in this order ([Merwe1995] 2.5.2): turns about x, the turned
        y, the twice
                  turned z, then displacements along the turned axes       one each
    modal  the shapes of a flexible body, which carry a place of
            amplitudes y1, y2, ..., z1, ..., x1, ...,
                  it along and round; made by `catena.model.flexible`      twist1, ...

No other code in catena names a kind, except to create a joint of it. `register` adds a kind from
outside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ..errors import MechanismError
from . import closure
from .closure import POINT, WELD, ClosureRow
from .motions import (
    BALL,
    GENERAL,
    SHAPES,
    Freedom,
    Motion,
    X,
    Y,
    Z,
    elementary,
    plane_of,
    slide,
    turn,
)
from .pose import Scalar, Vector

Axes = tuple[Vector, ...]


@dataclass(frozen=True)
class Reverse:
    """The joint that results when parent and child of a kind of joint are interchanged. axes: the
    function that maps its axes. cost: 0 the coordinates keep their meaning, 1 they change it, 2 the
    catalogue has no such joint. remark: what changes, for users.

    A joint says X_PC = placement D(q) offset^-1. Read from the child it says X_CP = offset D(q)^-1
    placement^-1: placement and offset are exchanged, and the motions run backwards.
    """

    axes: Callable[[Axes], Axes]
    cost: int = 0
    remark: str = "its coordinates keep their meaning"


def _opposite(axes: Axes) -> Axes:
    return tuple((-x + 0.0, -y + 0.0, -z + 0.0) for x, y, z in reversed(axes))


def _same(axes: Axes) -> Axes:
    return axes


OPPOSITE = Reverse(_opposite)
SAME = Reverse(_same)
_INVERSE = Reverse(_same, 1, "its coordinates are those of the inverse displacement")


def _no_faults(axes: Axes, pitch: float | None, sequence: Sequence[str]) -> Iterator[str]:
    return iter(())


@dataclass(frozen=True)
class JointKind:
    """The properties of a kind of joint.

    name: its name in files. doc: its motions, for users. axes: the default axes in the joint's
    frame; their number is how many the kind takes. freedoms(axes, pitch, sequence): its elementary
    motions, root to leaf, with the labels of coordinates and speeds. closure(axes, pitch,
    sequence): the rows that it imposes when it closes a loop, six less its number of degrees of
    freedom. reverse: the kind of joint when parent and child are interchanged. faults(axes, pitch,
    sequence): the faults of these values, pitch being a number here (None where a parameter is
    unknown). pitched: whether it takes a pitch. words: the names that its sequence may contain.
    names: its names in other formats, {format: (without limits, with limits)}, "" where there is
    none. layouts: how its coordinates are ordered in the vectors of other libraries, {library, or
    "" for all: (without limits, with limits)}, names of `machine.bridge`; "plain" by default.
    drawn: whether pictures show it. internal: whether only catena makes such joints, and no file
    may name the kind.
    """

    name: str
    doc: str
    axes: Axes
    freedoms: Callable[[Axes, Scalar, Sequence[str]], tuple[Freedom, ...]]
    closure: Callable[[Axes, Scalar, Sequence[str]], tuple[ClosureRow, ...]]
    reverse: Reverse = OPPOSITE
    faults: Callable[[Axes, float | None, Sequence[str]], Iterator[str]] = _no_faults
    pitched: bool = False
    words: tuple[str, ...] = ()
    names: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    layouts: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    drawn: bool = True
    internal: bool = False


CATALOGUE: dict[str, JointKind] = {}  # every kind
KINDS: dict[str, JointKind] = {}  # those that people write


def register(kind: JointKind) -> JointKind:
    """Add a kind to the catalogue, from which files, validation, kernels, formulations and pictures
    read it; raise MechanismError where the name is taken.
    """
    if kind.name in CATALOGUE:
        raise MechanismError(
            f"a joint kind {kind.name!r} is in the catalogue already; give this one another name"
        )
    CATALOGUE[kind.name] = kind
    if not kind.internal:
        KINDS[kind.name] = kind
    return kind


def along_z(kind: JointKind, sequence: Sequence[str]) -> bool:
    """Whether every motion of a joint with its default axes is about or along z."""
    motions = kind.freedoms(kind.axes, 0.0, sequence)
    return len(motions) > 0 and all(f.axis == Z and f.motion != Motion.BALL for f in motions)


# --- what they are made of
def _planar(a: Axes, h: Scalar, s: Sequence[str]) -> tuple[Freedom, ...]:
    x, y = plane_of(a[0])
    return slide(x, "x"), slide(y, "y"), turn(a[0], "angle")


def _free(a: Axes, h: Scalar, s: Sequence[str]) -> tuple[Freedom, ...]:
    slides = (
        Freedom(Motion.SLIDE, axis, (label,), (f"v{label}",))
        for axis, label in ((X, "x"), (Y, "y"), (Z, "z"))
    )
    return (*slides, BALL)


def _gimbal(a: Axes, h: Scalar, s: Sequence[str]) -> tuple[Freedom, ...]:
    """Return three rotations, each labelled by its axis: rx, ry, rz; r1, r2, r3 where the axis is
    oblique; rz1, rz2 where two axes are equal.
    """
    labels = [_after(axis, k) for k, axis in enumerate(a, start=1)]
    count = Counter(labels)
    seen = Counter[str]()
    for k, label in enumerate(labels):
        seen[label] += 1
        labels[k] = f"{label}{seen[label]}" if count[label] > 1 else label
    return tuple(turn(axis, label) for axis, label in zip(a, labels))


def _after(axis: Vector, k: int) -> str:
    along = [name for name, x in zip("xyz", axis) if abs(x) > 1 - 1e-12]
    return f"r{along[0] if along else k}"


def _modal(a: Axes, h: Scalar, s: Sequence[str]) -> tuple[Freedom, ...]:
    """Return one degree of freedom per shape, of the kind that its label says: a displacement, or a
    rotation for twist.
    """
    kinds = [(label, label.rstrip("0123456789")) for label in s]
    return tuple((turn if kind == "twist" else slide)(SHAPES[kind], label) for label, kind in kinds)


def _parallel(a: Axes, h: float | None, s: Sequence[str]) -> Iterator[str]:
    for x, y in pairwise(a):
        if abs(sum(i * j for i, j in zip(x, y))) > 1 - 1e-9:
            yield f"axes {x} and {y} that follow each other are parallel; turn one of them"


def _no_pitch(a: Axes, h: float | None, s: Sequence[str]) -> Iterator[str]:
    if not h:
        yield "a helical joint needs a pitch, in metres per radian; without one it is revolute"


def _order(a: Axes, h: float | None, s: Sequence[str]) -> Iterator[str]:
    if not s or [x for x in GENERAL if x in s] != list(s):
        yield (
            f"sequence {tuple(s)} is not a part of {', '.join(GENERAL)}, each at most once and in"
            " this order"
        )


# --- the catalogue
for _kind in (
    JointKind(
        "fixed",
        "none",
        (),
        lambda a, h, s: (),
        lambda a, h, s: (*POINT, *WELD),
        SAME,
        names={"urdf": ("fixed", "")},
    ),
    JointKind(
        "revolute",
        "turn about the axis",
        (Z,),
        lambda a, h, s: (turn(a[0], "angle"),),
        lambda a, h, s: (*POINT, *closure.aligned(a[0])),
        names={"urdf": ("continuous", "revolute")},
        layouts={"pinocchio": ("continuous", "plain")},
    ),
    JointKind(
        "prismatic",
        "slide along the axis",
        (Z,),
        lambda a, h, s: (slide(a[0], "distance"),),
        lambda a, h, s: (*closure.slideways(a[0]), *WELD),
        names={"urdf": ("prismatic", "prismatic")},
    ),
    JointKind(
        "helical",
        "turn about the axis and slide along it by pitch",
        (Z,),
        lambda a, h, s: (Freedom(Motion.SCREW, a[0], ("angle",), ("angle",), h),),
        lambda a, h, s: (*closure.slideways(a[0]), *closure.aligned(a[0]), closure.screw(a[0], h)),
        faults=_no_pitch,
        pitched=True,
    ),
    JointKind(
        "cylindrical",
        "turn about the axis, slide along it",
        (Z,),
        lambda a, h, s: (turn(a[0], "angle"), slide(a[0], "distance")),
        lambda a, h, s: (*closure.slideways(a[0]), *closure.aligned(a[0])),
    ),
    JointKind(
        "universal",
        "turn about the first axis, then about the second",
        (X, Y),
        lambda a, h, s: (turn(a[0], "first"), turn(a[1], "second")),
        lambda a, h, s: (*POINT, closure.angle(a[0], a[1], "between its axes")),
        Reverse(_opposite, 1, "its two angles change places"),
        faults=_parallel,
    ),
    JointKind(
        "gimbal",
        "turns about three axes, by default x, y, z",
        (X, Y, Z),
        _gimbal,
        lambda a, h, s: POINT,
        Reverse(_opposite, 1, "its first and third angle change places"),
        faults=_parallel,
    ),
    JointKind(
        "ball",
        "any rotation",
        (),
        lambda a, h, s: (BALL,),
        lambda a, h, s: POINT,
        Reverse(_same, 1, "its quaternion is the conjugate"),
        layouts={"": ("ball", "ball")},
    ),
    JointKind(
        "planar",
        "slides along the plane's two directions, turn about its normal",
        (Z,),
        _planar,
        lambda a, h, s: (closure.across("off the plane", a[0]), *closure.aligned(a[0])),
        _INVERSE,
        names={"urdf": ("planar", "")},
        layouts={"pinocchio": ("planar", "planar")},
    ),
    JointKind(
        "free",
        "slides along x, y, z of the parent, then any rotation",
        (),
        _free,
        lambda a, h, s: (),
        _INVERSE,
        names={"urdf": ("floating", "")},
        layouts={"": ("free", "free")},
        drawn=False,
    ),
    JointKind(
        "general",
        "any of Rx Ry Rz Dx Dy Dz in this order",
        (),
        lambda a, h, s: tuple(map(elementary, s)),
        lambda a, h, s: closure.general(s),
        Reverse(_same, 2, "its sequence of freedoms has no reverse in the catalogue"),
        faults=_order,
        words=tuple(GENERAL),
    ),
    JointKind(
        "modal", "the shapes of a flexible body", (), _modal, lambda a, h, s: (), internal=True
    ),
):
    register(_kind)
