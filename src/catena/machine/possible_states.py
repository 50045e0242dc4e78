"""The tolerances within which a state satisfies its constraint rows; `state_check` raises the
errors.

|error| <= OPEN          relative to the size of the row: the length of its loop, or 1 for the
                         cosine of an angle (`kernels.rank`)
|A v + B| <= OPEN s      relative to that size too, with s (1/s) the fastest speed of the state,
                         slides relative to the length of their loop; s is at least `resting`
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .row_metric import metric
from .spec import Spec

Array = NDArray[np.float64]
# The largest residual of a row relative to its size, and the largest rate relative to the fastest
# speed, that still count as the last digits of a state that was written down or integrated.
OPEN = 1e-6


def possible(spec: Spec, error: Array, rate: Array, v: Array) -> NDArray[np.bool_]:
    """Return whether each state satisfies the rows of its loops, (n,). error, rate (n, m):
    residuals and rates of the rows; v (n, nv): speeds.
    """
    by = metric(spec)
    size = np.sqrt(by.size)
    fastest = np.abs(v / np.sqrt(by.column)).max(axis=-1, initial=0.0)
    opened, torn = (np.abs(x / size).max(axis=-1, initial=0.0) for x in (error, rate))
    return np.asarray((opened <= OPEN) & (torn <= OPEN * np.maximum(fastest, spec.resting)))
