"""Capture: the target that a frame meets at an impact, and the rows that hold afterwards.

rows (J v - V) = -e (approach)        V the target's velocity at the frame's origin, angular first,
                                      in the ground's axes
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import QuestionError, StateError
from ..machine import Machine, arguments
from ..model import symmetric

Array = np.ndarray
NONE = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Target:
    """A free body or a wall that a frame meets; an argument of `impulse`.

    Parameters
    ----------
    mass : float
        Mass, kg; infinity for a wall, which does not move.
    com : sequence of 3 floats, default (0, 0, 0)
        The centre of mass, from the frame's origin and in the frame's axes, m.
    inertia : sequence, default (0, 0, 0)
        The inertia about the centre of mass in the frame's axes, kg m2: a diagonal, six values or
        three rows. A target without inertia about the frame's origin is a point: its position is
        held, its rotation is not.
    linear, angular : sequence of 3 floats, default (0, 0, 0)
        The velocity (m/s) of the target's point at the frame's origin, and its angular velocity
        (rad/s), before the impact, along the ground's axes.
    along : sequence of 3 floats, optional
        A direction in the ground's axes. If given, only the speed along it is constrained (a
        frictionless impact). By default the frame and the target become one body.
    """

    mass: float
    com: Sequence[float] = NONE
    inertia: Sequence[Any] = NONE
    linear: Sequence[float] = NONE
    angular: Sequence[float] = NONE
    along: Sequence[float] | None = None


@dataclass(frozen=True)
class Meeting:
    """A target at the frame that meets it: the name and the Jacobian J (6, nv) of the frame,
    whether the target moves (`yields`), its velocity (6,), the rows (k, 6) that must hold
    afterwards, and its spatial inertia (6, 6) about the frame's origin, all in the ground's axes.
    """

    frame: str
    yields: bool
    J: Array
    velocity: Array
    rows: Array
    inertia: Array


def meeting(machine: Machine, q: Array, frame: str, target: Target) -> Meeting:
    """Return the Meeting of a frame and a target at q; raise a QuestionError if the target is not
    valid.
    """
    machine.mechanism.frame(frame)
    if not target.mass > 0:
        raise QuestionError(
            f"impulse: the target that {frame!r} meets has mass {target.mass:g} kg; it takes more"
            " than zero, or math.inf for a wall"
        )
    velocity = np.concatenate(
        [three("the target's angular", target.angular), three("the target's linear", target.linear)]
    )
    yields = math.isfinite(target.mass)
    I = _inertia(machine.pose(q, frame)[:3, :3], target) if yields else np.zeros((6, 6))
    rows = np.eye(6)
    if target.along is not None:
        n = three("the target's along", target.along)
        if not np.linalg.norm(n) > 0:
            raise QuestionError(
                "impulse: the target's direction `along` is zero; give the normal of the impact"
            )
        rows = np.concatenate([np.zeros(3), n / np.linalg.norm(n)])[None]
    if yields and np.linalg.eigvalsh(I[:3, :3])[0] <= 1e-12 * np.trace(I):  # a point
        rows = rows[-3:] if target.along is None else rows
        # a point is not rotated, so that any inertia is right
        I = I + 1e-9 * np.trace(I) * np.diag([1.0, 1, 1, 0, 0, 0])
    return Meeting(frame, yields, machine.jacobian(q, frame), velocity, rows, I)


def _inertia(R: Array, target: Target) -> Array:
    """Return the target's spatial inertia (6, 6) about the frame's origin in the ground's axes; R
    is the rotation of the frame.
    """
    xx, xy, xz, yy, yz, zz = (float(x) for x in symmetric(target.inertia))
    c = R @ three("the target's com", target.com)
    m = target.mass
    C = np.array([[0, -c[2], c[1]], [c[2], 0, -c[0]], [-c[1], c[0], 0]])
    turning = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T - m * C @ C
    return np.block([[turning, m * C], [-m * C, m * np.eye(3)]])


def three(name: str, x: Sequence[float]) -> Array:
    """Return x as an array of three finite numbers; raise a StateError that names the argument if
    it is not.
    """
    y = arguments.numbers("impulse", name, x)
    if y.shape != (3,) or not np.isfinite(y).all():
        raise StateError(f"impulse: {name} is {x!r}; it takes three finite numbers")
    return y
