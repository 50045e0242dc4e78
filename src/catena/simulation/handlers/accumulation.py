"""Accumulation of impacts (Zeno): infinitely many rebounds in a finite time, and the instant at
which they end.

Where a body presses against a stop, a rebound with restitution e < 1 takes it back after a flight
that is about e times as long as the one before. With the ratio r of two successive speeds of
approach, and the last flight d, what is left is a geometric series:

    d r + d r^2 + ... = d r / (1 - r)

When that is negligible beside the time that the rebounds have taken, the contact is closed, and the
limit is its instant. It is closed earlier where rounding does not resolve the next rebound: its
height d v / 4 is too small beside the place of the stop, or rebounds of a long series have stopped
to shrink. Neighbouring stops that throw each other off (the links of a chain) have series that do
not shrink one by one; they end where they are not resolved.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

NEGLIGIBLE = 1e-11  # what is left of a series of impacts, beside the time since its first
FEW = 5  # impacts; fewer are no series
SHORTEST = 64.0  # flights of fewer units of rounding of the time are not resolved
LOWEST = 1e4  # nor are rebounds of fewer units of rounding of the coordinate
# a speed this small beside the first, of a series that no longer shrinks, is kept up by rounding
# alone
STALLED = 1e-4


class Impacts(NamedTuple):
    """A series of impacts at one stop, each slower than the last and after a shorter flight.

    first, last: their instants, s. flight: the time between the last two, s. speed: of the last
    approach. ratio: of the last two speeds. fastest: the first speed. resolution: of the
    coordinate. stalled: whether the series has stopped to shrink.

    >>> series = Impacts()
    >>> for n in range(100):
    ...     series = series.then(2.0 * (1 - 0.5**n), 0.5**n)
    >>> series.limit is not None and abs(series.limit - 2.0) < 1e-15
    True
    """

    number: int = 0
    first: float = 0.0
    last: float = 0.0
    flight: float = np.inf
    speed: float = np.inf
    ratio: float = 1.0
    fastest: float = 0.0
    resolution: float = 0.0
    stalled: bool = False

    def then(self, t: float, speed: float, place: float = 0.0) -> Impacts:
        """The series with one more impact at a stop at `place`, or a new one where it is not
        slower, or after a longer flight.
        """
        flight = t - self.last
        resolution = LOWEST * float(np.spacing(abs(place)))
        longer = flight > self.flight + 4.0 * np.spacing(abs(t))
        if self.number == 0 or speed >= self.speed or longer:
            # what neighbours keep up below rounding
            unseen = self.number > 0 and 0.25 * flight * speed <= resolution
            if unseen or (
                self.number >= FEW and speed < min(STALLED * self.fastest, 2.0 * self.speed)
            ):
                return self._replace(number=self.number + 1, last=t, stalled=True)
            return Impacts(1, t, t, np.inf, speed, fastest=speed, resolution=resolution)
        return self._replace(
            number=self.number + 1, last=t, flight=flight, speed=speed, ratio=speed / self.speed
        )

    @property
    def limit(self) -> float | None:
        """When the series ends, where what is left of it is negligible or cannot be resolved;
        otherwise None.
        """
        if self.number < FEW and not self.stalled:
            return None
        left = self.flight * self.ratio / (1.0 - self.ratio) if self.ratio < 1.0 else 0.0
        short = (
            self.flight <= SHORTEST * np.spacing(abs(self.last))
            or 0.25 * self.flight * self.speed <= self.resolution
        )
        return (
            self.last + left
            if short or self.stalled or left <= NEGLIGIBLE * (self.last - self.first)
            else None
        )
