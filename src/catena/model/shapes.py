"""Shapes of bodies and of the ground: what is drawn, and what collides. A registry of kinds.

box          x, y, z: its edges                        centred at the shape's origin
sphere       radius
capsule      radius, length: between the centres of its ends, along z
cylinder     radius, length: along z
ellipsoid    x, y, z: its half axes
plane        the half-space z <= 0 of the shape's frame; z is its outward normal
mesh         the convex hull of the points of a file, whose coordinates are scaled by x, y, z
concave_mesh the same file; it collides as its convex parts
heightfield  x, y: its length and width; z: the height of the value 1 of its grid, whose first row
             is at y = -y/2 and whose first column at x = -x/2
line         x, y, z: its far end; it is drawn and does not collide
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import MechanismError
from .frozen import FrozenDict
from .pose import Pose, Scalar, as_pose, require_texts, scalar

Sizes = Sequence[float] | np.ndarray
Hull = Callable[[Sizes], np.ndarray]
CIRCLE_POINTS = 24  # vertices by which a circle is drawn


@dataclass(frozen=True)
class ShapeKind:
    """Everything that is particular to a kind of shape.

    name: its name in files. sizes: the names of its numbers. measure: their dimension in files.
    solid: whether it can collide. from_file: whether its geometry is read from a file. hull(size):
    points (n, 3) whose convex hull is drawn. ball: whether `hull` gives only the centre of a ball
    whose radius is the first number. has_grid: whether its geometry is a grid of heights, given in
    numbers or by a file. pieces: "package.module:name" of a function of a shape that returns the
    convex shapes as which it collides. thickness(size): the distance between its two nearest
    parallel planes; None where it has one side only, or is read from a file. triangles: a text as
    `pieces`, of a function (shape, size) that returns the points (n, 3) and triangles (m, 3) that
    are drawn. doc: what it is, in a few words.
    """

    name: str
    sizes: tuple[str, ...]
    solid: bool = True
    measure: str = "length"
    from_file: bool = False
    hull: Hull | None = None
    ball: bool = False
    has_grid: bool = False
    pieces: str = ""
    thickness: Callable[[Sizes], float] | None = None
    triangles: str = ""
    doc: str = ""


KINDS: dict[str, ShapeKind] = {}


def register(kind: ShapeKind) -> ShapeKind:
    """Add a kind of shape to the registry, from which files, validation and pictures read it; raise
    MechanismError where the name is taken.
    """
    if kind.name in KINDS:
        raise MechanismError(
            f"a shape kind {kind.name!r} is in the registry already; give this one another name"
        )
    KINDS[kind.name] = kind
    return kind


class HeightGrid(tuple[tuple[float, ...], ...]):
    """The rows of a grid of heights, which print in one line."""

    def __repr__(self) -> str:
        digest = hashlib.sha256(np.array(self, float).tobytes()).hexdigest()[:16]
        return f"<{len(self)} x {len(self[0])} heights {digest}>"


@dataclass(frozen=True)
class Shape:
    """A shape on a body, for drawing and for collision.

    Parameters
    ----------
    kind : str
        One of `catena.model.shapes.KINDS`: "box", "sphere", "capsule", "cylinder", "ellipsoid",
        "plane", "mesh", "concave_mesh", "heightfield", "line".
    size : sequence of scalars
        The sizes of that kind, m (factors for a mesh), such as (radius, length) of a capsule.
    pose : Pose or 3 scalars, default identity
        X_BS, the shape in the body's frame; three numbers are its position, m.
    file : str, optional
        The file of a mesh, or of the grid of a heightfield: an image, a NumPy file or a table.
    heights : array (rows, columns) of floats, optional
        The grid of a heightfield, in place of a file.
    colour : sequence of 3 or 4 floats, optional
        Red, green, blue and perhaps alpha, 0 to 1.
    collides : bool, default False
        Whether distances and contacts use the shape.
    drawn : bool, default True
        Whether pictures show the shape.
    name : str, optional
        The name of the shape in pairs, where its body has several shapes that collide.

    Raises
    ------
    MechanismError
        Where the size or the pose has the wrong type. Whether the sizes suit the kind is checked by
        `Mechanism.validate`.

    Examples
    --------
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
    heights: tuple[tuple[float, ...], ...] = ()

    def __post_init__(self) -> None:
        require_texts("shape", self, "kind", "name")
        if len(self.heights) and not isinstance(self.heights, HeightGrid):
            object.__setattr__(self, "heights", _grid(self.kind, self.heights))
        what = f"the pose of a shape of kind {self.kind!r}"
        object.__setattr__(self, "pose", as_pose(self.pose, what))
        try:
            object.__setattr__(self, "size", tuple(scalar(x) for x in self.size))
        except (TypeError, ValueError):
            raise MechanismError(
                f"a shape of kind {self.kind!r}: size is {self.size!r}; it is a list of numbers, m"
            ) from None


