"""Constraint rows that can be switched, of which few are active: the forces that enforce them, and
the smallest change of speeds that satisfies them; over lanes of runs.

    forces    f with B (a + W F' f) = gamma in the active, independent rows; where that is not
              unique, the f of least
              sum (f - share)^2 / weight: with S = B Y, Y = W F', r = gamma - B a, D = diag(weight):
              f = share + D S' y, S D S' y = r - S share
    change    M^-1 A' lam with A M^-1 A' lam = r in the active rows: of all speeds with A v = r
              those of least kinetic energy

Rows that are active in at least one lane are gathered first; in a lane where such a row is
inactive, it is zero. So the work is that of the active rows, whatever the number of rows, and no
lane depends on its neighbours. A small number of rows is written out as straight-line code instead,
in which zeros cost nothing: `simulation.terms.contact_rows.weighted_forces`,
`compiler.trace.smallest_change`. The rank is decided as everywhere (`rank`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..spatial import any_lane, kernel, select
from .constrained_forward_dynamics import factor_rows, meet
from .dynamics import solve
from .rank import independent

# how often the forces are corrected: each time the residual of the rows becomes rounding times the
# square of their condition number, relative to the residual before
ROUNDS = 3


class HeldRows(NamedTuple):
    """m rows that can be switched, of n speeds: their Jacobian B (m, n), and the directions F (m,
    n) of their forces; gamma, switches z, weights and shares (m,). a (n,): the accelerations
    without their forces; W (n, n): the accelerations per force along the speeds. others (k, n):
    rows that are always active. size (m + k,), column (n,): N (0 for a row that is scaled by its
    entries) and C of `rank`.
    """

    B: Any
    F: Any
    W: Any
    a: Any
    gamma: Any
    z: Any
    weight: Any
    share: Any
    others: Any
    size: Any
    column: Any


class HeldForces(NamedTuple):
    """The result: f (m,), zero where a row is inactive, and F' f (n,), the forces along the
    speeds.
    """

    f: Any
    along: Any


class HeldMemory(NamedTuple):
    """Scratch, for the gathered active rows: A, Y (m + k, n), size, keep, right, weight, f, y (m +
    k,); S (m + k, m + k). K (n, n), x (n,).
    """

    A: Any
    Y: Any
    S: Any
    K: Any
    size: Any
    keep: Any
    right: Any
    weight: Any
    f: Any
    y: Any
    x: Any


class OffRows(NamedTuple):
    """m rows A (m, n) that a change of n speeds must satisfy, their right side and switches z (m,);
    the factor (n, n) of M; size, column: of `rank`.
    """

    A: Any
    factor: Any
    right: Any
    z: Any
    size: Any
    column: Any


class Change(NamedTuple):
    """The result: the change of the speeds (n,)."""

    change: Any


class ChangeMemory(NamedTuple):
    """Scratch, for the gathered active rows: A, H (m, n), S, G (m, m), size, keep, right, lam, y
    (m,).
    """

    A: Any
    H: Any
    S: Any
    G: Any
    size: Any
    keep: Any
    right: Any
    lam: Any
    y: Any


@kernel
def row_forces(p, a, s):
    """Compute the forces of the active rows."""
    m, k = len(p.z), len(p.others)
    count = _pack(p.B, p.z, p.gamma, p.size, s)
    for i in range(count):
        s.right[i] -= _dot(s.A[i], p.a)
    for i in range(k):
        s.A[count + i] = p.others[i]
        s.size[count + i] = p.size[m + i]
    _metric(s.A, p.column, s.size, s.S, count + k)
    independent(s.S, s.size, s.keep[0 : count + k])
    _answers(p, s)
    _scale(s, count)
    _weighted(s, count)
    factor_rows(s.S, s.keep[0:count], s.y)
    for _ in range(ROUNDS):
        _correct(s, count)
    _unpack(p, a, s)


@kernel
def row_change(p, a, s):
    """Compute the smallest change of speeds that satisfies the active rows."""
    n = len(p.column)
    count = _pack(p.A, p.z, p.right, p.size, s)
    for i in range(count):
        for j in range(n):
            s.H[i, j] = s.A[i, j]
        solve(p.factor, s.H[i])
        for l in range(i + 1):
            s.S[i, l] = _dot(s.A[l], s.H[i])
    _metric(s.A, p.column, s.size, s.G, count)
    for j in range(n):
        a.change[j] = 0.0 * a.change[j]
    meet(
        s.A,
        s.H,
        s.S[0:count],
        s.G,
        s.size,
        s.right[0:count],
        s.lam,
        (s.y, s.keep[0:count]),
        a.change,
    )


@kernel
def _pack(B, z, right, size, s):
    """Gather the rows that are active in some lane, with their right sides, and return their
    number.
    """
    count = 0
    for i in range(len(z)):
        if any_lane(z[i] > 0.5):
            for j in range(len(B[0])):
                s.A[count, j] = z[i] * B[i, j]
            s.right[count], s.size[count] = z[i] * right[i], size[i]
            count += 1
    return count


@kernel
def _unpack(p, a, s):
    """Scatter the forces to their rows, and compute them along the speeds."""
    count = 0
    for j in range(len(a.along)):
        a.along[j] = 0.0 * p.a[j]
    for i in range(len(p.z)):
        if any_lane(p.z[i] > 0.5):
            a.f[i] = s.f[count]
            for j in range(len(a.along)):
                a.along[j] += p.F[i, j] * s.f[count]
            count += 1
        else:
            a.f[i] = 0.0 * p.z[i]


@kernel
def _dot(x, y):
    """Return x . y."""
    total = 0.0 * x[0]
    for j in range(len(x)):
        total += x[j] * y[j]
    return total


@kernel
def _metric(A, column, size, G, count):
    """Compute G = A C A', lower half, of `count` rows; a size of 0 becomes that of the row's own
    entries.
    """
    for i in range(count):
        for l in range(i + 1):
            total = 0.0 * size[i]
            for j in range(len(column)):
                total += A[i, j] * column[j] * A[l, j]
            G[i, l] = total
        size[i] = select(size[i] == 0.0, G[i, i], size[i])


@kernel
def _answers(p, s):
    """Compute the responses Y of the active rows, their weights, and the initial forces."""
    count = 0
    for i in range(len(p.z)):
        if any_lane(p.z[i] > 0.5):
            for j in range(len(p.column)):
                s.Y[count, j] = _dot(p.W[j], p.F[i])
            s.weight[count] = p.weight[i]
            s.f[count] = p.share[i]
            count += 1


@kernel
def _scale(s, count):
    """Scale rows and right sides by the response of a row to one unit of its own force; set those
    of rows that are not kept to zero.
    """
    for i in range(count):
        size = abs(_dot(s.A[i], s.Y[i]))
        unit = s.keep[i] / select(size > 0.0, size, 1.0 + 0.0 * size)
        for j in range(len(s.x)):
            s.A[i, j] = unit * s.A[i, j]
        s.right[i] = unit * s.right[i]


@kernel
def _weighted(s, count):
    """Compute S = A (Y' D Y) A', lower half: far fewer operations than S D S' where there are more
    rows than speeds.
    """
    n = len(s.x)
    for j in range(n):
        for l in range(n):
            s.K[j, l] = 0.0 * s.x[j]
    for i in range(count):
        for j in range(n):
            g = s.weight[i] * s.Y[i, j]
            for l in range(n):
                s.K[j, l] += g * s.Y[i, l]
    for i in range(count):
        for j in range(n):
            s.x[j] = _dot(s.K[j], s.A[i])
        for l in range(i + 1):
            s.S[i, l] = _dot(s.A[l], s.x)


@kernel
def _correct(s, count):
    """Correct the forces f by the residual of the rows."""
    _sum_up(s.Y, s.f, s.x, count)
    for i in range(count):
        s.y[i] = s.right[i] - _dot(s.A[i], s.x)
    solve(s.S[0:count], s.y)
    _sum_up(s.A, s.y, s.x, count)
    for i in range(count):
        s.f[i] += s.weight[i] * _dot(s.Y[i], s.x)


@kernel
def _sum_up(A, y, x, count):
    """Compute x = A' y of `count` rows."""
    for j in range(len(x)):
        x[j] = 0.0 * x[j]
    for i in range(count):
        for j in range(len(x)):
            x[j] += A[i, j] * y[i]
