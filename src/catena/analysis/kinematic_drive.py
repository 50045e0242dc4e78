"""Kinematic drive: the motion of some coordinates is given, the position, velocity and acceleration of all are found.

    e(q) = 0 with the driven ones held,      A_f v_f = -A_d v_d,      A_f a_f = gamma - A_d a_d

No mass enters. The driven coordinates must leave nothing free and must not contradict the loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import QuestionError, StateError, UnknownNameError
from ..machine.constraint_rows import Metric, Rows, metric, rows_at, spaces
from ..machine.lookup import Coordinate, coordinates, machine_of, state, where
from ..machine.machine import Machine
from ..model.mechanism import Mechanism
from .assembly import closed

Array = np.ndarray
TORN = 1e-8  # a rate of opening, beside the fastest motion, that is no rounding


@dataclass(frozen=True)
class DrivenMotion:
    """Coordinates (..., nq), speeds and accelerations (..., nv); it unpacks as q, v, a."""

    q: Array
    v: Array
    a: Array

    def __iter__(self) -> Iterator[Array]:
        return iter((self.q, self.v, self.a))


def kinematics(m: Mechanism | Machine, driven: Mapping[str, Any], guess: Any = None) -> DrivenMotion:
    """q, v, a = kinematics(mechanism, {"crank": (angle, speed, acceleration)}, guess).

    driven: {coordinate: (q, v, a)}; speed and acceleration may be left out and are then zero. Each may be an array over
    instants: the first is assembled from the guess, each next one from the one before. A QuestionError names what is
    still free, or the loop that the driven coordinates contradict.
    """
    machine = machine_of(m)
    (q,) = state(machine, "kinematics", guess=guess)
    if machine.mechanism.nonholonomic:
        raise QuestionError(
            f"kinematics: the speed rows of {where(machine)} tie speeds, not positions; simulate(...) follows them"
        )
    table = {c.name: c for c in coordinates(machine)} | {c.speed: c for c in coordinates(machine)}
    places, course = [], []
    for name, values in driven.items():
        if name not in table:
            raise UnknownNameError(
                "coordinate", name, [c.name for c in coordinates(machine)], f"{where(machine)}, to be driven"
            )
        places.append(table[name])
        course.append(_triple(name, values))
    if not course and machine.nv:
        raise QuestionError(f"kinematics: nothing of {where(machine)} is driven; give the motion of at least one coordinate")
    shape = np.broadcast_shapes(*(x.shape for three in course for x in three))
    if len(shape) > 1:
        raise StateError(
            f"kinematics: the driven values have shape {shape}; they are numbers, or arrays of one dimension, over instants"
        )
    moments = np.array([[np.broadcast_to(x, shape).reshape(-1) for x in three] for three in course])  # (driven, 3, moments)
    found = []
    for k in range(moments.shape[2]):
        found.append(_moment(machine, q, places, moments[:, :, k]))
        q = found[-1][0]
    q, v, a = (np.array([moment[k] for moment in found]).reshape(*shape, -1) for k in range(3))
    return DrivenMotion(q, v, a)


def _triple(name: str, values: Any) -> list[Array]:
    three = list(values) if isinstance(values, (tuple, list)) else [values]
    if not 1 <= len(three) <= 3:
        raise StateError(f"kinematics: {name!r} is given {len(three)} values; give its position, speed and acceleration")
    found = [np.asarray(x, float) for x in three] + [np.zeros(())] * (3 - len(three))
    if not all(np.isfinite(x).all() for x in found):
        raise StateError(f"kinematics: the motion of {name!r} is not finite")
    return found


def _moment(machine: Machine, q: Array, places: list[Coordinate], values: Array) -> tuple[Array, Array, Array]:
    q, v, a = q.copy(), np.zeros(machine.nv), np.zeros(machine.nv)
    q[[c.qi for c in places]] = values[:, 0]
    held = [c.vi for c in places]
    free = [k for k in range(machine.nv) if k not in held]
    q = closed(machine, q, free)
    v[held], a[held] = values[:, 1], values[:, 2]
    rows, by = rows_at(machine, q), metric(machine, acting=False)
    left, unit = spaces(rows.A[:, free], by.speeds(free)), np.sqrt(by.column)
    loose = left.T
    if loose.shape[1]:
        names = [machine.speed_names[free[k]] for k in np.argsort(-np.linalg.norm(loose, axis=1), kind="stable")]
        raise QuestionError(f"kinematics: {loose.shape[1]} degree(s) of freedom are left free in {where(machine)}; drive "
                            f"{loose.shape[1]} more coordinate(s), such as {names[0]!r}")  # fmt: skip
    v[free] = left.inverse @ (-rows.A @ v)
    fastest = np.abs(v / unit).max(initial=0.0)
    _require_closed(machine, rows, by, rows.A @ v, fastest, "speeds")
    rows = rows_at(machine, q, v)
    a[free] = left.inverse @ (rows.gamma - rows.A @ a)
    _require_closed(machine, rows, by, rows.A @ a - rows.gamma, fastest**2 + np.abs(a / unit).max(initial=0.0), "accelerations")
    return q, v, a


def _require_closed(machine: Machine, rows: Rows, by: Metric, gap: Array, fastest: float, what: str) -> None:
    """Refuse a motion that opens a loop, beside the fastest part of the motion, both in the metric `by`."""
    left = np.abs(gap) / np.sqrt(by.sizes(rows.A))
    if left.max(initial=0.0) > TORN * fastest:
        k = int(left.argmax())
        raise QuestionError(f"kinematics: the {what} of the driven coordinates tear loop {rows.names[k][0]!r} of {where(machine)} "
                            f"open, by {abs(gap[k]):.3g} in SI units; drive fewer coordinates, or motions that agree")  # fmt: skip
