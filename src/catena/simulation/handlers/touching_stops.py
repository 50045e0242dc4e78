"""Stops of joints that touch while contacts have an impact. They push and never pull, so they enter
the impact problem as contact points without friction.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..terms.guards import LOWER, UPPER, Bound
from .accumulation import Impacts
from .context import HandlerContext

Array = NDArray[np.float64]


class TouchingStops:
    """The n stops that touch at this instant, as further points of an impact. keys: for each the
    index of its switched constraint and the side.
    """

    def __init__(self, handler: HandlerContext):
        self.handler, self.keys = handler, sorted(handler.touching)
        self._v = handler.state_of()[1]

    def _side(self, n: int) -> Bound:
        return LOWER if self.keys[n][1] == LOWER.name else UPPER

    def _index(self, n: int) -> int:
        return self.handler.constraints.speeds[self.keys[n][0]].index

    @property
    def J(self) -> Array:
        """The Jacobian (3 n, nv): for each stop the speed away from it, then two rows of zeros in
        place of tangents.
        """
        found = np.zeros((3 * len(self.keys), len(self._v)))
        for n in range(len(self.keys)):
            found[3 * n, self._index(n)] = self._side(n).sign
        return found

    @property
    def speeds(self) -> Array:
        """The speeds J v (3 n,) of the stops: the speed away from each, then two zeros in place of
        tangents.
        """
        return self.J @ self._v

    def meet(self, t: float, u: Array, small: Array) -> Array:
        """Record an impact at t (s) for each stop that is approached, and return the coefficients
        of restitution (n,), zero where a series of impacts has reached its limit. u (n,): normal
        speeds; small (n,): the thresholds below which these count as zero.
        """
        h = self.handler
        e = np.zeros(len(self.keys))
        for n, key in enumerate(self.keys):
            if u[n] < -small[n]:
                h.impacts[key] = h.impacts.get(key, Impacts()).then(
                    t, -u[n], h.limit(key[0], self._side(n))
                )
            over = key in h.impacts and h.impacts[key].limit is not None
            e[n] = 0.0 if over else h.constraints.speeds[key[0]].restitution
        return e

    def log(self, t: float, before: Array, after: Array, small: Array) -> None:
        """Log which coordinates have reached their stops, with the normal speeds before and after
        the impact; small (n,): the thresholds below which these count as zero.
        """
        for n, (k, _) in enumerate(self.keys):
            if before[n] < -small[n]:
                self.handler.say_met(
                    t, k, self._side(n), -before[n], after[n] if after[n] > small[n] else 0.0
                )

    def leave(self, after: Array, small: Array) -> None:
        """Remove the stops that separate, by the normal speeds after the impact, from those that
        touch; set the speeds of the others to exactly zero.
        """
        q, v = self.handler.state_of()
        for n, key in enumerate(self.keys):
            if after[n] > small[n]:
                self.handler.touching.discard(key)
            else:
                v[self._index(n)] = 0.0
        self.handler.put(q, v)
