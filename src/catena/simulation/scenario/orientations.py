"""Orientations along a trajectory: the four columns of a quaternion as coordinates, angular
velocity and angular acceleration.

A spline through the rows of unit quaternions p does not keep their length. With n = |p|, u = p / n
and u* its conjugate,

    w = 2 vec(u* p') / n,      alpha = 2 vec(u* p'') / n - 2 (u . p') w / n

along the body's axes. A component of p' or p'' along u changes only the length, and gives no vector
part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import CatenaError
from ...model import Mechanism
from ..trajectories.piecewise import Trajectory

Array = NDArray[np.float64]
# length of a quaternion between rows; below it, the rows are too far apart or change their sign
SHORTEST = 0.5


@dataclass(frozen=True)
class Orientation:
    """A ball joint (or the ball of a free joint) whose motion a trajectory prescribes: the names of
    its coordinates, and the indices of the first of them in q and of its first speed in v.
    """

    names: tuple[str, ...]
    qi: int
    vi: int

    def along(self, path: Trajectory, times: Array) -> tuple[Array, Array, Array]:
        """Return unit quaternions (T, 4), angular velocities and accelerations (T, 3) along the
        body's axes, at times (T,).
        """
        p, rate, second = path.of(self.names)(times)
        n = np.linalg.norm(p, axis=-1, keepdims=True)
        if n.min() < SHORTEST:
            raise CatenaError(
                f"the quaternion {', '.join(self.names)} has length {n.min():.3g} at t ="
                f" {times[n.argmin()]:g} s; its rows are unit quaternions, near enough to each"
                " other and without changes of sign between them"
            )
        u = p / n
        w = 2 * _vector_part(u, rate) / n
        alpha = 2 * _vector_part(u, second) / n - 2 * (u * rate).sum(axis=-1, keepdims=True) * w / n
        return u, w, alpha


def orientations(mechanism: Mechanism, names: tuple[str, ...]) -> list[Orientation]:
    """Return the ball joints of a mechanism whose four coordinates are all among the names of a
    trajectory.
    """
    found, qi, vi = [], 0, 0
    for j in mechanism.moving:
        first = qi
        for f in j.freedoms:
            own = j.coordinate_names[qi - first : qi - first + f.nq]
            if f.nq == 4 and f.nv == 3 and set(own) <= set(names):
                found.append(Orientation(own, qi, vi))
            qi, vi = qi + f.nq, vi + f.nv
    return found


def _vector_part(u: Array, x: Array) -> Array:
    """Return the vector part of the quaternion product u* x, with u* the conjugate; quaternions are
    scalar first.
    """
    s, r = u[..., :1], -u[..., 1:]
    return s * x[..., 1:] + x[..., :1] * r + np.cross(r, x[..., 1:])
