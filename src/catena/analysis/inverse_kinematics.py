"""Inverse kinematics: the coordinates that bring a frame to a pose, within the limits of the joints
and with closed loops.

Damped least squares on the remaining rotation and translation r, and on the residuals e of the
loops (`assembly`):

    d = J' (J J' + mu)^-1 [r; -e],      J = [J_frame; A]

The search begins at the guess and restarts from configurations around it. A coordinate at its limit
that would pass it is held there.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..errors import QuestionError, StateError
from ..kernels import usual_length
from ..machine import (
    Coordinate,
    Machine,
    arguments,
    machine_of,
    openings,
    rows_at,
    state,
    where,
)
from ..model import Mechanism, Pose, value_of
from .assembly import damped_steps, residual, starts
from .closure_search import CLOSED
from .joint_orientation import rotation_vector, upside_down
from .limits import clamped, limited, movable

Array = np.ndarray
# Remaining error of a frame that has arrived: rad, or relative to the length of the links that
# carry it.
ARRIVED_TOLERANCE = 1e-9
# Norm of one step, at most: rad, or lengths of the mechanism.
MAX_STEP_NORM = 0.7


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
    """Return coordinates that bring a frame or body to a pose, a position or an orientation.

    Parameters
    ----------
    m : Mechanism or Machine
        The mechanism, or the machine compiled from it.
    frame : str
        The frame or body.
    pose : Pose or array (4, 4), optional
        The wanted pose, in the ground's axes. Exclusive of `position` and `orientation`.
    position : array (3,), optional
        The wanted position of the frame's origin, m.
    orientation : array (3, 3), optional
        The wanted rotation matrix from the frame's axes to the ground's.
    guess : array (nq,), optional
        The coordinates to start from; the result is near them. By default every coordinate is zero.
    limits : bool, default True
        Stay within the limits of the joints. Coordinates of quaternions have no limits.

    Returns
    -------
    ndarray (nq,)
        The coordinates, rad or m. The remaining error is below 1e-9 rad, and below 1e-9 of the
        length of the links that carry the frame.

    Raises
    ------
    QuestionError
        If the pose cannot be reached; the message says how far away the nearest one found is, and
        which coordinates are at their limits.
    StateError
        If the goal is missing, is given twice, or is not a pose.

    Examples
    --------
    >>> import catena
    >>> arm = catena.load("two_link_arm")
    >>> q = catena.inverse_kinematics(arm, "tip", position=[0.4, 0.5, 0.0], guess=[0.5, 0.5])
    >>> catena.compile(arm).pose(q, "tip")[:3, 3].round(6).tolist()
    [0.4, 0.5, 0.0]
    """
    machine = machine_of(m)
    (q,) = state(machine, "inverse kinematics", guess=guess)
    machine.mechanism.frame(frame)
    goal = _goal(pose, position, orientation)
    bounds = limited(machine) if limits else []
    every = list(range(machine.nv))
    best = q
    least = np.inf
    length = _length(machine, frame)
    for start in starts(machine, q, every):
        found = damped_steps(
            machine,
            clamped(start, bounds),
            lambda machine, q: _to_go(machine, frame, goal, q, length),
            lambda q, pull: movable(q, pull, bounds, every),
            lambda q: clamped(q, bounds),
            MAX_STEP_NORM,
        )
        far = _far(machine, frame, goal, found, length)
        if far < ARRIVED_TOLERANCE and not upside_down(machine, found):
            return found
        if far < least:
            best, least = found, far
    raise _unreached(machine, frame, goal, best, bounds)


def _goal(pose: Any, position: Any, orientation: Any) -> tuple[Array | None, Array | None]:
    """Return the rotation R (3, 3) and position p (3,) of the goal; None for the one
    that is free.
    """
    ask = partial(arguments.numbers, "inverse kinematics")
    if pose is not None:
        if position is not None or orientation is not None:
            raise StateError(
                "inverse kinematics: give a pose, or a position and an orientation, not both"
            )
        X = (
            pose.matrix()
            if isinstance(pose, Pose)
            else arguments.numbers("inverse kinematics", "the pose", pose)
        )
        if X.shape != (4, 4):
            raise StateError(
                f"inverse kinematics: the pose has shape {X.shape}; it is a Pose or a 4 x 4 matrix"
            )
        orientation = X[:3, :3]
        position = X[:3, 3]
    if position is None and orientation is None:
        raise StateError(
            "inverse kinematics: no goal is given; give a pose, a position or an orientation"
        )
    p = None if position is None else ask("the position", position)
    orientation = orientation.rotation if isinstance(orientation, Pose) else orientation
    R = None if orientation is None else ask("the orientation", orientation)
    if p is not None and (p.shape != (3,) or not np.isfinite(p).all()):
        raise StateError(
            f"inverse kinematics: the position is {position!r}; it takes three finite numbers,"
            " metres"
        )
    if R is not None and (
        R.shape != (3, 3)
        or not np.isfinite(R).all()
        or np.abs(R @ R.T - np.eye(3)).max() > 1e-6
        or np.linalg.det(R) < 0
    ):
        raise StateError(
            "inverse kinematics: the orientation is not a rotation matrix (3 x 3, R R' = 1,"
            " determinant 1)"
        )
    return R, p


def _length(machine: Machine, frame: str) -> float:
    """Return the length of the links that carry the frame, from joint to joint, m; or the length of
    the mechanism if that is zero.
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
    machine: Machine, frame: str, goal: tuple[Any, ...], q: Array, length: float
) -> tuple[Array, Array]:
    """Return the residuals and their Jacobian: the rotation vector and the translation (relative to
    `length`) that remain to the goal, with a minus sign, then the residuals of the loops.
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


def _far(machine: Machine, frame: str, goal: tuple[Any, ...], q: Array, length: float) -> float:
    """Return the largest residual to the goal; if the loops are not closed, plus the largest
    residual of the loops.
    """
    error = openings(machine, rows_at(machine, q)).max(initial=0.0)
    return float(
        np.abs(_to_go(machine, frame, goal, q, length)[0]).max()
        + (error if error > CLOSED else 0.0)
    )


def _unreached(
    machine: Machine, frame: str, goal: tuple[Any, ...], q: Array, bounds: list[Coordinate]
) -> QuestionError:
    """Return the error that says how far from the goal the nearest configuration is."""
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
        f"inverse kinematics: frame {frame!r} of {where(machine)} cannot reach the goal:"
        f" {' and '.join(words)} remain at the nearest configuration found{tail}"
    )
