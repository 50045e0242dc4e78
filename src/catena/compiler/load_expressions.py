"""Loads as expressions: the wrenches and joint forces of a mechanism's springs, dampers and forces, and the rows of its
speed constraints, all traced with the symbols of one `Tracer`, so that every formulation and the lanes have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca

from ..errors import MechanismError, UnknownNameError
from ..model.loads import Bushing, Force, JointForce, JointSpring, KnifeEdge, Rolling, SpeedRow, Spring, Strain, identifier

if TYPE_CHECKING:
    from .trace import Tracer


class Applied:
    """What the loads of a mechanism do: `wrenches` on bodies, `forces` along the speeds, their potential `energy`.

    wrenches: {body: (torque about the body's origin, force)}, in the ground's axes. forces: (nv,). energy: scalar, of the
    springs. All are expressions of t, q, v and p.
    """

    def __init__(self, s: Tracer):
        self.s = s
        self.wrenches: dict[str, list[ca.SX]] = {}
        self.forces = ca.SX.zeros(s.layout.nv)
        self.energy = ca.SX(0)
        moving = s.layout.mechanism.moving
        self.coordinates = {n: k for k, n in enumerate(n for j in moving for n in j.coordinate_names)}
        self.speeds = {n: k for k, n in enumerate(n for j in moving for n in j.speed_names)}
        for load in s.layout.mechanism.loads:
            getattr(self, f"_{type(load).__name__.lower()}")(load)

    # ------------------------------------------------------------------------------------------------ loads
    def _jointspring(self, load: JointSpring) -> None:
        q, l = self._coordinate(load.name, load.coordinate)
        k, rest, d = (self.s.value(x) for x in (load.stiffness, load.rest, load.damping))
        self.forces[l] += -k * (q - rest) - d * self.s.v[l]
        self.energy += 0.5 * k * (q - rest) ** 2

    def _strain(self, load: Strain) -> None:
        K, lag = [[self.s.value(x) for x in row] for row in load.K], self.s.value(load.lag)
        found = [self._coordinate(load.name, name) for name in load.coordinates]
        for (q, l), row in zip(found, K):
            pull = sum((k * x for k, (x, _) in zip(row, found)), ca.SX(0))
            self.forces[l] += -pull - lag * sum((k * self.s.v[m] for k, (_, m) in zip(row, found)), ca.SX(0))
            self.energy += 0.5 * q * pull

    def _spring(self, load: Spring) -> None:
        k, length, d = (self.s.value(x) for x in (load.stiffness, load.length, load.damping))
        (p, u), (o, w) = self._point(load.end), self._point(load.start)
        gap, opening = p - o, u - w
        distance = ca.sqrt(ca.sumsqr(gap))
        pull = (k * (distance - length) + d * ca.dot(gap, opening) / distance) / distance
        self._push(load.end, -pull * gap)
        self._push(load.start, pull * gap)
        self.energy += 0.5 * k * (distance - length) ** 2

    def _bushing(self, load: Bushing) -> None:
        k, d = ([self.s.value(x) for x in values] for values in (load.stiffness, load.damping))
        A, B = self._frame(load.start), self._frame(load.end)
        R, gap = A[:, :3].T @ B[:, :3], A[:, :3].T @ (B[:, 3] - A[:, 3])
        VA, VB = self.s.frame_velocity(load.start, "world"), self.s.frame_velocity(load.end, "world")
        spin = A[:, :3].T @ (VB[:3] - VA[:3])
        slide = A[:, :3].T @ (VB[3:] - VA[3:] - ca.cross(VA[:3], B[:, 3] - A[:, 3]))
        turn = 0.5 * ca.vertcat(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])
        torque = ca.vertcat(*(-k[i] * turn[i] - d[i] * spin[i] for i in range(3)))
        force = ca.vertcat(*(-k[3 + i] * gap[i] - d[3 + i] * slide[i] for i in range(3)))
        torque, force = A[:, :3] @ torque, A[:, :3] @ force
        self._push(load.end, force, torque)
        self._push(load.start, -force, -torque - ca.cross(B[:, 3] - A[:, 3], force))
        self.energy += 0.5 * sum(k[3 + i] * gap[i] ** 2 for i in range(3))
        half = [k[i] * turn[i] ** 2 for i in range(3)]
        self.energy += 0.5 * sum(half)

    def _force(self, load: Force) -> None:
        torque, force = (ca.vertcat(*(self.text(load.name, x) for x in part)) for part in (load.torque, load.force))
        if load.axes == "body":
            R = self._frame(load.frame)[:, :3]
            torque, force = R @ torque, R @ force
        self._push(load.frame, force, torque)

    def _jointforce(self, load: JointForce) -> None:
        if load.coordinate not in self.speeds:
            raise UnknownNameError("speed", load.coordinate, self.speeds, f"load {load.name!r}")
        self.forces[self.speeds[load.coordinate]] += self.text(load.name, load.force)

    def generalised(self) -> ca.SX:
        """All loads as generalised forces along the speeds, (nv,)."""
        Q = self.forces
        for body, (t, f) in self.wrenches.items():
            J = self.s.jacobian(body, "world")
            Q = Q + J[:3, :].T @ t + J[3:, :].T @ f
        return Q

    # ------------------------------------------------------------------------------------------------ rows
    def rows(self) -> tuple[ca.SX, list[tuple[str, str]]]:
        """The speed rows A v + B as one column, each zero, and their (name, direction)."""
        found: list[ca.SX] = []
        names: list[tuple[str, str]] = []
        for row in self.s.layout.mechanism.nonholonomic:
            if isinstance(row, KnifeEdge):
                V = self.s.frame_velocity(row.frame, "body")
                found.append(sum(row.direction[k] * V[3 + k] for k in range(3)))
                names.append((row.name, "sideways velocity"))
            elif isinstance(row, Rolling):
                found.extend(ca.vertsplit(self._contact(row)))
                names.extend((row.name, f"contact velocity {axis}") for axis in "xyz")
            else:
                found.append(self._speed_row(row))
                names.append((row.name, row.expression))
        return ca.vertcat(*found) if found else ca.SX.zeros(0), names

    def _contact(self, row: Rolling) -> ca.SX:
        """The velocity of the disc's point that is nearest to the plane, in the ground's axes."""
        X, V = self._frame(row.frame), self.s.frame_velocity(row.frame, "world")
        axis, n = X[:, :3] @ ca.DM(row.axis), ca.DM(row.normal)
        up = n - ca.dot(n, axis) * axis  # the steepest direction in the disc's plane
        up = up / ca.sqrt(ca.sumsqr(up))
        return V[3:] + ca.cross(V[:3], -self.s.value(row.radius) * up)

    def _speed_row(self, row: SpeedRow) -> ca.SX:
        f = ca.SX(self.text(row.name, row.expression))
        if not ca.depends_on(f, self.s.v):
            raise MechanismError(f"row {row.name!r}: {row.expression!r} has no speed in it; a row is A(q, t) v + B(q, t), v as v_<name>")
        if not ca.which_depends(f, self.s.v, 2, False)[0]:
            return f
        raise MechanismError(f"row {row.name!r}: {row.expression!r} is not linear in the speeds; a row is A(q, t) v + B(q, t)")

    # ------------------------------------------------------------------------------------------------ helpers
    def text(self, where: str, value: Any) -> Any:
        """A number, or a text of t, parameters, coordinates and speeds, as an expression."""
        if isinstance(value, (int, float)):
            return float(value)
        from ..model.expressions import evaluate, parse

        s = self.s
        table: dict[str, Any] = {name: s.p[k] for k, name in enumerate(s.layout.mechanism.parameters)}
        table["t"] = s.t
        table |= {f"q_{identifier(n)}": s.q[k] for n, k in self.coordinates.items()}
        table |= {f"v_{identifier(n)}": s.v[k] for n, k in self.speeds.items()}
        try:
            return evaluate(parse(value, list(table)), table)
        except ValueError as error:
            raise MechanismError(f"{where!r}: {error}") from None

    def _coordinate(self, where: str, name: str) -> tuple[ca.SX, int]:
        if name not in self.coordinates or name not in self.speeds:
            known = [n for n in self.coordinates if n in self.speeds]
            raise UnknownNameError("coordinate", name, known, f"load {where!r}")
        return self.s.q[self.coordinates[name]], self.speeds[name]

    def _frame(self, frame: str) -> ca.SX:
        return self.s.pose(frame)

    def _point(self, frame: str) -> tuple[ca.SX, ca.SX]:
        """Position and velocity of a frame's origin in the ground."""
        return self._frame(frame)[:, 3], self.s.frame_velocity(frame, "world")[3:]

    def _push(self, frame: str, force: ca.SX, torque: Any = 0.0) -> None:
        """A force at a frame's origin, and a torque, both in the ground's axes."""
        body = self.s.layout.mechanism.frame(frame).body
        arm = self._frame(frame)[:, 3] - self._frame(body)[:, 3]
        total = self.wrenches.setdefault(body, [ca.SX.zeros(3), ca.SX.zeros(3)])
        total[0] += torque + ca.cross(arm, force)
        total[1] += force
