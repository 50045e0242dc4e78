"""Contact impulses for problems on which sweeps converge slowly: an interior-point method on
second-order cones, over lanes of runs.

A box that lands on four corners has more impulses than rigid-body mechanics determines, and sweeps
over its contacts converge slowly, or never if slip ends in the same step. Here all contacts are
solved together. In impulses and speeds that are scaled so that cones are self-dual,

    x = (mu P_n, P_t) c,  y = ((u_n + mu |u_t| - target)/mu, u_t)/c,  c = sqrt(W_nn)/f,
            f of the whole problem

Coulomb's law says that both lie in the cone x_0 >= |x_t|, and x . y = 0 [DeSaxce1998]. Newton steps
keep x and y inside while x o y = tau e goes to zero: a predictor and a corrector in the scaling of
Nesterov and Todd [Nesterov1997],

    (W' + Theta) dx = - y - r + what the law requires,      dy = W' dx + r,      Theta x = y

with the term mu |u_t|, which is not convex, fixed during a step. A boxed row has two pairs of
complementary numbers, its distances to both limits and the speeds with which these push:

    -l <= x <= l,   y = y_low - y_high,   (x + l) y_low = (l - x) y_high = tau

p, a, s are the ContactProblem, ContactAnswer and ContactScratch of `problem`. W' + Theta is
positive definite also where W is not, so that its Cholesky factor exists. Each lane keeps the best
impulses it has met, beginning with those given.
"""

from __future__ import annotations

from ...spatial import any_lane, kernel, select, sqrt
from ..problem import TINY, normal
from .certificate import misses
from .reduced_system import find_profile, reduce, respond, root_times, solve_reduced

# Newton steps.
MAX_NEWTON_STEPS = 60
# A step goes at most this share of the way to the border of a cone.
BORDER_SHARE = 0.9
# Distance from the border at the start, relative to scaled impulses and speeds of order one.
START_BORDER_DISTANCE = 0.03
# A coefficient of friction at most this is treated as zero.
FRICTIONLESS_MU = 1e-6
# A step reduces tau at most by this factor: the term that is fixed during a step changes too, and x
# and y would otherwise reach their borders before it is satisfied.
MIN_TAU_FACTOR = 0.1
# A lane whose step is at most this share of the full Newton step stops.
STALLED_STEP_SHARE = 1e-4
# A lane has converged if its residual is at most this share of the tolerance.
CONVERGED_SHARE = 0.5
# A lane stops whose residual has not fallen to this share of its best one in MAX_IDLE_STEPS steps.
IMPROVED_SHARE = 0.5
MAX_IDLE_STEPS = 8
# A residual, m/s, above all others.
NO_RESIDUAL = 1e300


