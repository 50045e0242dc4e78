"""The speeds of contacts as a function of their impulses, u = free + W P, by W itself or by a
factor of it; over lanes of runs. p, s are the ContactProblem and ContactScratch of `problem`.

width = 0 p.W is W (m, m), and s.u holds the speeds after every change of an impulse width > 0 p.W
is X (m, width) with W = X X', which is not formed: s.z = X' P, and a speed is computed as free + X
z when it is needed
"""

from __future__ import annotations

from ..spatial import kernel
from .problem import normal


@kernel
def speeds(p, P, s, rough, smooth, width):
    """Recompute, from the impulses P, the speeds s.u of all rows; and s.z, the product X' P with
    the factor X of W, where the solver uses that.
    """
    m = 3 * rough + smooth
    if width > 0:
        for k in range(width):
            s.z[k] = 0.0 * p.h[0]
        for i in range(rough):
            push3(p, s, rough, smooth, 3 * i, P[3 * i], P[3 * i + 1], P[3 * i + 2], width)
        for i in range(rough, rough + smooth):
            push(p, s, rough, smooth, 2 * rough + i, P[2 * rough + i], width)
        all_speeds(p, s, rough, smooth, width)
    else:
        for r in range(m):
            s.u[r] = p.free[r]
        for i in range(rough):
            push3(p, s, rough, smooth, 3 * i, P[3 * i], P[3 * i + 1], P[3 * i + 2], width)
        for i in range(rough, rough + smooth):
            push(p, s, rough, smooth, 2 * rough + i, P[2 * rough + i], width)


@kernel
def all_speeds(p, s, rough, smooth, width):
    """Compute the speeds s.u of all rows from the present s.z."""
    if width > 0:
        for i in range(rough):
            s.u[3 * i], s.u[3 * i + 1], s.u[3 * i + 2] = speeds3(p, s, 3 * i, width)
        for i in range(rough, rough + smooth):
            s.u[2 * rough + i] = speed(p, s, 2 * rough + i, width)


@kernel
def speeds3(p, s, n, width):
    """Return the current speeds of the three rows of a contact from row n on."""
    if width > 0:
        X, z = p.W, s.z
        a = p.free[n]
        b = p.free[n + 1]
        c = p.free[n + 2]
        for k in range(width):
            a = a + X[n, k] * z[k]
            b = b + X[n + 1, k] * z[k]
            c = c + X[n + 2, k] * z[k]
    else:
        a, b, c = s.u[n], s.u[n + 1], s.u[n + 2]
    return a, b, c


@kernel
def speed(p, s, n, width):
    """Return the current speed of row n."""
    if width > 0:
        a = p.free[n]
        for k in range(width):
            a = a + p.W[n, k] * s.z[k]
    else:
        a = s.u[n]
    return a


@kernel
def push3(p, s, rough, smooth, n, x, y, z, width):
    """Add the impulses x, y, z in the three rows of a contact, which begin at row n."""
    W = p.W
    if width > 0:
        for k in range(width):
            s.z[k] += W[n, k] * x + W[n + 1, k] * y + W[n + 2, k] * z
    else:
        for j in range(rough):
            for r in range(3):
                s.u[3 * j + r] += (
                    W[n, 3 * j + r] * x + W[n + 1, 3 * j + r] * y + W[n + 2, 3 * j + r] * z
                )
        for r in range(3 * rough, 3 * rough + smooth):
            s.u[r] += W[n, r] * x + W[n + 1, r] * y + W[n + 2, r] * z


@kernel
def push(p, s, rough, smooth, row, more, width):
    """Add an impulse in one row."""
    if width > 0:
        for k in range(width):
            s.z[k] += p.W[row, k] * more
    else:
        for r in range(3 * rough + smooth):
            s.u[r] += p.W[row, r] * more


@kernel
def own_blocks(p, s, rough, smooth, width):
    """Compute s.own: the diagonal block of W of each contact; for one with friction the entries nn,
    nx, ny, xx, xy, yy.
    """
    for i in range(rough):
        n, B = 3 * i, s.own
        B[i, 0], B[i, 1], B[i, 2] = (
            entry(p.W, n, n, width),
            entry(p.W, n, n + 1, width),
            entry(p.W, n, n + 2, width),
        )
        B[i, 3], B[i, 4], B[i, 5] = (
            entry(p.W, n + 1, n + 1, width),
            entry(p.W, n + 1, n + 2, width),
            entry(p.W, n + 2, n + 2, width),
        )
    for i in range(rough, rough + smooth):
        s.own[i, 0] = entry(p.W, 2 * rough + i, 2 * rough + i, width)


@kernel
def whole_matrix(X, W, rough, smooth, width):
    """Compute the Delassus matrix W = X X' from its factor X."""
    for r in range(3 * rough + smooth):
        for c in range(r + 1):
            W[r, c] = entry(X, r, c, width)
            W[c, r] = W[r, c]


@kernel
def entry(W, r, c, width):
    """Return one entry of the Delassus matrix."""
    if width > 0:
        total = 0.0 * W[r, 0]
        for k in range(width):
            total = total + W[r, k] * W[c, k]
    else:
        total = W[r, c]
    return total


@kernel
def along_normal(p, s, i, rough, width):
    """Return how far the shifts so far, whose sum is in s.z, have moved contact i along its
    normal.
    """
    total = 0.0 * p.h[0]
    n = normal(i, rough)
    for k in range(width):
        total = total + p.W[n, k] * s.z[k]
    return total
