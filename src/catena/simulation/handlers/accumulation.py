"""Accumulation of impacts (Zeno behaviour): infinitely many rebounds in a finite time, and the
instant at which they end.

Where a body presses against a stop, a rebound with restitution e < 1 takes it back after a flight
that is about e times as long as the one before. With the ratio r of two successive speeds of
approach, and the last flight d, the remaining time is a geometric series:

    d r + d r^2 + ... = d r / (1 - r)

When the remaining time is negligible relative to the time since the first impact of the series, the
contact is closed, and the limit of the series is the instant at which it closes. It is closed
earlier where rounding no longer resolves the next rebound: its height d v / 4 is too small relative
to the rounding of the stop's position, or the rebounds of a long series have ceased to shrink. The
series of neighbouring stops that throw each other off (the links of a chain) do not shrink one by
one; they end where rounding no longer resolves them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# remaining time of a series of impacts, relative to the time since its first one: shorter, the
# series has ended
REMAINING_TIME = 1e-11
SERIES_IMPACTS = 5  # fewer impacts make no series that could be extrapolated
# length of a flight in units of rounding of the time: a shorter one is not resolved
FLIGHT_ROUNDINGS = 64.0
# height of a rebound in units of rounding of the coordinate: a lower one is not resolved
REBOUND_ROUNDINGS = 1e4
# speed of approach relative to the first of the series: in a series that no longer shrinks,
# rounding alone keeps up a lower one
STALLED_SPEED = 1e-4


class Impacts(NamedTuple):
    """A series of impacts at one stop, each slower than the last and after a shorter flight.

    number: how many impacts the series has. first, last: the instants of the first and the last
    one, s. flight: the time between the last two, s. speed: the last speed of approach, m/s or
    rad/s. ratio: the last speed of approach relative to the one before. fastest: the first speed of
    approach. resolution: the smallest height of a rebound that rounding of the coordinate resolves,
    m or rad. stalled: whether the series has ceased to shrink.

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
        """Return the series with one more impact, at t (s) with this speed of approach.

        place: the position of the stop (m or rad), whose rounding limits which rebounds are
        resolved. An impact that is not slower than the last one, or that follows a longer flight,
        begins a new series, except where rounding alone keeps the impacts up: then the series
        counts as stalled.
        """
        flight = t - self.last
        resolution = REBOUND_ROUNDINGS * float(np.spacing(abs(place)))
        longer = flight > self.flight + 4.0 * np.spacing(abs(t))
        if self.number == 0 or speed >= self.speed or longer:
            # a rebound below rounding, kept up by neighbours
            unseen = self.number > 0 and 0.25 * flight * speed <= resolution
            if unseen or (
                self.number >= SERIES_IMPACTS
                and speed < min(STALLED_SPEED * self.fastest, 2.0 * self.speed)
            ):
                return self._replace(number=self.number + 1, last=t, stalled=True)
            return Impacts(1, t, t, np.inf, speed, fastest=speed, resolution=resolution)
        return self._replace(
            number=self.number + 1, last=t, flight=flight, speed=speed, ratio=speed / self.speed
        )

    @property
    def limit(self) -> float | None:
        """The instant at which the series ends (s) where the remaining time is negligible or cannot
        be resolved; otherwise None.
        """
        if self.number < SERIES_IMPACTS and not self.stalled:
            return None
        shrinks = self.ratio < 1.0 and not self.stalled
        left = self.flight * self.ratio / (1.0 - self.ratio) if shrinks else 0.0
        short = (
            self.flight <= FLIGHT_ROUNDINGS * np.spacing(abs(self.last))
            or 0.25 * self.flight * self.speed <= self.resolution
        )
        return (
            self.last + left
            if short or self.stalled or left <= REMAINING_TIME * (self.last - self.first)
            else None
        )
