"""Geometry: triangles of the solids that are drawn. Points in metres, outward normals, faces
anticlockwise from outside.

    lathe  a profile turned about z: cylinders, cones, balls, capsules, rods
    box    a box
    tube   a tube along a curve: coils
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
SIDES = 20  # of a circle


@dataclass(frozen=True)
class Geometry:
    """Triangles. points (n, 3): m. normals (n, 3). faces (m, 3): indices into the points. coarse:
    the same solid with fewer triangles, where it is known.
    """

    points: Array
    normals: Array
    faces: Array
    coarse: Geometry | None = None

    def moved(self, X: Array) -> Geometry:
        """Return the geometry under a transform X (4, 4), which may scale; normals transform as
        those of planes.
        """
        R = X[:3, :3]
        normals = self.normals @ np.linalg.inv(R)
        normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
        faces = self.faces if np.linalg.det(R) > 0 else self.faces[:, ::-1]
        return Geometry(
            self.points @ R.T + X[:3, 3], normals, faces, self.coarse and self.coarse.moved(X)
        )


def joined(parts: Sequence[Geometry]) -> Geometry:
    """Return several geometries as one."""
    starts = np.cumsum([0, *(len(g.points) for g in parts[:-1])])
    return Geometry(
        np.concatenate([g.points for g in parts]),
        np.concatenate([g.normals for g in parts]),
        np.concatenate([g.faces + k for g, k in zip(parts, starts)]),
    )


def lathe(
    profile: Sequence[tuple[float, float]], sides: int = SIDES, smooth: bool = False
) -> Geometry:
    """Return the solid of revolution about z of a profile of points (radius, height), from below
    upwards. smooth: whether normals are continuous between its bands.
    """
    r, z = np.array(profile, float).T
    angle = np.linspace(0, 2 * np.pi, sides + 1)
    # outward normals of the bands, (radial, axial)
    along = np.stack([np.diff(z), -np.diff(r)], axis=1)
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300)
    if smooth:
        ends = np.concatenate([along[:1], along[:-1] + along[1:], along[-1:]])
        ends /= np.maximum(np.linalg.norm(ends, axis=1, keepdims=True), 1e-300)
        pairs = [(k, k + 1, ends[k], ends[k + 1]) for k in range(len(along))]
    else:
        pairs = [(k, k + 1, along[k], along[k]) for k in range(len(along))]
    return joined([_band((r[i], z[i], a), (r[j], z[j], b), angle) for i, j, a, b in pairs])


def _band(
    low: tuple[float, float, Array], high: tuple[float, float, Array], angle: Array
) -> Geometry:
    rings, normals = [], []
    for radius, height, n in (low, high):
        rings.append(
            np.stack(
                [radius * np.cos(angle), radius * np.sin(angle), np.full_like(angle, height)],
                axis=1,
            )
        )
        normals.append(
            np.stack(
                [n[0] * np.cos(angle), n[0] * np.sin(angle), np.full_like(angle, n[1])], axis=1
            )
        )
    count = len(angle)
    k = np.arange(count - 1)
    faces = np.concatenate(
        [
            np.stack([k, k + 1, k + 1 + count], axis=1),
            np.stack([k, k + 1 + count, k + count], axis=1),
        ]
    )
    keep = np.concatenate([np.full(count - 1, low[0] > 0), np.full(count - 1, high[0] > 0)])
    return Geometry(np.concatenate(rings), np.concatenate(normals), faces[keep])


def cylinder(radius: float, length: float, sides: int = SIDES) -> Geometry:
    """Return a cylinder along z, centred at the origin."""
    h = length / 2
    return lathe([(0, -h), (radius, -h), (radius, h), (0, h)], sides)


def pin(radius: float, length: float) -> Geometry:
    """Return a cylinder with bevelled edges."""
    h, b = length / 2, 0.18 * radius
    return lathe(
        [(0, -h), (radius - b, -h), (radius, -h + b), (radius, h - b), (radius - b, h), (0, h)], 24
    )


def ball(radius: float, rings: int = 12) -> Geometry:
    """Return a sphere about the origin."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, rings + 1)
    return lathe(
        list(zip(radius * np.cos(angle).round(15), radius * np.sin(angle))), 2 * rings, smooth=True
    )


def capsule(radius: float, length: float, rings: int = 12) -> Geometry:
    """Return a capsule along z, centred at the origin. length: between the centres of its ends."""
    return rod(radius, radius, length, rings).moved(_lifted(-length / 2))


