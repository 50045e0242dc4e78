"""Event storms: events that come ever faster, without end and without becoming weaker, as of a ball
that rebounds without loss between closing walls.

Rebounds that lose energy also come ever faster, but they have a limit (`accumulation.py`). A run in
a storm would never reach its end, so it is stopped with an error.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

EVENTS_PER_BLOCK = 1000  # the pace is looked at once per so many events
SHRINKING_BLOCKS = 5  # a storm has so many blocks in a row, each shorter than the one before
BLOCK_TIME_RATIO = 0.95  # time of a block relative to the one before: a shrinking one takes less
# kinetic energy relative to that before these blocks: events that keep less of it die out
KEPT_ENERGY = 0.9
# time of a block relative to the time since the start: with longer ones the run may reach its end
BLOCK_TIME = 1e-3


class EventPace(NamedTuple):
    """The times (s) of the last few of every thousandth event, and the kinetic energies at these
    (J).

    >>> pace = EventPace()
    >>> for n in range(1, 9):  # the time left of 1 s falls as 1/n, and the speed grows as n
    ...     pace = pace.then(1.0 - 1e-3 / n, n**2)
    >>> pace.storm(0.0)
    True
    """

    times: tuple[float, ...] = ()
    energies: tuple[float, ...] = ()

    def then(self, t: float, energy: float) -> EventPace:
        """Return the record with one more entry, after another thousand events, at t (s) with this
        kinetic energy (J).
        """
        return EventPace(
            (*self.times, float(t))[-SHRINKING_BLOCKS - 2 :],
            (*self.energies, float(energy))[-SHRINKING_BLOCKS - 2 :],
        )

    @property
    def last(self) -> float:
        """The duration of the last thousand events, s."""
        return self.times[-1] - self.times[-2]

    def storm(self, start: float) -> bool:
        """Return whether events come ever faster without becoming weaker, in a run that began at
        `start` (s).
        """
        if len(self.times) < SHRINKING_BLOCKS + 2:
            return False
        took = [b - a for a, b in pairwise(self.times)]
        faster = all(b < BLOCK_TIME_RATIO * a for a, b in pairwise(took))
        return (
            faster
            and self.last < BLOCK_TIME * (self.times[-1] - start)
            and self.energies[-1] > KEPT_ENERGY * self.energies[0]
        )
