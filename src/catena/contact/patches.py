"""Pairs of shapes in a time step: their contact manifolds, and the effect of impulses at these
points on the pair; over lanes of runs.

A pair has as many contacts with friction as its kind may have at once (`MANIFOLDS`); they come
after all other contacts with friction. Its points share a normal and two tangents, and move with
the relative twist of the two shapes: a row of W's factor is a combination of the six rows of the
twist, with the axis and its moment as coefficients; p.Y holds the six rows. So the tape has six
rows per pair, and the rows of points are computed here, for active points only. Pairs of one kind
are consecutive: a group is (kind, first pair, one past the last pair, points per pair, first
point). p, a, s are the ContactProblem, ContactAnswer and ContactScratch of `problem`.
"""

from __future__ import annotations

from ..collision import MANIFOLDS, tangents
from ..collision.manifolds import NO_POINT_GAP
from ..spatial import add, any_lane, cross, dot, kernel, larger, put, scale, select, smaller, sqrt


@kernel
def fill(p, s, rough, groups, pairs, points, fastest):
    """Compute the gaps of all points of all pairs, and the speeds of those within reach; return the
    fastest speed of all contacts.

    A point is within reach if its gap is at most the distance that the fastest possible contact
    travels in a step; a pair that is farther apart in all lanes is skipped.
    """
    bound = fastest
    for k in range(pairs):
        bound = larger(bound, _bound(p.pose, p.before_twist, k) + _bound(p.pose, p.free_twist, k))
    reach = p.h[0] * bound
    plain = rough - points
    for kind, first, behind, each, start in groups:
        for k in range(first, behind):
            at = start + each * (k - first)
            if any_lane(_apart(p.pose, k) <= reach):
                axes(kind, p.pose, s, k, at)
                for i in range(at, at + each):
                    fastest = _point(p, s, k, plain + i, i, reach, fastest)
            else:
                for i in range(at, at + each):
                    p.gap[plain + i] = NO_POINT_GAP + 0.0 * fastest
    return smaller(fastest, bound)


@kernel
def _bound(pose, twist, k):
    """Return an upper bound of the speed of any point of a pair, m/s."""
    w = (twist[k, 0], twist[k, 1], twist[k, 2])
    v = (twist[k, 3], twist[k, 4], twist[k, 5])
    return sqrt(dot(v, v)) + pose[k, 31] * sqrt(dot(w, w))


@kernel
def _apart(pose, k):
    """Return a lower bound of the distance between the shapes of a pair, m."""
    r = (pose[k, 25] - pose[k, 9], pose[k, 26] - pose[k, 10], pose[k, 27] - pose[k, 11])
    return sqrt(dot(r, r)) - pose[k, 15] - pose[k, 31]


@kernel
def axes(kind, pose, s, k, at):
    """Compute the points of pair k into s.points from `at` on, and its normal and two tangents into
    s.axes.
    """
    n = scale(s.hulls.turn[k], MANIFOLDS[kind].kernel(pose, s, k, at))
    x, y = tangents(n)
    s.axes[k, 0], s.axes[k, 1], s.axes[k, 2] = n
    s.axes[k, 3], s.axes[k, 4], s.axes[k, 5] = x
    s.axes[k, 6], s.axes[k, 7], s.axes[k, 8] = y


@kernel
def _arm(pose, s, k, own):
    """Return the vector from the centre of the second shape of pair k to one of its points."""
    return (
        s.points[own, 1] - pose[k, 25],
        s.points[own, 2] - pose[k, 26],
        s.points[own, 3] - pose[k, 27],
    )


@kernel
def _point(p, s, k, i, own, reach, fastest):
    """Store gap and speeds of one point; return the fastest speed, including this point's if it is
    within reach.
    """
    gap = s.points[own, 0]
    arm = _arm(p.pose, s, k, own)
    p.gap[i] = gap
    a, b, c = speeds_at(p.before_twist, k, arm, s.axes)
    d, e, f = speeds_at(p.free_twist, k, arm, s.axes)
    p.before[3 * i], p.before[3 * i + 1], p.before[3 * i + 2] = a, b, c
    p.free[3 * i], p.free[3 * i + 1], p.free[3 * i + 2] = d, e, f
    most = sqrt(larger(a * a + b * b + c * c, d * d + e * e + f * f))
    return select(gap <= reach, larger(fastest, most), fastest)


@kernel
def speeds_at(twist, k, arm, axes):
    """Return the speeds along the axes of pair k, for a point at the vector `arm` from the centre
    of its second shape.
    """
    u = add(
        (twist[k, 3], twist[k, 4], twist[k, 5]), cross((twist[k, 0], twist[k, 1], twist[k, 2]), arm)
    )
    return (
        dot((axes[k, 0], axes[k, 1], axes[k, 2]), u),
        dot((axes[k, 3], axes[k, 4], axes[k, 5]), u),
        dot((axes[k, 6], axes[k, 7], axes[k, 8]), u),
    )


@kernel
def _axis(pose, s, point, r):
    """Return axis r of a contact point (0 the normal, 1 and 2 the tangents), and its moment about
    the centre of the second shape.
    """
    k = s.hulls.owner[point]
    axis = (s.axes[k, 3 * r], s.axes[k, 3 * r + 1], s.axes[k, 3 * r + 2])
    return axis, cross(_arm(pose, s, k, point), axis)


@kernel
def row_of_patch(p, s, point, r, to, width):
    """Compute row `to` of the packed factor s.X, for axis r of a contact point."""
    axis, moment = _axis(p.pose, s, point, r)
    n, Y = 6 * s.hulls.owner[point], p.Y
    for c in range(width):
        s.X[to, c] = (
            moment[0] * Y[n, c]
            + moment[1] * Y[n + 1, c]
            + moment[2] * Y[n + 2, c]
            + axis[0] * Y[n + 3, c]
            + axis[1] * Y[n + 4, c]
            + axis[2] * Y[n + 5, c]
        )


@kernel
def sum_up(p, a, s, rough, pairs, points):
    """Compute the sum of the impulses and the sum of the shifts of each pair."""
    for n in range(12 * pairs):
        a.sums[n // 12, n % 12] = 0.0 * a.work[0]
    for point in range(points):
        i = rough - points + point
        if any_lane(s.took[i] > 0.5):
            for r in range(3):
                _add_impulse(p, a, s, point, r, a.P[3 * i + r], 0)
                _add_impulse(p, a, s, point, r, a.shift[3 * i + r], 6)


@kernel
def _add_impulse(p, a, s, point, r, size, at):
    """Add an impulse of this size along axis r of a contact point to the sums of its pair."""
    k = s.hulls.owner[point]
    axis, moment = _axis(p.pose, s, point, r)
    for c in range(3):
        a.sums[k, at + c] += size * moment[c]
        a.sums[k, at + 3 + c] += size * axis[c]


@kernel
def see(given, seen, s, groups):
    """Compute what is recorded of all pairs: gaps, places of the points, speeds along the axes, and
    the axes. given: poses and twists of the pairs.
    """
    for kind, first, behind, each, start in groups:
        for k in range(first, behind):
            at = start + each * (k - first)
            axes(kind, given.pose, s, k, at)
            for i in range(at, at + each):
                seen.gap[i] = s.points[i, 0]
                put(seen.place, i, (s.points[i, 1], s.points[i, 2], s.points[i, 3]))
                put(seen.speed, i, speeds_at(given.twist, k, _arm(given.pose, s, k, i), s.axes))
                for c in range(9):
                    seen.axes[i, c] = s.axes[k, c]
