"""The friction of the contacts at one instant, as the search for their modes takes it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Friction(NamedTuple):
    """The friction of k contacts: static and kinetic coefficients (k,); direction (k, 2) of the
    slip, NaN for a contact at rest; base (k,): the smallest normal force (or impulse) that each
    contact must have. joints: how many of them, the last, are joints at rest with dry friction of a
    fixed limit: contacts whose normal force is `base`, and whose first tangent is the joint's
    speed.
    """

    static: Array
    kinetic: Array
    direction: Array
    base: Array
    joints: int = 0

    def is_joint(self, i: int) -> bool:
        """Whether contact i is a joint with dry friction."""
        return i >= len(self.static) - self.joints

    def of(self, which: NDArray[np.int_]) -> Friction:
        """Return a record with the coefficients and slip directions of these contacts only; `which`
        holds their indices, none of a joint.
        """
        x = self
        return Friction(x.static[which], x.kinetic[which], x.direction[which], x.base[which])

    @staticmethod
    def at_rest(static: Array, kinetic: Array, base: Array | None = None) -> Friction:
        """Return the friction of contacts that do not slip yet."""
        k = len(static)
        return Friction(
            static, kinetic, np.full((k, 2), np.nan), np.zeros(k) if base is None else base
        )
