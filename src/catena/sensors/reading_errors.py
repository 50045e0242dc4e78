"""What is wrong with readings: delay, offset, bias, noise, range, resolution, sample after sample.

The random numbers of a reading follow from the seed, the name of the sensor, the number of the
sample and the number of the run, by counters: they do not depend on how many runs there are.
"""

from __future__ import annotations

import zlib

import numpy as np

from ..compiler import normal_numbers
from ..errors import QuestionError
from ..model import SENSOR_KINDS, Sensor

Array = np.ndarray
# of one sample time, by which times may differ from a whole number of samples
WHOLE = 1e-6
ALL = slice(None)


class ReadingErrors:
    """The errors of one sensor for many runs, whose memory is the bias and the readings that are
    still on their way.

    Parameters
    ----------
    sensor : Sensor
        The sensor.
    runs : ndarray (n,) of int
        The numbers of the runs.
    period : float
        The time between two calls, s: the sample time of the sensor is a multiple of it, and its
        delay too.
    seed : int
        Of the noise.

    Raises
    ------
    QuestionError
        If sample time or delay are no multiples of the period.
    """

    def __init__(self, sensor: Sensor, runs: Array, period: float, seed: int):
        self.sensor, self.seed = sensor, int(seed)
        self.runs = np.asarray(runs, np.int64)
        self.every = 1 if sensor.sample is None else self._count("sample", sensor.sample, period)
        self.late = self._count("delay", sensor.delay, period)
        self.period = self.every * period
        self.channels = len(SENSOR_KINDS[sensor.kind].channels)
        self.stream = zlib.crc32(sensor.name.encode())
        n = len(self.runs)
        self.bias = np.zeros((n, self.channels))
        self.held = np.zeros((n, self.channels))
        self.calls = np.zeros(n, np.int64)  # since the beginning of each run
        self.numbers = np.zeros(n, np.int64)  # since the seed, for the random numbers
        self._waiting = np.zeros((self.late, n, self.channels))

    def _count(self, what: str, time: float, period: float) -> int:
        count = round(time / period)
        if abs(count * period - time) > WHOLE * period or (what == "sample" and count < 1):
            raise QuestionError(
                f"sensor {self.sensor.name!r}: {what} = {time:g} s is no multiple of {period:g} s,"
                " the time between rows or steps; choose `output` or `time_step` so that it is"
            )
        return count

    def begin(self, rows: Array | slice = ALL) -> None:
        """Let the next reading of these runs, by their places, be the first one of a new run."""
        self.bias[rows], self.calls[rows] = 0.0, 0

    def read(self, values: Array, rows: Array | slice = ALL) -> Array:
        """Return the readings (n, channels) of the true values (n, channels) of some runs, by
        default of all.
        """
        s = self.sensor
        first = self.calls[rows] == 0
        due = self.calls[rows] % self.every == 0
        y = self._delayed(values, rows, first) + s.offset
        if s.noise or s.walk:
            r = np.empty((len(y), 2 * self.channels))
            normal_numbers(self.seed, self.stream, self.numbers[rows], self.runs[rows], r)
            if s.walk:
                step = s.walk * np.sqrt(self.period) * r[:, self.channels :]
                self.bias[rows] += np.where((due & ~first)[:, None], step, 0.0)
                y = y + self.bias[rows]
            y = y + s.noise * r[:, : self.channels]
        if s.range is not None:
            y = np.clip(y, *s.range)
        if s.resolution:
            y = s.resolution * np.round(y / s.resolution)
        self.held[rows] = found = np.where(due[:, None], y, self.held[rows])
        self.calls[rows] += 1
        self.numbers[rows] += 1
        return found

    def _delayed(self, values: Array, rows: Array | slice, first: Array) -> Array:
        """Return the values of `late` calls ago; before the first of them, that one is shown."""
        if not self.late:
            return values
        w = self._waiting
        w[:, rows] = np.where(first[:, None], values, w[:, rows])
        now = w[0, rows].copy()
        w[:-1, rows] = w[1:, rows]
        w[-1, rows] = values
        return now
