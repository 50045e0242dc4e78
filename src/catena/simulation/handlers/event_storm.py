"""Event storms: events that come ever faster, without end and without becoming weaker, as of a ball
that rebounds without loss between closing walls.

Rebounds that lose energy also come ever faster, but they have a limit (`accumulation.py`). A run in
a storm would never reach its end, so it is stopped with an error.
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
    """The times (s) of the last few thousandth events, and the kinetic energy there (J).

    >>> pace = EventPace()
    >>> for n in range(1, 9):  # the time left of 1 s falls as 1/n, and the speed grows as n
    ...     pace = pace.then(1.0 - 1e-3 / n, n**2)
    >>> pace.storm(0.0)
    True
    """

    times: tuple[float, ...] = ()
    energies: tuple[float, ...] = ()

    def then(self, t: float, energy: float) -> EventPace:
        """Return the pace with one more thousandth event, at t (s) with this kinetic energy (J)."""
        return EventPace(
            (*self.times, float(t))[-BLOCKS - 2 :], (*self.energies, float(energy))[-BLOCKS - 2 :]
        )

    @property
    def last(self) -> float:
        """How long the last thousand events took, s."""
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
