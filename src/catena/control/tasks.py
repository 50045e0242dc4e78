"""Tasks: the targets of differential inverse kinematics and whole-body control.

A task has an error e (m,) that is to vanish, and the rows J (m, nv) of its rate: e' = -J v while
its target is constant. weight (m,): the cost of a unit of its residual, squared.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import casadi as ca
import numpy as np

from ..compiler import Tracer
from ..errors import StateError, UnknownNameError
from ..machine import Machine, all_speeds_of, speeds_of
from ..model import value_of
from .operating_point import TINY_ROTATION_SQUARED, coordinate_change

Array = np.ndarray
JOINT_LIMITS = ("speed", "effort")  # limits of joints that stand for numbers


class TaskRows(NamedTuple):
    """A task as expressions: J (m, nv), e (m,), the drift Jdot v (m,), and weights (m,)."""

    J: ca.SX
    error: ca.SX
    drift: ca.SX
    weight: Array


class Task(Protocol):
    """The interface of a task."""

    @property
    def name(self) -> str:
        """The name by which its target is given."""

    def target_size(self, machine: Machine) -> int:
        """Return the number of entries of its target."""

    def pack(self, machine: Machine, target: Any) -> Array:
        """Return a target of this task as an array (size,)."""

    def rows(self, s: Tracer, target: ca.SX) -> TaskRows:
        """Return the task as expressions of the symbols and of the packed target."""


@dataclass(frozen=True)
class FrameTask:
    """Bring a frame to a pose.

    The error is the position of the target minus that of the frame (m), and the rotation vector
    from the frame to the target (rad), both in the axes of the ground.

    Parameters
    ----------
    frame : str
        The frame or body.
    position, orientation : float or sequence of 3 floats, default 1.0
        The weights along the axes of the ground; zero leaves a direction free.
    """

    frame: str
    position: Any = 1.0
    orientation: Any = 1.0

    def __post_init__(self) -> None:
        for name in ("position", "orientation"):
            x = np.asarray(getattr(self, name), float)
            if x.shape not in ((), (3,)) or not (np.isfinite(x) & (x >= 0)).all():
                raise StateError(
                    f"FrameTask of {self.frame!r}: {name} is {getattr(self, name)!r}; it is a"
                    " weight, or three, zero or above"
                )

    @property
    def name(self) -> str:
        """The name of the frame."""
        return self.frame

    def target_size(self, machine: Machine) -> int:
        """Return twelve: the rotation matrix, row by row, then the position."""
        return 12

    def pack(self, machine: Machine, target: Any) -> Array:
        """Return a pose, (4, 4) or (3, 4), as twelve numbers."""
        X = np.asarray(target, float)
        if X.shape not in ((4, 4), (3, 4)):
            raise StateError(
                f"FrameTask of {self.frame!r}: its target has the shape {X.shape}; it is a pose (4,"
                " 4) or (3, 4), as `machine.pose` gives"
            )
        return np.concatenate([X[:3, :3].ravel(), X[:3, 3]])

    def rows(self, s: Tracer, target: ca.SX) -> TaskRows:
        """Return linear rows first, then angular ones; those of weight zero are left out."""
        X, J = s.pose(self.frame), s.jacobian(self.frame, "world")
        drift = s.jacobian_rate(self.frame, "world")
        R = ca.reshape(target[:9], 3, 3).T
        E = R @ X[:, :3].T
        twist = 0.5 * ca.vertcat(E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1])
        sine = ca.sqrt(ca.sumsqr(twist) + TINY_ROTATION_SQUARED)
        angle = ca.atan2(sine, 0.5 * (E[0, 0] + E[1, 1] + E[2, 2] - 1.0))
        error = ca.vertcat(target[9:] - X[:, 3], twist * (angle / sine))
        weight = np.concatenate(
            [np.broadcast_to(np.asarray(x, float), 3) for x in (self.position, self.orientation)]
        )
        order = [k for k in range(6) if weight[k] > 0.0]
        place = [3, 4, 5, 0, 1, 2]  # angular rows first in the Jacobian
        rows = [place[k] for k in order]
        return TaskRows(J[rows, :], error[order], drift[rows], weight[order])


@dataclass(frozen=True)
class PostureTask:
    """Bring coordinates to those of a target posture.

    Parameters
    ----------
    weight : float, default 1e-3
        The weight of each coordinate.
    joints : sequence of str, optional
        The joints or coordinates. By default all, free and ball joints included.
    name : str, default "posture"
        The name by which its target is given.
    """

    weight: float = 1e-3
    joints: tuple[str, ...] | None = None
    name: str = "posture"

    def target_size(self, machine: Machine) -> int:
        """The number of coordinates, nq."""
        return machine.nq

    def pack(self, machine: Machine, target: Any) -> Array:
        """Return the coordinates (nq,) of the target posture."""
        q = np.asarray(target, float)
        if q.shape != (machine.nq,):
            raise StateError(
                f"task {self.name!r}: its target has the shape {q.shape}; it is q ({machine.nq},)"
            )
        return q

    def rows(self, s: Tracer, target: ca.SX) -> TaskRows:
        """Return one row for each speed."""
        nv = s.layout.nv
        change = coordinate_change(s.layout, target, s.q)
        places = list(range(nv))
        if self.joints is not None:
            places = sorted({k for j in self.joints for k in speeds_of(s.layout.mechanism, j)})
        error = ca.vertcat(*(change[k] for k in places))
        J = ca.SX.eye(nv)[places, :]
        return TaskRows(J, error, ca.SX.zeros(len(places)), np.full(len(places), self.weight))


@dataclass(frozen=True)
class ComTask:
    """Bring the centre of mass to a point.

    Parameters
    ----------
    weight : float or sequence of 3 floats, default 1.0
        The weights along the axes of the ground.
    name : str, default "com"
        The name by which its target is given.
    """

    weight: Any = 1.0
    name: str = "com"

    def target_size(self, machine: Machine) -> int:
        """Return three, for the coordinates of a point."""
        return 3

    def pack(self, machine: Machine, target: Any) -> Array:
        """Return the target point (3,), m."""
        p = np.asarray(target, float)
        if p.shape != (3,):
            raise StateError(f"task {self.name!r}: its target has the shape {p.shape}; it is (3,)")
        return p

    def rows(self, s: Tracer, target: ca.SX) -> TaskRows:
        """Return the task as three rows: the position of the target minus that of the centre of
        mass, m.
        """
        momentum = s.momentum()
        velocity = momentum[4:7]
        J = ca.jacobian(velocity, s.v)
        drift = ca.jtimes(velocity, s.q, s.coordinate_rate())
        weight = np.broadcast_to(np.asarray(self.weight, float), 3)
        return TaskRows(J, target - momentum[1:4], drift, weight)


def pack_targets(machine: Machine, tasks: tuple[Task, ...], given: Any) -> Array:
    """Return the targets of all tasks as one array, from {name: target}; raise StateError where one
    is missing or of another task.
    """
    names = [task.name for task in tasks]
    if sorted(given) != sorted(names):
        raise StateError(
            f"targets are given for {', '.join(map(repr, given)) or 'no task'}; the tasks are"
            f" {', '.join(map(repr, names))}, each of which has one"
        )
    return np.concatenate([task.pack(machine, given[task.name]) for task in tasks])


def joint_values(machine: Machine, what: str, given: Any, default: float) -> Array:
    """Return one number per speed (nv,), from one for all, an array, {joint: number}, or the name
    of a limit of joints, "speed" or "effort".
    """
    found = np.full(machine.nv, default)
    if given is None:
        return found
    if isinstance(given, str):
        if given not in JOINT_LIMITS:
            raise UnknownNameError("kind of limit", given, JOINT_LIMITS, what)
        p = machine.mechanism.parameters
        own = [value_of(x, p) for j in machine.mechanism.moving for x in getattr(j, given)]
        return np.array(own, float)
    if isinstance(given, dict):
        for name, x in given.items():
            found[all_speeds_of(machine, [name])] = x
        return found
    x = np.asarray(given, float)
    if x.shape not in ((), (machine.nv,)):
        raise StateError(
            f"{what} has the shape {x.shape}; it is a number, ({machine.nv},), or {{joint: number}}"
        )
    return np.broadcast_to(x, (machine.nv,)).copy()


def split_targets(machine: Machine, tasks: tuple[Task, ...], packed: ca.SX) -> list[ca.SX]:
    """Return, for each task, its part of the symbols of all targets."""
    ends = np.cumsum([0, *(task.target_size(machine) for task in tasks)]).tolist()
    return [packed[a:b] for a, b in pairwise(ends)]