@kernel
def interior(p, a, s, rough, smooth, width, reduced, busy, fastest, tolerance, boxed):
    """Replace the impulses of busy lanes by better ones; return the lanes that have not converged.
    reduced: 1 to solve the reduced system; else W itself is used, which for width > 0 is in s.W.
    """
    zero, k = 0.0 * fastest, rough + smooth
    many = _scaled(p, s, rough, smooth, width, reduced, fastest, boxed)
    best = misses(p, a.P, s, rough, smooth, boxed, width)
    if reduced > 0:
        find_profile(s, rough + smooth, width)
    _start(a, s, rough, smooth - boxed)
    _start_boxed(a, s, rough, smooth, boxed)
    goes = select(many > 0.0, busy, zero)
    mark, idle = NO_RESIDUAL + zero, zero
    for _ in range(MAX_NEWTON_STEPS):
        tau = _product(s, rough, smooth, boxed) / select(many > 0.0, many, 1.0 + zero)
        _residual(p, s, rough, smooth, width, reduced)
        _factor(p, s, rough, smooth, width, reduced, boxed)
        _step(p, s, rough, smooth, width, reduced, zero, zero, boxed)
        far = min(BORDER_SHARE * _reach(s, rough, smooth, zero, boxed), 1.0 + zero)
        _expect_slip(s, rough)
        _step(
            p,
            s,
            rough,
            smooth,
            width,
            reduced,
            tau * max((1.0 - far) * (1.0 - far) * (1.0 - far), MIN_TAU_FACTOR + zero),
            1.0 + zero,
            boxed,
        )
        far = min(BORDER_SHARE * _reach(s, rough, smooth, zero, boxed), 1.0 + zero)
        goes = select(far > STALLED_STEP_SHARE, goes, zero)
        for i in range(k):
            for r in range(3 if i < rough else 1):
                n = normal(i, rough) + r
                s.x[n] = select(goes > 0.5, s.x[n] + far * s.dx[n], s.x[n])
                s.y[n] = select(goes > 0.5, s.y[n] + far * s.dy[n], s.y[n])
        for j in range(boxed):
            for side in range(2):
                moved = s.wall[j, side] + far * s.wall[j, 2 + side]
                s.wall[j, side] = select(goes > 0.5, moved, s.wall[j, side])
        # also stops lanes with NaN
        goes = select(_product(s, rough, smooth, boxed) > 0.0, goes, zero)
        left = _candidate(p, s, rough, smooth, width, boxed)
        better = select(left < best, goes, zero)
        falls = left < IMPROVED_SHARE * mark
        mark, idle = select(falls, left, mark), select(falls, zero, idle + 1.0)
        best = select(better > 0.5, left, best)
        for n in range(3 * rough + smooth):
            a.P[n] = select(better > 0.5, s.P[n], a.P[n])
        goes = select(best > CONVERGED_SHARE * tolerance * fastest, goes, zero)
        goes = select(idle < MAX_IDLE_STEPS, goes, zero)
        if not any_lane(goes > 0.5):
            break
    return select(best > CONVERGED_SHARE * tolerance * fastest, busy, zero)


# --- the scaled problem
@kernel
def _scaled(p, s, rough, smooth, width, reduced, fastest, boxed):
    """Compute s.b, s.H = W' where W is known, and the scales of the rows (zero for inactive
    contacts); return the number of active contacts, boxed rows counted twice.
    """
    zero = 0.0 * fastest
    most, many = zero, zero
    for n in range(3 * rough + smooth):
        s.scale[n] = zero
    for i in range(rough + smooth):
        n = normal(i, rough)
        root = sqrt(s.own[i, 0] + TINY)
        on = select(s.own[i, 0] > 0.0, s.on[i], zero)
        if i >= rough + smooth - boxed:
            on = select(s.mu[i] > 0.0, on, zero)
            many = many + on
        many = many + on
        most = max(most, on * abs(p.free[n] - s.target[i]) / root)
        s.scale[n] = select(on > 0.5, 1.0 / root, zero)
        if i < rough:
            grips = s.mu[i] > FRICTIONLESS_MU
            most = max(most, on * max(abs(p.free[n + 1]), abs(p.free[n + 2])) / root)
            s.scale[n + 1] = select(grips, s.scale[n], zero)
            s.scale[n + 2] = s.scale[n + 1]
            s.scale[n] = s.scale[n] / select(grips, s.mu[i], 1.0 + zero)
    s.unit[0] = select(most > 0.0, most, 1.0 + zero)
    for i in range(rough + smooth):
        n = normal(i, rough)
        s.b[n] = (p.free[n] - s.target[i]) * s.scale[n] / s.unit[0]
        if i < rough:
            s.b[n + 1], s.b[n + 2] = (
                p.free[n + 1] * s.scale[n + 1] / s.unit[0],
                p.free[n + 2] * s.scale[n + 2] / s.unit[0],
            )
    for row in range(3 * rough + smooth):
        s.dx[row], s.dy[row] = zero, zero
    if reduced < 1:
        W = s.W if width > 0 else p.W
        for row in range(3 * rough + smooth):
            for column in range(3 * rough + smooth):
                s.H[row, column] = W[row, column] * s.scale[row] * s.scale[column]
    return many


