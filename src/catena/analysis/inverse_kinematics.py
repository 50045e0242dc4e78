"""Inverse kinematics: the coordinates that bring a frame to a pose, within the joints' limits,
loops closed.

Damped least squares on the rotation and translation that are left, r, and on the residuals e of the
loops (`assembly`):

    d = J' (J J' + mu)^-1 [r; -e],      J = [J_frame; A]

from the guess, then from other starts around it. A coordinate at its limit that wants to pass it is
held there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import QuestionError, StateError
from ..kernels import usual_length
from ..machine import Coordinate, Machine, coordinates, machine_of, openings, rows_at, state, where
from ..model import Mechanism, Pose, value_of
from .assembly import damped_steps, residual, starts
from .closure_search import CLOSED
from .joint_orientation import rotation_vector, upside_down

Array = np.ndarray
# when a frame has arrived (rad, or beside the length of what carries it), how far a step may go
THERE, REACH = 1e-9, 0.7


def inverse_kinematics(
    m: Mechanism | Machine,
    frame: str,
    pose: Any = None,
    *,
    position: Any = None,
    orientation: Any = None,
    guess: Any = None,
    limits: bool = True,
) -> Array:
    """q (nq,) that brings a frame or body to a pose (a Pose or 4 x 4), a position (3,) or an
    orientation (3 x 3).

    All in the ground's axes. guess: where to start, by default every coordinate zero; the answer is
    near it. limits: within the joints' lower and upper (those of quaternions are not limited). A
    QuestionError says how far away the nearest place is that it can reach.
    """
    machine = machine_of(m)
    (q,) = state(machine, "inverse kinematics", guess=guess)
    machine.mechanism.frame(frame)
    goal = _goal(pose, position, orientation)
    bounds = [
        c for c in coordinates(machine) if limits and (np.isfinite(c.lower) or np.isfinite(c.upper))
    ]
    best = q
    least = np.inf
    length = _length(machine, frame)
    for start in starts(machine, q, list(range(machine.nv))):
        found = damped_steps(
            machine,
            _within(start, bounds),
            lambda machine, q: _to_go(machine, frame, goal, q, length),
            lambda q, pull: _free(machine, q, pull, bounds),
            lambda q: _within(q, bounds),
            REACH,
        )
        far = _far(machine, frame, goal, found, length)
        if far < THERE and not upside_down(machine, found):
            return found
        if far < least:
            best, least = found, far
    raise _unreached(machine, frame, goal, best, bounds)


def _goal(pose: Any, position: Any, orientation: Any) -> tuple[Array | None, Array | None]:
    """(R, p) of the goal; None for what is left open."""
    if pose is not None:
        if position is not None or orientation is not None:
            raise StateError(
                "inverse kinematics: give a pose, or a position and an orientation, not both"
            )
        X = pose.matrix() if isinstance(pose, Pose) else np.asarray(pose, float)
        if X.shape != (4, 4):
            raise StateError(
                f"inverse kinematics: the pose has shape {X.shape}; it is a Pose or a 4 x 4 matrix"
            )
        orientation = X[:3, :3]
        position = X[:3, 3]
    if position is None and orientation is None:
        raise StateError(
            "inverse kinematics: nowhere to go; give a pose, a position or an orientation"
        )
    p = None if position is None else np.asarray(position, float)
    orientation = orientation.rotation if isinstance(orientation, Pose) else orientation
    R = None if orientation is None else np.asarray(orientation, float)
    if p is not None and (p.shape != (3,) or not np.isfinite(p).all()):
        raise StateError(
            f"inverse kinematics: the position is {position!r}; it takes three finite numbers,"
            " metres"
        )
    if R is not None and (
        R.shape != (3, 3) or np.abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0
    ):
        raise StateError(
            "inverse kinematics: the orientation is not a rotation matrix (3 x 3, R R' = 1,"
            " determinant 1)"
        )
    return R, p


def _length(machine: Machine, frame: str) -> float:
    """The length of what carries a frame, from joint to joint; that of the mechanism where there is
    none.
    """
    seat = machine.layout.seat(frame)
    links = [seat.pose.position]
    i = seat.node
    while i >= 0 and (parent := machine.layout.nodes[i].parent) >= 0:
        links.append(machine.layout.nodes[i].pose.position)
        i = parent
    values = [value_of(x, machine.mechanism.parameters) for link in links for x in link]
    return float(np.linalg.norm(np.array(values, float))) or usual_length(machine.layout)


def _to_go(
    machine: Machine, frame: str, goal: tuple, q: Array, length: float
) -> tuple[Array, Array]:
    """e and its Jacobian: minus the rotation and translation (in lengths) left to the goal, then
    the residuals of the loops.
    """
    (R, p), X, J = goal, machine.pose(q, frame), machine.jacobian(q, frame)
    left, rows = [], []
    if R is not None:
        left.append(-rotation_vector(R @ X[:3, :3].T))
        rows.append(J[:3])
    if p is not None:
        left.append((X[:3, 3] - p) / length)
        rows.append(J[3:] / length)
    if machine.mechanism.closes:
        error, A = residual(machine, q)
        left.append(error)
        rows.append(A)
    return np.concatenate(left), np.vstack(rows)


def _free(machine: Machine, q: Array, pull: Array, bounds: list[Coordinate]) -> list[int]:
    """The speeds that may move: not those at a limit that are pulled beyond it."""
    held = {
        c.vi
        for c in bounds
        if (q[c.qi] <= c.lower and pull[c.vi] < 0) or (q[c.qi] >= c.upper and pull[c.vi] > 0)
    }
    return [k for k in range(machine.nv) if k not in held]


def _within(q: Array, bounds: list[Coordinate]) -> Array:
    q = q.copy()
    for c in bounds:
        q[c.qi] = min(max(q[c.qi], c.lower), c.upper)
    return q


def _far(machine: Machine, frame: str, goal: tuple, q: Array, length: float) -> float:
    error = openings(machine, rows_at(machine, q)).max(initial=0.0)
    return float(
        np.abs(_to_go(machine, frame, goal, q, length)[0]).max()
        + (error if error > CLOSED else 0.0)
    )


def _unreached(
    machine: Machine, frame: str, goal: tuple, q: Array, bounds: list[Coordinate]
) -> QuestionError:
    (R, p), X = goal, machine.pose(q, frame)
    words = []
    if p is not None:
        words.append(f"{np.linalg.norm(p - X[:3, 3]):.4g} m")
    if R is not None:
        words.append(f"{np.degrees(np.linalg.norm(rotation_vector(R @ X[:3, :3].T))):.4g} degrees")
    rows = rows_at(machine, q)
    if openings(machine, rows).max(initial=0.0) > CLOSED:
        words.append(f"{np.abs(rows.error).max():.3g} m of open loop")
    at = [f"{c.name!r} at {q[c.qi]:.4g}" for c in bounds if q[c.qi] in (c.lower, c.upper)]
    tail = f"; at their limits: {', '.join(at)}" if at else ""
    return QuestionError(
        f"inverse kinematics: frame {frame!r} of {where(machine)} cannot get there:"
        f" {' and '.join(words)} are left at the nearest place found{tail}"
    )
