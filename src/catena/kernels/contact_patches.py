"""Pairs of boxes in a time step: their points of the moment, and what impulses at these do to the pair; over lanes of runs.

A pair has `POINTS` contacts with friction, behind all others that have it. Its points share a normal and two tangents, and move with the twist of one box
against the other: a row of W's factor is that of the twist, of which p.Y has six, times the axis and its moment. So the tape has six rows a pair, and
what a point needs is made here, of those that take part.
"""

from __future__ import annotations

from ..spatial import add, any_lane, cross, dot, kernel, larger, select, smaller, sqrt, sub
from .box_manifold import NONE, POINTS, box_manifold
from .contact_points import tangents
from .solids import Solid


@kernel
def fill(p, s, rough, pairs, fastest):
    """Gaps of all points of all pairs, and the speeds of those that may be reached; the fastest of all contacts.

    Reached is what a step at the fastest speed of any contact would come to: a pair that is farther away in all lanes is not looked at.
    """
    bound = fastest
    for k in range(pairs):
        bound = larger(bound, _bound(p.pose, p.before_twist, k) + _bound(p.pose, p.free_twist, k))
    reach = p.h[0] * bound
    for k in range(pairs):
        first = rough - POINTS * (pairs - k)
        if any_lane(_apart(p.pose, k) <= reach):
            fastest = _points(p, s, k, first, reach, fastest)
        else:
            for i in range(POINTS):
                p.gap[first + i] = NONE + 0.0 * fastest
    return smaller(fastest, bound)


@kernel
def _bound(pose, twist, k):
    """No point of a pair is faster than this, m/s."""
    w, v = (twist[k, 0], twist[k, 1], twist[k, 2]), (twist[k, 3], twist[k, 4], twist[k, 5])
    return sqrt(dot(v, v)) + _radius(pose, k, 27) * sqrt(dot(w, w))


@kernel
def _radius(pose, k, at):
    """Half the diagonal of a box."""
    x, y, z = pose[k, at], pose[k, at + 1], pose[k, at + 2]
    return 0.5 * sqrt(x * x + y * y + z * z)


@kernel
def _apart(pose, k):
    """The boxes of a pair are no nearer than this, m."""
    r = (pose[k, 24] - pose[k, 9], pose[k, 25] - pose[k, 10], pose[k, 26] - pose[k, 11])
    return sqrt(dot(r, r)) - _radius(pose, k, 12) - _radius(pose, k, 27)


@kernel
def solid_at(pose, k, at):
    """One box of a pair."""
    return Solid(((pose[k, at], pose[k, at + 1], pose[k, at + 2]), (pose[k, at + 3], pose[k, at + 4], pose[k, at + 5]), (pose[k, at + 6], pose[k, at + 7], pose[k, at + 8])),
                 (pose[k, at + 9], pose[k, at + 10], pose[k, at + 11]), (pose[k, at + 12], pose[k, at + 13], pose[k, at + 14]))  # fmt: skip


@kernel
def _points(p, s, k, first, reach, fastest):
    """The points of one pair, the first of which is a contact of that number."""
    n, x, y, points = manifold_at(p.pose, k)
    s.axes[k, 0], s.axes[k, 1], s.axes[k, 2] = n
    s.axes[k, 3], s.axes[k, 4], s.axes[k, 5] = x
    s.axes[k, 6], s.axes[k, 7], s.axes[k, 8] = y
    middle = (p.pose[k, 24], p.pose[k, 25], p.pose[k, 26])
    i = 0
    for group in points:
        for gap, place in group:
            fastest = _point(p, s, k, first + i, POINTS * k + i, gap, sub(place, middle), n, x, y, reach, fastest)
            i += 1
    return fastest


@kernel
def manifold_at(pose, k):
    """Normal, two tangents and the points of a pair."""
    n, points = box_manifold(solid_at(pose, k, 0), solid_at(pose, k, 15))
    x, y = tangents(n)
    return n, x, y, points