@kernel
def _start(a, s, rough, smooth):
    """Compute x from the given impulses and y from their speeds, moved inside the cones."""
    one = 1.0 + 0.0 * s.unit[0]
    for i in range(rough + smooth):
        n = normal(i, rough)
        mu = select(s.scale[n + 1] > 0.0, s.mu[i], one) if i < rough else one
        s.x[n] = select(
            s.scale[n] > 0.0,
            _within(a.P[n], s.scale[n], s.unit[0]) + START_BORDER_DISTANCE * mu,
            one,
        )
        s.y[n] = (
            max((s.u[n] - s.target[i]) * s.scale[n] / s.unit[0], 0.0 * one)
            + START_BORDER_DISTANCE / mu
        )
        if i < rough:
            for r in range(1, 3):
                s.x[n + r] = _within(a.P[n + r], s.scale[n + r], s.unit[0])
                s.y[n + r] = s.u[n + r] * s.scale[n + r] / s.unit[0]
            s.y[n] += sqrt(s.y[n + 1] * s.y[n + 1] + s.y[n + 2] * s.y[n + 2])


@kernel
def _start_boxed(a, s, rough, smooth, boxed):
    """Compute x and the speeds at both limits of the boxed rows, inside their borders."""
    one = 1.0 + 0.0 * s.unit[0]
    first = rough + smooth - boxed
    for j in range(boxed):
        i = first + j
        n = normal(i, rough)
        on = s.scale[n] > 0.0
        limit = select(on, _within(s.mu[i], s.scale[n], s.unit[0]), one)
        x = _within(a.P[n], s.scale[n], s.unit[0])
        most = (1.0 - START_BORDER_DISTANCE) * limit
        s.x[n] = max(min(x, most), -most)
        y = s.u[n] * s.scale[n] / s.unit[0]
        inside = START_BORDER_DISTANCE * START_BORDER_DISTANCE / limit
        s.wall[j, 0], s.wall[j, 1] = max(y, 0.0 * y) + inside, max(-y, 0.0 * y) + inside
        s.wall[j, 2], s.wall[j, 3], s.wall[j, 4] = 0.0 * y, 0.0 * y, limit
        s.y[n] = s.wall[j, 0] - s.wall[j, 1]


@kernel
def _within(P, scale, unit):
    """Return an impulse in the scaling of x, bounded by its limits; zero for an inactive
    contact.
    """
    on = scale > 0.0
    return select(on, P / (select(on, scale, 1.0 + 0.0 * scale) * unit), 0.0 * P)


@kernel
def _candidate(p, s, rough, smooth, width, boxed):
    """Compute s.P, the impulses of x projected onto their cones and limits; return their residual,
    m/s.
    """
    for n in range(3 * rough + smooth):
        s.P[n] = 0.0 * s.unit[0]
    for i in range(rough + smooth - boxed, rough + smooth):
        n = normal(i, rough)
        s.P[n] = max(min(s.x[n] * s.scale[n] * s.unit[0], s.mu[i]), -s.mu[i])
    for i in range(rough + smooth - boxed):
        n = normal(i, rough)
        s.P[n] = max(s.x[n] * s.scale[n] * s.unit[0], 0.0 * s.x[n])
        if i < rough:
            x = s.x[n + 1] * s.scale[n + 1] * s.unit[0]
            y = s.x[n + 2] * s.scale[n + 2] * s.unit[0]
            reach = s.mu[i] * s.P[n]
            far = reach / max(sqrt(x * x + y * y), reach + TINY)
            s.P[n + 1], s.P[n + 2] = far * x, far * y
    return misses(p, s.P, s, rough, smooth, boxed, width)


