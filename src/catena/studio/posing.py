"""Posing: coordinates moved by hand with closed loops; or by pulling a body to a place. Fast enough
to follow a mouse.

d = J' (J J' + mu)^-1 e       damped least squares from the present pose, a few steps, as
                              `inverse_kinematics` but without other starts: a target that cannot be
                              reached is approached as far as possible
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..analysis import CLOSED, gauss_newton, residual, rotation_vector
from ..machine import Coordinate, Machine, coordinates

Array = np.ndarray
# iterations of a pull, and the longest step of one (rad, m)
MAX_PULL_ITERATIONS = 12
MAX_PULL_STEP = 0.4
SUBSTEPS = 8  # steps on the way to a new value of a coordinate


@dataclass(frozen=True)
class Posed:
    """The coordinates q (nq,) after a move, and a sentence about what stopped it ("" if nothing
    did).
    """

    q: Array
    said: str = ""


def set_coordinate(machine: Machine, q: Array, c: Coordinate, value: float) -> Posed:
    """Set one coordinate to a value within its limits; the others stay, or follow from the
    loops.
    """
    value = min(max(float(value), c.lower), c.upper)
    if not machine.mechanism.closes:
        q = q.copy()
        q[c.qi] = value
        return Posed(q)
    free = [k for k in range(machine.nv) if k != c.vi]
    span = value - q[c.qi]
    for step in np.linspace(0, 1, SUBSTEPS + 1)[1:] if abs(span) > 0.2 else (1.0,):
        trial = q.copy()
        trial[c.qi] = value if step == 1.0 else q[c.qi] + (value - q[c.qi]) * 0.5
        closed = gauss_newton(machine, trial, free)
        if np.abs(residual(machine, closed)[0]).max(initial=0.0) > CLOSED:
            return Posed(q, f"{c.name} cannot go further: the loops would open")
        q = closed
    return Posed(q)


def pull(
    machine: Machine,
    q: Array,
    body: str,
    point: Array,
    position: Array,
    orientation: Array | None = None,
) -> Posed:
    """Pull a point of a body (in its frame) to a position in the ground, m.

    orientation: (3, 3), to which the body is turned, or None.
    """
    bounds = [c for c in coordinates(machine) if np.isfinite(c.lower) or np.isfinite(c.upper)]
    mu = 1e-4
    e, J = _remaining(machine, q, body, point, position, orientation)
    for _ in range(MAX_PULL_ITERATIONS):
        size = float(e @ e)
        if size < 1e-16:
            break
        gradient = J.T @ e
        held = {
            c.vi
            for c in bounds
            if (q[c.qi] <= c.lower and gradient[c.vi] < 0)
            or (q[c.qi] >= c.upper and gradient[c.vi] > 0)
        }
        free = [k for k in range(machine.nv) if k not in held]
        step = np.zeros(machine.nv)
        A = J[:, free]
        step[free] = A.T @ np.linalg.solve(A @ A.T + mu * np.eye(len(e)), e)
        step *= min(1.0, MAX_PULL_STEP / (np.linalg.norm(step) or 1.0))
        trial = _clip_to_limits(machine.move(q, step), bounds)
        e_trial, J_trial = _remaining(machine, trial, body, point, position, orientation)
        if float(e_trial @ e_trial) < size:
            q = trial
            e = e_trial
            J = J_trial
            mu = max(0.1 * mu, 1e-9)
        else:
            mu *= 10.0
            if mu > 1e3:
                break
    if machine.mechanism.closes:
        q = gauss_newton(machine, q, list(range(machine.nv)))
    return Posed(q)


def _remaining(
    machine: Machine, q: Array, body: str, point: Array, position: Array, orientation: Array | None
) -> tuple[Array, Array]:
    """Return the remaining distance to the target, and its derivative with respect to the speeds:
    for the point, the orientation, and the rows of loops.
    """
    X = machine.pose(q, body)
    J = machine.jacobian(q, body)
    arm = X[:3, :3] @ point
    rows = [J[3:] - _cross(arm) @ J[:3]]
    left = [position - X[:3, 3] - arm]
    if orientation is not None:
        left.append(0.3 * rotation_vector(orientation @ X[:3, :3].T))
        rows.append(0.3 * J[:3])
    if machine.mechanism.closes:
        error, A = residual(machine, q)
        left.append(-3.0 * error)
        rows.append(3.0 * A)
    return np.concatenate(left), np.vstack(rows)


def _cross(a: Array) -> Array:
    """Return the matrix (3, 3) of the cross product with a."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def _clip_to_limits(q: Array, bounds: list[Coordinate]) -> Array:
    """Return q clipped to the limits of the coordinates."""
    for c in bounds:
        q[c.qi] = min(max(q[c.qi], c.lower), c.upper)
    return q
