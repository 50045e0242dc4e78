"""Drivers with equal steps: explicit, implicit, and maps. As in `drivers.py`, compiled once for every mechanism."""

from __future__ import annotations

import numba as nb
import numpy as np

from ..compiler.call import call_block
from .drivers import NOT_FINITE, NOT_SOLVED, OPTIONS, REACHED, _derivative, _settle, _stage, _weighted

ROUNDS = 60  # fixed-point rounds for implicit stages


@nb.njit(**OPTIONS)
def fixed(address, settle, A, B, C, x, buffer, K, t, h, steps, every, out):
    """`steps` explicit steps of size h; a row of `out` after every `every` of them. Returns status, t, and rows filled."""
    s, row = len(B), 0
    start = t
    for n in range(steps):
        for i in range(s):
            _stage(address, buffer, x, K, A, i, t + C[i] * h, h)
        _weighted(x, K, B, s, h, x.reshape(x.size), 0)
        t = start + (n + 1) * h
        _settle(settle, buffer, x, t, 1)
        if not np.isfinite(x.sum()):
            return NOT_FINITE, t, row
        if (n + 1) % every == 0:
            out[row] = x
            row += 1
    return REACHED, t, row


@nb.njit(**OPTIONS)
def mapped(address, settle, x, buffer, t, h, steps, every, out):
    """`steps` steps of a map x -> F(t, x, u, p, h), whose last buffer row is h."""
    row, start = 0, t
    nx = x.shape[0]
    for n in range(steps):
        buffer[0] = t
        buffer[1 : 1 + nx] = x
        buffer[-1] = h
        call_block(address, buffer, x)
        t = start + (n + 1) * h
        _settle(settle, buffer, x, t, 1)
        if not np.isfinite(x.sum()):
            return NOT_FINITE, t, row
        if (n + 1) % every == 0:
            out[row] = x
            row += 1
    return REACHED, t, row


@nb.njit(**OPTIONS)
def implicit(address, settle, A, B, C, x, buffer, K, t, h, steps, every, out):
    """`steps` implicit steps of size h, stages by fixed-point rounds from those of the step before.

    Returns status, t, rows filled, and evaluations.
    """
    s, row, start, evaluations = len(B), 0, t, 0
    nx, W = x.shape
    fresh = np.zeros((nx, W))
    for i in range(s):
        _derivative(address, buffer, x, t, K[i])
    for n in range(steps):
        change, size = 0.0, 0.0
        for _ in range(ROUNDS):
            change, size = 0.0, 0.0
            for i in range(s):
                for k in range(nx):
                    for l in range(W):
                        total = 0.0
                        for j in range(s):
                            total += A[i, j] * K[j, k, l]
                        buffer[1 + k, l] = x[k, l] + h * total
                buffer[0] = t + C[i] * h
                call_block(address, buffer, fresh)
                for k in range(nx):
                    for l in range(W):
                        change = max(change, abs(fresh[k, l] - K[i, k, l]))
                        size = max(size, abs(fresh[k, l]))
                        K[i, k, l] = fresh[k, l]
            evaluations += s
            if change <= 4e-16 * max(size, 1.0):
                break
        if not np.isfinite(K.sum()) or change > 1e-11 * max(size, 1.0):  # the largest change does not see what is not a number
            _derivative(address, buffer, x, t, fresh)
            return (NOT_SOLVED if np.isfinite(fresh.sum()) else NOT_FINITE), t, row, evaluations
        for k in range(nx):
            for l in range(W):
                total = 0.0
                for i in range(s):
                    total += B[i] * K[i, k, l]
                x[k, l] += h * total
        t = start + (n + 1) * h
        _settle(settle, buffer, x, t, 1)
        if (n + 1) % every == 0:
            out[row] = x
            row += 1
    return REACHED, t, row, evaluations
