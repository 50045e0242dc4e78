"""Memory for the states of results, used again once nobody looks at the result any more.

The system clears fresh memory before it hands it out, which takes a third of the time of a short
rollout. So the memory of the last large result is kept when the result is gone, and the next of
that size or smaller is written there.
"""

from __future__ import annotations

import math
import weakref

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# bytes: smaller ones cost nothing, larger ones are given back
LEAST = 2**20
MOST = 2**28
_kept: list[Array] = []


class _Loan:
    """What every array made of a block refers to in the end; when it is gone, none is left."""

    def __init__(self, block: Array, shape: tuple[int, ...]):
        self.__array_interface__ = {**block.__array_interface__, "shape": shape}
        weakref.finalize(self, _keep, block).atexit = False


def _keep(block: Array) -> None:
    """The last one alone."""
    _kept[:] = [block]


def empty(shape: tuple[int, ...]) -> Array:
    """An array of this shape with anything in it, as `np.empty`."""
    count = math.prod(shape)
    if not LEAST <= 8 * count <= MOST:
        return np.empty(shape)
    try:
        block = _kept.pop()
    except IndexError:
        block = np.empty(0)
    return np.asarray(_Loan(block if count <= len(block) <= 2 * count else np.empty(count), shape))
