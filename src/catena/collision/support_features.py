"""Convex shapes as sets of features: ellipsoids, capsules, cylinders, boxes and meshes, in the axes
of their bodies. A registry by kinds of shapes.

    tip     a point with half axes: a corner, a rim, the end of a capsule, an ellipsoid
    line    the same along a line: an edge, the side of a capsule or cylinder; its normals are
            across it
    face    of a polyhedron, or the flat end of a cylinder; it has one normal

A normal cone is the set of n for which a feature lies farthest out: c . n >= 0 for some directions
c. See `support_pairs`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from ..model import Shape, value_of
from .polyhedra import Polyhedron, polyhedron

Array = np.ndarray
NONE = np.zeros(3)


@dataclass(frozen=True, eq=False)
class SupportFeature:
    """A feature of a convex shape.

    p (3,): its point; Q (3, 3): its half axes as columns, m. cone (k, 3): the directions c of its
    normal cone. line (3,): unit vector of its line, or zero; span: coordinates of both ends of the
    line from p, m. normal (3,): of a face, else zero. ring (k, 3): the corners of a face in cyclic
    order, None for a flat end; radius: of a flat end or of a rim, m, else zero.
    """

    p: Array
    Q: Array
    cone: Array
    line: Array = field(default_factory=lambda: NONE)
    span: tuple[float, float] = (-1.0, 1.0)
    normal: Array = field(default_factory=lambda: NONE)
    ring: Array | None = None
    radius: float = 0.0

    @property
    def is_line(self) -> bool:
        """Whether it has a line, to which its normals are perpendicular."""
        return bool(self.line.any())

    @property
    def is_face(self) -> bool:
        """Whether it is a face, which has a single normal."""
        return bool(self.normal.any())

    @property
    def is_rim(self) -> bool:
        """Whether it is the rim of a flat end."""
        return self.radius > 0.0 and not self.is_face


@dataclass(frozen=True, eq=False)
class SupportShape:
    """The features of a convex shape. middle (3,): a point inside, m. z (3,): the axis of a capsule
    or cylinder, else zero. half: half its length, m.
    """

    features: tuple[SupportFeature, ...]
    middle: Array
    z: Array = field(default_factory=lambda: NONE)
    half: float = 0.0

    @functools.cached_property
    def _tips(self) -> tuple[Array, Array]:
        """The points (k, 3) and half axes (k, 3, 3) of the tips."""
        own = [f for f in self.features if not (f.is_line or f.is_face)]
        return np.array([f.p for f in own]), np.array([f.Q for f in own])

    @functools.cached_property
    def _cones(self) -> tuple[Array, Array, Array]:
        """The cones (padded by zeros), lines and normals of all features, as arrays."""
        most = max(1, *(len(f.cone) for f in self.features))
        cones = np.array(
            [
                np.vstack([f.cone.reshape(-1, 3), np.zeros((most - len(f.cone), 3))])
                for f in self.features
            ]
        )
        return (
            cones,
            np.array([f.line for f in self.features]),
            np.array([f.normal for f in self.features]),
        )

    @functools.cached_property
    def axes(self) -> Array:
        """Unit vectors (k, 3): normals of faces and directions of half axes."""
        found = [f.normal for f in self.features if f.is_face] + [
            s * q / np.linalg.norm(q)
            for f in self.features
            for q in f.Q.T
            if q.any()
            for s in (1, -1)
        ]
        return np.unique(np.round(found, 12), axis=0)

    def support(self, n: Array) -> Array:
        """Return the point (3,) of the shape that is farthest along n."""
        p, Q = self._tips
        q = np.einsum("kij,i->kj", Q, n)
        length = np.linalg.norm(q, axis=1)
        k = int((p @ n + length).argmax())
        return p[k] + (Q[k] @ q[k] / length[k] if length[k] > 0.0 else 0.0)

    def off(self, n: Array) -> Array:
        """Return (k,): how far n is from the normal cone of each feature, approximately the sine of
        the angle.
        """
        cones, lines, normals = self._cones
        outside = np.maximum(-(cones @ n).min(axis=1), 0.0)
        return np.where(
            normals.any(axis=1),
            np.linalg.norm(normals - n, axis=1),
            np.maximum(outside, np.abs(lines @ n)),
        )

    @functools.cached_property
    def extents(self) -> Array:
        """The corners (8, 3) of the bounding box along the body's axes."""
        low, high = (
            np.array([self.support(s * e)[k] for k, e in enumerate(np.eye(3))]) for s in (-1.0, 1.0)
        )
        return np.array(
            [
                [(low, high)[s][k] for k, s in enumerate(signs)]
                for signs in product((0, 1), repeat=3)
            ]
        )

    @functools.cached_property
    def radius(self) -> float:
        """Half the diagonal of the bounding box along the body's axes, m."""
        return float(np.linalg.norm(np.ptp(self.extents, axis=0))) / 2.0


