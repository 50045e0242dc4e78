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
# the largest residual of a closed loop, beside its length; Newton's steps go on as far as rounding
# lets them
CLOSED = 1e-9
TORN = 1e-9  # the largest rate of a loop that stays closed, beside the fastest speed
# starts, steps of one, and how far a step may go (rad, or lengths of the loop)
STARTS, STEPS, REACH = 30, 200, 1.0
FINEST = 1e-13  # the damping of a step that is all but Newton's own
SPREADS = (0.1, 0.5, 1.5, 3.0)  # how far other starts lie from the guess
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
    found = [np.abs(by.beside(rate, A)), *(np.abs(v / np.sqrt(by.column)) for v in speeds)]
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
