"""A storm of events: ever more of them in ever shorter times, without end, as of a ball between
closing walls from which it rebounds without loss.

Rebounds that lose energy come ever faster too, and have a limit (`accumulation.py`); here what
comes faster has not become weaker.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

BLOCK = 1000  # events between two looks
BLOCKS = 5  # in a row that were each shorter than the one before
SHORTER = 0.95  # times the one before, at least
WEAKER = 0.9  # of the kinetic energy: what has lost more of it in these blocks dies out
DENSE = 1e-3  # of the time since the start: as long as a block is longer, the end may be reached


class EventPace(NamedTuple):
    """When every thousandth event was (s), and the kinetic energy there (J): the last few.

    >>> pace = EventPace()
    >>> for n in range(1, 9):  # what is left of 1 s goes down as 1/n, and the speed goes up as n
    ...     pace = pace.then(1.0 - 1e-3 / n, n**2)
    >>> pace.storm(0.0)
    True
    """

    times: tuple[float, ...] = ()
    energies: tuple[float, ...] = ()

    def then(self, t: float, energy: float) -> EventPace:
        """With one more."""
        return EventPace(
            (*self.times, float(t))[-BLOCKS - 2 :], (*self.energies, float(energy))[-BLOCKS - 2 :]
        )

    @property
    def last(self) -> float:
        """How long the last thousand took, s."""
        return self.times[-1] - self.times[-2]

    def storm(self, start: float) -> bool:
        """Whether events come ever faster without becoming weaker, in a run that began at `start`
        (s).
        """
        if len(self.times) < BLOCKS + 2:
            return False
        took = [b - a for a, b in pairwise(self.times)]
        faster = all(b < SHORTER * a for a, b in pairwise(took))
        return (
            faster
            and self.last < DENSE * (self.times[-1] - start)
            and self.energies[-1] > WEAKER * self.energies[0]
        )
