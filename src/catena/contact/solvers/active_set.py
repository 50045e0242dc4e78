"""A Newton step of a contact problem for fixed modes, over lanes of runs.

Joints that friction holds couple all contacts of a robot through light legs, and sweeps over single
contacts then converge slowly. But after a few sweeps most rows have the mode of the solution. With
the modes of the present impulses, all rows that hold a speed are solved together:

    W_AA dP = target - u,      A: normals of closed contacts, tangents of those that stick,
                               boxed rows that stick

p, a, s are the ContactProblem, ContactAnswer and ContactScratch of `problem`. Rows of W_AA may
depend on each other (four feet under a stiff robot): a small shift of the diagonal makes its
Cholesky factor exist, and one step of refinement removes its effect. The step ends where the first
impulse reaches its cone or limit; that row is released, and the others are solved again. A lane
takes the step only where the laws then have a smaller residual.
"""

from __future__ import annotations

from ...spatial import any_lane, kernel, select, sqrt
from ..problem import SLIP_CONE_RATIO, TINY, normal
from .certificate import misses
from .interior_point import border

# Added to the diagonal of W_AA, relative to it.
DIAGONAL_SHIFT = 1e-10
# Steps, each of which ends where an impulse reaches its cone or limit.
MAX_RELEASE_ROUNDS = 4


@kernel
def active_set_step(p, a, s, rough, smooth, busy, boxed, enough):
    """Replace the impulses of busy lanes by those of the step where these are better; return the
    busy lanes whose residual is above `enough`, m/s. p.W is W itself.
    """
    m = 3 * rough + smooth
    best = misses(p, a.P, s, rough, smooth, boxed, 0)
    _mark_rows(a, s, rough, smooth, boxed)
    for n in range(m):
        s.P[n], s.dy[n] = a.P[n], 0.0 * busy
    left = busy
    for _ in range(MAX_RELEASE_ROUNDS):
        _factor(p, s, m)
        for _ in range(2):  # the second time refines
            _missing(s, rough, smooth)
            _solve(s, m)
            for n in range(m):
                s.dy[n] = s.dy[n] + s.t[n]
            _all_speeds(p, s, m)
        left = _advance(s, rough, smooth, boxed, left)
        if not any_lane(left > 0.5):
            break
        for n in range(m):
            s.dy[n] = 0.0 * busy
        _all_speeds(p, s, m)
    _project(s, rough, smooth, boxed)
    after = misses(p, s.P, s, rough, smooth, boxed, 0)
    better = select(after < best, busy, 0.0 * busy)
    for n in range(m):
        a.P[n] = select(better > 0.5, s.P[n], a.P[n])
    return select(min(after, best) > enough, busy, 0.0 * busy)


@kernel
def _mark_rows(a, s, rough, smooth, boxed):
    """Set s.scale of each row to 1 if the row keeps a given speed under the present impulses, else
    to 0.
    """
    zero = 0.0 * a.P[0]
    one = 1.0 + zero
    for i in range(rough + smooth - boxed):
        n = normal(i, rough)
        P = a.P[n]
        s.scale[n] = select(P > 0.0, s.on[i], zero)
        if i < rough:
            x = a.P[n + 1]
            y = a.P[n + 2]
            sticks = sqrt(x * x + y * y) < SLIP_CONE_RATIO * s.mu[i] * P
            s.scale[n + 1] = select(sticks, s.scale[n], zero)
            s.scale[n + 2] = s.scale[n + 1]
    for i in range(rough + smooth - boxed, rough + smooth):
        n = normal(i, rough)
        s.scale[n] = select(abs(a.P[n]) < SLIP_CONE_RATIO * s.mu[i], one, zero)


@kernel
def _factor(p, s, m):
    """Compute the Cholesky factor of the marked rows and columns of W, with those of the unit
    matrix in place of all others.
    """
    zero = 0.0 * s.scale[0]
    for row in range(m):
        if any_lane(s.scale[row] > 0.5):
            for column in range(row):
                total = s.scale[row] * s.scale[column] * p.W[row, column]
                for k in range(column):
                    total = total - s.L[row, k] * s.L[column, k]
                s.L[row, column] = total * s.dx[column]
            own = p.W[row, row] * (1.0 + DIAGONAL_SHIFT)
            total = own
            for k in range(row):
                total = total - s.L[row, k] * s.L[row, k]
            total = max(total, DIAGONAL_SHIFT * own + TINY)
            s.L[row, row] = select(s.scale[row] > 0.5, sqrt(total), 1.0 + zero)
        else:
            for column in range(row):
                s.L[row, column] = zero
            s.L[row, row] = 1.0 + zero
        s.dx[row] = 1.0 / s.L[row, row]


