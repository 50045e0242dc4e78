"""What the searches for closed loops have in common, for one start and for many: tolerances, limits
and small pieces of their steps.
"""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakKeyDictionary

import numpy as np

from ..machine import Machine, Metric, metric, position_count
from ..machine import called as called

Array = np.ndarray
# Residual of a closed loop, at most, relative to the length of the loop. Newton steps go on beyond
# it, down to rounding.
CLOSED = 1e-9
# The same where the search from the guess ends without closing a loop down to rounding: of bodies
# that are connected more often than their motion needs, such as a platform on three parallel rods,
# with rounded lengths.
NEARLY_CLOSED = 1e-6
# Rate of opening of a loop that stays closed, at most, relative to the fastest speed.
OPENING_RATE_TOLERANCE = 1e-9
# Starts of a search: the guess and others around it.
MAX_STARTS = 30
# Starts of the search within the limits of joints, where the first search left them.
MAX_STARTS_WITHIN_LIMITS = 12
# Damped steps from one start.
MAX_STEPS = 200
# Norm of one step, at most: rad, or lengths of the loop.
MAX_STEP_NORM = 1.0
# Damping mu relative to scaled rows of order one; a step with it is practically Newton's own.
MIN_DAMPING = 1e-13
# Standard deviations of other starts from the guess, in turn: rad, or lengths of the mechanism.
START_SPREADS = (0.1, 0.5, 1.5, 3.0)
_measures: WeakKeyDictionary[Machine, Metric] = WeakKeyDictionary()


def shortened(step: Array, reach: float) -> Array:
    """Return the step, scaled down to the norm `reach` if it is longer."""
    length = float(np.linalg.norm(step))
    return step * (reach / length) if length > reach else step


def search_sizes(machine: Machine, A: Array) -> Array:
    """Return the sizes (..., m) that residuals of the position rows A (..., m, nv) are divided by
    in a search.

    All displacements have one common length, so that loops that contradict each other share the
    remaining error; cosines have the size one, and rows of expressions the size of their entries.
    """
    if machine not in _measures:
        by = metric(machine).rows(slice(position_count(machine)))
        apart = np.array(
            [not label.startswith("rotation") for _, label in machine.rows[: len(by.size)]], bool
        ) & (by.size > 0.0)
        _measures[machine] = Metric(
            by.column, np.where(apart, by.size[apart].max(initial=0.0), by.size)
        )
    by = _measures[machine]
    return np.sqrt(by.size if by.size.all() else by.sizes(A))


def fastest(by: Metric, A: Array, rate: Array, *speeds: Array) -> Array:
    """Return the largest (...,) of the rates (..., m) relative to their rows and of the speeds
    (..., nv) relative to their lengths.
    """
    found = [np.abs(by.relative(rate, A)), *(np.abs(v / np.sqrt(by.column)) for v in speeds)]
    return np.max([x.max(axis=-1, initial=0.0) for x in found], axis=0)


def regular(M: Array, A: Array, by: Metric) -> Array:
    """Return the mass matrix M (n, n), made positive definite, as a metric for changes of speed d
    with A d given, A (m, n).

    Where a speed has no inertia, A' W A is added, which has the same value for all such d and so
    does not change the minimiser; and, for speeds that the rows do not move either, a small inertia
    relative to the others.
    """
    own = np.diag(M)
    if own.size and own.min() <= 0.0:
        scale = (own * by.column).max() or 1.0
        scaled = A / np.sqrt(by.sizes(A))[:, None]
        M = M + scale * scaled.T @ scaled
    return M + 1e-14 * np.diag(np.where(own > 0.0, own, own.max(initial=0.0) or 1.0))


def by_loop(names: Iterable[tuple[str, str]], size: Array) -> dict[str, float]:
    """Return {joint: largest size of its rows} for sizes (m,) of rows with the names (joint,
    direction).
    """
    gaps: dict[str, float] = {}
    for (joint, _), x in zip(names, size):
        gaps[joint] = max(gaps.get(joint, 0.0), float(x))
    return gaps
