"""The features by which a sphere or capsule may touch a polyhedron or a capsule next: points of a
rounded pair in numbers.

A, the core of a sphere or capsule, is one corner, or two and their edge; B is a polyhedron, or the
edge of a capsule. Around them is a radius.

    end, face       a corner of A over a face of B            normal fixed on B
    end, edge       a corner of A near an edge of B           normal along their shortest
                                                              connection, as for all below
    end, corner     a corner of A near a corner of B
    edge, edge      the edge of A across an edge of B
    edge, corner    the edge of A near a corner of B

The distance of a corner of A from B is that of its nearest feature, whose Voronoi region is bounded
by planes: each end has a point, which is exact as long as it stays within them. If the distance
decreases along the edge of A from an end, the edge is nearer: the end is inactive until that
changes. Between the ends are the two nearest features of the last two kinds. For all other features
there is a length by which the ends must move before they can be the nearest (`rounded_reach`). The
normal changes continuously from one feature to the next if the change is exactly at the boundary of
a region; so there is slack only at a boundary where the pair rests.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .half_spaces import RoundedMeet, rounded_meet
from .polyhedra import Polyhedron
from .polyhedron_features import FAR_APART_RATIO, FEATURE_SLACK_RATIO, LOOK_AHEAD_SHARE
from .rounded_reach import (
    PARALLEL_EDGE_SINE,
    Pairs,
    pairs_of_edges,
    reach_of_corners,
    reach_of_edges,
)

Array = np.ndarray
# Planes of a region that have guards; the others limit how far the point may move.
PLANES = 4
# A feature is accepted up to this far outside its region, relative to the size, so that one of two
# neighbours always is.
REGION_NOISE_RATIO = 1e-14
# Sine of the angle between edges that cross under load, at least: below it the crossing moves along
# them by 1e6 times their rotation.
SHALLOW_CROSSING_SINE = 1e-3
# A margin that decreases by less on the way ahead, as a share of the slack, stays.
STAYING_MARGIN_SHARE = 1e-4
# Points between the ends, at most.
MAX_POINTS_BETWEEN = 2


class RoundedFeature(NamedTuple):
    """A point of a rounded pair in numbers, as the mode of a contact point stores it.

    key: identifies the features, 0 for none, negative if inactive. face, along_a, along_b: 1 or 0,
    arguments of `half_spaces.rounded_meet`, as are a, d (3,) in A's axes and b, g (3,) in B's.
    limits (6,): the bounds of s and of u, m; and sign and offset for d . e, the slope of the
    distance along the edge of A. planes (4, 4): guards h . e + c >= 0 in B's axes, where e points
    from B to A.
    """

    key: Any
    face: Any
    along_a: Any
    along_b: Any
    a: Any
    b: Any
    d: Any
    g: Any
    limits: Any
    planes: Any

    @staticmethod
    def absent() -> tuple[float, ...]:
        """Return the numbers of a contact point that is not in use, because it has no feature."""
        return ROUNDED_NUMBERS

    @property
    def numbers(self) -> list[float]:
        """All numbers in a flat list, as `of` reads them."""
        return [
            *(float(x) for x in self[:4]),
            *(float(x) for part in self[4:] for x in np.ravel(part)),
        ]

    @staticmethod
    def of(x: Sequence[Any]) -> RoundedFeature:
        """Return the feature from a flat list of numbers or symbols."""
        a, b, d, g = (tuple(x[k : k + 3]) for k in range(4, 16, 3))
        return RoundedFeature(
            x[0],
            x[1],
            x[2],
            x[3],
            a,
            b,
            d,
            g,
            tuple(x[16:22]),
            tuple(tuple(x[k : k + 4]) for k in range(22, 22 + 4 * PLANES, 4)),
        )

    def on_second(self, R: Array, p: Array, radius: float) -> RoundedMeet:
        """Return where the feature is at the relative pose X_BA = (R, p), in the axes of B."""
        return rounded_meet(
            self.face,
            self.along_a,
            self.along_b,
            R @ self.a + p,
            np.array(self.b),
            R @ self.d,
            np.array(self.g),
            radius,
        )

    def margins(self, at: RoundedMeet, d: Any, planes: Sequence[Any]) -> list[Any]:
        """Return the distances (m) of the feature from the places where other features become
        nearer; d and the normals of planes are in the axes of `at`.
        """
        low, high, first, last, sign, offset = self.limits
        dot = lambda x, y: x[0] * y[0] + x[1] * y[1] + x[2] * y[2]  # noqa: E731
        inside = [dot(h, at.residual) + own[3] for h, own in zip(planes, self.planes)]
        return [
            at.s - low,
            high - at.s,
            at.u - first,
            last - at.u,
            sign * dot(d, at.residual) + offset,
            *inside,
        ]


# Limits that are never reached.
FREE = (-1.0, 1.0, -1.0, 1.0, 0.0, 1.0)
# The numbers of no feature.
ROUNDED_NUMBERS: tuple[float, ...] = (
    0.0,
    1.0,
    0.0,
    0.0,
    *(0.0,) * 6,
    1.0,
    0.0,
    0.0,
    0.0,
    0.0,
    1.0,
    *FREE,
    *(0.0, 0.0, 0.0, 1.0) * PLANES,
)


class RoundedFeatures(NamedTuple):
    """The points of a rounded pair: their features; separation, m; places (n, 3) on B, m; reach,
    turn and yaw as in `PatchFeatures`.
    """

    points: list[RoundedFeature]
    separation: float
    places: Array
    reach: tuple[float, float]
    turn: float = 2.0
    yaw: Any = (0.0, 0.0, 0.0)
    flat: bool = False  # as in `nearest_features.PairFeatures`


class Found(NamedTuple):
    """A candidate for a feature of a pair at one configuration: the point of A's core, and e (3,)
    from B to it. least: how far the ends may move before planes without a guard matter, m. edge,
    slope: the slack of s and u, and of d . e, m.
    """

    feature: RoundedFeature
    core: Array
    e: Array
    least: float = np.inf
    edge: float = 0.0
    slope: float = 0.0


def rounded_features(
    A: Polyhedron,
    B: Polyhedron,
    radius: float,
    R: Array,
    p: Array,
    w: Array | None = None,
    v: Array | None = None,
) -> RoundedFeatures:
    """Return the points of two polyhedra with a radius, each in the axes of its body; X_BA = (R,
    p). radius: the sum of both radii, m. w, v (3,): angular velocity of A and velocity of its
    origin relative to B.

    The features are those of an instant later, so that a ball exactly at the border of a face
    continues at the edge; but those of this instant if the later ones would be outside their
    regions now.
    """
    here = later = _Pair(A, B, radius, R, p)
    if w is not None and v is not None:
        fastest = float(np.linalg.norm(np.cross(w, A.corners @ R.T) + v, axis=1).max())
        if fastest > 0.0:
            dt = LOOK_AHEAD_SHARE * here.slack / fastest
            later = _Pair(A, B, radius, R + dt * np.cross(w, R.T).T, p + dt * v)
    found, inside = _features(later, here, later)
    return found if inside else _features(here, here, later)[0]


def _features(pair: _Pair, here: _Pair, later: _Pair) -> tuple[RoundedFeatures, bool]:
    """Return the features of a pair, with guards for the motion from `here` to `later`; and whether
    all are in their regions at `here`.
    """
    if pair.crossed:
        return _separating_features(pair), True
    ends = [pair.end(i) for i in range(len(pair.x))]
    between, others = pair.between(ends) if len(ends) > 1 else ([], None)
    separation = min(float(np.linalg.norm(one.e)) for one in (*ends, *between)) - pair.radius
    if separation > FAR_APART_RATIO * pair.size:
        return (
            RoundedFeatures(
                [],
                separation,
                np.zeros((0, 3)),
                (separation - 0.5 * FAR_APART_RATIO * pair.size, np.inf),
            ),
            True,
        )
    found = [*ends, *between[:MAX_POINTS_BETWEEN]]
    yaw = np.zeros(3)
    reach = min((one.least for one in found), default=np.inf)
    if others is not None:
        more, yaw = pair.reach(others, found, between[MAX_POINTS_BETWEEN:])
        reach = min(reach, more)
    points = [_with_slack(one, here, later) for one in found]
    places = np.array([one.core for one in found])
    return RoundedFeatures(
        [x for x, _ in points], separation, places, (max(reach, pair.slack), np.inf), yaw=yaw
    ), all(inside for _, inside in points)


def _with_slack(one: Found, here: _Pair, later: _Pair) -> tuple[RoundedFeature, bool]:
    """Return a feature with slack at those boundaries of its region where it lies and which it does
    not cross, so that rounding triggers no event; other boundaries are exact. And whether it is
    within its region.
    """
    x = one.feature
    margin = here.margins(one.feature)
    leaves = (later.margins(x) < margin - STAYING_MARGIN_SHARE * here.slack) & (margin > here.noise)
    slack = np.full(len(margin), here.slack)
    slack[:4], slack[4] = max(one.edge, here.slack), one.slope or here.slack
    slack[leaves | (margin >= slack)] = 0.0
    low, high, first, last, sign, offset = x.limits
    limits = (
        low - slack[0],
        high + slack[1],
        first - slack[2],
        last + slack[3],
        sign,
        offset + slack[4],
    )
    return x._replace(
        limits=limits, planes=x.planes + np.outer(slack[5:], (0.0, 0.0, 0.0, 1.0))
    ), bool((margin + slack > 0.0).all())


class _Pair:
    """Two polyhedra in the axes of B. x (1 or 2, 3): corners of A; d (3,): unit vector from the
    first to the second; long: their distance, m.
    """

    def __init__(self, A: Polyhedron, B: Polyhedron, radius: float, R: Array, p: Array):
        self.A = A
        self.B = B
        self.radius = radius
        self.R = R
        self.p = p
        self.x, self.size = A.corners @ R.T + p, radius + min(A.radius, B.radius)
        self.slack = FEATURE_SLACK_RATIO * self.size
        self.noise = REGION_NOISE_RATIO * self.size
        self.long = float(np.linalg.norm(A.corners[-1] - A.corners[0]))
        self.own = A.directions[0] if len(A.edges) else np.array([1.0, 0.0, 0.0])  # d in A's axes
        self.d = R @ self.own

    @property
    def crossed(self) -> bool:
        """Whether the cores overlap."""
        if not len(self.B.normals):
            pairs = pairs_of_edges(self.x, self.d, self.long, self.B)
            return bool((pairs.distance <= self.noise).any())
        height = self.B.normals @ self.x.T - self.B.offsets[:, None]
        first = height[:, 0]
        last = height[:, -1]
        rise = last - first
        with np.errstate(divide="ignore", invalid="ignore"):
            at = np.where(
                rise == 0.0,
                np.where(first > 0.0, np.inf, -np.inf),
                -first / np.where(rise == 0.0, 1.0, rise),
            )
        low = np.max(at[rise <= 0.0], initial=0.0)
        high = np.min(at[rise > 0.0], initial=1.0)
        return bool(low <= high)

    def margins(self, x: RoundedFeature) -> Array:
        """Return the margins of a feature, as `RoundedFeature.margins`."""
        return np.array(
            x.margins(
                x.on_second(self.R, self.p, self.radius), self.R @ x.d, [h[:3] for h in x.planes]
            )
        )

    # --- ends
    def end(self, i: int) -> Found:
        """Return the feature of corner i of A with the nearest feature of B."""
        x = self.x[i]
        inward = -1.0 if i else 1.0
        kind, n = self._nearest(x)
        d = self.own * inward
        make = {"face": self._over_face, "edge": self._beside_edge, "corner": self._beside_corner}[
            kind
        ]
        found = make(i, n, x)
        if kind == "face" or not self.long:
            return found._replace(feature=found.feature._replace(d=d))
        return self._with_slope_guard(
            found, d, float(self.d @ found.e) * inward, self._sine(n) if kind == "edge" else 1.0
        )

    def _nearest(self, x: Array) -> tuple[str, int]:
        """Return kind and number of the feature of B that is nearest to the point x."""
        B = self.B
        away = x - B.corners[B.edges[:, 0]]
        if len(B.normals):
            height = B.normals @ x - B.offsets
            within = np.full(len(B.normals), np.inf)
            np.minimum.at(within, B.sides.ravel(), np.einsum("kji,ki->kj", B.inward, away).ravel())
            seen = np.where(height > 0.0, within, -np.inf)
            if seen.max() >= -self.noise:
                return "face", int(seen.argmax())
        u = np.einsum("ki,ki->k", away, B.directions)
        wide = np.linalg.norm(B.corners[B.edges[:, 1]] - B.corners[B.edges[:, 0]], axis=1)
        e = away - np.clip(u, 0.0, wide)[:, None] * B.directions
        k = int(np.einsum("ki,ki->k", e, e).argmin())
        if -self.noise <= u[k] <= wide[k] + self.noise:
            return "edge", k
        return "corner", int(B.edges[k, int(u[k] > 0.0)])

    def _over_face(self, i: int, f: int, x: Array) -> Found:
        """Return the feature of corner i of A, at x, over face f of B."""
        B = self.B
        k, j = np.nonzero(B.sides == f)
        b = B.corners[list(B.polygons[f])].mean(axis=0)
        h = B.inward[k, j]
        planes, least = self._planes(
            h, np.einsum("ki,ki->k", h, b - B.corners[B.edges[k, 0]]), x - b
        )
        n = B.normals[f]
        return Found(
            self._feature(_key(0, i, f), i, b, g=n, face=1.0, planes=planes),
            x,
            n * float(n @ (x - b)),
            least,
        )

    def _beside_edge(self, i: int, k: int, x: Array) -> Found:
        """Return the feature of corner i of A, at x, near edge k of B."""
        B = self.B
        b = B.corners[B.edges[k, 0]]
        g = B.directions[k]
        wide = float(np.linalg.norm(B.corners[B.edges[k, 1]] - b))
        e = (x - b) - g * float(g @ (x - b))
        planes, least = self._planes(-B.inward[k], np.zeros(len(B.inward[k])), e)
        limits = (-1.0, 1.0, 0.0, wide, 0.0, 1.0)
        return Found(
            self._feature(_key(1, i, k), i, b, g=g, along_b=1.0, limits=limits, planes=planes),
            x,
            e,
            least,
        )

    def _beside_corner(self, i: int, c: int, x: Array) -> Found:
        """Return the feature of corner i of A, at x, near corner c of B."""
        b = self.B.corners[c]
        g = self._leaving(c)
        planes, least = self._planes(-g, np.zeros(len(g)), x - b)
        return Found(self._feature(_key(2, i, c), i, b, planes=planes), x, x - b, least)

    def _with_slope_guard(self, found: Found, d: Array, slope: float, sine: float) -> Found:
        """Return the feature of an end with a guard for the slope of the distance along A's edge:
        active while the distance increases from the end, inactive while it decreases. If A's edge
        is parallel to an edge of B it is always active.
        """
        if sine < PARALLEL_EDGE_SINE:
            return found._replace(feature=found.feature._replace(d=d))
        awake = slope >= -self.noise
        low, high, first, last, _, _ = found.feature.limits
        x = found.feature._replace(
            d=d, limits=(low, high, first, last, 1.0 if awake else -1.0, 0.0)
        )
        return found._replace(
            feature=x if awake else x._replace(key=-x.key),
            slope=max(self.slack * sine**2, 2.0 * self.noise),
        )

    # --- between the ends
    def between(self, ends: list[Found]) -> tuple[list[Found], Pairs]:
        """Return the features where the edge of A crosses edges of B, or passes corners of it,
        nearest first, without those that an active end represents; and all pairs of edges.
        """
        pairs = pairs_of_edges(self.x, self.d, self.long, self.B)
        found = [self._across(pairs, int(k)) for k in np.flatnonzero(self._crossing(pairs))]
        found += [self._over_corner(c) for c in range(len(self.B.corners)) if self._is_over(c)]
        distinct: list[Found] = []
        for one in sorted(found, key=lambda one: float(one.e @ one.e)):
            awake = [x for x in ends if x.feature.key > 0.0] + distinct
            if not any(
                np.abs(np.append(one.core - x.core, one.e - x.e)).max() <= 10.0 * self.noise
                for x in awake
            ):
                distinct.append(one)
        return distinct, pairs

    def _crossing(self, pairs: Pairs) -> Array:
        """Return booleans (m,), for pairs of edges: whether the nearest points of their two lines
        lie within both edges.
        """
        slack = self.noise
        on = (
            (pairs.s >= -slack)
            & (pairs.s <= self.long + slack)
            & (pairs.u >= -slack)
            & (pairs.u <= pairs.wide + slack)
        )
        return np.asarray(on & (pairs.sine >= PARALLEL_EDGE_SINE))

    def _across(self, pairs: Pairs, k: int) -> Found:
        """Return the feature in which the edge of A crosses edge k of B."""
        B = self.B
        limits = (0.0, self.long, 0.0, pairs.wide[k], 0.0, 1.0)
        core = self.x[0] + pairs.s[k] * self.d
        e = core - B.corners[B.edges[k, 0]] - pairs.u[k] * B.directions[k]
        return Found(
            self._feature(
                _key(3, 0, k),
                0,
                B.corners[B.edges[k, 0]],
                g=B.directions[k],
                along_a=1.0,
                along_b=1.0,
                limits=limits,
            ),
            core,
            e,
            edge=self.noise / pairs.sine[k] ** 2,
        )

    def _is_over(self, c: int) -> bool:
        """Whether corner c of B is opposite the edge of A, and the distance decreases along no edge
        of B from it, except those parallel to A's.
        """
        w = self.B.corners[c] - self.x[0]
        s = float(self.d @ w)
        g = self._leaving(c)
        e = s * self.d - w
        leads = (g @ e > self.noise) & (
            np.linalg.norm(np.cross(g, self.d), axis=1) >= PARALLEL_EDGE_SINE
        )
        return 0.5 * self.noise < s < self.long - 0.5 * self.noise and not leads.any()

    def _over_corner(self, c: int) -> Found:
        """Return the feature of A's edge near corner c of B."""
        b = self.B.corners[c]
        s = float(self.d @ (b - self.x[0]))
        g = self._leaving(c)
        e = self.x[0] + s * self.d - b
        across = g[np.linalg.norm(np.cross(g, self.d), axis=1) >= PARALLEL_EDGE_SINE]
        planes, least = self._planes(-across, np.zeros(len(across)), e)
        limits = (0.0, self.long, -1.0, 1.0, 0.0, 1.0)
        return Found(
            self._feature(_key(4, 0, c), 0, b, along_a=1.0, limits=limits, planes=planes),
            self.x[0] + s * self.d,
            e,
            0.5 * least,
        )

    def reach(self, pairs: Pairs, found: list[Found], others: list[Found]) -> tuple[float, Array]:
        """Return how far the ends may move before features touch that are not points, m; and the
        direction of rotations that have a guard.

        The distance from B is convex along A: while it increases from an end, nothing else is
        nearer.
        """
        ends = [one.feature for one in found[: len(self.x)]]
        if any(x.key > 0.0 and x.limits[4] > 0.0 for x in ends):
            return np.inf, np.zeros(3)
        rise = max(
            0.5 * self.long * float(sign * self.d @ x.g) if x.face else 0.0
            for x, sign in zip(ends, (1.0, -1.0))
        )
        keys = {abs(int(one.feature.key)) for one in found}
        far = min((float(np.linalg.norm(one.e)) - self.radius for one in others), default=np.inf)
        edges, yaw = reach_of_edges(
            pairs,
            self.x,
            self.d,
            self.B,
            self.radius,
            self.size,
            lambda kind, i, n: int(_key(kind, i, n)) in keys,
        )
        corners = reach_of_corners(
            self.x,
            self.d,
            self.long,
            self.B,
            self.radius,
            lambda kind, i, n: int(_key(kind, i, n)) in keys,
        )
        return max(min(far, edges, corners), rise), yaw

    # --- parts
    def _feature(
        self,
        key: float,
        i: int,
        b: Array,
        g: Any = (0.0, 0.0, 1.0),
        face: float = 0.0,
        along_a: float = 0.0,
        along_b: float = 0.0,
        limits: Any = FREE,
        planes: Any = None,
    ) -> RoundedFeature:
        """Return the RoundedFeature of corner i of A and the point b of B, with the bounds of its
        region.
        """
        none = np.tile([0.0, 0.0, 0.0, 1.0], (PLANES, 1))
        return RoundedFeature(
            key,
            face,
            along_a,
            along_b,
            self.A.corners[i],
            b,
            self.own,
            g,
            limits,
            none if planes is None else planes,
        )

    def _planes(self, h: Array, c: Array, e: Array) -> tuple[Array, float]:
        """Return the nearest PLANES planes h . e + c, (PLANES, 4), and the distance to the next
        one, m.
        """
        inside = h @ e + c
        order = np.argsort(inside)
        rows = np.column_stack([h, c])[order[:PLANES]]
        more = np.tile([0.0, 0.0, 0.0, 1.0], (PLANES - len(rows), 1))
        return np.vstack([rows, more]), (
            max(float(inside[order[PLANES]]), 0.0) if len(order) > PLANES else np.inf
        )

    def _leaving(self, c: int) -> Array:
        """Return unit vectors (k, 3) along the edges that begin at corner c of B."""
        g = self.B.corners[self.B.neighbours[c]] - self.B.corners[c]
        return np.asarray(g / np.linalg.norm(g, axis=1)[:, None])

    def _sine(self, k: int) -> float:
        """Return the sine of the angle between A's edge and edge k of B."""
        return float(np.linalg.norm(np.cross(self.d, self.B.directions[k])))


def _key(kind: int, first: int, second: int) -> float:
    """Return the number that identifies a feature."""
    return 1.0 + 2e6 * kind + 1e6 * first + second


def _separating_features(pair: _Pair) -> RoundedFeatures:
    """Return the features of cores that overlap: the ends over the face, or along the common normal
    of both edges, along which the translation to separate them is shortest.
    """
    B, x = pair.B, pair.x
    if len(B.normals):
        height = (B.normals @ x.T).min(axis=1) - B.offsets
        f = int(height.argmax())
        n = B.normals[f]
        b = B.corners[B.polygons[f][0]]
        depth = float(height[f])
    else:
        n = np.cross(pair.d, B.directions[0])
        b = B.corners[0]
        depth = 0.0
        n = (
            n
            if np.linalg.norm(n) > PARALLEL_EDGE_SINE
            else np.cross(pair.d, np.eye(3)[np.abs(pair.d).argmin()])
        )
        n = n / np.linalg.norm(n)
    points = [pair._feature(_key(5, i, 0), i, b, g=n, face=1.0) for i in range(len(x))]
    return RoundedFeatures(points, depth - pair.radius, x.copy(), (pair.slack, np.inf))
