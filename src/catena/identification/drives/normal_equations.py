"""Normal equations of all drives: shared inertial parameters, and friction of each joint.

    effort_j = k_j Y_j theta + F_j c_j + noise of variance s_j

The matrix of sums of products (Gram matrix) of each joint's columns [Y_j, F_j, effort_j] holds
everything that least squares needs. It is made once for each log; the fit of any subset of columns
on any subset of logs, and its error on any other log, are then small matrices. The coefficients of
friction are eliminated joint by joint (Schur complement), so that a fit costs one solution of the
size of theta and one of the size of c_j for each joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
RIDGE = 1e-9  # relative to the diagonal: keeps dependent columns solvable, far below the data


@dataclass(frozen=True)
class Gram:
    """Sums of products of one joint's columns: base (b), friction (f), effort (last).

    matrix (b + f + 1, b + f + 1). base: b. rows: the number of rows.
    """

    matrix: Array
    base: int
    rows: int

    def __add__(self, other: Gram) -> Gram:
        return Gram(self.matrix + other.matrix, self.base, self.rows + other.rows)

    def squared_error(self, w: Array) -> float:
        """Return the sum of squared residuals of coefficients w (b + f,) of all columns."""
        full = np.append(w, -1.0)
        return max(0.0, float(full @ self.matrix @ full))

    @property
    def power(self) -> float:
        """The sum of squared efforts."""
        return float(self.matrix[-1, -1])


@dataclass(frozen=True)
class Part:
    """The contribution of one joint to the equations of theta, after its friction has been
    eliminated.

    S (b, b), s (b,): S theta = s. D: the factor of its friction block; C (b, f), g (f,).
    """

    S: Array
    s: Array
    solve: Array
    C: Array
    g: Array

    def coefficients(self, theta: Array) -> Array:
        """Return the joint's coefficients of friction for these inertial parameters."""
        return self.solve @ (self.g - self.C.T @ theta)


def part(gram: Gram, chosen: Sequence[int], gain: float) -> Part:
    """Return the contribution of one joint with the chosen columns of friction."""
    G, b = gram.matrix, gram.base
    f = [b + k for k in chosen]
    D = G[np.ix_(f, f)]
    C = gain * G[:b][:, f]
    g = G[f, -1]
    solve = regular_inverse(D)
    return Part(
        gain**2 * G[:b, :b] - C @ solve @ C.T, gain * G[:b, -1] - C @ (solve @ g), solve, C, g
    )


def regular_inverse(A: Array) -> Array:
    """Return the inverse of a symmetric matrix with RIDGE of its diagonal added.

    A column of zeros, such as friction of a load that is not known yet, gets the coefficient zero.
    """
    size = np.sqrt(np.maximum(np.diag(A), 0.0))
    size = np.where(size > 0.0, size, 1.0)
    scaled = A / np.outer(size, size)
    return np.linalg.inv(scaled + RIDGE * np.eye(len(A))) / np.outer(size, size)


def solve_theta(parts: Sequence[Part], variances: Array) -> Array:
    """Return the inertial parameters from the contributions of all joints."""
    S = sum((p.S / s for p, s in zip(parts, variances)), np.zeros_like(parts[0].S))
    rhs = sum((p.s / s for p, s in zip(parts, variances)), np.zeros_like(parts[0].s))
    return regular_inverse(S) @ rhs


@dataclass(frozen=True)
class Solution:
    """The fit of all drives.

    theta (b,): base parameters. gains (n,). coefficients: of each joint's chosen columns. variances
    (n,): of the residuals.
    """

    theta: Array
    gains: Array
    coefficients: tuple[Array, ...]
    variances: Array


def weights_of(
    gram: Gram, chosen: Sequence[int], gain: float, theta: Array, coefficients: Array
) -> Array:
    """Return the coefficients of all columns of a joint, zero where a column is not chosen."""
    w = np.zeros(len(gram.matrix) - 1)
    w[: gram.base] = gain * theta
    w[[gram.base + k for k in chosen]] = coefficients
    return w


def solve(
    grams: Sequence[Gram],
    chosen: Sequence[Sequence[int]],
    gains: Array,
    variances: Array | None = None,
    rounds: int = 3,
) -> Solution:
    """Return the weighted least-squares fit of all drives with known gains.

    The variances are those of the residuals; they alternate with theta for so many rounds.
    """
    gains = np.array(gains, float)
    spread = np.array([g.power / g.rows for g in grams]) if variances is None else variances
    for _ in range(rounds):
        parts = [part(g, c, k) for g, c, k in zip(grams, chosen, gains)]
        theta = solve_theta(parts, spread)
        found = [p.coefficients(theta) for p in parts]
        left = [
            g.squared_error(weights_of(g, c, k, theta, x)) / g.rows
            for g, c, k, x in zip(grams, chosen, gains, found)
        ]
        spread = np.maximum(left, [1e-12 * g.power / g.rows + 1e-300 for g in grams])
    return Solution(theta, gains, tuple(found), spread)