def rod(start: float, end: float, length: float, rings: int = 12) -> Geometry:
    """Return a cone between two balls of these radii, from the origin along z."""
    angle = np.linspace(-np.pi / 2, 0, rings // 2 + 1)
    low = [(start * np.cos(a).round(15), start * np.sin(a)) for a in angle]
    high = [(end * np.cos(a).round(15), length - end * np.sin(a)) for a in angle[::-1]]
    return lathe([*low, *high], 2 * rings, smooth=True)


def box(x: float, y: float, z: float) -> Geometry:
    """Return a box centred at the origin, with its edges along the axes."""
    parts = []
    for k in range(3):
        for sign in (-1.0, 1.0):
            n, u = np.zeros(3), np.zeros(3)
            n[k], u[(k + 1) % 3] = sign, 1.0
            w = np.cross(n, u)
            corners = (
                np.array([n - u - w, n + u - w, n + u + w, n - u + w]) * np.array([x, y, z]) / 2
            )
            parts.append(Geometry(corners, np.tile(n, (4, 1)), np.array([[0, 1, 2], [0, 2, 3]])))
    return joined(parts)


def tube(path: Array, radius: float, sides: int = 8) -> Geometry:
    """Return a tube around a curve of points (n, 3)."""
    along = np.gradient(path, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    side = np.empty_like(path)
    last = np.cross(along[0], np.eye(3)[int(np.argmin(np.abs(along[0])))])
    for k, t in enumerate(along):  # carried along the curve, so that it does not twist
        last = last - t * (t @ last)
        last = side[k] = last / np.linalg.norm(last)
    other = np.cross(along, side)
    angle = np.linspace(0, 2 * np.pi, sides + 1)
    normals = (
        np.cos(angle)[None, :, None] * side[:, None] + np.sin(angle)[None, :, None] * other[:, None]
    )
    points = path[:, None] + radius * normals
    n, count = len(path), sides + 1
    i, j = np.meshgrid(np.arange(n - 1), np.arange(sides), indexing="ij")
    a = (i * count + j).ravel()
    b = ((i + 1) * count + j).ravel()
    faces = np.concatenate([np.stack([a, a + 1, b + 1], axis=1), np.stack([a, b + 1, b], axis=1)])
    return Geometry(points.reshape(-1, 3), normals.reshape(-1, 3), faces)


def coil(turns: int = 9) -> Geometry:
    """Return a spring from z = 0 to z = 1 of radius one, which is scaled to its length and width
    when it is drawn.
    """
    t = np.linspace(0, 1, 14 * turns)
    angle = 2 * np.pi * turns * t
    path = np.stack([np.cos(angle), np.sin(angle), 10 * t], axis=1)
    made = tube(path, 0.16, 7)
    return made.moved(np.diag([1.0, 1.0, 0.1, 1.0]))


def spiral(radius: float, turns: float = 2.5) -> Geometry:
    """Return a flat torsion spring about z."""
    t = np.linspace(0, 1, 60)
    r = radius * (0.45 + 0.55 * t)
    a = 2 * np.pi * turns * t
    return tube(np.stack([r * np.cos(a), r * np.sin(a), 0 * t], axis=1), 0.07 * radius, 6)


def arrow(length: float, radius: float) -> Geometry:
    """Return an arrow from the origin along z."""
    head = min(0.35 * length, 5 * radius)
    return lathe(
        [(0, 0), (radius, 0), (radius, length - head), (2.4 * radius, length - head), (0, length)],
        14,
    )


def pedestal(size: float) -> Geometry:
    """Return a four-sided foot below the origin, z upwards, on a plate."""
    w, h = 0.75 * size, 1.1 * size
    foot = lathe([(0, -h), (w * np.sqrt(2), -h), (0.22 * size, 0.0), (0, 0.0)], 4).moved(
        _turned(np.pi / 4)
    )
    return joined([foot, box(2.1 * size, 2.1 * size, 0.22 * size).moved(_lifted(-h - 0.11 * size))])


def half_ball(radius: float, odd: bool) -> Geometry:
    """Return four of the eight octants of a ball, which make one colour of the sign for a centre of
    mass.
    """
    whole = ball(radius, 16)
    middle = whole.points[whole.faces].mean(axis=1)
    return Geometry(whole.points, whole.normals, whole.faces[(np.prod(middle, axis=1) > 0) == odd])


def hull(points: Array) -> Geometry:
    """Return the convex hull of points (n, 3), with sharp edges."""
    from scipy.spatial import ConvexHull

    found = ConvexHull(points)
    corners = points[found.simplices]
    normals = found.equations[:, :3]
    flip = (
        np.einsum(
            "ij,ij->i",
            np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]),
            normals,
        )
        < 0
    )
    corners[flip] = corners[flip][:, ::-1]
    return Geometry(
        corners.reshape(-1, 3),
        np.repeat(normals, 3, axis=0),
        np.arange(3 * len(corners)).reshape(-1, 3),
    )


def creased(points: Array, faces: Array, angle: float = 35.0) -> Geometry:
    """Return triangles with normals that are smooth where neighbours meet at less than an angle,
    degrees.
    """
    _, same = np.unique(
        np.round(points / (np.ptp(points, axis=0).max() * 1e-6 or 1.0)).astype(np.int64),
        axis=0,
        return_inverse=True,
    )
    same = same.ravel()
    corners = points[faces]
    # twice the area along the normal
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    mean = np.zeros((same.max() + 1, 3))
    for k in range(3):
        np.add.at(mean, same[faces[:, k]], flat)
    unit = lambda x: x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-300)  # noqa: E731
    smooth = unit(mean)[same[faces]]
    flat = np.repeat(unit(flat)[:, None], 3, axis=1)
    sharp = np.einsum("fkx,fkx->fk", smooth, flat) < np.cos(np.radians(angle))
    normals = np.where(sharp[..., None], flat, smooth)
    return shared(
        Geometry(
            corners.reshape(-1, 3), normals.reshape(-1, 3), np.arange(3 * len(faces)).reshape(-1, 3)
        )
    )


def shared(g: Geometry) -> Geometry:
    """Return the geometry with points merged that have the same place and normal."""
    size = np.ptp(g.points, axis=0).max() or 1.0
    rows = np.ascontiguousarray(
        np.round(np.concatenate([g.points * (1e6 / size), g.normals * 1e3], axis=1)).astype(
            np.int32
        )
    )
    _, first, which = np.unique(
        rows.view([("", rows.dtype)] * 6).ravel(), return_index=True, return_inverse=True
    )
    return Geometry(g.points[first], g.normals[first], which.reshape(-1)[g.faces])


def _lifted(z: float) -> Array:
    X = np.eye(4)
    X[2, 3] = z
    return X


def _turned(angle: float) -> Array:
    X = np.eye(4)
    X[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return X
