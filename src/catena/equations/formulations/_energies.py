"""Energies for lagrange and hamilton: T and V of a mechanism in the coordinates chosen, and their
derivatives along the speeds.

    q' = N(q) v            N is the identity but for quaternions, whose three speeds w are
                           quasi-velocities
    dF = N' dF/dq          the change of F along the speeds
    w x h                  what the rate of a momentum h along turning axes adds (Poincare 1901; the
                           Lie bracket of N's columns)

Coordinates "joint" are the mechanism's own. Coordinates "absolute", for planar linkages, measure
every turn from the ground about the normal of the plane, from the place where all joints are at
zero: theta = A q with a constant A of 0, 1 and -1 ([Baysec1996] figure 3). Slides stay what they
are. Forces follow by virtual work: Q = A^-T tau, which is why [Baysec1996] writes tau_1 - tau_2 on
link 1. V is that of gravity; springs act among the forces, as eq. 8 allows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...compiler import Tracer, vector
from ...errors import FormulationError, unknown
from ...kernels import BALL, kinematics, layout
from ...model import Mechanism
from ..ground_angles import ground_angles
from ..statement import Statement
from ._beams import beams

MARK = " (absolute)"
COORDINATES = ("joint", "absolute")


@dataclass(frozen=True)
class Energies:
    """Kinetic energy T(q, v, p) and potential energy V(q, p) as expressions of the symbols held
    here.

    tracer: its t, tau (nv) and p are time, forces along the mechanism's own speeds, free
    parameters. q (nq), v (nv): the coordinates chosen and their speeds. chart (nv, nv): the matrix
    A of the module's documentation: chosen speeds = A times own speeds, and likewise for the
    coordinates. rate: q' = N v. force (nv): Q = A^-T (tau + loads). rows (m,): the expressions,
    linear in the speeds, that loops and nonholonomic constraints keep at zero.
    """

    tracer: Tracer
    chart: np.ndarray
    q: ca.SX
    v: ca.SX
    T: ca.SX
    V: ca.SX
    rate: ca.SX
    force: ca.SX
    rows: ca.SX

    @property
    def scales(self) -> tuple[np.ndarray, list[float]]:
        """Return C of the speeds and N of the rows, the scales relative to which rank is decided
        (`kernels.rank`). The chosen speeds never mix rotations and translations.
        """
        return self.tracer.con.column, self.tracer.row_scales()

    def along(self, gradient: ca.SX) -> ca.SX:
        """Return N' dF/dq (nv), the change of a function along the speeds, from its gradient
        (nq).
        """
        return ca.jtimes(self.rate, self.v, gradient, True)

    def bracket(self, h: ca.SX) -> ca.SX:
        """Return (nv): w x h on the three rows of every ball, zero elsewhere."""
        turned = ca.SX.zeros(h.numel())
        for node in self.tracer.layout.nodes:
            if node.motion == BALL:
                rows = slice(node.vi, node.vi + 3)
                turned[rows] = ca.cross(self.v[rows], h[rows])
        return turned

    def own(self, q: ca.SX, v: ca.SX) -> list[ca.SX]:
        """Return the mechanism's own coordinates and speeds from the chosen ones."""
        return [mapped(np.linalg.inv(self.chart), x) for x in (q, v)]

    def chosen(self, q: ca.SX, v: ca.SX) -> list[ca.SX]:
        """Return the chosen coordinates and speeds from the mechanism's own."""
        return [mapped(self.chart, x) for x in (q, v)]

    def in_own(self, found: ca.SX) -> ca.SX:
        """Return an expression of the chosen coordinates and speeds as one of the mechanism's
        own.
        """
        s = self.tracer
        return ca.Function("found", [s.t, self.q, self.v, s.tau, s.p], [ca.cse(found)])(
            s.t, *self.chosen(s.q, s.v), s.tau, s.p
        )

    def accelerations_in_own(self, a: ca.SX) -> ca.SX:
        """Return accelerations of the mechanism's own speeds, as expressions of its own symbols,
        from accelerations of the chosen speeds.
        """
        return mapped(np.linalg.inv(self.chart), self.in_own(a))

    # --- for people
    def statement(self, left: ca.SX, right: ca.SX, **more: ca.SX) -> Statement:
        """Return the printed equations left = right; before them q' = N v where a speed is not the
        rate of a coordinate, after them the constraint rows.
        """
        q_rate = ca.SX.sym("q_rate", self.q.numel())
        s = self.tracer
        m = self.tracer.layout.mechanism
        turned = [k for k, name in enumerate(m.coordinate_names) if name not in set(m.speed_names)]
        left, right = (
            ca.vertcat(*part)
            for part in (
                (*([q_rate[turned]] if turned else []), left, self.rows),
                (*([self.rate[turned]] if turned else []), right, ca.SX.zeros(self.rows.numel())),
            )
        )
        symbols = {
            "t": s.t,
            "q": self.q,
            "v": self.v,
            "tau": s.tau,
            "p": s.p,
            "q_rate": q_rate,
            **more,
        }
        return Statement.of(symbols, left, right, self.note)

    def coordinate_names(self) -> tuple[str, ...]:
        """Return the names of the chosen coordinates: the joints' names, marked where the angle is
        an absolute one.
        """
        return self._marked(self.tracer.layout.mechanism.coordinate_names)

    def speed_names(self, form: str = "{}") -> tuple[str, ...]:
        """Return the names of the chosen speeds, each put into a form such as "momentum of {}"."""
        return self._marked(form.format(n) for n in self.tracer.layout.mechanism.speed_names)

    @property
    def note(self) -> str:
        """A remark for readers on these coordinates."""
        from_ground = [n.removesuffix(MARK) for n in self.coordinate_names() if n.endswith(MARK)]
        return (
            f"{', '.join(from_ground)}: measured from the ground, not from the link before"
            if from_ground
            else ""
        )

    def _marked(self, names: Iterable[str]) -> tuple[str, ...]:
        if (np.eye(len(self.chart)) == self.chart).all():
            return tuple(names)
        return tuple(
            f"{n}{MARK}" if np.abs(row).sum() > 1 else n for n, row in zip(names, self.chart)
        )


