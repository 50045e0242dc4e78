"""The linear system of an interior-point step where W = X X' is given by its factor, over lanes.

    (S X X' S + Theta) dx = t,    K = I + X' S Theta^-1 S X,    dx = Theta^-1 (t - S X z),
            K z = X' S Theta^-1 t

by the formula of Woodbury, with S the scales of the rows and Theta of one block for each contact.
K has one row for each speed of the mechanism, however many contacts there are; it exists also where
contacts share their forces in many ways, and its eigenvalues are at least one. A contact adds to K
only where the joints that move it meet, so that rows of K are factored from their first entry that
is not zero on: bodies that do not touch, directly or by others, are solved apart.
"""

from __future__ import annotations

from ...spatial import kernel, sqrt


@kernel
def find_profile(s, contacts, width):
    """Compute s.first: the first column of each row of K that some contact fills."""
    for r in range(width):
        s.first[r] = r
    for i in range(contacts):
        if s.columns[i] > 0:
            for j in range(s.columns[i]):
                r = s.column[i, j]
                s.first[r] = min(s.first[r], s.column[i, 0])


@kernel
def respond(p, s, x, rough, smooth, width):
    """Compute s.t = S X X' S x."""
    _gather(p, s, x, rough, smooth, width)
    _spread(p, s, rough, smooth)


@kernel
def _gather(p, s, x, rough, smooth, width):
    """Compute s.z = X' S x."""
    X = p.W
    for k in range(width):
        s.z[k] = 0.0 * p.h[0]
    for i in range(rough):
        n = 3 * i
        a = s.scale[n] * x[n]
        b = s.scale[n + 1] * x[n + 1]
        c = s.scale[n + 2] * x[n + 2]
        for j in range(s.columns[i]):
            k = s.column[i, j]
            s.z[k] += X[n, k] * a + X[n + 1, k] * b + X[n + 2, k] * c
    for i in range(rough, rough + smooth):
        n = 2 * rough + i
        a = s.scale[n] * x[n]
        for j in range(s.columns[i]):
            k = s.column[i, j]
            s.z[k] += X[n, k] * a


@kernel
def _spread(p, s, rough, smooth):
    """Compute s.t = S X z."""
    X = p.W
    for i in range(rough):
        n = 3 * i
        a = 0.0 * p.h[0]
        b = 0.0 * p.h[0]
        c = 0.0 * p.h[0]
        for j in range(s.columns[i]):
            k = s.column[i, j]
            a = a + X[n, k] * s.z[k]
            b = b + X[n + 1, k] * s.z[k]
            c = c + X[n + 2, k] * s.z[k]
        s.t[n], s.t[n + 1], s.t[n + 2] = a * s.scale[n], b * s.scale[n + 1], c * s.scale[n + 2]
    for i in range(rough, rough + smooth):
        n = 2 * rough + i
        a = 0.0 * p.h[0]
        for j in range(s.columns[i]):
            k = s.column[i, j]
            a = a + X[n, k] * s.z[k]
        s.t[n] = a * s.scale[n]


@kernel
def reduce(p, s, rough, smooth, width):
    """Compute the Cholesky factor of K in s.K. s.w: the scalings of contacts with friction; s.f:
    Theta of the others.
    """
    for r in range(width):
        for c in range(s.first[r], r):
            s.K[r, c] = 0.0 * p.h[0]
        s.K[r, r] = 1.0 + 0.0 * p.h[0]
    for i in range(rough):
        _add_rough(p, s, i)
    for i in range(rough, rough + smooth):
        n = 2 * rough + i
        share = s.scale[n] * s.scale[n] / s.f[n]
        for j in range(s.columns[i]):
            r = s.column[i, j]
            part = share * p.W[n, r]
            for k in range(j + 1):
                c = s.column[i, k]
                s.K[r, c] += part * p.W[n, c]
    _factor(s, width)


@kernel
def _add_rough(p, s, i):
    """Add Y' Y of a contact with friction to K, with Y = T^-1 S X and Theta = T^2."""
    X, n = p.W, 3 * i
    v0 = s.w[i, 4]
    v1 = s.w[i, 5]
    v2 = s.w[i, 6]
    over = 1.0 / s.w[i, 7]
    for j in range(s.columns[i]):
        k = s.column[i, j]
        s.Y[j, 0], s.Y[j, 1], s.Y[j, 2] = root_times(
            v0,
            -v1,
            -v2,
            over,
            s.scale[n] * X[n, k],
            s.scale[n + 1] * X[n + 1, k],
            s.scale[n + 2] * X[n + 2, k],
        )
    for j in range(s.columns[i]):
        r = s.column[i, j]
        a = s.Y[j, 0]
        b = s.Y[j, 1]
        c = s.Y[j, 2]
        for k in range(j + 1):
            s.K[r, s.column[i, k]] += a * s.Y[k, 0] + b * s.Y[k, 1] + c * s.Y[k, 2]


