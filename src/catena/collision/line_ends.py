"""The two contact points of shapes that touch along a line: a capsule or cylinder on a face, or two
parallel lines; in numbers.

a side on a face        while the sine of the angle between them is below LEAN_SINE: rims on the
                        face, or the side across an edge of it
a side along a line     while they are parallel to PARALLEL_LINE_SINE: a rim or a corner on the
                        other line
"""

from __future__ import annotations

import numpy as np

from .feature_pairs import (
    BOUNDARY_SLACK,
    NearestPoint,
    ShapePair,
    feature_pair,
    point_of,
    sides_of,
    slack,
    within,
)
from .support_features import NONE, SupportFeature, SupportShape
from .support_pairs import WATCHED_HALF_SPACES

Array = np.ndarray
# Sine of the angle between a side and a face, below which both ends are points.
LEAN_SINE = 0.3
# Sine of the angle between lines, below which they are parallel.
PARALLEL_LINE_SINE = 1e-6


def line_ends(x: ShapePair, ahead: ShapePair, n: Array, gap: float) -> list[NearestPoint] | None:
    """Return the two points of a side on a face or along a line, if one of them is the nearest
    point with normal n and distance gap; else None. ahead: the pair an instant later, by which
    features are selected.
    """
    found = _on_face(x, ahead, n) or _on_line(x, n)
    meets = [point.placed(x.R, x.p) for point in found or ()]
    if (
        not meets
        or min(meet.margin for meet in meets) < 0.5 * BOUNDARY_SLACK
        or min(meet.gap for meet in meets) > gap + BOUNDARY_SLACK * x.size
    ):
        return None
    return found


def _on_face(x: ShapePair, ahead: ShapePair, n: Array) -> list[NearestPoint] | None:
    """Return the points of a capsule or cylinder on the face that it faces: the ends of the part of
    its side that is over the face.
    """
    for first in (True, False):  # whether A is the long shape
        long, flat = (x.A, x.B) if first else (x.B, x.A)
        faces = [k for k, f in enumerate(flat.features) if f.is_face]
        if not long.z.any() or not faces:
            continue
        normals = np.array([flat.features[k].normal for k in faces]) @ (
            np.eye(3) if first else x.R.T
        )
        k = int((normals @ (n if first else -n)).argmax())
        leaning = normals[k] @ (x.R @ long.z if first else long.z)
        if abs(normals[k] @ n) > np.sqrt(1.0 - LEAN_SINE**2) and abs(leaning) < LEAN_SINE:
            return [_leaning(x, first, faces[k], pair) for pair in _clipped(ahead, first, faces[k])]
    return None


def _clipped(x: ShapePair, first: bool, face: int) -> list[tuple[int, int]]:
    """Return the pairs of features at both ends of the part of a side that is over a face, those of
    the long shape first; an empty list if it is not over the face.
    """
    long, flat = (x.A, x.B) if first else (x.B, x.A)
    f, (i, j, side) = flat.features[face], (k for k, g in enumerate(long.features) if not g.is_face)
    down = -(x.R.T @ f.normal if first else x.R @ f.normal)  # in the axes of the long shape
    tips = [point_of(long.features[k], down)[0] for k in (i, j)]
    # in the axes of the shape with the face
    tips = [x.R @ y + x.p for y in tips] if first else [x.R.T @ (y - x.p) for y in tips]
    if f.ring is None:
        return [(i, face), (j, face)] if min(within(f, y) for y in tips) > 0.0 else []
    begin = 0.0
    end = 1.0
    who = [(i, face), (j, face)]
    c, k = sides_of(f)
    for number, (u, v) in enumerate(zip(c @ tips[0] - k, c @ tips[1] - k)):
        if max(u, v) <= 0.0:
            return []
        at = u / (u - v) if u != v else 0.0
        if u < 0.0 and at > begin:
            begin, who[0] = at, (side, _edge(flat, f, number))
        if v < 0.0 and at < end:
            end, who[1] = at, (side, _edge(flat, f, number))
    return who if end - begin > BOUNDARY_SLACK else []


def _edge(shape: SupportShape, face: SupportFeature, number: int) -> int:
    """Return the index of the edge that is side `number` of a face."""
    ring = face.ring if face.ring is not None else np.zeros((0, 3))
    middle = 0.5 * (ring[number] + ring[(number + 1) % len(ring)])
    return int(
        np.argmin(
            [float(np.linalg.norm(f.p - middle)) if f.is_line else np.inf for f in shape.features]
        )
    )