# --- one step
@kernel
def _residual(p, s, rough, smooth, width, reduced):
    """Compute r = W' x + b + |y_t| - y, and the Nesterov-Todd scaling of each contact."""
    _respond(p, s, s.x, rough, smooth, width, reduced)
    for i in range(rough + smooth):
        n = normal(i, rough)
        for r in range(3 if i < rough else 1):
            s.r[n + r] = s.b[n + r] - s.y[n + r] + s.t[n + r]
        if i < rough:
            s.r[n] += sqrt(s.y[n + 1] * s.y[n + 1] + s.y[n + 2] * s.y[n + 2])
            _scaling(s, i, n)
        s.r[n] = select(s.scale[n] > 0.0, s.r[n], 0.0 * s.r[n])


@kernel
def _expect_slip(s, rough):
    """Add the change of |y_t| in the predictor to r, so that the corrector has it to first
    order.
    """
    for i in range(rough):
        n = 3 * i
        x = s.y[n + 1]
        y = s.y[n + 2]
        change = (x * s.dy[n + 1] + y * s.dy[n + 2]) / sqrt(x * x + y * y + TINY)
        s.r[n] = select(s.scale[n] > 0.0, s.r[n] + change, s.r[n])


@kernel
def _respond(p, s, x, rough, smooth, width, reduced):
    """Compute s.t = W' x."""
    if reduced > 0:
        respond(p, s, x, rough, smooth, width)
    else:
        for n in range(3 * rough + smooth):
            s.t[n] = _times(s.H, x, n, rough, smooth)


@kernel
def _product(s, rough, smooth, boxed):
    """Return the sum of x . y over the active contacts."""
    total = 0.0 * s.unit[0]
    for j in range(boxed):
        n = 3 * rough + smooth - boxed + j
        up, down = s.wall[j, 4] + s.x[n], s.wall[j, 4] - s.x[n]
        own = up * s.wall[j, 0] + down * s.wall[j, 1]
        total = total + select(s.scale[n] > 0.0, own, 0.0 * s.unit[0])
    for i in range(rough + smooth - boxed):
        n = normal(i, rough)
        own = s.x[n] * s.y[n]
        if i < rough:
            own = own + s.x[n + 1] * s.y[n + 1] + s.x[n + 2] * s.y[n + 2]
        total = total + select(s.scale[n] > 0.0, own, 0.0 * s.unit[0])
    return total


@kernel
def _scaling(s, i, n):
    """Compute the Nesterov-Todd scaling of a contact: w and its root v, beta^2 = sqrt(det y/det x):
    Theta = beta^2 (2 w w' - J), whose root is beta (2 v v' - J).
    """
    x = sqrt(_det(s.x[n], s.x[n + 1], s.x[n + 2]))
    y = sqrt(_det(s.y[n], s.y[n + 1], s.y[n + 2]))
    a0 = s.x[n] / x
    a1 = s.x[n + 1] / x
    a2 = s.x[n + 2] / x
    b0 = s.y[n] / y
    b1 = s.y[n + 1] / y
    b2 = s.y[n + 2] / y
    half = 0.5 / sqrt(0.5 * (1.0 + max(a0 * b0 + a1 * b1 + a2 * b2, 0.0 * x)))
    w0 = half * (b0 + a0)
    w1 = half * (b1 - a1)
    w2 = half * (b2 - a2)
    s.w[i, 0], s.w[i, 1], s.w[i, 2], s.w[i, 3] = w0, w1, w2, y / x
    root = 1.0 / sqrt(2.0 * (w0 + 1.0))
    s.w[i, 4], s.w[i, 5], s.w[i, 6], s.w[i, 7] = (
        (w0 + 1.0) * root,
        w1 * root,
        w2 * root,
        sqrt(y / x),
    )


@kernel
def _det(x, y, z):
    """Return the determinant x^2 - y^2 - z^2 of a point of a second-order cone, bounded below by a
    tiny positive number.
    """
    size = sqrt(y * y + z * z)
    return max(TINY + 0.0 * size, (x - size) * (x + size))


