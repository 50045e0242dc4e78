"""Marker kinematics: the coordinates that bring frames nearest to measured points, over time.

At each instant sum w |x(q) - p|^2 is minimised by damped Gauss-Newton steps [Levenberg1944],
starting from the instant before. Loops stay closed: steps are taken in the null space of their
rows, plus a step that reduces their residual.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import StateError
from ..machine import Machine, machine_of, state
from ..model import Mechanism
from .assembly import residual

Array = NDArray[np.float64]
# Damped steps at one instant.
MAX_STEPS = 200
# Steps (rad, m) below a hundred times this end the search; also the floor of divisors.
NEGLIGIBLE_STEP = 1e-12


@dataclass(frozen=True)
class MarkerMotion:
    """The result of `marker_kinematics`: coordinates q (T, nq); error (T,), the root mean square
    distance of the frames from their points, m; and worst, the frame with the largest distance.
    """

    q: Array
    error: Array
    worst: str


def marker_kinematics(
    m: Mechanism | Machine,
    markers: Mapping[str, ArrayLike],
    *,
    weights: Mapping[str, float] | None = None,
    guess: Any = None,
) -> MarkerMotion:
    """Return the motion whose frames are nearest to measured points.

    Parameters
    ----------
    m : Mechanism or Machine
        The mechanism, or the machine compiled from it.
    markers : mapping of str to array (T, 3) or (3,)
        The measured points of each frame in the ground's axes, m; NaN where a point was not seen.
    weights : mapping of str to float, optional
        The weight of each frame, one by default.
    guess : array (nq,), optional
        The coordinates to start from at the first instant, by default zero.

    Returns
    -------
    MarkerMotion

    Raises
    ------
    StateError
        If there are no markers, or their arrays have different shapes.
    """
    machine = machine_of(m)
    (q,) = state(machine, "marker kinematics", guess=guess)
    points = _points(machine, markers)
    w = np.array([float((weights or {}).get(name, 1.0)) for name in markers])
    found = []
    errors = []
    far = np.zeros(len(w))
    for k in range(points.shape[1]):
        seen = np.flatnonzero(np.isfinite(points[:, k]).all(axis=1) & (w > 0))
        names = [list(markers)[i] for i in seen]
        q = _nearest(machine, names, points[seen, k], np.sqrt(w[seen]), q)
        off = np.linalg.norm(_places(machine, names, q) - points[seen, k], axis=1)
        found.append(q)
        errors.append(float(np.sqrt(np.mean(off**2))) if len(off) else np.nan)
        far[seen] = np.maximum(far[seen], off)
    return MarkerMotion(np.array(found), np.array(errors), list(markers)[int(far.argmax())])


def _points(machine: Machine, markers: Mapping[str, ArrayLike]) -> Array:
    """Return the points (markers, T, 3); raise a StateError if their shapes differ."""
    if not markers:
        raise StateError("marker kinematics: there are no markers; give {frame: points (T, 3)}")
    for name in markers:
        machine.mechanism.frame(name)
    rows = [np.atleast_2d(np.asarray(x, float)) for x in markers.values()]
    if {x.shape for x in rows} != {rows[0].shape} or rows[0].ndim != 2 or rows[0].shape[1] != 3:
        shapes = ", ".join(f"{name!r} {x.shape}" for name, x in zip(markers, rows))
        raise StateError(
            "marker kinematics: points are (T, 3) for every marker, as many instants for each;"
            f" found {shapes}"
        )
    return np.stack(rows)


def _places(machine: Machine, names: list[str], q: Array) -> Array:
    """Return the origins (n, 3) of the frames in the ground at q, m."""
    return np.array([machine.pose(q, name)[:3, 3] for name in names]).reshape(-1, 3)


def _nearest(machine: Machine, names: list[str], p: Array, w: Array, q: Array) -> Array:
    """Return the coordinates with the least weighted sum of squared distances, by damped steps from
    q. p: the measured points. w: the square roots of the weights.
    """
    damping, best = 1e-6, np.inf
    for _ in range(MAX_STEPS if names else 0):
        gap = (w[:, None] * (_places(machine, names, q) - p)).ravel()
        J = np.concatenate([x * machine.jacobian(q, name)[3:] for x, name in zip(w, names)])
        free, back = _loops(machine, q)
        cost = float(gap @ gap)
        damping = damping / 4 if cost <= best else damping * 8
        best = min(best, cost)
        G = (J @ free).T @ (J @ free)
        z = -np.linalg.solve(
            G + damping * max(np.trace(G), NEGLIGIBLE_STEP) / max(len(G), 1) * np.eye(len(G)),
            (J @ free).T @ (gap + J @ back),
        )
        step = back + free @ z
        q = machine.move(q, step * min(1.0, 0.7 / max(np.abs(step).max(), NEGLIGIBLE_STEP)))
        if np.abs(step).max() < NEGLIGIBLE_STEP * 100:
            break
    return q


def _loops(machine: Machine, q: Array) -> tuple[Array, Array]:
    """Return a basis (nv, k) of the speeds that keep the loops closed, and the step (nv,) that
    closes them.
    """
    if not machine.mechanism.closes:
        return np.eye(machine.nv), np.zeros(machine.nv)
    error, A = residual(machine, q)
    U, s, V = np.linalg.svd(A)
    rank = int((s > 1e-9 * s.max(initial=0.0)).sum())
    return V[rank:].T, -V[:rank].T @ ((U.T @ error)[:rank] / s[:rank])
