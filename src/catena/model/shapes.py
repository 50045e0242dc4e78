"""Shapes of bodies and of the ground: what is drawn, and what collides. A registry of kinds.

box          x, y, z: its edges                        centred at the shape's origin
sphere       radius
capsule      radius, length: between the centres of its ends, along z
cylinder     radius, length: along z
ellipsoid    x, y, z: its half axes
plane        the half-space z <= 0 of the shape's frame; z is its outward normal
mesh         the convex hull of the points of a file, whose coordinates are scaled by x, y, z
line         x, y, z: its far end; it is drawn and does not collide
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import MechanismError
from .frozen import FrozenDict
from .pose import Pose, Scalar, as_pose, scalar

Sizes = Sequence[float] | np.ndarray
Hull = Callable[[Sizes], np.ndarray]
RING = 24  # points of a circle that is drawn


@dataclass(frozen=True)
class ShapeKind:
    """Everything that is particular to a kind of shape.

    name: the word in files. sizes: what its numbers are called; measure: their dimension in files.
    solid: whether it can collide. from_file: whether it comes from a file. hull(size): points (n,
    3) whose convex hull is drawn; a ball is its centre, and its radius the first number. doc: what
    it is, in a few words.
    """

    name: str
    sizes: tuple[str, ...]
    solid: bool = True
    measure: str = "length"
    from_file: bool = False
    hull: Hull | None = None
    ball: bool = False
    doc: str = ""


KINDS: dict[str, ShapeKind] = {}


def register(kind: ShapeKind) -> ShapeKind:
    """Add a kind: files, validation and pictures know it from here on; distances are those of
    `kernels.distance`.
    """
    if kind.name in KINDS:
        raise MechanismError(
            f"a shape kind {kind.name!r} is in the registry already; give this one another name"
        )
    KINDS[kind.name] = kind
    return kind


@dataclass(frozen=True)
class Shape:
    """A shape on a body: kind, sizes in metres (`KINDS` says which), and its pose X_BS on the body.

    file: of a mesh. colour: red, green, blue and perhaps alpha, 0 to 1. collides: whether distances
    and contacts see it. drawn: whether pictures show it. name: what pairs call it where its body
    has several shapes that collide.

    >>> Shape("capsule", (0.05, 0.3), collides=True).size
    (0.05, 0.3)
    """

    kind: str
    size: tuple[Scalar, ...] = ()
    pose: Pose = Pose()
    file: str = ""
    colour: tuple[float, ...] = ()
    collides: bool = False
    drawn: bool = True
    name: str = ""

    def __post_init__(self) -> None:
        what = f"the pose of a shape of kind {self.kind!r}"
        object.__setattr__(self, "pose", as_pose(self.pose, what))
        try:
            object.__setattr__(self, "size", tuple(scalar(x) for x in self.size))
        except (TypeError, ValueError):
            raise MechanismError(
                f"a shape of kind {self.kind!r}: size is {self.size!r}; it is a list of numbers, m"
            ) from None


@dataclass(frozen=True)
class CollisionFilter:
    """Which pairs of shapes are looked at, by names of bodies ("ground" too) or of groups.

    By default every two shapes on different bodies, unless the bodies are neighbours: rigidly
    joined, or on both sides of one joint (a free joint makes no neighbours). include: neighbours
    that are wanted all the same. exclude: pairs that are not wanted. only: where given, nothing but
    these pairs. groups: names that stand for several bodies.
    """

    include: tuple[tuple[str, str], ...] = ()
    exclude: tuple[tuple[str, str], ...] = ()
    only: tuple[tuple[str, str], ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=FrozenDict)

    def __post_init__(self) -> None:
        for attribute in ("include", "exclude", "only"):
            pairs: Any = getattr(self, attribute)
            if not isinstance(pairs, Sequence) or any(
                isinstance(p, str) or len(p) != 2 for p in pairs
            ):
                raise MechanismError(
                    f"collisions: {attribute} is {pairs!r}; it is a list of pairs of names"
                )
            object.__setattr__(self, attribute, tuple((str(a), str(b)) for a, b in pairs))
        object.__setattr__(
            self, "groups", FrozenDict({str(k): tuple(v) for k, v in self.groups.items()})
        )


# --- those of catena
def _sphere(radius: float = 1.0) -> np.ndarray:
    """Points of a sphere: rings from pole to pole."""
    angle, height = np.meshgrid(
        np.linspace(0, 2 * np.pi, RING, endpoint=False),
        np.linspace(-np.pi / 2, np.pi / 2, RING // 2 + 1),
    )
    return radius * np.stack(
        [np.cos(height) * np.cos(angle), np.cos(height) * np.sin(angle), np.sin(height)], axis=-1
    ).reshape(-1, 3)


def _ends(points: np.ndarray, length: float) -> np.ndarray:
    """The points at both ends of a length along z."""
    return np.concatenate([points + [0, 0, z] for z in (-length / 2, length / 2)])


def _cylinder(size: Sizes) -> np.ndarray:
    angle = np.linspace(0, 2 * np.pi, RING, endpoint=False)
    return _ends(size[0] * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1), size[1])


def _box(size: Sizes) -> np.ndarray:
    return (
        np.array([[i, j, k] for i in (-0.5, 0.5) for j in (-0.5, 0.5) for k in (-0.5, 0.5)]) * size
    )


_XYZ = ("x", "y", "z")
_ROUND = ("radius", "length")
for _kind in (
    ShapeKind("box", _XYZ, hull=_box, doc="a box, by its edges"),
    ShapeKind("sphere", ("radius",), hull=lambda size: np.zeros((1, 3)), ball=True, doc="a ball"),
    ShapeKind(
        "capsule",
        _ROUND,
        hull=lambda size: _ends(_sphere(size[0]), size[1]),
        doc="a cylinder with round ends, along z; its length is between their centres",
    ),
    ShapeKind("cylinder", _ROUND, hull=_cylinder, doc="a cylinder along z"),
    ShapeKind(
        "ellipsoid", _XYZ, hull=lambda size: _sphere() * size, doc="an ellipsoid, by its half axes"
    ),
    ShapeKind("plane", (), doc="the half-space below z = 0 of its frame"),
    ShapeKind(
        "mesh",
        _XYZ,
        measure="number",
        from_file=True,
        doc="the mesh of a file; it collides as its convex hull",
    ),
    ShapeKind("line", _XYZ, solid=False, doc="a line to its far end, which is only drawn"),
):
    register(_kind)
