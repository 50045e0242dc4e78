"""Gains and inertial parameters together: Gauss-Newton steps on sums of products.

    minimise sum over joints of |effort_j - k_j Y_j theta - F_j c_j|^2 / s_j
             + sum over joints of (log k_j - their mean)^2 / GAIN_SPREAD^2

The parameters are theta, the logarithms of the gains, and all c_j. The last term is far weaker than
the data of a joint whose gain they determine; it decides where the data determine only the product
of a gain and parameters that affect no other joint. The mean of the logarithms does not change.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .normal_equations import Gram, Solution, regular_inverse

Array = NDArray[np.float64]
GAIN_SPREAD = 1.0  # of the logarithms of gains of one robot
STEPS = 20
SETTLED = 1e-10  # of the cost, relative: a smaller change is the last


def derivatives(
    theta: Array, gains: Array, sizes: Sequence[int], joint: int, free_gains: bool
) -> Array:
    """Return the matrix T (columns of the joint, parameters): a change dp of the parameters changes
    the efforts of the joint by its columns times T dp. The parameters are theta, the logarithms of
    all gains, and the coefficients of all joints.
    """
    b, n = len(theta), len(gains)
    start = b + n + sum(sizes[:joint])
    T = np.zeros((b + sizes[joint], b + n + sum(sizes)))
    T[:b, :b] = gains[joint] * np.eye(b)
    T[:b, b + joint] = gains[joint] * theta if free_gains else 0.0
    T[b:, start : start + sizes[joint]] = np.eye(sizes[joint])
    return T


def free_gain_solution(
    grams: Sequence[Gram], chosen: Sequence[Sequence[int]], start: Solution
) -> Solution:
    """Return the fit with free gains, from one with fixed gains."""
    own = [_restricted(g, c) for g, c in zip(grams, chosen)]
    now, cost = start, _cost(own, start)
    for _ in range(STEPS):
        step = _step(own, now)
        for k in range(8):
            tried = _moved(now, step / 2**k)
            other = _cost(own, tried)
            if other <= cost:
                break
        else:
            break
        last = cost - other <= SETTLED * cost
        now = tried
        left = [g.squared_error(w) / g.rows for g, w in zip(own, _weights(now))]
        now = Solution(now.theta, now.gains, now.coefficients, np.maximum(left, 1e-300))
        cost = _cost(own, now)
        if last:
            break
    return now


def _restricted(gram: Gram, chosen: Sequence[int]) -> Gram:
    """Return the part of the Gram matrix that belongs to the base and the chosen columns."""
    keep = [*range(gram.base), *(gram.base + k for k in chosen), len(gram.matrix) - 1]
    return Gram(gram.matrix[np.ix_(keep, keep)], gram.base, gram.rows)


def _weights(x: Solution) -> list[Array]:
    """Return the coefficients of all columns of each joint."""
    return [np.concatenate([k * x.theta, c]) for k, c in zip(x.gains, x.coefficients)]


def _cost(grams: Sequence[Gram], x: Solution) -> float:
    """Return the weighted sum of squares, with the spread of the gains."""
    data = sum(
        g.squared_error(w) / s for g, w, s in zip(grams, _weights(x), x.variances, strict=True)
    )
    away = np.log(x.gains) - np.log(x.gains).mean()
    return float(data + (away @ away) / GAIN_SPREAD**2)


def _step(grams: Sequence[Gram], x: Solution) -> Array:
    """Return the Gauss-Newton step of all parameters."""
    b, n = len(x.theta), len(x.gains)
    sizes = [len(c) for c in x.coefficients]
    H = np.zeros((b + n + sum(sizes),) * 2)
    g = np.zeros(len(H))
    for j, (gram, w) in enumerate(zip(grams, _weights(x))):
        T = derivatives(x.theta, x.gains, sizes, j, True)
        G = gram.matrix
        H += T.T @ G[:-1, :-1] @ T / x.variances[j]
        g += T.T @ (G[:-1, -1] - G[:-1, :-1] @ w) / x.variances[j]
    away = np.log(x.gains) - np.log(x.gains).mean()
    g[b : b + n] -= away / GAIN_SPREAD**2
    fixed = H.diagonal()[b : b + n].mean() + 1.0  # holds the mean of the logarithms
    H[b : b + n, b : b + n] += (np.eye(n) - 1.0 / n) / GAIN_SPREAD**2 + fixed / n
    return regular_inverse(H) @ g


def _moved(x: Solution, step: Array) -> Solution:
    """Return the solution that results when all parameters change by a step."""
    b, n = len(x.theta), len(x.gains)
    ends = np.cumsum([len(c) for c in x.coefficients])[:-1]
    parts = np.split(step[b + n :], ends)
    return Solution(
        x.theta + step[:b],
        x.gains * np.exp(np.clip(step[b : b + n], -1.0, 1.0)),
        tuple(c + d for c, d in zip(x.coefficients, parts)),
        x.variances,
    )
