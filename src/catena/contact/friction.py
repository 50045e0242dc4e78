"""The friction of the contacts at one instant, as the search for their modes takes it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Friction(NamedTuple):
    """Of k contacts: coefficients (k,) of what sticks and of what slips, directions of slip (k, 2),
    NaN where it is at rest; base: (k,) normal force that is there already.
    """

    static: Array
    kinetic: Array
    direction: Array
    base: Array

    @staticmethod
    def at_rest(static: Array, kinetic: Array, base: Array | None = None) -> Friction:
        """Of contacts that do not slip yet."""
        k = len(static)
        return Friction(
            static, kinetic, np.full((k, 2), np.nan), np.zeros(k) if base is None else base
        )