def _grid(kind: str, heights: Any) -> HeightGrid:
    """Return heights as rows of numbers; raise MechanismError where they are no grid."""
    try:
        rows = np.array(heights, float)
    except (TypeError, ValueError):
        rows = np.zeros(0)
    if rows.ndim != 2 or min(rows.shape) < 2 or not np.isfinite(rows).all():
        raise MechanismError(
            f"a shape of kind {kind!r}: heights is not a grid; it is a table of finite numbers with"
            " two rows and two columns or more"
        )
    return HeightGrid(tuple(map(tuple, rows.tolist())))


@dataclass(frozen=True)
class CollisionFilter:
    """Which pairs of shapes are checked for distance and contact.

    By default every two shapes on different bodies are checked, unless the bodies are neighbours:
    rigidly joined, or on both sides of one joint (a free joint makes no neighbours). Names are
    those of bodies, "ground", or groups.

    Parameters
    ----------
    include : sequence of pairs of str, optional
        Neighbours that are checked all the same.
    exclude : sequence of pairs of str, optional
        Pairs that are not checked.
    only : sequence of pairs of str, optional
        Where given, only these pairs are checked.
    groups : mapping of str to sequence of str, optional
        Names that stand for several bodies.

    Raises
    ------
    MechanismError
        Where include, exclude or only is not a list of pairs.

    Examples
    --------
    >>> CollisionFilter(exclude=[("hand", "forearm")]).exclude
    (('hand', 'forearm'),)
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
    """Return points (n, 3) of a sphere about the origin, in rings from pole to pole."""
    angle, height = np.meshgrid(
        np.linspace(0, 2 * np.pi, CIRCLE_POINTS, endpoint=False),
        np.linspace(-np.pi / 2, np.pi / 2, CIRCLE_POINTS // 2 + 1),
    )
    return radius * np.stack(
        [np.cos(height) * np.cos(angle), np.cos(height) * np.sin(angle), np.sin(height)], axis=-1
    ).reshape(-1, 3)


def _ends(points: np.ndarray, length: float) -> np.ndarray:
    """Return the points (n, 3) shifted to both ends of a length along z, (2n, 3)."""
    return np.concatenate([points + [0, 0, z] for z in (-length / 2, length / 2)])


def _cylinder(size: Sizes) -> np.ndarray:
    angle = np.linspace(0, 2 * np.pi, CIRCLE_POINTS, endpoint=False)
    return _ends(size[0] * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1), size[1])


def _box(size: Sizes) -> np.ndarray:
    return (
        np.array([[i, j, k] for i in (-0.5, 0.5) for j in (-0.5, 0.5) for k in (-0.5, 0.5)]) * size
    )


_XYZ = ("x", "y", "z")
_ROUND = ("radius", "length")
for _kind in (
    ShapeKind("box", _XYZ, hull=_box, thickness=min, doc="a box, by its edges"),
    ShapeKind(
        "sphere",
        ("radius",),
        hull=lambda size: np.zeros((1, 3)),
        ball=True,
        thickness=lambda size: 2 * size[0],
        doc="a ball",
    ),
    ShapeKind(
        "capsule",
        _ROUND,
        hull=lambda size: _ends(_sphere(size[0]), size[1]),
        thickness=lambda size: 2 * size[0],
        doc="a cylinder with round ends, along z; its length is between their centres",
    ),
    ShapeKind(
        "cylinder",
        _ROUND,
        hull=_cylinder,
        thickness=lambda size: min(2 * size[0], size[1]),
        doc="a cylinder along z",
    ),
    ShapeKind(
        "ellipsoid",
        _XYZ,
        hull=lambda size: _sphere() * size,
        thickness=lambda size: 2 * min(size),
        doc="an ellipsoid, by its half axes",
    ),
    ShapeKind("plane", (), doc="the half-space below z = 0 of its frame"),
    ShapeKind(
        "mesh",
        _XYZ,
        measure="number",
        from_file=True,
        doc="the mesh of a file; it collides as its convex hull",
    ),
    ShapeKind(
        "concave_mesh",
        _XYZ,
        measure="number",
        from_file=True,
        pieces="catena.collision:convex_parts",
        doc="the mesh of a file; it collides as its convex parts, which coacd finds",
    ),
    ShapeKind(
        "heightfield",
        _XYZ,
        has_grid=True,
        triangles="catena.collision:grid_triangles",
        doc="terrain by a grid of heights, in triangles; z is the height of the value 1",
    ),
    ShapeKind("line", _XYZ, solid=False, doc="a line to its far end, which is only drawn"),
):
    register(_kind)