@kernel
def _factor(s, width):
    """Replace K by its Cholesky factor, within the profile of its rows."""
    for k in range(width):
        root = sqrt(max(s.K[k, k], 1.0 + 0.0 * s.K[k, k]))
        s.K[k, k], s.diagonal[k] = root, 1.0 / root
        for r in range(k + 1, width):
            if s.first[r] <= k:
                s.K[r, k] = s.K[r, k] * s.diagonal[k]
        for r in range(k + 1, width):
            if s.first[r] <= k:
                part = s.K[r, k]
                for c in range(k + 1, r + 1):
                    if s.first[c] <= k:
                        s.K[r, c] = s.K[r, c] - part * s.K[c, k]


@kernel
def solve_reduced(p, s, rough, smooth, width):
    """Replace s.t by dx, and refine it once: where Theta is small, t and S X z nearly cancel."""
    m = 3 * rough + smooth
    for n in range(m):
        s.good[n] = s.t[n]
    _solve(p, s, rough, smooth, width)
    for n in range(m):
        s.dx[n] = s.t[n]
    respond(p, s, s.dx, rough, smooth, width)
    _multiply(s, s.dx, s.last, rough, smooth)
    for n in range(m):
        s.t[n] = s.good[n] - s.t[n] - s.last[n]
    _solve(p, s, rough, smooth, width)
    for n in range(m):
        s.t[n] += s.dx[n]


@kernel
def _solve(p, s, rough, smooth, width):
    """Replace s.t by the solution with the factor of K. s.f: Theta of the contacts with one row, as
    for `reduce`.
    """
    for n in range(3 * rough + smooth):
        s.last[n] = s.t[n]
    _divide(s, s.last, s.t, rough, smooth)
    _gather(p, s, s.t, rough, smooth, width)
    for r in range(width):
        total = s.z[r]
        for k in range(s.first[r], r):
            total = total - s.K[r, k] * s.z[k]
        s.z[r] = total * s.diagonal[r]
    for back in range(width):
        r = width - 1 - back
        s.z[r] = s.z[r] * s.diagonal[r]
        for k in range(s.first[r], r):
            s.z[k] -= s.K[r, k] * s.z[r]
    _spread(p, s, rough, smooth)
    for n in range(3 * rough + smooth):
        s.last[n] = s.last[n] - s.t[n]
    _divide(s, s.last, s.t, rough, smooth)


@kernel
def _multiply(s, x, into, rough, smooth):
    """Compute into = Theta x."""
    for i in range(rough):
        n = 3 * i
        v0 = s.w[i, 4]
        v1 = s.w[i, 5]
        v2 = s.w[i, 6]
        beta = s.w[i, 7]
        a, b, c = root_times(v0, v1, v2, beta, x[n], x[n + 1], x[n + 2])
        into[n], into[n + 1], into[n + 2] = root_times(v0, v1, v2, beta, a, b, c)
    for n in range(3 * rough, 3 * rough + smooth):
        into[n] = x[n] * s.f[n]


@kernel
def _divide(s, x, into, rough, smooth):
    """Compute into = Theta^-1 x."""
    for i in range(rough):
        n = 3 * i
        v0 = s.w[i, 4]
        v1 = s.w[i, 5]
        v2 = s.w[i, 6]
        over = 1.0 / s.w[i, 7]
        a, b, c = root_times(v0, -v1, -v2, over, x[n], x[n + 1], x[n + 2])
        into[n], into[n + 1], into[n + 2] = root_times(v0, -v1, -v2, over, a, b, c)
    for n in range(3 * rough, 3 * rough + smooth):
        into[n] = x[n] / s.f[n]


@kernel
def root_times(v0, v1, v2, beta, x, y, z):
    """Return beta (2 v v' - J) times the vector (x, y, z), J = diag(1, -1, -1)."""
    along = 2.0 * (v0 * x + v1 * y + v2 * z)
    return beta * (along * v0 - x), beta * (along * v1 + y), beta * (along * v2 + z)
