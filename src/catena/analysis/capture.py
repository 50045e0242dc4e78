"""Capture: what a frame meets in a blow, and the rows that hold afterwards.

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
from ..machine import Machine
from ..model import symmetric

Array = np.ndarray
NONE = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Target:
    """Something a frame meets: a free body, or a wall.

    mass: kg, or infinity for what does not yield. com, inertia: in the frame's axes, the centre
    from the frame's origin (m), the inertia about the centre (kg m2; a diagonal, six values or
    three rows). linear, angular: the velocity of the target's point at the frame's origin and its
    angular velocity before, along the ground's axes. along: a direction in the ground's axes;
    given, only the speed along it meets (a frictionless impact); by default the frame and the
    target become one. A target without inertia about the frame is a point: its place is held, its
    turning is not.
    """

    mass: float
    com: Sequence[float] = NONE
    inertia: Sequence[Any] = NONE
    linear: Sequence[float] = NONE
    angular: Sequence[float] = NONE
    along: Sequence[float] | None = None


@dataclass(frozen=True)
class Meeting:
    """A target where it is met: the frame and its Jacobian (6, nv), the target's velocity (6,), the
    rows that must hold (k, 6), and the target's spatial inertia about the frame's origin (6, 6),
    all in the ground's axes.
    """

    frame: str
    yields: bool
    J: Array
    velocity: Array
    rows: Array
    inertia: Array


def meeting(machine: Machine, q: Array, frame: str, target: Target) -> Meeting:
    """The target at the frame."""
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
        # it never turns, so any inertia will do
        I = I + 1e-9 * np.trace(I) * np.diag([1.0, 1, 1, 0, 0, 0])
    return Meeting(frame, yields, machine.jacobian(q, frame), velocity, rows, I)


def _inertia(R: Array, target: Target) -> Array:
    xx, xy, xz, yy, yz, zz = (float(x) for x in symmetric(target.inertia))
    c = R @ three("the target's com", target.com)
    m = target.mass
    C = np.array([[0, -c[2], c[1]], [c[2], 0, -c[0]], [-c[1], c[0], 0]])
    turning = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T - m * C @ C
    return np.block([[turning, m * C], [-m * C, m * np.eye(3)]])


def three(name: str, x: Sequence[float]) -> Array:
    """Three finite numbers."""
    y = np.asarray(x, float)
    if y.shape != (3,) or not np.isfinite(y).all():
        raise StateError(f"impulse: {name} is {x!r}; it takes three finite numbers")
    return y
