"""Position rows as expressions: the residuals of the constraints of a mechanism, and where they
push bodies.

    g(q, P, t) = 0,  P the positions of frames;  one unit of its multiplier pushes with dg/dP at
    each
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import casadi as ca

from ..errors import MechanismError, UnknownNameError
from ..model import Mimic, Scalar, Vector, evaluate, names_in, parse, place_names, travel
from ..model.loads import Holonomic, Nonholonomic, identifier
from ..spatial import select
from .trace_kinematics import Kinematics


class Placed:
    """The rows g of a mechanism's constraints with symbols of one `Tracer`. It implements the
    interface `Places`, by which they are evaluated.
    """

    def __init__(self, s: Kinematics):
        self.s = s
        self.mechanism = s.layout.mechanism
        self.coordinates = {n: k for k, n in enumerate(self.mechanism.coordinate_names)}
        self.places: dict[str, ca.SX] = {}
        self.own = [
            ca.vertcat(*(ca.SX(g) for g in row.residual(self)))
            for row in self.mechanism.constraints
        ]

    @cached_property
    def rows(self) -> ca.SX:
        """g of all constraints (m,), with the positions of frames as expressions of q."""
        return self._placed(ca.vertcat(*self.own)) if self.own else ca.SX.zeros(0)

    @cached_property
    def rates(self) -> ca.SX:
        """Return the rates g' = A v + B (m,) of the residuals of all constraints."""
        return ca.jtimes(self.rows, self.s.q, self.s.coordinate_rate()) + ca.jacobian(
            self.rows, self.s.t
        )

    def pushes(self, row: int) -> dict[str, tuple[ca.SX, ca.SX]]:
        """Return {body: (torque about the ground's origin, force)} of one unit of a constraint's
        rows, each (m, 3), in the ground's axes.
        """
        found: dict[str, tuple[ca.SX, ca.SX]] = {}
        for frame, P in self.places.items():
            f = ca.jacobian(self.own[row], P)
            if f.nnz():
                f = ca.densify(self._placed(f))
                p = self.s.pose(frame)[:, 3]
                t = ca.vertcat(*(ca.cross(p, f[k, :].T).T for k in range(f.shape[0])))
                body = self.mechanism.frame(frame).body
                t0, f0 = found.get(body, (ca.SX.zeros(*t.shape), ca.SX.zeros(*f.shape)))
                found[body] = (t0 + t, f0 + f)
        return found

    def _placed(self, x: ca.SX) -> ca.SX:
        names = list(self.places)
        return (
            ca.substitute(
                [x], [self.places[n] for n in names], [self.s.pose(n)[:, 3] for n in names]
            )[0]
            if names
            else x
        )

    # --- the places
    def value(self, x: Scalar) -> Scalar:
        """Return a number, or an expression of parameters as one of their symbols."""
        return self.s.value(x)

    def text(self, where: str, x: str | float) -> Scalar:
        """Return the expression of a string of t, parameters, coordinates and positions of frames,
        or a number. where: the name of the row, for messages.
        """
        if isinstance(x, (int, float)):
            return float(x)
        known = place_names(self.mechanism)
        # in one order, whatever the process: tapes are kept on disk, and `pushes` has this order
        words = sorted(word for word in names_in(x) if word in known)
        used = {word: self._place(*known[word]) for word in words}
        return self._evaluated(where, x, {**self._symbols, **used})

    def profile(self, where: str, x: str, angle: Scalar) -> Scalar:
        """Return the expression of a string of `angle` and parameters. where: the name of the row,
        for messages.
        """
        return self._evaluated(where, x, {**self._parameters, "angle": angle})

    def _evaluated(self, where: str, x: str, table: dict[str, Any]) -> Scalar:
        try:
            return evaluate(parse(x, list(table)), table)
        except ValueError as error:
            raise MechanismError(f"{where!r}: {error}") from None

    @cached_property
    def _parameters(self) -> dict[str, Any]:
        return {name: self.s.p[k] for k, name in enumerate(self.mechanism.parameters)}

    @cached_property
    def _symbols(self) -> dict[str, Any]:
        return {**self._parameters, "t": self.s.t} | {
            f"q_{identifier(n)}": self.s.q[k] for n, k in self.coordinates.items()
        }

    def _place(self, frame: str, axis: int) -> ca.SX:
        return self.places.setdefault(frame, ca.SX.sym(f"p_{frame}", 3))[axis]

    def coordinate(self, name: str) -> Scalar:
        """Return a coordinate, also of a joint that follows another."""
        if name in self.mechanism.following:
            return self._moved(name)
        if name not in self.coordinates:
            raise UnknownNameError(
                "coordinate",
                name,
                self.coordinates,
                f"constraints of mechanism {self.mechanism.name!r}",
            )
        return self.s.q[self.coordinates[name]]

    def travel(self, body: str, carrier: str, sort: str) -> tuple[Scalar, Vector]:
        """Return the angle or displacement of a body in its carrier, and its axis."""
        found = travel(self.mechanism, body, carrier, sort)
        total = ca.SX(0)
        for sign, j in found.terms:
            total = total + sign * self._moved(j.name)
        return total, found.axis

    def _moved(self, joint: str) -> Scalar:
        """Return the coordinate of a joint with one degree of freedom, also of one that mimics
        another.
        """
        mimic = self.mechanism.joint(joint).mimic
        if mimic is None:
            return self.coordinate(joint)
        return followed(mimic, self._moved(mimic.joint), self.value)[0]


def followed(mimic: Mimic, q: Scalar, value: Callable[[Scalar], Scalar]) -> tuple[Scalar, Scalar]:
    """Return the coordinate of a joint that follows another one with the coordinate q, and its
    derivative with respect to q.
    """
    if mimic.function is not None:
        return mimic.function(q, select)[:2]
    ratio = value(mimic.multiplier)
    return ratio * q + value(mimic.offset), ratio


def labels(rows: Iterable[Holonomic | Nonholonomic]) -> list[tuple[str, str]]:
    """Return (name, direction) of every row."""
    return [(row.name, label) for row in rows for label in row.labels]