@kernel
def _point(p, s, k, i, own, gap, arm, n, x, y, reach, fastest):
    """One point: its gap, its speeds; the fastest contact with it, where it may be reached."""
    p.gap[i] = gap
    s.arm[own, 0], s.arm[own, 1], s.arm[own, 2] = arm
    a, b, c = speeds_at(p.before_twist, k, arm, n, x, y)
    d, e, f = speeds_at(p.free_twist, k, arm, n, x, y)
    p.before[3 * i], p.before[3 * i + 1], p.before[3 * i + 2] = a, b, c
    p.free[3 * i], p.free[3 * i + 1], p.free[3 * i + 2] = d, e, f
    most = larger(larger(larger(abs(a), abs(b)), larger(abs(c), abs(d))), larger(abs(e), abs(f)))
    return select(gap <= reach, larger(fastest, most), fastest)


@kernel
def speeds_at(twist, k, arm, n, x, y):
    """Along the axes, of a point with this arm from the middle."""
    u = add((twist[k, 3], twist[k, 4], twist[k, 5]), cross((twist[k, 0], twist[k, 1], twist[k, 2]), arm))
    return dot(n, u), dot(x, u), dot(y, u)


@kernel
def _axis(s, point, r):
    """Axis r of a point, and its moment about the middle."""
    k = point // POINTS
    axis = (s.axes[k, 3 * r], s.axes[k, 3 * r + 1], s.axes[k, 3 * r + 2])
    return axis, cross((s.arm[point, 0], s.arm[point, 1], s.arm[point, 2]), axis)


@kernel
def row_of_patch(p, s, point, r, to, width):
    """Row `to` of the factor, of axis r of a point."""
    axis, moment = _axis(s, point, r)
    n, Y = 6 * (point // POINTS), p.Y
    for c in range(width):
        s.X[to, c] = (moment[0] * Y[n, c] + moment[1] * Y[n + 1, c] + moment[2] * Y[n + 2, c] + axis[0] * Y[n + 3, c]
                      + axis[1] * Y[n + 4, c] + axis[2] * Y[n + 5, c])  # fmt: skip


@kernel
def sum_up(a, s, rough, pairs):
    """The sums of impulses and of shifts of each pair."""
    for n in range(12 * pairs):
        a.sums[n // 12, n % 12] = 0.0 * a.work[0]
    for point in range(POINTS * pairs):
        i = rough - POINTS * pairs + point
        if any_lane(s.took[i] > 0.5):
            for r in range(3):
                _act(a, s, point, r, a.P[3 * i + r], 0)
            _act(a, s, point, 0, a.shift[i], 6)


@kernel
def _act(a, s, point, r, size, at):
    """Let an impulse along axis r of a point act."""
    k = point // POINTS
    axis, moment = _axis(s, point, r)
    for c in range(3):
        a.sums[k, at + c] += size * moment[c]
        a.sums[k, at + 3 + c] += size * axis[c]


@kernel
def see(given, seen, scratch, pairs):
    """What is shown of all pairs: gaps, places, speeds along the axes, and the axes. given: pose and twist."""
    for k in range(pairs):
        n, x, y, points = manifold_at(given.pose, k)
        i = POINTS * k
        for group in points:
            for gap, place in group:
                _show(given, seen, k, i, gap, place, n, x, y)
                i += 1


@kernel
def _show(given, seen, k, i, gap, place, n, x, y):
    arm = sub(place, (given.pose[k, 24], given.pose[k, 25], given.pose[k, 26]))
    seen.gap[i] = gap
    seen.place[i, 0], seen.place[i, 1], seen.place[i, 2] = place
    seen.speed[i, 0], seen.speed[i, 1], seen.speed[i, 2] = speeds_at(given.twist, k, arm, n, x, y)
    seen.axes[i, 0], seen.axes[i, 1], seen.axes[i, 2] = n
    seen.axes[i, 3], seen.axes[i, 4], seen.axes[i, 5] = x
    seen.axes[i, 6], seen.axes[i, 7], seen.axes[i, 8] = y
