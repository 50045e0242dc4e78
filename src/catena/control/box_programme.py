"""Quadratic programmes with bounds as their only constraints, as straight-line code.

    minimise 1/2 x' H x + g' x,      low <= x <= high

Block principal pivoting [Judice1994]: in each round the free entries are solved for, then every
entry that violates its bound is put on it, and every bound that pulls is released. A few rounds are
unrolled. If they do not suffice, the second result is 0, and an exact solver is used.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from ..compiler import entries, vector
from ..contact import boxed_forces

ROUNDS = 8  # that are unrolled: enough for 99 of 100 steps of a Panda far beyond its speed limits
# relative to the diagonal of H: a multiplier of the wrong sign below this is rounding
WRONG_MULTIPLIER = 1e-12
Array = np.ndarray
NO_BOUND = 1e30  # stands for infinity, which cannot be multiplied by zero


def box_minimum(H: ca.SX, g: ca.SX, low: ca.SX, high: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return x (n,) as an expression, and 1 where it is the minimum, 0 where more rounds were
    needed.
    """
    n = g.numel()
    K = entries(ca.densify(H))
    low, high = ca.fmax(low, -NO_BOUND), ca.fmin(high, NO_BOUND)
    side = [ca.SX(0)] * n
    x: list[Any] = []
    wrong: Any = ca.SX(0)
    for _ in range(ROUNDS):
        free = [1.0 - s * s for s in side]
        bound = [
            ca.if_else(s > 0.0, high[i], ca.if_else(s < 0.0, low[i], 0.0))
            for i, s in enumerate(side)
        ]
        x = _solve_free(K, g, free, bound)
        rest = [sum(K[i, j] * x[j] for j in range(n)) + g[i] for i in range(n)]
        slack = [WRONG_MULTIPLIER * K[i, i] for i in range(n)]
        wrong, after = ca.SX(0), []
        for i in range(n):
            over, under = x[i] > high[i], x[i] < low[i]
            pulls = ca.if_else(side[i] > 0.0, rest[i] > slack[i], rest[i] < -slack[i])
            fresh = ca.if_else(over, 1.0, ca.if_else(under, -1.0, 0.0))
            after.append(ca.if_else(free[i] > 0.5, fresh, ca.if_else(pulls, 0.0, side[i])))
            wrong = ca.fmax(wrong, after[i] != side[i])
        side = after
    return vector(x), 1.0 - wrong


def exact_box_minimum(H: Array, g: Array, low: Array, high: Array) -> Array:
    """Return the solutions x (k, n) of k programmes, H (k, n, n), with as many rounds as
    necessary.
    """
    step = np.abs(g) / np.diagonal(H, axis1=1, axis2=2)
    low, high = np.maximum(low, -NO_BOUND), np.minimum(high, NO_BOUND)
    return boxed_forces(H, g, low, high, WRONG_MULTIPLIER * (1.0 + step))[0]


def _solve_free(K: np.ndarray, g: ca.SX, free: list[Any], bound: list[Any]) -> list[Any]:
    """Return x with the free entries solved for, and the others at their bounds. Rows and columns
    of entries at bounds are replaced by those of the identity, and the matrix is factorised as L D
    L'.
    """
    n = len(free)
    A = [[free[i] * free[j] * K[i, j] if j < i else 0.0 for j in range(n)] for i in range(n)]
    d = [free[i] * K[i, i] + (1.0 - free[i]) for i in range(n)]
    y = [free[i] * (-g[i] - sum(K[i, j] * bound[j] for j in range(n))) + bound[i] for i in range(n)]
    for k in range(n):
        row = [A[k][j] for j in range(k)]
        for j in range(k):
            A[k][j] = row[j] / d[j]
            for i in range(j + 1, k):
                row[i] = row[i] - A[k][j] * A[i][j] * d[j]
        d[k] = d[k] - sum(A[k][j] * A[k][j] * d[j] for j in range(k))
        y[k] = y[k] - sum(A[k][j] * y[j] for j in range(k))
    x = [y[i] / d[i] for i in range(n)]
    for k in reversed(range(n)):
        for i in range(k):
            x[i] = x[i] - A[k][i] * x[k]
    return x
