"""Frames: a result at the equal times of a film, between its rows by cubics through places and speeds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation

from ...model.mechanism import GROUND
from ..result import Result
from ..scene.skeleton import Skeleton, moved, placed, skeleton, tip_names, tips
from ..scene.view import View, upward, view_of
from . import sticks

Array = np.ndarray
MOST = 4000  # pictures
FINER = 4  # points of a track from one picture to the next


@dataclass(frozen=True)
class Film:
    """times (n,), poses {body: (n, 4, 4)} and their quaternions {body: (n, 4)}, tips {name: (body, point)}
    and their tracks {name: (FINER (n - 1) + 1, 3)}."""

    title: str
    times: Array
    pace: float
    rate: int
    bones: Skeleton
    view: View
    vertical: Array
    at: dict[str, Array]
    turns: dict[str, Array]
    tips: dict[str, tuple[str, Array]]
    tracks: dict[str, Array]

    def reach(self) -> Array:
        """Points on the page that all pictures hold, (n, 2)."""
        paths = [self.view.flat(track) for track in self.tracks.values()]
        return np.concatenate([sticks.reach(self.bones, self.at, self.view), *paths])

    def middle(self) -> Array:
        """A point of the ground in the middle of what is seen, (3,)."""
        reach = self.reach()
        across, upwards = 0.5 * (reach.min(axis=0) + reach.max(axis=0))
        depth = np.mean([X[:, :3, 3].mean(axis=0) @ self.view.towards for X in self.at.values()])
        return across * self.view.right + upwards * self.view.up + depth * self.view.towards


def film(result: Result, pace: float, rate: int) -> Film:
    """So many pictures per second of film, `pace` seconds of the run each second."""
    first, last = result.time[0], result.time[-1]
    count = min(MOST, max(2, round((last - first) / pace * rate) + 1))
    times = np.linspace(first, last, count)
    m, machine = result.mechanism, result.machine
    own = result.data["parameters"].values if "parameters" in result.data else None
    at = placed(machine, between(result, times), own)
    turns = {body: _steady(Rotation.from_matrix(X[:, :3, :3].copy()).as_quat(scalar_first=True)) for body, X in at.items()}
    ends = dict(zip(tip_names(m), tips(m)))
    fine = between(result, np.linspace(first, last, FINER * (count - 1) + 1))
    carriers = {body: machine.pose(fine, body, parameters=own) for body, _ in ends.values() if body != GROUND}
    tracks = {name: moved(carriers[body], point) for name, (body, point) in ends.items() if body in carriers}
    title = str(result.data.attrs.get("mechanism", ""))
    return Film(title, times, pace, rate, skeleton(m), view_of(m), upward(m), at, turns, ends, tracks)


def between(result: Result, times: Array) -> Array:
    """q at any times within the run, (n, nq)."""
    t, q, v = result.time, result.data["q"].values, result.data["v"].values
    _, kept = np.unique(t, return_index=True)  # an impact may have two rows at one time
    found = CubicHermiteSpline(t[kept], q[kept], result.machine.coordinate_rate(q, v)[kept])(times)
    for k in result.machine.spec.quaternions:
        found[:, k : k + 4] /= np.linalg.norm(found[:, k : k + 4], axis=1, keepdims=True)
    return found


def _steady(turn: Array) -> Array:
    """Quaternions without jumps of sign."""
    flips = np.cumprod(np.where(np.sum(turn[1:] * turn[:-1], axis=1) < 0, -1.0, 1.0))
    return turn * np.concatenate([[1.0], flips])[:, None]