def _leaning(x: ShapePair, first: bool, face: int, pair: tuple[int, int]) -> NearestPoint:
    """Return a contact point on the long side of a shape that lies on a face, with guards that fall
    to zero when the angle between side and face exceeds 1.2 LEAN_SINE, or the normal leaves that of
    the face.
    """
    long, flat = (x.A, x.B) if first else (x.B, x.A)
    (i, j), m, z = pair if first else pair[::-1], flat.features[face].normal, long.z
    n = m if first else -(x.R @ m)
    if x.A.features[i].is_line:
        c = np.cross(x.R @ x.A.features[i].line, x.B.features[j].line)
        n = c * np.copysign(1.0, c @ n) / np.linalg.norm(c)
    more = 1.2 * LEAN_SINE
    none = (0.0, 0.0, 0.0, 1.0)
    tilt = (*z, more, *(-z), more, *none * (WATCHED_HALF_SPACES - 2))
    out = (*m, -np.sqrt(1.0 - more**2), *none * (WATCHED_HALF_SPACES - 1))
    return feature_pair(
        x,
        i,
        j,
        n,
        cone_a=tilt if first else out,
        cone_b=out if first else tilt,
        along_a=NONE,
        along_b=NONE,
        parallel=0.0,
    )


def _on_line(x: ShapePair, n: Array) -> list[NearestPoint] | None:
    """Return the points of two parallel lines: the two ends of their overlap."""
    near_a = x.A.off(-(x.R.T @ n)) < 2.0 * PARALLEL_LINE_SINE
    near_b = x.B.off(n) < 2.0 * PARALLEL_LINE_SINE
    for i in (k for k, f in enumerate(x.A.features) if f.is_line and near_a[k]):
        for j in (k for k, f in enumerate(x.B.features) if f.is_line and near_b[k]):
            f, g = x.A.features[i], x.B.features[j]
            if np.linalg.norm(np.cross(x.R @ f.line, g.line)) < PARALLEL_LINE_SINE:
                return _overlap(x, f, g, n)
    return None


def _overlap(
    x: ShapePair, f: SupportFeature, g: SupportFeature, n: Array
) -> list[NearestPoint] | None:
    """Return the points at both ends of the overlap of two parallel lines; None if they do not
    overlap.
    """
    z, found = g.line, []
    spans = (
        sorted((float(z @ (x.R @ (f.p + s * f.line) + x.p)), s) for s in f.span),
        sorted((float(z @ (g.p + s * g.line)), s) for s in g.span),
    )
    if (
        min(spans[0][1][0], spans[1][1][0]) - max(spans[0][0][0], spans[1][0][0])
        <= BOUNDARY_SLACK * x.size
    ):
        return None
    number = (_number(x.A, f), _number(x.B, g))
    for k in (0, 1):
        ahead = (spans[0][k][0] > spans[1][k][0]) == (
            k == 0
        )  # the overlap ends at the end of A's line
        i = _tip(x.A, f.p + spans[0][k][1] * f.line) if ahead else number[0]
        j = number[1] if ahead else _tip(x.B, g.p + spans[1][k][1] * g.line)
        cones = [
            tuple(
                np.ravel(
                    [
                        *[(*c, slack(c @ m)) for c in h.cone],
                        *[(0.0, 0.0, 0.0, 1.0)] * (WATCHED_HALF_SPACES - len(h.cone)),
                    ]
                )
            )
            for h, m in ((f, -(x.R.T @ n)), (g, n))
        ]
        found.append(
            feature_pair(
                x,
                i,
                j,
                n,
                cone_a=cones[0],
                cone_b=cones[1],
                along_a=f.line,
                along_b=g.line,
                parallel=1.0 / (2.0 * PARALLEL_LINE_SINE) ** 2,
            )
        )
    return found


def _number(shape: SupportShape, feature: SupportFeature) -> int:
    """Return the index of a feature of a shape."""
    return next(k for k, f in enumerate(shape.features) if f is feature)


def _tip(shape: SupportShape, at: Array) -> int:
    """Return the index of the tip at the end of a line."""
    return int(
        np.argmin(
            [
                float(np.linalg.norm(f.p - at)) if not (f.is_line or f.is_face) else np.inf
                for f in shape.features
            ]
        )
    )
