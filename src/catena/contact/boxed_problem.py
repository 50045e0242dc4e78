"""The boxed complementarity problem of forces between limits: joints that stick or slip, and stops
that push.

    a = a0 + W x,   low <= x <= high,   x = low => a >= 0,   x = high => a <= 0,   else a = 0

x are forces (or impulses) along m rows, a the accelerations (or changes of speed) that follow, W
(m, m) their symmetric response. Dry friction F of a joint at rest has the limits -F and F, a stop
has zero and infinity, a lock has none. Solved by block principal pivoting ([Judice1994]): every
row that is wrong changes its side at once; where that does not make fewer of them wrong, the last
one alone changes, which ends for every positive definite W. Many problems of one size are solved
together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import SingularError

Array = NDArray[np.float64]
# added to the diagonal of W, relative to it, so that dependent rows have forces; one step of
# refinement removes its effect from rows that are independent
DIAGONAL_SHIFT = 1e-13
BLOCK_TRIES = 3  # changes of all wrong rows at once that may fail to make fewer of them wrong
PIVOTS_PER_ROW = 20  # of one problem, after which it counts as contradictory


def boxed_forces(W: Array, a0: Array, low: Array, high: Array, slack: Array) -> tuple[Array, Array]:
    """Return the forces x (n, m) of n problems, and the state of each row (n, m): 0 between its
    limits, -1 at the lower limit, 1 at the upper limit.

    W (n, m, m), a0, low, high (n, m): see above. slack (n, m): the tolerance, as forces: by how
    much a limit may be exceeded, and the forces that correspond to accelerations which may have the
    wrong sign. Raises SingularError where no solution is found.
    """
    n, m = a0.shape
    if n == 1:
        forces, at = _one_problem(W[0], a0[0], low[0], high[0], slack[0])
        return forces[None], at[None]
    diagonal = np.diagonal(W, axis1=1, axis2=2)
    shift = np.where(diagonal > 0.0, DIAGONAL_SHIFT * diagonal, 1.0)[..., None] * np.eye(m)
    side, x = np.zeros((n, m)), np.zeros((n, m))
    fewest, tries = np.full(n, m + 1), np.full(n, BLOCK_TRIES)
    left = np.arange(n)
    for _ in range(PIVOTS_PER_ROW * m + PIVOTS_PER_ROW):
        free = side[left] == 0.0
        x[left] = np.where(free, 0.0, np.where(side[left] < 0.0, low[left], high[left]))
        for _ in range(2):
            x[left] -= _correction(W[left] + shift[left], a0[left] + _times(W[left], x[left]), free)
        a = a0[left] + _times(W[left], x[left])
        over, under = x[left] - high[left], low[left] - x[left]
        excess = np.where(free, np.maximum(over, under), side[left] * a / _positive(diagonal[left]))
        wrong = excess > slack[left]
        count = wrong.sum(axis=1)
        at_once = (count < fewest[left]) | (tries[left] > 0)
        tries[left] = np.where(count < fewest[left], BLOCK_TRIES, tries[left] - 1)
        fewest[left] = np.minimum(fewest[left], count)
        last = m - 1 - wrong[:, ::-1].argmax(axis=1)
        wrong &= at_once[:, None] | (np.arange(m) == last[:, None])
        other = np.where(free, np.where(over > under, 1.0, -1.0), 0.0)
        side[left] = np.where(wrong, other, side[left])
        left = left[count > 0]
        if not len(left):
            return x, side
    raise _contradiction()


def _one_problem(W: Array, a0: Array, low: Array, high: Array, slack: Array) -> tuple[Array, Array]:
    """Solve one problem as `boxed_forces` does, with matrices of the free rows only."""
    m = len(a0)
    diagonal = W.diagonal()
    size = _positive(diagonal)
    shifted = W + np.diag(np.where(diagonal > 0.0, DIAGONAL_SHIFT * diagonal, 1.0))
    side = np.zeros(m)
    fewest, tries = m + 1, BLOCK_TRIES
    for _ in range(PIVOTS_PER_ROW * m + PIVOTS_PER_ROW):
        is_free = side == 0.0
        free = np.flatnonzero(is_free)
        x = np.where(is_free, 0.0, np.where(side < 0.0, low, high))
        a = a0 + W @ x
        if len(free):
            inner = shifted[free[:, None], free]
            for _ in range(2):
                x[free] -= np.linalg.solve(inner, a[free])
                a = a0 + W @ x
        over, under = x - high, low - x
        wrong = np.where(is_free, np.maximum(over, under), side * a / size) > slack
        count = int(np.count_nonzero(wrong))
        if not count:
            return x, side
        if count >= fewest and tries <= 0:  # the last one alone
            wrong[: np.flatnonzero(wrong)[-1]] = False
        tries = BLOCK_TRIES if count < fewest else tries - 1
        fewest = min(fewest, count)
        other = np.where(is_free, np.where(over > under, 1.0, -1.0), 0.0)
        side = np.where(wrong, other, side)
    raise _contradiction()


def _contradiction() -> SingularError:
    return SingularError(
        "no forces of stops and dry friction were found at an event: those that act at one instant"
        " contradict each other"
    )


def _correction(W: Array, a: Array, free: NDArray[np.bool_]) -> Array:
    """Return the forces (n, m) of the free rows that would cause their accelerations a."""
    both = free[:, :, None] & free[:, None, :]
    K = np.where(both, W, np.eye(len(a[0])))
    return np.linalg.solve(K, np.where(free, a, 0.0)[..., None])[..., 0]


def _times(W: Array, x: Array) -> Array:
    """Return the product W x of each problem."""
    return (W @ x[..., None])[..., 0]


def _positive(x: Array) -> Array:
    """Return x, with 1 in place of what is not positive."""
    return np.where(x > 0.0, x, 1.0)
