"""Reactions under constraint rows: the multipliers of a motion, the self-stresses that remain
undetermined, and the wrench in every joint.

    A' lam = need,      A~ = N^-1/2 A C^1/2 = L' U,      L (N^1/2 lam) = U C^1/2 need

The orthonormal rows of U come from those of A~ by Gram-Schmidt with pivoting: the longest remaining
row is taken next. The rows selected in this way carry the load; the multipliers of the others are
zero. Each row j that was not selected gives an internal load (self-stress): n with A' n = 0 and n_j
= 1. No branch depends on a value, so that many states are computed in parallel: a choice is a
column of zeros with a one in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..spatial import add, cross, get, get33, kernel, select, sqrt, sub, sweep, unrotate
from .rank import EXACT

# a component of a wrench that inner loads change by more, relative to the largest change of its
# kind (torque or force), is not determined
DOUBTFUL = 1e-8
NAN = float("nan")


class JointRows(NamedTuple):
    """The wrenches of rows in joints; b joints, m rows. The frames of joints: child bodies in the
    ground, and the frames in which wrenches are reported.
    """

    R: np.ndarray  # (b, 3, 3) R_WB
    p: np.ndarray  # (b, 3) p_WB
    turn: np.ndarray  # (b, 3, 3) R_BF
    arm: np.ndarray  # (b, 3) p_BF
    share: np.ndarray  # (b, m) how much of a row's wrench the joint carries
    # (m, 6) of one unit of each row on its child, about the ground's origin in its axes
    wrench: np.ndarray


@sweep
def loop_reactions(
    A, need, column, size, on, tree_wrench, H, U, L, P, unit, c, lam, doubt, W, left, sizes, loose
):
    """Fill W (b, 6), the wrench in each joint in the frame in which it is reported, left (nv,) =
    need - A' lam, and sizes (m,), the multipliers. Wrenches and multipliers are NaN where they are
    not determined.

    A (m, nv), need (nv,), C (nv,) and N (m,) of `rank`; on: `JointRows`; tree_wrench (b, 6): the
    wrenches without rows, about the child's origin in its axes. Scratch: H, U (m, nv), L, P (m, m),
    unit, c, lam, loose (m,), doubt (b, 6).
    """
    decompose(A, column, size, H, U, L, P, unit)
    multipliers(A, need, column, U, L, P, unit, c, lam, left)
    for k in range(len(lam)):
        sizes[k], loose[k] = lam[k], 0.0 * lam[k]
    torque = 0.0 * need[0]
    force = 0.0 * need[0]
    for i in range(len(on.share)):
        t, f = to_child(on, i, combined(on, i, lam))
        t = add(t, (tree_wrench[i, 0], tree_wrench[i, 1], tree_wrench[i, 2]))
        f = add(f, (tree_wrench[i, 3], tree_wrench[i, 4], tree_wrench[i, 5]))
        t, f = to_frame(on, i, t, f)
        for d in range(3):
            W[i, d], W[i, 3 + d] = t[d], f[d]
            doubt[i, d], doubt[i, 3 + d] = 0.0 * t[d], 0.0 * t[d]
        for k in range(len(lam)):
            t, f = seen(on, i, alone(on, i, k))
            torque = max(torque, abs(t[0]), abs(t[1]), abs(t[2]))
            force = max(force, abs(f[0]), abs(f[1]), abs(f[2]))
    for j in range(len(lam)):
        inner_load(j, L, P, unit, c, lam)
        _open_rows(lam, unit, loose)
        for i in range(len(on.share)):
            t, f = seen(on, i, combined(on, i, lam))
            for d in range(3):
                doubt[i, d] += t[d] * t[d]
                doubt[i, 3 + d] += f[d] * f[d]
    torque = DOUBTFUL * torque
    force = DOUBTFUL * force
    for i in range(len(on.share)):
        for d in range(3):
            W[i, d] = select(doubt[i, d] > torque * torque, NAN, W[i, d])
            W[i, 3 + d] = select(doubt[i, 3 + d] > force * force, NAN, W[i, 3 + d])
    for k in range(len(lam)):
        sizes[k] = select(loose[k] > DOUBTFUL * DOUBTFUL, NAN, sizes[k])


@sweep
def _open_rows(lam, unit, loose):
    """Add to loose (m,) the squared contribution of each row to an internal load, relative to the
    whole load, in the units in which the rank is decided.
    """
    square = 0.0 * lam[0]
    for k in range(len(lam)):
        square += (lam[k] / unit[k]) * (lam[k] / unit[k])
    inverse = 1.0 / select(square > 0.0, square, 1.0 + 0.0 * square)
    for k in range(len(lam)):
        loose[k] += (lam[k] / unit[k]) * (lam[k] / unit[k]) * inverse


# --- rows
@sweep
def decompose(A, column, size, H, U, L, P, unit):
    """Compute unit = N^-1/2, and A~ = L' U: L (step, row), P (step, row), which is one where the
    step selected the row. Steps beyond the rank are zero.
    """
    m, nv = len(unit), len(column)
    for k in range(m):
        own = 0.0 * A[k, 0]
        for i in range(nv):
            own += A[k, i] * A[k, i] * column[i]
        own = select(size[k] > 0.0, size[k], own)
        unit[k] = 1.0 / sqrt(select(own > 0.0, own, 1.0 + 0.0 * own))
        for i in range(nv):
            H[k, i] = unit[k] * A[k, i] * sqrt(column[i])
    for s in range(m):
        _take_longest(H, U[s], L[s], P[s])


@sweep
def _take_longest(H, u, l, p):
    """Do one pivot step. u: the longest row of H, normalised, or zero where none is left; l: the
    components of the rows along u, which are subtracted from them; p: one for the pivot row, which
    becomes zero.
    """
    m, nv = len(l), len(u)
    longest = 0.0 * H[0, 0]
    for k in range(m):
        l[k] = 0.0 * longest
        for i in range(nv):
            l[k] += H[k, i] * H[k, i]
        longest = max(longest, l[k])
    there = longest > EXACT * EXACT
    free = select(there, 1.0 + 0.0 * longest, 0.0 * longest)
    inverse = free / sqrt(select(there, longest, 1.0 + 0.0 * longest))
    for i in range(nv):
        u[i] = 0.0 * longest
    for k in range(m):
        p[k] = select(l[k] >= longest, free, 0.0 * free)
        free -= p[k]
        for i in range(nv):
            u[i] += p[k] * inverse * H[k, i]
    for k in range(m):
        l[k] = 0.0 * longest
        for i in range(nv):
            l[k] += H[k, i] * u[i]
        for i in range(nv):
            H[k, i] = (1.0 - p[k]) * (H[k, i] - l[k] * u[i])


@sweep
def multipliers(A, need, column, U, L, P, unit, c, lam, left):
    """Compute lam (m,) with A' lam = need as far as the rows allow, and left (nv,), the rest of
    need.
    """
    for s in range(len(lam)):
        c[s], lam[s] = 0.0 * need[0], 0.0 * need[0]
        for i in range(len(need)):
            c[s] += U[s, i] * sqrt(column[i]) * need[i]
    _solve(L, P, c, lam)
    for i in range(len(need)):
        left[i] = need[i]
    for k in range(len(lam)):
        lam[k] = unit[k] * lam[k]
        for i in range(len(need)):
            left[i] -= A[k, i] * lam[k]


@sweep
def inner_load(j, L, P, unit, c, lam):
    """Compute lam (m,), of length one: the internal load (self-stress) of row j with the selected
    rows; zero if row j itself was selected.
    """
    m = len(lam)
    taken = 0.0 * unit[0]
    for s in range(m):
        taken += P[s, j]
        c[s], lam[s] = 0.0 * taken, 0.0 * taken
    lam[j] = 1.0 - taken
    _solve(L, P, c, lam)
    square = 0.0 * taken
    for k in range(m):
        lam[k] = unit[k] * lam[k]
        square += lam[k] * lam[k]
    length = 1.0 / sqrt(select(square > 0.0, square, 1.0 + 0.0 * square))
    for k in range(m):
        lam[k] = length * lam[k]


@sweep
def _solve(L, P, c, lam):
    """Solve L lam = c by changing lam in the selected rows, the last of them first."""
    m = len(lam)
    for s in range(m - 1, -1, -1):
        left, pivot = c[s], 0.0 * c[s]
        for k in range(m):
            left -= L[s, k] * lam[k]
            pivot += L[s, k] * P[s, k]
        far = left / select(pivot > 0.0, pivot, 1.0 + 0.0 * pivot)
        for k in range(m):
            lam[k] += P[s, k] * far


# --- wrenches
@kernel
def alone(on, i, k):
    """Return the torque and force in joint i due to one unit of row k, about the ground's
    origin.
    """
    w, g = on.wrench[k], on.share[i, k]
    return (g * w[0], g * w[1], g * w[2]), (g * w[3], g * w[4], g * w[5])


@sweep
def combined(on, i, lam):
    """Return the torque and force in joint i due to all rows."""
    zero = 0.0 * lam[0]
    t = (zero, zero, zero)
    f = (zero, zero, zero)
    for k in range(len(lam)):
        w = on.wrench[k]
        g = on.share[i, k] * lam[k]
        t = (t[0] + g * w[0], t[1] + g * w[1], t[2] + g * w[2])
        f = (f[0] + g * w[3], f[1] + g * w[4], f[2] + g * w[5])
    return t, f


@kernel
def to_child(on, i, pair):
    """Return a wrench about the ground's origin as one about the origin of joint i's child, in its
    axes.
    """
    R = get33(on.R, i)
    t = pair[0]
    f = pair[1]
    return unrotate(R, sub(t, cross(get(on.p, i), f))), unrotate(R, f)


@kernel
def to_frame(on, i, t, f):
    """Return a wrench on the child in the frame in which joint i reports it."""
    R = get33(on.turn, i)
    return unrotate(R, sub(t, cross(get(on.arm, i), f))), unrotate(R, f)


@kernel
def seen(on, i, pair):
    """Return a wrench, given about the ground's origin, in the frame in which joint i reports
    it.
    """
    t, f = to_child(on, i, pair)
    return to_frame(on, i, t, f)