@kernel
def _factor(p, s, rough, smooth, width, reduced, boxed):
    """Factor W' + Theta, where inactive contacts have only their Theta: W' + Theta itself, or with
    a factor of W the matrix of `reduced_system`.
    """
    if reduced > 0:
        for row in range(3 * rough, 3 * rough + smooth):
            s.f[row] = _theta_of_row(s, row, 3 * rough + smooth - boxed)
        reduce(p, s, rough, smooth, width)
    else:
        _factor_dense(s, rough, smooth, boxed)


@kernel
def _theta_of_row(s, row, first):
    """Return Theta of a contact with one row. first: the first boxed row."""
    if row < first:
        theta = s.y[row] / s.x[row]
    else:
        theta = _theta_boxed(s, row - first, row)
    return theta


@kernel
def _factor_dense(s, rough, smooth, boxed):
    """Compute the Cholesky factor, L L' = W' + Theta."""
    for i in range(rough):
        for j in range(i):
            _blocks(s, 3 * i, 3 * j)
        for r in range(3):
            for c in range(r + 1):
                theta = _theta(s, i, r, c)
                _entry(s, theta, 3 * i + r, 3 * i + c)
    first = 3 * rough + smooth - boxed
    for row in range(3 * rough, 3 * rough + smooth):
        for column in range(row):
            _entry(s, 0.0 * s.unit[0], row, column)
        _entry(s, _theta_of_row(s, row, first), row, row)


@kernel
def _blocks(s, n, m):
    """Compute the 3 x 3 block of L that begins at row n and column m, from the columns before it,
    as nine independent sums.
    """
    L, H = s.L, s.H
    a = H[n, m]
    b = H[n, m + 1]
    c = H[n, m + 2]
    d = H[n + 1, m]
    e = H[n + 1, m + 1]
    f = H[n + 1, m + 2]
    g = H[n + 2, m]
    h = H[n + 2, m + 1]
    i = H[n + 2, m + 2]
    for k in range(m):
        x = L[n, k]
        y = L[n + 1, k]
        z = L[n + 2, k]
        u = L[m, k]
        v = L[m + 1, k]
        w = L[m + 2, k]
        a = a - x * u
        b = b - x * v
        c = c - x * w
        d = d - y * u
        e = e - y * v
        f = f - y * w
        g = g - z * u
        h = h - z * v
        i = i - z * w
    L[n, m], L[n, m + 1], L[n, m + 2] = _across(L, m, a, b, c)
    L[n + 1, m], L[n + 1, m + 1], L[n + 1, m + 2] = _across(L, m, d, e, f)
    L[n + 2, m], L[n + 2, m + 1], L[n + 2, m + 2] = _across(L, m, g, h, i)


@kernel
def _across(L, m, a, b, c):
    """Solve one row of a block with the triangular factor of the diagonal block."""
    x = a / L[m, m]
    y = (b - x * L[m + 1, m]) / L[m + 1, m + 1]
    return x, y, (c - x * L[m + 2, m] - y * L[m + 2, m + 1]) / L[m + 2, m + 2]


@kernel
def _entry(s, theta, row, column):
    """Compute one entry of L from those before it. theta: the same entry of Theta."""
    total = s.H[row, column] + theta
    for before in range(column):
        total = total - s.L[row, before] * s.L[column, before]
    if row == column:
        s.L[row, row] = sqrt(max(TINY + 0.0 * s.unit[0], total))
    else:
        s.L[row, column] = total / s.L[column, column]


@kernel
def _theta(s, i, r, c):
    """Return the entry in row r and column c of the block of Theta of a contact with friction."""
    found = 2.0 * s.w[i, r] * s.w[i, c]
    if r == c:
        found = found + (1.0 if r > 0 else -1.0)
    return found * s.w[i, 3]


