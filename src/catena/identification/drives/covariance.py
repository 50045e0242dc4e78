"""The covariance of all estimates of a drive fit, with coloured residuals.

The parameters are theta, the logarithms of the gains, and each joint's coefficients of friction. H
is the sum over joints of J'J / s with J the derivatives of the efforts, B the same with the
covariance of the coloured noise between them; the covariance is H^-1 B H^-1 for least squares, and
H^-1 of whitened derivatives for maximum likelihood.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .coloured_noise import autoregression, coloured, whitened
from .drive_model import DriveModel, columns_of
from .gain_steps import derivatives, free_gain_solution
from .joint_columns import Drives
from .normal_equations import Gram, solve

Array = NDArray[np.float64]
RANK_RATIO = 1e-13  # eigenvalues of the information below it, relative to the largest, are zero


@dataclass(frozen=True)
class NoiseModel:
    """The noise of each joint: its autoregression, and the variance of the white noise that drives
    it.
    """

    autoregressions: tuple[Array, ...]
    variances: Array

    @property
    def orders(self) -> tuple[int, ...]:
        """The order of each joint's autoregression."""
        return tuple(map(len, self.autoregressions))


def noise_model(model: DriveModel, logs: Sequence[Drives]) -> NoiseModel:
    """Return the noise model of the residuals of a model along logs."""
    found, variances = [], []
    for j, terms in enumerate(model.terms):
        w = np.concatenate([model.gains[j] * model.theta, model.coefficients[j]])
        left = [x[:, -1] - x[:, :-1] @ w for x in (columns_of(j, log, terms) for log in logs)]
        a = autoregression(left)
        white = np.concatenate([whitened(r, a) for r in left])
        free = max(
            1.0, len(white) - len(model.coefficients[j]) - len(model.theta) / len(model.terms)
        )
        found.append(a)
        variances.append(float(white @ white) / free)
    return NoiseModel(tuple(found), np.array(variances))


def maximum_likelihood(
    model: DriveModel, logs: Sequence[Drives], noise: NoiseModel, free_gains: bool
) -> DriveModel:
    """Return the model refitted for this noise."""
    grams = []
    for j, (terms, a) in enumerate(zip(model.terms, noise.autoregressions)):
        white = np.concatenate([whitened(columns_of(j, log, terms), a) for log in logs])
        grams.append(Gram(white.T @ white, len(model.theta), len(white)))
    chosen = [list(range(len(c))) for c in model.coefficients]
    found = solve(grams, chosen, model.gains)
    found = free_gain_solution(grams, chosen, found) if free_gains else found
    scale = np.exp(np.mean(np.log(found.gains / model.gains)))
    return replace(
        model,
        theta=scale * found.theta,
        gains=found.gains / scale,
        coefficients=found.coefficients,
    )


def covariance(
    model: DriveModel,
    logs: Sequence[Drives],
    noise: NoiseModel,
    free_gains: bool,
    likelihood: bool = False,
) -> Array:
    """Return the covariance of (theta, log gains, coefficients of joint 1, 2, ...).

    Known gains have zero variance. Of unknown ones that of the joint with the largest rigid-body
    efforts is the reference, and the variances hold relative to it. likelihood: whether the
    estimates are those of maximum likelihood; otherwise of least squares.
    """
    b, n = len(model.theta), len(model.gains)
    sizes = [len(c) for c in model.coefficients]
    size = b + n + sum(sizes)
    H, B = np.zeros((size, size)), np.zeros((size, size))
    for j, a in enumerate(noise.autoregressions):
        columns = [columns_of(j, log, model.terms[j])[:, :-1] for log in logs]
        T = derivatives(model.theta, model.gains, sizes, j, free_gains)
        s = noise.variances[j]
        if likelihood:
            white = np.concatenate([whitened(x, a) for x in columns])
            H += T.T @ (white.T @ white) @ T / s
            continue
        # least squares weights each joint by the variance of its residuals, as `solve` does
        residual = s * _power(a)
        plain = np.concatenate(columns)
        colour = np.concatenate([coloured(x, a) for x in columns])
        H += T.T @ (plain.T @ plain) @ T / residual
        B += T.T @ (colour.T @ colour) @ T * s / residual**2
    fixed = range(b, b + n)
    if free_gains:
        reference = b + int(np.argmax(H.diagonal()[b : b + n]))
        fixed = range(reference, reference + 1)
    keep = [k for k in range(size) if k not in fixed]
    inverse = _inverse(H[np.ix_(keep, keep)])
    found = np.zeros((size, size))
    found[np.ix_(keep, keep)] = inverse if likelihood else inverse @ B[np.ix_(keep, keep)] @ inverse
    return found


def _power(a: Array) -> float:
    """Return the variance of the noise relative to that of the white noise that drives it."""
    impulse = np.zeros(2000)
    impulse[-1] = 1.0
    return float(np.sum(coloured(impulse, a) ** 2))


def _inverse(A: Array) -> Array:
    """Return the inverse of an information matrix, computed after scaling to a unit diagonal.
    Parameters that the data do not determine have a large variance, not zero.
    """
    size = np.sqrt(np.maximum(np.diag(A), 1e-300))
    values, V = np.linalg.eigh(A / np.outer(size, size))
    values = np.maximum(values, RANK_RATIO * values[-1])
    return (V / values) @ V.T / np.outer(size, size)