def energies(mechanism: Mechanism, coordinates: str = "joint") -> Energies:
    """Return T and V as traced expressions in the requested coordinates, with the forces of loads
    and the rows of loops.
    """
    if coordinates not in COORDINATES:
        raise FormulationError(unknown("coordinate system", coordinates, COORDINATES))
    s = Tracer(layout(mechanism))
    T, V = kinematics.energy(s.tree, s.Q, s.V, s.work())
    for beam in beams(s):
        w = s.frame_velocity(beam.body, "body")
        X = s.pose(beam.body)
        more = beam.energies(w[3:], w[:3], s.v[beam.own], X[:, :3], X[:, 3], vector(s.tree.gravity))
        T, V = T + more[0], V + more[1]
    rows = s.constraint_rows()[1] if mechanism.constrained else ca.SX(0, 1)
    found = [ca.SX(T), ca.SX(V), s.coordinate_rate(), s.tau + loads(s), rows]
    q = s.q
    v = s.v
    chart = np.eye(s.layout.nv)
    if coordinates == "absolute":
        chart = ground_angles(s.layout)
        q = ca.SX.sym("theta", s.layout.nq)
        v = ca.SX.sym("theta_dot", s.layout.nv)
        own = [mapped(np.linalg.inv(chart), x) for x in (q, v)]
        found = ca.substitute(found, [s.q, s.v], own)
        found[2] = v
    T, V, rate, force, rows = ca.cse(found)
    return Energies(s, chart, q, v, T, V, rate, mapped(np.linalg.inv(chart).T, force), rows)


def loads(s: Tracer) -> ca.SX:
    """Return Q (nv) of springs, dampers and forces at points: the derivative of their power with
    respect to the speeds, [Baysec1996] eq. 8. A wrench (t, f) at a body's origin has the power t.w
    + f.u; its generalised force along a speed is the derivative of that power.
    """
    Q = s.applied.forces
    for body, (t, f) in s.applied.wrenches.items():
        if s.layout.seat(body).node >= 0:
            Q = Q + ca.jtimes(s.frame_velocity(body, "world"), s.v, ca.vertcat(t, f), True)
    return Q


def mapped(A: np.ndarray, x: ca.SX) -> ca.SX:
    """Return A x for a matrix of whole numbers. Quaternions are returned unchanged, since they
    occur with A = 1 only.
    """
    return x if x.numel() != len(A) else ca.densify(ca.sparsify(ca.DM(np.round(A))) @ x)