@kernel
def _theta_boxed(s, j, row):
    """Return the entry of Theta of boxed row j."""
    return s.wall[j, 0] / (s.wall[j, 4] + s.x[row]) + s.wall[j, 1] / (s.wall[j, 4] - s.x[row])


@kernel
def _step(p, s, rough, smooth, width, reduced, tau, second, boxed):
    """Compute the Newton step dx, dy towards x o y = tau e. second: 1 to include the product of the
    last dx and dy (corrector), else 0 (predictor).
    """
    first = 3 * rough + smooth - boxed
    for j in range(boxed):
        _aim_boxed(s, j, first + j, tau, second)
    for i in range(rough + smooth - boxed):
        n = normal(i, rough)
        if i < rough:
            _aim(s, i, n, tau, second)
        else:
            aim = (tau - second * s.dx[n] * s.dy[n]) / s.x[n] - s.y[n] - s.r[n]
            s.t[n] = select(s.scale[n] > 0.0, aim, 0.0 * aim)
    if reduced > 0:
        solve_reduced(p, s, rough, smooth, width)
    else:
        _solve(s, rough, smooth)
    for n in range(3 * rough + smooth):
        s.dx[n] = s.t[n]
    _respond(p, s, s.dx, rough, smooth, width, reduced)
    for n in range(3 * rough + smooth):
        s.dy[n] = s.r[n] + s.t[n]
    for j in range(boxed):
        n = first + j
        up, down = s.wall[j, 4] + s.x[n], s.wall[j, 4] - s.x[n]
        s.wall[j, 2] = s.wall[j, 2] - s.wall[j, 0] * s.dx[n] / up
        s.wall[j, 3] = s.wall[j, 3] + s.wall[j, 1] * s.dx[n] / down


@kernel
def _aim_boxed(s, j, n, tau, second):
    """Compute the right side of the Newton equations for boxed row j, and those parts of the
    changes of the speeds at its limits that do not depend on dx.
    """
    up, down = s.wall[j, 4] + s.x[n], s.wall[j, 4] - s.x[n]
    s.wall[j, 2] = (tau - second * s.dx[n] * s.wall[j, 2]) / up - s.wall[j, 0]
    s.wall[j, 3] = (tau + second * s.dx[n] * s.wall[j, 3]) / down - s.wall[j, 1]
    aim = s.wall[j, 2] - s.wall[j, 3] - s.r[n]
    s.t[n] = select(s.scale[n] > 0.0, aim, 0.0 * aim)


@kernel
def _times(H, x, n, rough, smooth):
    """Return one row, n, of the product of the matrix H and the vector x."""
    a = 0.0 * x[0]
    b = 0.0 * x[0]
    c = 0.0 * x[0]
    for j in range(rough):
        a = a + H[n, 3 * j] * x[3 * j]
        b = b + H[n, 3 * j + 1] * x[3 * j + 1]
        c = c + H[n, 3 * j + 2] * x[3 * j + 2]
    for m in range(3 * rough, 3 * rough + smooth):
        a = a + H[n, m] * x[m]
    return a + b + c


@kernel
def _aim(s, i, n, tau, second):
    r"""Compute the right side of the Newton equations for a contact with friction: -y - r + T (l \
    (tau e - T^-1 dy o T dx)), T = beta (2 v v' - J), l = T x.
    """
    v0 = s.w[i, 4]
    v1 = s.w[i, 5]
    v2 = s.w[i, 6]
    beta = s.w[i, 7]
    l0, l1, l2 = root_times(v0, v1, v2, beta, s.x[n], s.x[n + 1], s.x[n + 2])
    p0, p1, p2 = root_times(v0, v1, v2, beta, s.dx[n], s.dx[n + 1], s.dx[n + 2])
    q0, q1, q2 = root_times(v0, -v1, -v2, 1.0 / beta, s.dy[n], s.dy[n + 1], s.dy[n + 2])
    c0 = tau - second * (p0 * q0 + p1 * q1 + p2 * q2)
    c1 = -second * (p0 * q1 + q0 * p1)
    c2 = -second * (p0 * q2 + q0 * p2)
    z0 = (l0 * c0 - l1 * c1 - l2 * c2) / _det(l0, l1, l2)
    z0, z1, z2 = root_times(v0, v1, v2, beta, z0, (c1 - z0 * l1) / l0, (c2 - z0 * l2) / l0)
    grips = s.scale[n + 1] > 0.0
    s.t[n] = select(s.scale[n] > 0.0, z0 - s.y[n] - s.r[n], 0.0 * z0)
    s.t[n + 1] = select(grips, z1 - s.y[n + 1] - s.r[n + 1], 0.0 * z1)
    s.t[n + 2] = select(grips, z2 - s.y[n + 2] - s.r[n + 2], 0.0 * z2)


