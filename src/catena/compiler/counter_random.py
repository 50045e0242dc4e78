"""Random numbers by counters: Philox 4x32 with ten rounds [Salmon2011], in machine code.

A number is a function of a key and a counter, and of nothing before it. So the numbers of a world,
a sensor or a run do not depend on how many others there are, nor on the threads that draw them.

    (key, counter of four words) -> four words of 32 bits -> two numbers in (0, 1)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .machine_function import machine_function

Array = NDArray[np.float64]
WORD = 0xFFFFFFFF
# multipliers of the rounds, and what is added to the key after each
M0, M1 = 0xD2511F53, 0xCD9E8D57
W0, W1 = 0x9E3779B9, 0xBB67AE85
ROUNDS = 10
HALF = 2.0**-54  # half of the distance of two numbers, which keeps them away from zero and one


def philox(c0, c1, c2, c3, k0, k1):  # type: ignore[no-untyped-def]  # over integers of any kind
    """Return four words for a counter of four words and a key of two.

    A product of two words has 64 bits, of which the upper half is kept whatever sign it has.
    """
    for _ in range(10):
        p = 0xD2511F53 * c0
        r = 0xCD9E8D57 * c2
        c0 = ((r >> 32) & 0xFFFFFFFF) ^ c1 ^ k0
        c1 = r & 0xFFFFFFFF
        c2 = ((p >> 32) & 0xFFFFFFFF) ^ c3 ^ k1
        c3 = p & 0xFFFFFFFF
        k0 = (k0 + 0x9E3779B9) & 0xFFFFFFFF
        k1 = (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c0, c1, c2, c3


@machine_function()
def _fill(k0, k1, stream, first, second, out):
    """Write row i of `out` with the numbers of the counters (block, first[i], second[i],
    stream). Return how many rows.
    """
    for i in range(out.shape[0]):
        for block in range((out.shape[1] + 1) // 2):
            a, b, c, d = philox(block, first[i], second[i], stream, k0, k1)
            out[i, 2 * block] = ((a >> 5) * 67108864 + (b >> 6)) * 2.0**-53 + 2.0**-54
            if 2 * block + 1 < out.shape[1]:
                out[i, 2 * block + 1] = ((c >> 5) * 67108864 + (d >> 6)) * 2.0**-53 + 2.0**-54
    return out.shape[0]


def uniform(
    seed: int, stream: int, first: NDArray[np.int64], second: NDArray[np.int64], out: Array
) -> Array:
    """Fill out (n, m) with independent random numbers, uniform in (0, 1), and return it.

    Row i depends on the seed, the stream, first[i] and second[i] alone: integers of 32 bits, of
    which the seed may have 64.
    """
    _fill(seed & WORD, (seed >> 32) & WORD, stream & WORD, first & WORD, second & WORD, out)
    return out


def normal(
    seed: int, stream: int, first: NDArray[np.int64], second: NDArray[np.int64], out: Array
) -> Array:
    """Fill out (n, m) with independent normal random numbers of mean zero and deviation one; see
    `uniform`. Each is the inverse of the normal distribution at a uniform number.
    """
    from scipy.special import ndtri

    found: Array = ndtri(uniform(seed, stream, first, second, out), out=out)
    return found
