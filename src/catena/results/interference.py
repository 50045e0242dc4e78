"""Interference: when, where and how deep shapes met along a motion, and how close the others came.

The motion is known at its rows. Between two of them the coordinates are cubics through the rows and
their rates; where a distance has its least row, its minimum is sought on them, and where it changes
its sign, its zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis import Pairs, Proximities, proximities
from ..errors import StateError
from ..machine import arguments, machine_of
from .result import Result

if TYPE_CHECKING:
    from ..machine import Machine
    from ..model import Mechanism

Array = np.ndarray
# points of a search for a minimum, how often it zooms in, bisections to a zero
GRID, ZOOMS, HALVINGS = 17, 6, 48


@dataclass(frozen=True)
class Approach:
    """The closest approach of a pair: signed distance (m), when (s), the nearest points and the
    normal from first to second; the run.
    """

    pair: tuple[str, str]
    distance: float
    time: float
    first: Array
    second: Array
    normal: Array
    run: int = 0


@dataclass(frozen=True)
class Meeting:
    """Two shapes that overlap from begin to end (s). deepest: their closest approach in between,
    with the depth as its distance.
    """

    pair: tuple[str, str]
    begin: float
    end: float
    deepest: Approach
    run: int = 0

    @property
    def depth(self) -> float:
        """How far they overlapped, m: the shortest translation that would have parted them."""
        return -self.deepest.distance

    @property
    def point(self) -> Array:
        """Where they were deepest: half way between the two nearest points, in the ground's
        axes.
        """
        return 0.5 * (self.deepest.first + self.deepest.second)

    def __str__(self) -> str:
        where = ", ".join(f"{x:.4g}" for x in self.point)
        when = (
            f"from {self.begin:.6g} s to {self.end:.6g} s"
            if self.end > self.begin
            else f"at {self.begin:.6g} s"
        )
        return (
            f"{self.pair[0]} and {self.pair[1]} overlap {when}, {self.depth:.4g} m deep at"
            f" {self.deepest.time:.6g} s, at ({where})"
        )


@dataclass(frozen=True)
class Interference:
    """The meetings of a motion, in the order of time, and the closest approach of every pair,
    nearest first. It counts its meetings.
    """

    meetings: tuple[Meeting, ...]
    closest: tuple[Approach, ...]

    def __iter__(self) -> Iterator[Meeting]:
        return iter(self.meetings)

    def __len__(self) -> int:
        return len(self.meetings)

    def __str__(self) -> str:
        nearest = self.closest[0]
        free = (
            f"nothing meets; {nearest.pair[0]} and {nearest.pair[1]} come closest,"
            f" {nearest.distance:.4g} m at {nearest.time:.6g} s"
        )
        return "\n".join(map(str, self.meetings)) or free


def interference(
    motion: Result | Mechanism | Machine,
    time: Any = None,
    q: Any = None,
    v: Any = None,
    *,
    pairs: Pairs = None,
) -> Interference:
    """When, where and how deep shapes met along a result; or along a motion of a mechanism, q
    (time, nq) and its speeds v (time, nv).

    Without v the rates are those of cubics through the rows. pairs: as in `catena.clearance`.
    """
    if isinstance(motion, Result):
        if time is not None or q is not None:
            raise StateError(
                "interference: a result has its own motion; time and q are for a mechanism"
            )
        courses = list(_runs(motion, pairs))
    else:
        if time is None or q is None:
            raise StateError(
                "interference: a mechanism was given without a motion; give a result, or time (n,)"
                " and q (n, nq)"
            )
        machine = machine_of(motion)
        courses = [_Course(proximities(machine, pairs), *_motion(machine, time, q, v), None, 0)]
    meetings = sorted((x for c in courses for x in c.meetings()), key=lambda x: (x.run, x.begin))
    closest = sorted((x for c in courses for x in c.closest()), key=lambda x: x.distance)
    return Interference(tuple(meetings), tuple(closest))


def _runs(result: Result, pairs: Pairs) -> Iterator[_Course]:
    q = result._rows("q")
    v = result._rows("v")
    p = result._parameters
    own = proximities(result.machine, pairs)
    if q.ndim == 2:
        yield _Course(own, result.time, q, result.machine.coordinate_rate(q, v), p, 0)
        return
    for k in range(len(q)):
        yield _Course(
            own,
            result.time,
            q[k],
            result.machine.coordinate_rate(q[k], v[k]),
            None if p is None else p[k],
            k,
        )


def _motion(machine: Machine, time: Any, q: Any, v: Any) -> tuple[Array, Array, Array]:
    time = arguments.numbers("interference", "time", time)
    q = arguments.array(machine, "interference", "q", q)
    if (
        time.ndim != 1
        or q.shape[:-1] != time.shape
        or len(time) < 2
        or not (np.diff(time) > 0).all()
    ):
        raise StateError(
            f"interference: time has shape {time.shape} and q {q.shape}; time rises over at least"
            " two rows, and q has one for each"
        )
    if v is not None:
        return time, q, machine.coordinate_rate(q, arguments.array(machine, "interference", "v", v))
    from scipy.interpolate import CubicSpline

    return time, q, CubicSpline(time, q)(time, 1)


class _Course:
    """One motion: the distances of all pairs at its rows, and between them."""

    def __init__(
        self, own: Proximities, time: Array, q: Array, rate: Array, p: Array | None, run: int
    ):
        self.own = own
        self.time = time
        self.q = q
        self.rate = rate
        self.p = p
        self.run = run
        self.rows = own.distance(q, p)
        self.refined = self._minima()

    def at(self, t: Array) -> Array:
        """q (..., nq) at any times: cubics between the rows, quaternions of length one."""
        k = np.clip(np.searchsorted(self.time, t, side="right") - 1, 0, max(0, len(self.time) - 2))
        n = np.minimum(k + 1, len(self.time) - 1)
        step = np.where(self.time[n] > self.time[k], self.time[n] - self.time[k], 1.0)
        s = ((t - self.time[k]) / step)[..., None]
        h = step[..., None]
        q = (1 + 2 * s) * (1 - s) ** 2 * self.q[k] + s**2 * (3 - 2 * s) * self.q[n]
        q += h * s * (1 - s) * ((1 - s) * self.rate[k] - s * self.rate[n])
        for i in self.own.machine.spec.quaternions:
            q[..., i : i + 4] /= np.linalg.norm(q[..., i : i + 4], axis=-1, keepdims=True)
        return q

    def distance(self, t: Array, pair: Array) -> Array:
        """The distance of each pair at its time; both (k,) or (k, m) and (k,)."""
        found = self.own.distance(
            self.at(t),
            self.p if self.p is None else np.broadcast_to(self.p, (*t.shape, self.p.shape[-1])),
        )
        return np.take_along_axis(
            found, pair.reshape(*pair.shape, *[1] * (found.ndim - pair.ndim)), axis=-1
        )[..., 0]

    def _minima(self) -> tuple[Array, Array, Array]:
        """Minima between the rows, of every pair: pairs (k,), times (k,), distances (k,). Only
        those that can matter are sought.
        """
        d, n = self.rows, len(self.time)
        before = np.vstack([d[:1], d[:-1]])
        after = np.vstack([d[1:], d[-1:]])
        # how far a minimum may lie below its row
        fall = np.maximum(np.abs(before - d), np.abs(after - d))
        low = (d <= before) & (d <= after) & (d - fall < np.maximum(0.0, d.min(axis=0)))
        row, pair = np.nonzero(low)
        left = self.time[np.maximum(row - 1, 0)]
        right = self.time[np.minimum(row + 1, n - 1)]
        best = self.time[row]
        least = d[row, pair]
        for _ in range(ZOOMS if len(row) else 0):
            t = left[:, None] + (right - left)[:, None] * np.linspace(0, 1, GRID)
            found = self.distance(t, pair)
            k = found.argmin(axis=1)
            rows = np.arange(len(k))
            better = found[rows, k] < least
            best = np.where(better, t[rows, k], best)
            least = np.where(better, found[rows, k], least)
            left = t[rows, np.maximum(k - 1, 0)]
            right = t[rows, np.minimum(k + 1, GRID - 1)]
        return pair, best, least

    def closest(self) -> Iterator[Approach]:
        """Of every pair."""
        times = []
        for k in range(len(self.own.names)):
            t, d = self._series(k)
            times.append(t[d.argmin()])
        yield from self._approaches(np.arange(len(self.own.names)), np.array(times))

    def meetings(self) -> Iterator[Meeting]:
        """Where shapes overlap."""
        spans: list[tuple[int, float, float, float]] = []
        for k in range(len(self.own.names)):
            t, d = self._series(k)
            inside = np.concatenate([[False], d < -self.own.touch[k], [False]])
            for first, last in zip(
                np.flatnonzero(inside[1:] & ~inside[:-1]),
                np.flatnonzero(inside[:-1] & ~inside[1:]) - 1,
            ):
                begin = self._zero(k, t[first - 1], t[first]) if first > 0 else t[0]
                end = self._zero(k, t[last + 1], t[last]) if last + 1 < len(t) else t[-1]
                spans.append((k, begin, end, t[first + d[first : last + 1].argmin()]))
        deepest = self._approaches(
            np.array([s[0] for s in spans], int), np.array([s[3] for s in spans])
        )
        for (k, begin, end, _), found in zip(spans, deepest):
            yield Meeting(self.own.names[k], begin, end, found, self.run)

    def _series(self, k: int) -> tuple[Array, Array]:
        """Times and distances of one pair: rows and refined minima."""
        pair, t, d = self.refined
        mine = pair == k
        t = np.concatenate([self.time, t[mine]])
        d = np.concatenate([self.rows[:, k], d[mine]])
        order = np.argsort(t, kind="stable")
        return t[order], d[order]

    def _zero(self, k: int, out: float, into: float) -> float:
        """When a distance vanishes, between a time with a distance, or a touch, and one with an
        overlap.
        """
        pair = np.array([k])
        level = 0.0 if self.distance(np.array([out]), pair)[0] >= 0.0 else -self.own.touch[k]
        for _ in range(HALVINGS):
            middle = 0.5 * (out + into)
            if self.distance(np.array([middle]), pair)[0] < level:
                into = middle
            else:
                out = middle
        return float(out)

    def _approaches(self, pairs: Array, times: Array) -> Iterator[Approach]:
        if not len(pairs):
            return
        q = self.at(times)
        rows = np.arange(len(pairs))
        p = self.p if self.p is None else np.broadcast_to(self.p, (len(times), self.p.shape[-1]))
        d = self.own.distance(q, p)[rows, pairs]
        w = self.own.witness(q, p)[rows, pairs]
        for k, t, x, row in zip(pairs, times, d, w):
            yield Approach(
                self.own.names[k],
                float(x),
                float(t),
                row[:3],
                row[:3] + x * row[3:],
                row[3:],
                self.run,
            )