@kernel
def _solve(s, rough, smooth):
    """Solve L L' x = t for x in place, with the Cholesky factor L: s.t becomes the solution."""
    m = 3 * rough + smooth
    for row in range(m):
        total = s.t[row]
        for before in range(row):
            total = total - s.L[row, before] * s.t[before]
        s.t[row] = total / s.L[row, row]
    for back in range(m):
        row = m - 1 - back
        s.t[row] = s.t[row] / s.L[row, row]
        for before in range(row):
            s.t[before] -= s.L[row, before] * s.t[row]


@kernel
def _reach(s, rough, smooth, zero, boxed):
    """Return the largest multiple of (dx, dy) that stays within the cones: the smallest over all
    contacts.
    """
    far = 1e6 + zero
    first = 3 * rough + smooth - boxed
    for j in range(boxed):
        n = first + j
        up, down = s.wall[j, 4] + s.x[n], s.wall[j, 4] - s.x[n]
        a = min(_ahead(up, s.dx[n]), _ahead(down, -s.dx[n]))
        b = min(_ahead(s.wall[j, 0], s.wall[j, 2]), _ahead(s.wall[j, 1], s.wall[j, 3]))
        far = select(s.scale[n] > 0.0, min(far, min(a, b)), far)
    for i in range(rough + smooth - boxed):
        n = normal(i, rough)
        on = s.scale[n] > 0.0
        if i < rough:
            a = border(s.x[n], s.x[n + 1], s.x[n + 2], s.dx[n], s.dx[n + 1], s.dx[n + 2])
            b = border(s.y[n], s.y[n + 1], s.y[n + 2], s.dy[n], s.dy[n + 1], s.dy[n + 2])
        else:
            a = border(s.x[n], zero, zero, s.dx[n], zero, zero)
            b = border(s.y[n], zero, zero, s.dy[n], zero, zero)
        far = select(on, min(far, min(a, b)), far)
    return far


@kernel
def border(x, y, z, dx, dy, dz):
    """Return the first t > 0 with (x, y, z) + t (dx, dy, dz) on the border of the cone: a root of C
    + 2 B t + A t^2.
    """
    size = sqrt(dy * dy + dz * dz)
    A = (dx - size) * (dx + size)
    B = x * dx - y * dy - z * dz
    C = _det(x, y, z)
    D = B * B - A * C
    under = sqrt(max(D, 0.0 * D)) - B
    meets = select(
        D >= 0.0,
        select(min(A, B) < 0.0, select(under > 0.0, 1.0 + 0.0 * D, 0.0 * D), 0.0 * D),
        0.0 * D,
    )
    return select(meets > 0.5, C / select(meets > 0.5, under, 1.0 + 0.0 * D), 1e6 + 0.0 * D)


@kernel
def _ahead(x, dx):
    """Return the first t > 0 with x + t dx = 0, for x > 0; infinity if there is none."""
    falls = dx < 0.0
    return select(falls, -x / select(falls, dx, -1.0 + 0.0 * dx), 1e6 + 0.0 * dx)
