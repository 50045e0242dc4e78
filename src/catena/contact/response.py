"""The speeds of contacts as a function of their impulses, u = free + W P, by W itself or by a
factor of it; over lanes of runs. p, s are the ContactProblem and ContactScratch of `problem`.

width = 0    p.W is W (m, m), and s.u holds the speeds after every change of an impulse
width > 0    p.W is X (m, width) with W = X X', which is not formed: s.z = X' P, and a speed is
             free + X z when it is needed. A contact has few columns of X that are not zero, those
             of the joints that move it: s.column holds them
"""

from __future__ import annotations

from ..spatial import any_lane, kernel
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
            push3(p, s, rough, smooth, i, P[3 * i], P[3 * i + 1], P[3 * i + 2], width)
        for i in range(rough, rough + smooth):
            push(p, s, rough, smooth, i, P[2 * rough + i], width)
        all_speeds(p, s, rough, smooth, width)
    else:
        for r in range(m):
            s.u[r] = p.free[r]
        for i in range(rough):
            push3(p, s, rough, smooth, i, P[3 * i], P[3 * i + 1], P[3 * i + 2], width)
        for i in range(rough, rough + smooth):
            push(p, s, rough, smooth, i, P[2 * rough + i], width)


@kernel
def all_speeds(p, s, rough, smooth, width):
    """Compute the speeds s.u of all rows from the present s.z."""
    if width > 0:
        for i in range(rough):
            s.u[3 * i], s.u[3 * i + 1], s.u[3 * i + 2] = speeds3(p, s, i, width)
        for i in range(rough, rough + smooth):
            s.u[2 * rough + i] = speed(p, s, i, rough, width)


@kernel
def speeds3(p, s, i, width):
    """Return the current speeds of the three rows of contact i."""
    n = 3 * i
    if width > 0:
        X, z = p.W, s.z
        a = p.free[n]
        b = p.free[n + 1]
        c = p.free[n + 2]
        for j in range(s.columns[i]):
            k = s.column[i, j]
            a = a + X[n, k] * z[k]
            b = b + X[n + 1, k] * z[k]
            c = c + X[n + 2, k] * z[k]
    else:
        a, b, c = s.u[n], s.u[n + 1], s.u[n + 2]
    return a, b, c


@kernel
def speed(p, s, i, rough, width):
    """Return the current speed of contact i, which has one row."""
    n = 2 * rough + i
    if width > 0:
        a = p.free[n]
        for j in range(s.columns[i]):
            k = s.column[i, j]
            a = a + p.W[n, k] * s.z[k]
    else:
        a = s.u[n]
    return a


@kernel
def push3(p, s, rough, smooth, i, x, y, z, width):
    """Add the impulses x, y, z in the three rows of a contact, which begin at row n."""
    W, n = p.W, 3 * i
    if width > 0:
        for j in range(s.columns[i]):
            k = s.column[i, j]
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
def push(p, s, rough, smooth, i, more, width):
    """Add an impulse along the normal of contact i, or in its only row."""
    row = normal(i, rough)
    if width > 0:
        for j in range(s.columns[i]):
            k = s.column[i, j]
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
            own_entry(p, s, i, n, n, width),
            own_entry(p, s, i, n, n + 1, width),
            own_entry(p, s, i, n, n + 2, width),
        )
        B[i, 3], B[i, 4], B[i, 5] = (
            own_entry(p, s, i, n + 1, n + 1, width),
            own_entry(p, s, i, n + 1, n + 2, width),
            own_entry(p, s, i, n + 2, n + 2, width),
        )
    for i in range(rough, rough + smooth):
        s.own[i, 0] = own_entry(p, s, i, 2 * rough + i, 2 * rough + i, width)


@kernel
def own_entry(p, s, i, r, c, width):
    """Return the entry of the Delassus matrix for two rows of contact i."""
    if width > 0:
        total = 0.0 * p.W[r, 0]
        for j in range(s.columns[i]):
            k = s.column[i, j]
            total = total + p.W[r, k] * p.W[c, k]
    else:
        total = p.W[r, c]
    return total


@kernel
def find_columns(X, s, i, n, rows, width):
    """Record which columns of the rows of contact i, `rows` of them from row n on, are not zero in
    some lane. (What is zero adds nothing, so that no lane depends on this.)
    """
    found = 0
    for k in range(width):
        if any_lane(not _is_empty(X, n, k, rows)):
            s.column[i, found] = k
            found += 1
    s.columns[i] = found


@kernel
def _is_empty(X, n, k, rows):
    """Whether the entries of column k are zero in `rows` rows from row n on."""
    if rows > 1:
        return X[n, k] == 0.0 and X[n + 1, k] == 0.0 and X[n + 2, k] == 0.0
    return X[n, k] == 0.0


@kernel
def whole_matrix(X, W, rough, smooth, width):
    """Compute the Delassus matrix W = X X' from its factor X."""
    for r in range(3 * rough + smooth):
        for c in range(r + 1):
            total = 0.0 * X[r, 0]
            for k in range(width):
                total = total + X[r, k] * X[c, k]
            W[r, c], W[c, r] = total, total


@kernel
def along_normal(p, s, i, rough, width):
    """Return how far the shifts so far, whose sum is in s.z, have moved contact i along its
    normal.
    """
    total = 0.0 * p.h[0]
    n = normal(i, rough)
    for j in range(s.columns[i]):
        k = s.column[i, j]
        total = total + p.W[n, k] * s.z[k]
    return total