def _ellipsoid(size: Array, R: Array, p: Array) -> SupportShape:
    """Return an ellipsoid: one tip."""
    return SupportShape((SupportFeature(p, R * size, np.zeros((0, 3))),), p)


def _capsule(size: Array, R: Array, p: Array) -> SupportShape:
    """Return a capsule: two tips and a line."""
    r = size[0]
    half = size[1] / 2.0
    z = R[:, 2]
    ball = r * np.eye(3)
    ends = [SupportFeature(p + s * half * z, ball, np.array([s * z])) for s in (1.0, -1.0)]
    return SupportShape(
        (*ends, SupportFeature(p, ball, np.zeros((0, 3)), z, (-half, half))), p, z, half
    )


def _cylinder(size: Array, R: Array, p: Array) -> SupportShape:
    """Return a cylinder: two rims, a line and two flat ends."""
    r = size[0]
    half = size[1] / 2.0
    z = R[:, 2]
    circle = R * np.array([r, r, 0.0])
    rims = [
        SupportFeature(p + s * half * z, circle, np.array([s * z]), radius=r) for s in (1.0, -1.0)
    ]
    ends = [
        SupportFeature(p + s * half * z, np.zeros((3, 3)), np.zeros((0, 3)), normal=s * z, radius=r)
        for s in (1.0, -1.0)
    ]
    return SupportShape(
        (*rims, SupportFeature(p, circle, np.zeros((0, 3)), z, (-half, half)), *ends), p, z, half
    )


def _features(P: Polyhedron) -> Iterator[SupportFeature]:
    """Yield the corners, edges and faces of a polyhedron as features."""
    sharp = np.zeros((3, 3))
    for i, others in enumerate(P.neighbours):
        yield SupportFeature(P.corners[i], sharp, _unit(P.corners[i] - P.corners[others]))
    for (i, j), sides in zip(P.edges, P.sides):
        along = P.corners[j] - P.corners[i]
        length = float(np.linalg.norm(along))
        middle = (P.corners[i] + P.corners[j]) / 2.0
        inward = [np.cross(P.normals[f], along) for f in sides]
        inward = [
            x if x @ (P.corners[list(P.polygons[f])].mean(axis=0) - middle) > 0.0 else -x
            for x, f in zip(inward, sides)
        ]
        yield SupportFeature(
            middle, sharp, -_unit(np.array(inward)), along / length, (-length / 2.0, length / 2.0)
        )
    for face, normal in zip(P.polygons, P.normals):
        ring = P.corners[list(face)]
        yield SupportFeature(ring.mean(axis=0), sharp, np.zeros((0, 3)), normal=normal, ring=ring)


def _unit(x: Array) -> Array:
    """Return the rows of x as unit vectors."""
    return x / np.linalg.norm(x, axis=1)[:, None]


SHAPES: dict[str, Callable[[Array, Array, Array], SupportShape]] = {
    "ellipsoid": _ellipsoid,
    "capsule": _capsule,
    "cylinder": _cylinder,
}


def support_shape(shape: Shape, parameters: Mapping[str, float]) -> SupportShape:
    """Return the features of a shape in the axes of its body, at given values of the mechanism's
    parameters.
    """
    if shape.kind not in SHAPES:
        return _of_polyhedron(polyhedron(shape, parameters))
    number = lambda x: float(value_of(x, parameters))  # noqa: E731
    size, p = (np.array([number(x) for x in given]) for given in (shape.size, shape.pose.position))
    return SHAPES[shape.kind](
        size, np.array([[number(x) for x in row] for row in shape.pose.rotation]), p
    )


@functools.lru_cache(maxsize=256)
def _of_polyhedron(P: Polyhedron) -> SupportShape:
    """Return the features of a polyhedron, which are cached."""
    return SupportShape(tuple(_features(P)), P.corners.mean(axis=0))
