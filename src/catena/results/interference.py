"""Interference: when, where and how deep shapes overlap along a motion, and how close other pairs
come.

A motion is given by rows, one per instant. Between two rows the coordinates are cubic Hermite
interpolants through the rows and their rates. A minimum of a distance is refined on them near each
row where the distance is least, and a zero where the distance changes sign.
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
# A minimum is refined on MINIMUM_GRID_POINTS equally spaced times, MINIMUM_REFINEMENTS times, each
# time between the neighbours of the least; a zero by ZERO_BISECTIONS bisections.
MINIMUM_GRID_POINTS, MINIMUM_REFINEMENTS, ZERO_BISECTIONS = 17, 6, 48


@dataclass(frozen=True)
class Approach:
    """The closest approach of a pair of shapes.

    pair: their names. distance: signed, m. time: s. first, second (3,): the nearest points in the
    ground's axes, m. normal (3,): the unit vector from the first to the second. run: the index of
    the run.
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
    """Two shapes that overlap from `begin` to `end` (s). deepest: their closest approach in that
    time, whose distance is minus the depth.
    """

    pair: tuple[str, str]
    begin: float
    end: float
    deepest: Approach
    run: int = 0

    @property
    def depth(self) -> float:
        """The largest depth of the overlap, m: the length of the shortest translation that parts
        the shapes.
        """
        return -self.deepest.distance

    @property
    def point(self) -> Array:
        """The point of the deepest overlap (3,), half way between the two nearest points, in the
        ground's axes, m.
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
    """The overlaps of a motion in the order of time, and the closest approach of every pair,
    nearest first.

    Its length is the number of overlaps, and iterating over it gives them.
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
    """Find when, where and how deep shapes overlap along a motion.

    Parameters
    ----------
    motion : Result, Mechanism or Machine
        A result, or the mechanism that moves as `time`, `q` and `v` say.
    time : array_like, shape (n,), optional
        Increasing times (s), at least two. Not for a result.
    q : array_like, shape (n, nq), optional
        Coordinates at these times. Not for a result.
    v : array_like, shape (n, nv), optional
        Speeds at these times (rad/s, m/s). Default: from a cubic spline through q.
    pairs : iterable of (str, str), optional
        Pairs of names of shapes, bodies or groups to look at. Default: all that the mechanism's
        collision filter leaves.

    Returns
    -------
    Interference
        The overlaps, and the closest approach of every pair, of all runs of a result.

    Raises
    ------
    StateError
        If a motion is missing, has the wrong shape, or is given in addition to a result.
    """
    if isinstance(motion, Result):
        if time is not None or q is not None:
            raise StateError(
                "interference: a result has its own motion; time and q are for a mechanism"
            )
        motions = list(_runs(motion, pairs))
    else:
        if time is None or q is None:
            raise StateError(
                "interference: a mechanism was given without a motion; give a result, or time (n,)"
                " and q (n, nq)"
            )
        machine = machine_of(motion)
        motions = [_Motion(proximities(machine, pairs), *_motion(machine, time, q, v), None, 0)]
    meetings = sorted((x for c in motions for x in c.meetings()), key=lambda x: (x.run, x.begin))
    closest = sorted((x for c in motions for x in c.closest()), key=lambda x: x.distance)
    return Interference(tuple(meetings), tuple(closest))


def _runs(result: Result, pairs: Pairs) -> Iterator[_Motion]:
    q = result._rows("q")
    v = result._rows("v")
    p = result._parameters
    own = proximities(result.machine, pairs)
    if q.ndim == 2:
        yield _Motion(own, result.time, q, result.machine.coordinate_rate(q, v), p, 0)
        return
    for k in range(len(q)):
        yield _Motion(
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


class _Motion:
    """One motion: the distances of all pairs at its rows and between them."""

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
        """Return q (..., nq) at any times within the rows: cubic interpolants with quaternions of
        length one.
        """
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
        """Return the distance of each pair at its time, m. t: (k,) or (k, m); pair: (k,)."""
        found = self.own.distance(
            self.at(t),
            self.p if self.p is None else np.broadcast_to(self.p, (*t.shape, self.p.shape[-1])),
        )
        return np.take_along_axis(
            found, pair.reshape(*pair.shape, *[1] * (found.ndim - pair.ndim)), axis=-1
        )[..., 0]

    def _minima(self) -> tuple[Array, Array, Array]:
        """Return pairs (k,), times (k,) and distances (k,) of the minima between rows. Only minima
        that could be an overlap or the least distance of a pair are refined.
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
        for _ in range(MINIMUM_REFINEMENTS if len(row) else 0):
            t = left[:, None] + (right - left)[:, None] * np.linspace(0, 1, MINIMUM_GRID_POINTS)
            found = self.distance(t, pair)
            k = found.argmin(axis=1)
            rows = np.arange(len(k))
            better = found[rows, k] < least
            best = np.where(better, t[rows, k], best)
            least = np.where(better, found[rows, k], least)
            left = t[rows, np.maximum(k - 1, 0)]
            right = t[rows, np.minimum(k + 1, MINIMUM_GRID_POINTS - 1)]
        return pair, best, least

    def closest(self) -> Iterator[Approach]:
        """Yield the closest approach of every pair."""
        times = []
        for k in range(len(self.own.names)):
            t, d = self._series(k)
            times.append(t[d.argmin()])
        yield from self._approaches(np.arange(len(self.own.names)), np.array(times))

    def meetings(self) -> Iterator[Meeting]:
        """Yield the overlaps of every pair, pair by pair."""
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
        """Return times and distances of one pair: those at the rows and at the refined minima."""
        pair, t, d = self.refined
        mine = pair == k
        t = np.concatenate([self.time, t[mine]])
        d = np.concatenate([self.rows[:, k], d[mine]])
        order = np.argsort(t, kind="stable")
        return t[order], d[order]

    def _zero(self, k: int, out: float, into: float) -> float:
        """Return the time at which a distance changes sign, by bisection between a time `out`
        without overlap and a time `into` with one.

        Where the shapes already touch at `out`, the depth that counts as touching is the level
        instead of zero.
        """
        pair = np.array([k])
        level = 0.0 if self.distance(np.array([out]), pair)[0] >= 0.0 else -self.own.touch[k]
        for _ in range(ZERO_BISECTIONS):
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
