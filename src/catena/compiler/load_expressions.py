"""Loads as expressions: the wrenches and joint forces of a mechanism's loads, and the rows of its
speed constraints, all traced with the symbols of one `Tracer`, so that all formulations and the
lanes share them.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any

import casadi as ca

from ..errors import MechanismError, UnknownNameError
from ..model import ORIGIN, Matrix, Scalar, Vector, evaluate, parse
from ..model.loads import Nonholonomic, identifier
from ..spatial import add, cross, dot, sub
from .position_expressions import Placed, followed, labels
from .trace_kinematics import Kinematics


class Applied:
    """The action of a mechanism's loads: `wrenches` on bodies, `forces` along the speeds, their
    potential `energy`.

    wrenches: {body: (torque about the body's origin, force)}, in the ground's axes. forces: (nv,).
    energy: scalar, of the springs. All are expressions of t, q, v and p. It implements the
    interface `Scene`, by which loads act.
    """

    def __init__(self, s: Kinematics):
        self.s = s
        self.mechanism = s.layout.mechanism
        # several loads share a frame
        self.pose, self.velocity = (
            cache(s.pose),
            cache(lambda frame: s.frame_velocity(frame, "world")),
        )
        self.wrenches: dict[str, list[ca.SX]] = {}
        self.forces, self.energy = ca.SX.zeros(s.layout.nv), ca.SX(0)
        self.coordinates = {n: k for k, n in enumerate(self.mechanism.coordinate_names)}
        self.speeds = {n: k for k, n in enumerate(self.mechanism.speed_names)}
        self.following = self.mechanism.following
        for load in self.mechanism.loads:
            load.act(self)

    def generalised(self) -> ca.SX:
        """Return all loads as generalised forces along the speeds, (nv,)."""
        Q = self.forces
        for body, (t, f) in self.wrenches.items():
            J = self.s.jacobian(body, "world")
            Q = Q + J[:3, :].T @ t + J[3:, :].T @ f
        return Q

    # --- rows
    def rows(self) -> tuple[ca.SX, list[tuple[str, str]]]:
        """A v + B of the constraints and of the speed rows as one column, each zero, and their
        (name, direction).
        """
        found = [x for row in self.mechanism.nonholonomic for x in self._row(row)]
        return ca.vertcat(self.placed.rates, *found), labels(self.mechanism.row_records)

    def positions(self) -> ca.SX:
        """g of the constraints, and zeros for the speed rows, in the order of `rows`."""
        return ca.vertcat(
            self.placed.rows,
            ca.SX.zeros(sum(len(row.labels) for row in self.mechanism.nonholonomic)),
        )

    @cached_property
    def placed(self) -> Placed:
        """The constraints of positions as expressions."""
        return Placed(self.s)

    def _row(self, row: Nonholonomic) -> list[ca.SX]:
        if row.text is not None:
            return [self._text_row(row.name, row.text)]
        arm, directions = row.contact(self.axes(row.frame), self.value)
        velocity = add(self.origin(row.frame)[1], cross(self.spin(row.frame), arm))
        return [ca.SX(dot(d, velocity)) for d in directions]

    def row_wrenches(self) -> list[tuple[Scalar, ...]]:
        """Return the wrench of one unit of each of `rows` on the body that it pushes, about the
        ground's origin; none where it acts along speeds.
        """
        found = [
            x
            for k, row in enumerate(self.mechanism.constraints)
            for x in self._pushes(k, len(row.labels))
        ]
        return found + [
            x for row in self.mechanism.nonholonomic for x in self.contact_wrenches(row)
        ]

    def _pushes(self, k: int, count: int) -> list[tuple[Scalar, ...]]:
        """Return the wrenches of constraint k on the last of the bodies on which it acts, for each
        of its `count` rows.
        """
        pairs = list(self.placed.pushes(k).values())
        if not pairs:
            return [(0.0,) * 6] * count
        t, f = pairs[-1]
        return [tuple(ca.horzcat(t[i, :], f[i, :])[j] for j in range(6)) for i in range(count)]

    def contact_wrenches(self, row: Nonholonomic) -> list[tuple[Scalar, ...]]:
        """Return the wrenches of the rows of one speed row."""
        if row.text is not None:
            return [(0.0,) * 6]
        arm, directions = row.contact(self.axes(row.frame), self.value)
        at = add(_triple(self.pose(row.frame)[:, 3]), arm)
        return [(*cross(at, f), *f) for f in directions]

    def _text_row(self, name: str, text: str) -> ca.SX:
        f = ca.SX(self.text(name, text))
        if not ca.depends_on(f, self.s.v):
            raise MechanismError(
                f"row {name!r}: {text!r} has no speed in it; a row is A(q, t) v + B(q, t), v as"
                " v_<name>"
            )
        if not ca.which_depends(f, self.s.v, 2, False)[0]:
            return f
        raise MechanismError(
            f"row {name!r}: {text!r} is not linear in the speeds; a row is A(q, t) v + B(q, t)"
        )

    # --- the scene
    def value(self, x: Scalar) -> Scalar:
        """Return a number, or an expression of parameters as one of their symbols."""
        return self.s.value(x)

    def text(self, where: str, x: str | float) -> Scalar:
        """Return the expression of a string of t, parameters, coordinates and speeds, or a number.
        where: the name of the load, for messages.
        """
        if isinstance(x, (int, float)):
            return float(x)
        try:
            return evaluate(parse(x, list(self._symbols)), self._symbols)
        except ValueError as error:
            raise MechanismError(f"{where!r}: {error}") from None

    @cached_property
    def _symbols(self) -> dict[str, Any]:
        s = self.s
        table: dict[str, Any] = {
            name: s.p[k] for k, name in enumerate(self.mechanism.parameters)
        } | {"t": s.t}
        table |= {f"q_{identifier(n)}": s.q[k] for n, k in self.coordinates.items()}
        return table | {f"v_{identifier(n)}": s.v[k] for n, k in self.speeds.items()}

    def coordinate(self, name: str) -> tuple[Scalar, Scalar]:
        """Return a coordinate and the speed of the same name, also of a joint that follows
        another.
        """
        if name in self.following:
            y, slope, leader = self._followed(name)
            return y, slope * self.s.v[self.speeds[leader]]
        if name not in self.coordinates or name not in self.speeds:
            known = [n for n in self.coordinates if n in self.speeds]
            raise UnknownNameError(
                "coordinate", name, known, f"loads of mechanism {self.mechanism.name!r}"
            )
        return self.s.q[self.coordinates[name]], self.s.v[self.speeds[name]]

    def _followed(self, name: str) -> tuple[Scalar, Scalar, str]:
        """Return, for a joint that follows another, its coordinate, the derivative by the leader's
        coordinate, and the leader.
        """
        mimic = self.following[name]
        return *followed(mimic, self.s.q[self.coordinates[mimic.joint]], self.value), mimic.joint

    def axes(self, frame: str) -> Matrix:
        """Return the rotation R_WF of a frame in the ground, as three rows."""
        X = self.pose(frame)
        return tuple(tuple(X[i, k] for k in range(3)) for i in range(3))  # type: ignore[return-value]

    def origin(self, frame: str) -> tuple[Vector, Vector]:
        """Return position and velocity of a frame's origin in the ground."""
        return _triple(self.pose(frame)[:, 3]), _triple(self.velocity(frame)[3:])

    def spin(self, frame: str) -> Vector:
        """Return the angular velocity of a frame, in the ground's axes."""
        return _triple(self.velocity(frame)[:3])

    def push(self, frame: str, force: Vector, torque: Vector = ORIGIN) -> None:
        """Add a force at a frame's origin, and a torque, both in the ground's axes."""
        body = self.mechanism.frame(frame).body
        arm = sub(_triple(self.pose(frame)[:, 3]), _triple(self.pose(body)[:, 3]))
        total = self.wrenches.setdefault(body, [ca.SX.zeros(3), ca.SX.zeros(3)])
        total[0] += ca.vertcat(*add(torque, cross(arm, force)))
        total[1] += ca.vertcat(*force)

    def drive(self, speed: str, force: Scalar) -> None:
        """Add a generalised force along a speed. Along the speed of a joint that follows another,
        add its ratio times the force to that of the leader.
        """
        if speed in self.following:
            _, slope, leader = self._followed(speed)
            self.forces[self.speeds[leader]] += slope * force
            return
        if speed not in self.speeds:
            raise UnknownNameError(
                "speed", speed, self.speeds, f"loads of mechanism {self.mechanism.name!r}"
            )
        self.forces[self.speeds[speed]] += force

    def store(self, energy: Scalar) -> None:
        """Add potential energy, J."""
        self.energy += energy


def _triple(x: ca.SX) -> Vector:
    return x[0], x[1], x[2]
