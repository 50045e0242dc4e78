"""Stops that several coordinates reach at one instant, as both fingers of a symmetric gripper do.

Which of them is located first is decided by rounding, and impacts one after the other end
differently from one impact of all. So those that reach their stop within the same instant and do
not rebound take part in the impact of the first: each stop pushes and does not pull.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# interval relative to the time since the start of the run: a shorter one is one instant
INSTANT_LENGTH = 1e-12
LIMIT_ROUNDING = 1e-15  # relative to the limit: how far from it a coordinate is at it


def reach_together(
    gap: Array, approach: Array, limit: Array, restitution: Array, duration: Any
) -> NDArray[np.bool_]:
    """Return which stops (...,) are reached within the same instant, without a rebound.

    gap: distance to the stop, approach: speed towards it (rad or m, per s); limit: where it is,
    infinite where there is none; duration: time since the start of the run, s.
    """
    with np.errstate(invalid="ignore"):
        near = gap <= approach * INSTANT_LENGTH * duration + LIMIT_ROUNDING * np.abs(limit)
    return np.isfinite(limit) & (approach > 0.0) & near & (restitution == 0.0)
