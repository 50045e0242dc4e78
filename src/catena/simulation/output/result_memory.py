"""Memory for the states of results, reused once a result is no longer referenced.

The operating system clears new memory before it hands it out, which takes a third of the time of a
short rollout. So the memory of the last large result is kept when the result is gone, and the next
result that is as large, or up to half as large, is written there.
"""

from __future__ import annotations

import math
import weakref

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SMALLEST_BLOCK = 2**20  # bytes: smaller blocks are cheap to make anew
LARGEST_BLOCK = 2**28  # bytes: larger blocks are returned to the system
_free_blocks: list[Array] = []


class _Loan:
    """An object that every array backed by a memory block refers to; when it is deleted, no such
    array is left and the block can be reused.
    """

    def __init__(self, block: Array, shape: tuple[int, ...]):
        self.__array_interface__ = {**block.__array_interface__, "shape": shape}
        weakref.finalize(self, _release, block).atexit = False


def _release(block: Array) -> None:
    """Keep this memory block for reuse, in place of the one kept before."""
    _free_blocks[:] = [block]


def empty(shape: tuple[int, ...]) -> Array:
    """Return an uninitialised array of this shape, as `np.empty` does."""
    count = math.prod(shape)
    if not SMALLEST_BLOCK <= 8 * count <= LARGEST_BLOCK:
        return np.empty(shape)
    try:
        block = _free_blocks.pop()
    except IndexError:
        block = np.empty(0)
    return np.asarray(_Loan(block if count <= len(block) <= 2 * count else np.empty(count), shape))
