"""Film: the scene of a result at equally spaced times, interpolated between rows by cubics through
positions and speeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from .own_parameters import with_own_parameters
from .plots.contact_arrows import contact_arrows
from .result import Result
from .scene import Scene, describe
from .scene.description import poses
from .scene.skeleton import moved

Array = np.ndarray
LARGEST_PICTURE_COUNT = 4000  # of one film; a longer one has fewer pictures per second
TRACK_POINTS_PER_PICTURE = 4  # points of a track from one picture to the next


@dataclass(frozen=True)
class Film:
    """The poses and paths of a film.

    times (n,): s. pace: seconds of the run per second of film. rate: pictures per second. at (n,
    bodies, 4, 4): the poses of the scene's bodies. tracks: {tip: (TRACK_POINTS_PER_PICTURE (n - 1)
    + 1, 3)}, m. result: the run that is shown.
    """

    title: str
    times: Array
    pace: float
    rate: int
    scene: Scene
    at: Array
    tracks: dict[str, Array]
    result: Result

    def arrows(self) -> Array:
        """Return tail and head of the contact forces, (n, k, 2, 3), m; NaN where there are none."""
        return contact_arrows(self.result, self.times, float(np.ptp(self.box(), axis=0).max()))

    def box(self) -> Array:
        """Return the two corners of the box that contains all pictures, (2, 3), m."""
        seen = self.scene.box({name: self.at[:, k] for k, name in enumerate(self.scene.bodies)})
        points = np.concatenate([seen, *self.tracks.values()])
        return np.array([points.min(axis=0), points.max(axis=0)])


def film(
    result: Result,
    pace: float,
    rate: int,
    *,
    folders: Sequence[Path] | None = None,
    scene: Scene | None = None,
) -> Film:
    """Return the film of a result. pace: seconds of the run per second of film. rate: pictures per
    second of film. folders: where mesh files are looked for. scene: by default that of the
    mechanism.
    """
    first = result.time[0]
    last = result.time[-1]
    count = min(LARGEST_PICTURE_COUNT, max(2, round((last - first) / pace * rate) + 1))
    times = np.linspace(first, last, count)
    machine = result.machine
    own = result.data["parameters"].values if "parameters" in result.data else None
    m = with_own_parameters(result)
    drawn = scene or describe(m, folders=folders)
    fine = poses(
        drawn,
        machine,
        between(result, np.linspace(first, last, TRACK_POINTS_PER_PICTURE * (count - 1) + 1)),
        own,
    )
    places = {name: k for k, name in enumerate(drawn.bodies)}
    tracks = {
        name: moved(fine[:, places[body]], point)
        for name, (body, point) in drawn.tips.items()
        if body in m._bodies
    }
    at = fine[::TRACK_POINTS_PER_PICTURE]
    title = str(result.data.attrs.get("mechanism", ""))
    return Film(title, times, pace, rate, drawn, at, tracks, result)


def between(result: Result, times: Array) -> Array:
    """Return q (n, nq) at any times within the run."""
    t = result.time
    q = result.data["q"].values
    v = result.data["v"].values
    _, rows = np.unique(t, return_index=True)  # an impact may have two rows at one time
    found = CubicHermiteSpline(t[rows], q[rows], result.machine.coordinate_rate(q, v)[rows])(times)
    for k in result.machine.spec.quaternions:
        found[:, k : k + 4] /= np.linalg.norm(found[:, k : k + 4], axis=1, keepdims=True)
    return found
