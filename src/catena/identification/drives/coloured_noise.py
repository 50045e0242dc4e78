"""Coloured noise: residuals of a log are correlated in time, which widens the intervals of the
estimates.

    r[k] = a_1 r[k - 1] + ... + a_p r[k - p] + e[k],  e white

Maximum likelihood: both sides of the equations pass through the filter 1 - a_1 z^-1 - ..., after
which the noise is white. Least squares without that filter has the covariance (X'X)^-1 X'RX
(X'X)^-1, where R = s L L' is the covariance of the noise and L the inverse of the filter; X'RX is
the sum of products of L'X, X filtered backwards in time. The order is that of the smallest
information criterion of Bayes ([Schwarz1978]).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
MAX_ORDER = 20


def autoregression(residuals: Sequence[Array], max_order: int = MAX_ORDER) -> Array:
    """Return a_1 ... a_p of residuals of several logs, by Levinson's recursion.

    >>> rng = np.random.default_rng(0)
    >>> x = np.zeros(20000)
    >>> for k in range(1, 20000):
    ...     x[k] = 0.8 * x[k - 1] + rng.standard_normal()
    >>> bool(abs(autoregression([x])[0] - 0.8) < 0.02)
    True
    """
    rows = sum(map(len, residuals))
    order = max(0, min(max_order, min(map(len, residuals)) // 10))
    r = np.array([sum(float(x[k:] @ x[: len(x) - k]) for x in residuals) for k in range(order + 1)])
    best, found = 0.0, np.zeros(0)
    if r[0] <= 0.0:
        return found
    a, error = np.zeros(0), float(r[0])
    for p in range(1, order + 1):
        step = (r[p] - a @ r[p - 1 : 0 : -1]) / error if p > 1 else r[1] / error
        a = np.append(a - step * a[::-1], step)
        error *= 1.0 - step**2
        score = rows * np.log(max(error, 1e-300) / r[0]) + p * np.log(rows)
        if score < best:
            best, found = score, a.copy()
    return found


def whitened(x: Array, a: Array) -> Array:
    """Return values (T, ...) after the filter 1 - a_1 z^-1 - ..., without the first p rows."""
    if not len(a):
        return x
    from scipy.signal import lfilter

    return lfilter(np.concatenate([[1.0], -a]), [1.0], x, axis=0)[len(a) :]


def coloured(x: Array, a: Array) -> Array:
    """Return L'x for values (T, ...): the inverse filter, applied backwards in time."""
    if not len(a):
        return x
    from scipy.signal import lfilter

    return lfilter([1.0], np.concatenate([[1.0], -a]), x[::-1], axis=0)[::-1]
