"""Two features of convex shapes in numbers, as the mode of a contact point stores them
(`support_pairs`), with guards that detect when they are no longer the nearest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .support_features import SupportFeature, SupportShape
from .support_pairs import (
    FLAT_RIM_SQUARED_SINE,
    SIZES,
    WATCHED_HALF_SPACES,
    SupportMeet,
    SupportPair,
    support_meet,
)

Array = np.ndarray
# How far a normal may be outside a cone that it has just reached (a sine), or a point outside its
# feature, relative to the size.
BOUNDARY_SLACK = 1e-9
# Tangent of the angle (20 degrees) by which a normal turns, at most, before Newton's method starts
# from it anew.
MAX_NORMAL_TURN = 0.36
# A face extends beyond its circle up to this, relative to the angle below which a rim has no normal
# of its own.
OVERHANG_ANGLE_RATIO = 1.5
# A face extends beyond its circle by this, at most, relative to the size.
OVERHANG_SIZE_RATIO = 1e-4
# Angle by which a normal may turn, relative to the angle over which the support function curves; so
# it is the same for needles and discs.
CURVATURE_TURN_RATIO = 0.3
NUMBERS: tuple[float, ...] = tuple(
    SupportPair.of([0.0] * sum(SIZES.values()))._replace(
        start=(0.0, 0.0, 1.0),
        across=(1.0, 0.0, 0.0),
        soft=(1.0, 1.0),
        turn=1.0,
        cone_a=(0.0, 0.0, 0.0, 1.0) * WATCHED_HALF_SPACES,
        cone_b=(0.0, 0.0, 0.0, 1.0) * WATCHED_HALF_SPACES,
        span_a=(-1.0, 1.0),
        span_b=(-1.0, 1.0),
        sides=(0.0, 0.0, 0.0, 1.0) * WATCHED_HALF_SPACES,
        flat=(1.0, 0.0, 1.0, 0.0),
        size=1.0,
    )
)


class NearestPoint(NamedTuple):
    """One contact point: its two features in numbers."""

    pair: SupportPair

    def placed(self, R: Array, p: Array) -> SupportMeet:
        """Return the contact geometry (gap, normal, place) of the two features at the relative pose
        X_BA = (R, p), in the axes of B.
        """
        return placed(self.pair, R, p)

    @property
    def key(self) -> float:
        """A number that identifies the two features."""
        return float(self.pair.key)

    @property
    def numbers(self) -> list[float]:
        """All numbers in a flat list, as `SupportPair.of` reads them."""
        return [float(x) for part in self.pair for x in np.ravel(part)]


class ShapePair(NamedTuple):
    """Two shapes, their relative pose X_BA = (R, p), and the radius of the smaller, m."""

    A: SupportShape
    B: SupportShape
    R: Array
    p: Array
    size: float


def placed(x: SupportPair, R: Array, p: Array) -> SupportMeet:
    """Return the contact geometry (gap, normal, place) of a pair of features at the relative pose
    X_BA = (R, p), in the axes of B.
    """
    rows = tuple(tuple(float(v) for v in row) for row in R)
    return support_meet(
        x,
        (rows, tuple(map(float, p))),
        (((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), (0.0, 0.0, 0.0)),
    )


def point_of(f: SupportFeature, n: Array) -> tuple[Array, bool]:
    """Return the point of a feature that is farthest along n; and whether the feature is a rim
    whose plane is perpendicular to n, so that this point is not unique.
    """
    q = f.Q.T @ n
    length = float(np.linalg.norm(q))
    return (
        f.p + (f.Q @ q / length if length > 0.0 else 0.0),
        f.is_rim and length**2 <= 1.01 * FLAT_RIM_SQUARED_SINE * f.radius**2,
    )


def within(f: SupportFeature, x: Array) -> float:
    """Return how far inside a face a point x is, m."""
    if f.ring is None:
        y = x - f.p
        return float(f.radius - np.linalg.norm(y - (y @ f.normal) * f.normal))
    c, k = sides_of(f)
    return float((c @ x - k).min())


def overhang(x: ShapePair, face: SupportFeature, other: SupportFeature, n: Array) -> float:
    """Return by how much a rounded feature may lie beyond the circle of a flat end and still be
    paired with this end, m; n: the outward normal of the rounded feature, in its axes.

    A rim has a unique normal only at angles of at least sqrt(FLAT_RIM_SQUARED_SINE) to its axis. A
    surface of radius rho has such a normal where it lies sqrt(FLAT_RIM_SQUARED_SINE) rho beyond the
    circle. Up to there the flat face is used: the error of the gap is FLAT_RIM_SQUARED_SINE rho /
    2, and every configuration has features. A configuration without features could be passed only
    in very small steps.
    """
    if face.ring is not None or other.is_face or other.is_line or other.is_rim:
        return 0.0
    q = other.Q.T @ n
    h = float(np.linalg.norm(q))
    if h == 0.0:
        return 0.0
    H = (other.Q @ other.Q.T - np.outer(other.Q @ q, other.Q @ q) / h**2) / h
    rho = float(np.linalg.eigvalsh(H)[-1])
    return min(
        OVERHANG_ANGLE_RATIO * FLAT_RIM_SQUARED_SINE**0.5 * rho, OVERHANG_SIZE_RATIO * x.size
    )


def sides_of(f: SupportFeature) -> tuple[Array, Array]:
    """Return c (k, 3) and k (k,) such that a point x of the plane lies inside a face if c . x
    >= k.
    """
    ring = f.ring if f.ring is not None else np.zeros((0, 3))
    c = np.cross(f.normal, np.roll(ring, -1, axis=0) - ring)
    c = c / np.linalg.norm(c, axis=1)[:, None]
    return c, np.einsum("ki,ki->k", c, ring)


def feature_pair(x: ShapePair, i: int, j: int, n: Array, **more: Any) -> NearestPoint:
    """Return the features i of A and j of B in numbers, with normal n. more: values, such as cones,
    that replace the features' own.
    """
    f, g = x.A.features[i], x.B.features[j]
    own = f.is_face or _turns_with_first(x, f, g, n)
    start = x.R.T @ n if own else n
    across = np.cross(start, np.eye(3)[np.argmin(np.abs(start))])
    lines = int(f.is_line) + int(g.is_line)
    free = (0.0, 0.0) if f.is_face or g.is_face or lines == 2 else (1.0, 1.0 - lines)
    line_a = f.line * np.copysign(1.0, np.cross(x.R @ f.line, g.line) @ n) if lines == 2 else f.line
    pair = SupportPair(*NUMBERS)._replace(
        key=1e3 * (i + 1) + j + 1,
        p_a=f.p,
        Q_a=f.Q.T.ravel(),
        p_b=g.p,
        Q_b=g.Q.T.ravel(),
        l_a=line_a,
        l_b=g.line,
        start=start,
        across=across / np.linalg.norm(across),
        own=float(own),
        free=free,
        soft=tuple(_soft(h) for h in (f, g)),
        turn=_turn(x, f, g, n),
        flat=(*_flat(f), *_flat(g)),
        size=1.0 / x.size,
    )
    pair = _with_cones(x, pair, f, g, n)
    pair = _with_face(x, _with_spans(x, pair, f, g), f, g, n)._replace(**more)
    return NearestPoint(pair)


def _soft(f: SupportFeature) -> float:
    """Return the small number, relative to the size of Q, that is added to |Q' n|^2 to avoid the
    root of zero.
    """
    most = float(np.abs(f.Q).max())
    return (1e-15 * most) ** 2 if most > 0.0 else 1.0


def _flat(f: SupportFeature) -> tuple[float, float]:
    """Return the entries of the field `flat` of a SupportPair for one feature."""
    return (0.0, 1.0 / f.radius**2) if f.is_rim else (1.0, 0.0)


def slack(inside: float, size: float = 1.0) -> float:
    """Return the slack of a guard whose margin is `inside`: zero, so that features change exactly
    where both have the same normal; but BOUNDARY_SLACK relative to `size` at the boundary itself.
    """
    return BOUNDARY_SLACK * size if inside < 2.0 * BOUNDARY_SLACK * size else 0.0


def _with_spans(
    x: ShapePair, pair: SupportPair, f: SupportFeature, g: SupportFeature
) -> SupportPair:
    """Return the pair with guards at the ends of lines."""
    if not (f.is_line or g.is_line):
        return pair
    along = placed(pair, x.R, x.p).along
    spans = []
    for feature, line, at in ((f, pair.l_a, along[0]), (g, pair.l_b, along[1])):
        begin, end = sorted(s * float(np.copysign(1.0, line @ feature.line)) for s in feature.span)
        spans.append(
            (begin - slack(at - begin, x.size), end + slack(end - at, x.size))
            if feature.is_line
            else (-1.0, 1.0)
        )
    return pair._replace(span_a=spans[0], span_b=spans[1])


def _turn(x: ShapePair, f: SupportFeature, g: SupportFeature, n: Array) -> float:
    """Return by how much n may rotate (the tangent of the angle), relative to the angle over which
    the support functions curve.
    """
    return min(MAX_NORMAL_TURN, *(CURVATURE_TURN_RATIO * bend for bend in _bends(x, f, g, n)))


def _bends(x: ShapePair, f: SupportFeature, g: SupportFeature, n: Array) -> list[float]:
    """Return the angle (rad) over which the support function of each feature curves, at most 1."""
    return [
        float(np.linalg.norm(Q.T @ m) / np.linalg.norm(Q, 2)) if Q.any() else np.inf
        for Q, m in ((f.Q, x.R.T @ n), (g.Q, n))
    ]


def _turns_with_first(x: ShapePair, f: SupportFeature, g: SupportFeature, n: Array) -> bool:
    """Whether the normal that Newton's method starts from turns with A: with the feature whose
    support function bends more sharply.

    The support function of a rim of radius r has a kink along its axis. At a small angle theta to
    the axis it is curved as r / theta about it, and the curvature rho of the other feature alone
    decides theta. A start that is off by an angle alpha about the axis makes Newton's method miss
    theta by r alpha^2 / (2 rho), so that it finds the normal only where alpha is small relative to
    sqrt(theta). A start that turns with the rim keeps alpha small; one that turns with the other
    body, which moves relative to the axis, soon does not.
    """
    if f.is_face or g.is_face or f.is_line or g.is_line:
        return False
    first, second = _bends(x, f, g, n)
    return first < second


def _with_cones(
    x: ShapePair, pair: SupportPair, f: SupportFeature, g: SupportFeature, n: Array
) -> SupportPair:
    """Return the pair with the nearest half-spaces of both normal cones as guards; if there are
    more than WATCHED_HALF_SPACES, the normal may not turn as far as the next one.
    """
    far = []
    cones = []
    for cone, m in ((f.cone, -(x.R.T @ n)), (g.cone, n)):
        inside = cone @ m
        order = np.argsort(inside)
        if len(order) > WATCHED_HALF_SPACES:
            far.append(max(float(inside[order[WATCHED_HALF_SPACES]]), BOUNDARY_SLACK))
        rows = [(*cone[k], slack(inside[k])) for k in order[:WATCHED_HALF_SPACES]]
        cones.append(
            tuple(np.ravel([*rows, *[(0.0, 0.0, 0.0, 1.0)] * (WATCHED_HALF_SPACES - len(rows))]))
        )
    pair = pair._replace(cone_a=cones[0], cone_b=cones[1])
    if far:
        half = 0.5 * min(far)
        pair = pair._replace(
            turn=min(float(pair.turn), half), along_a=x.R.T @ n, along_b=n, parallel=1.0 / half**2
        )
    return pair


def _with_face(
    x: ShapePair, pair: SupportPair, f: SupportFeature, g: SupportFeature, n: Array
) -> SupportPair:
    """Return the pair with the nearest sides of a face as guards; if there are more than
    WATCHED_HALF_SPACES, also a circle that does not reach beyond any other.
    """
    if not (f.is_face or g.is_face):
        return pair
    face = f if f.is_face else g
    a = x.R @ point_of(f, -(x.R.T @ n))[0] + x.p
    b = point_of(g, n)[0]
    at = x.R.T @ (b - x.p) if f.is_face else a
    at = at - ((at - face.p) @ face.normal) * face.normal
    if face.ring is None:
        beyond = overhang(x, f, g, n) if f.is_face else overhang(x, g, f, -(x.R.T @ n))
        far = face.radius + max(slack(within(face, at), x.size), beyond)
        return pair._replace(round=1.0 / far**2)
    c, k = sides_of(face)
    inside = c @ at - k
    order = np.argsort(inside)
    rows = [(*c[m], inside[m] + slack(inside[m], x.size)) for m in order[:WATCHED_HALF_SPACES]]
    sides = tuple(np.ravel([*rows, *[(0.0, 0.0, 0.0, 1.0)] * (WATCHED_HALF_SPACES - len(rows))]))
    ring = (
        1.0 / max(float(inside[order[WATCHED_HALF_SPACES]]), BOUNDARY_SLACK * x.size) ** 2
        if len(order) > WATCHED_HALF_SPACES
        else 0.0
    )
    return pair._replace(**{"p_a" if f.is_face else "p_b": at}, sides=sides, round=ring)