@kernel
def _solve(s, m):
    """Solve L L' x = t for x in place, with the Cholesky factor L: s.t becomes the solution."""
    for row in range(m):
        total = s.t[row]
        for k in range(row):
            total = total - s.L[row, k] * s.t[k]
        s.t[row] = total * s.dx[row]
    for back in range(m):
        row = m - 1 - back
        s.t[row] = s.t[row] * s.dx[row]
        for k in range(row):
            s.t[k] -= s.L[row, k] * s.t[row]


@kernel
def _all_speeds(p, s, m):
    """Compute s.u = free + W (P + dy) of the impulses s.P and their change s.dy."""
    for k in range(m):
        s.b[k] = s.P[k] + s.dy[k]
    for row in range(m):
        total = p.free[row]
        for k in range(m):
            total = total + p.W[row, k] * s.b[k]
        s.u[row] = total


@kernel
def _missing(s, rough, smooth):
    """Compute s.t, by how much the speeds of the marked rows differ from their targets."""
    for i in range(rough + smooth):
        n = normal(i, rough)
        s.t[n] = s.scale[n] * (s.target[i] - s.u[n])
        if i < rough:
            s.t[n + 1] = -s.scale[n + 1] * s.u[n + 1]
            s.t[n + 2] = -s.scale[n + 2] * s.u[n + 2]


@kernel
def _advance(s, rough, smooth, boxed, busy):
    """Add the step s.dy to the impulses s.P of busy lanes, up to the first point where an impulse
    reaches the border of its cone or limit, and unmark the rows that have reached one. Return the
    busy lanes in which some row has.
    """
    zero = 0.0 * busy
    share = 1.0 + zero
    first = rough + smooth - boxed
    for i in range(rough + smooth):
        s.r[i] = _share(s, i, rough, first)
        share = min(share, s.r[i])
    stops = zero
    for i in range(rough + smooth):
        n = normal(i, rough)
        meets = select(s.r[i] < 1.0, select(s.r[i] <= share, busy, zero), zero)
        stops = max(stops, meets)
        if i < rough:
            s.scale[n + 1] = select(meets > 0.5, zero, s.scale[n + 1])
            s.scale[n + 2] = s.scale[n + 1]
        else:
            s.scale[n] = select(meets > 0.5, zero, s.scale[n])
    for n in range(3 * rough + smooth):
        s.P[n] = s.P[n] + select(busy > 0.5, share * s.dy[n], zero)
    return stops


@kernel
def _share(s, i, rough, first):
    """Return the fraction of the step s.dy, at most one, after which the impulse of contact i
    reaches the border of its cone.
    """
    n = normal(i, rough)
    one = 1.0 + 0.0 * s.dy[n]
    if i < rough:
        holds = s.scale[n + 1] > 0.5
        mu = s.mu[i]
        way = border(mu * s.P[n], s.P[n + 1], s.P[n + 2], mu * s.dy[n], s.dy[n + 1], s.dy[n + 2])
        return select(holds, min(way, one), one)
    if i < first:
        falls = s.dy[n] < 0.0
        way = select(falls, s.P[n] / select(falls, -s.dy[n], one), one)
        return select(s.scale[n] > 0.5, min(way, one), one)
    room = s.mu[i] - s.P[n] * select(s.dy[n] < 0.0, -one, one)
    way = room / (abs(s.dy[n]) + TINY)
    return select(s.scale[n] > 0.5, min(max(way, 0.0 * way), one), one)


@kernel
def _project(s, rough, smooth, boxed):
    """Project the impulses s.P onto their cones and limits."""
    zero = 0.0 * s.P[0]
    for i in range(rough + smooth - boxed, rough + smooth):
        n = normal(i, rough)
        s.P[n] = max(min(s.P[n], s.mu[i]), -s.mu[i])
    for i in range(rough + smooth - boxed):
        n = normal(i, rough)
        s.P[n] = max(s.P[n], zero)
        if i < rough:
            x = s.P[n + 1]
            y = s.P[n + 2]
            reach = s.mu[i] * s.P[n]
            far = reach / max(sqrt(x * x + y * y), reach + TINY)
            s.P[n + 1], s.P[n + 2] = far * x, far * y
