"""Tracing: a kernel called with CasADi symbols becomes the straight-line tape of one mechanism.

What is constant folds away, what occurs twice is kept once (`casadi.cse`). A `Tracer` holds the symbols of one mechanism;
each of its methods is one quantity as an expression of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..kernels import dynamics, kinematics
from ..kernels.constrained_dynamics import constrained_dynamics, constrained_dynamics_dense, meet
from ..kernels.constraint_rows import Constraints, active_rows, constraints, evaluate_rows, row_jacobian
from ..kernels.coriolis import coriolis_matrix
from ..kernels.lifting import Lift
from ..kernels.motion import BALL, speeds
from ..kernels.rank import speed_row_scales
from ..kernels.reactions import body_table, joint_wrenches
from ..kernels.tree import SNAP, Layout
from ..kernels.workspace import Work
from ..spatial import add, cross, rotate, transpose, unrotate
from .beam_sections import Sections
from .load_expressions import Applied

DENSE = 12  # up to so many speeds, factoring the mass matrix beats the articulated pass in a tape (measured: UR5, Panda)

Wrenches = Sequence[tuple[str, str]]  # (frame, "body" or "world") pairs: where external wrenches act, in whose axes


def elements(x: Any) -> list:
    """The entries of a CasADi vector; zeros of its structure become numbers, which NumPy can keep in arrays."""
    x = ca.densify(x)
    return [x[k] for k in range(x.numel())]


def matrix(rows: Any) -> ca.SX:
    """A nested sequence of scalars as a dense CasADi matrix."""
    return ca.densify(ca.vertcat(*(ca.horzcat(*row) for row in rows)))


def vector(values: Any) -> ca.SX:
    """A sequence of scalars as a dense CasADi column."""
    return ca.densify(ca.vertcat(*values)) if len(values) else ca.SX.zeros(0)


class Tracer:
    """The symbols q, v, a, tau, p of a mechanism (and w for external wrenches), and its quantities.

    Q, V, A: those of all nodes, `zeros` their accelerations with a = 0. They have more entries than q, v, a (OWN) where nodes
    follow others; what kernels find along them is brought back by `lift`.
    """

    def __init__(self, layout: Layout, snap: float = SNAP, wrenches: Wrenches = ()):
        self.layout, self.wrenches = layout, tuple(wrenches)
        nq, nv, names = layout.nq, layout.nv, list(layout.mechanism.parameters)
        self.q, self.v, self.a = ca.SX.sym("q", nq), ca.SX.sym("v", nv), ca.SX.sym("a", nv)
        self.tau, self.p = ca.SX.sym("tau", nv), ca.SX.sym("p", len(names))
        self.w, self.t = ca.SX.sym("w", 6 * len(self.wrenches)), ca.SX.sym("t")
        self._table = {name: self.p[k] for k, name in enumerate(names)}
        self.tree = layout.tree(self.value, snap)
        self.OWN, self.TAU = tuple(elements(x) for x in (self.q, self.v, self.a)), elements(self.tau)
        q, v, a = self.OWN
        self.lift, self.still = Lift(layout, self.value, q), [0.0] * nv
        self.Q, self.V, self.A, self.zeros = self.lift.q, self.lift.v(v), self.lift.a(v, a), self.lift.a(v, self.still)
        self.con = constraints(layout, self.value, active_rows(layout))

    @cached_property
    def flexible(self) -> list[Sections]:
        """The flexible bodies by modes, whose mass is on no node."""
        return [Sections(self, modal) for modal in self.layout.modal]

    def value(self, x: Any) -> Any:
        """A scalar of the mechanism: a number as it is, an expression of parameters as symbols."""
        if isinstance(x, float):
            return x
        from ..model.expressions import evaluate

        return evaluate(x, self._table)

    def work(self) -> Work:
        """Scratch memory for symbols."""
        return Work.empty(len(self.layout.nodes), object)

    def blank(self, *shape: int) -> np.ndarray:
        """Zeros that can become symbols."""
        return np.full(shape, 0.0, dtype=object)

    @cached_property
    def posed(self) -> Work:
        """The poses of all nodes."""
        x = self.work()
        kinematics.poses(self.tree, self.Q, x)
        return x

    def seat(self, frame: str) -> tuple[int, Any, Any]:
        """Node, rotation R_NF and origin p_NF of a frame."""
        seat = self.layout.seat(frame)
        R = tuple(tuple(self.value(x) for x in row) for row in seat.pose.rotation)
        return seat.node, R, tuple(self.value(x) for x in seat.pose.position)

    def wrench(self, k: int) -> tuple[int, Any, Any]:
        """The k-th external wrench as (node, torque about the node's origin, force), in the node's axes."""
        frame, axes = self.wrenches[k]
        node, R, p = self.seat(frame)
        t, f = elements(self.w[6 * k : 6 * k + 3]), elements(self.w[6 * k + 3 : 6 * k + 6])
        if axes == "world":
            N = self.posed.R[node] if node >= 0 else np.eye(3)
            t, f = unrotate(N, t), unrotate(N, f)
        else:
            t, f = rotate(R, t), rotate(R, f)
        return node, add(t, cross(p, f)), f

    @cached_property
    def applied(self) -> Applied:
        """The mechanism's own loads."""
        return Applied(self)

    @cached_property
    def body_loads(self) -> dict[str, tuple[Any, Any]]:
        """The loads' wrench on each body that has one, as torque about its node's origin and force, in the node's axes."""
        found = {}
        for body, (t, f) in self.applied.wrenches.items():
            node, _, p = self.seat(body)
            N = self.posed.R[node] if node >= 0 else np.eye(3)
            t, f = unrotate(N, elements(t)), unrotate(N, elements(f))
            found[body] = (add(t, cross(p, f)), f)
        return found

    @cached_property
    def pushed(self) -> list:
        """The joint forces that act: tau and what the loads add along the speeds."""
        return [x + y for x, y in zip(self.TAU, elements(self.applied.forces))] if self.layout.mechanism.loads else self.TAU

    @cached_property
    def loads(self) -> np.ndarray:
        """(n, 6): all external wrenches, by node, the loads' included."""
        total = self.blank(len(self.layout.nodes), 6)
        for body, (t, f) in self.body_loads.items():
            node = self.layout.seats[body].node
            if node >= 0:
                total[node] += np.array([*t, *f], dtype=object)
        for k in range(len(self.wrenches)):
            node, t, f = self.wrench(k)
            if node >= 0:
                total[node, :3] += np.array(t, dtype=object)
                total[node, 3:] += np.array(f, dtype=object)
        return total

    # ------------------------------------------------------------------------------------------------ dynamics
    def inverse_dynamics(self, a: Any = None, v: Any = None) -> ca.SX:
        """tau (nv,) for the acceleration `a` (by default the symbols) at the speeds `v`, both the mechanism's own."""
        tau = self._forces(self.OWN[1] if v is None else v, self.OWN[2] if a is None else a)
        return tau - self.applied.forces if self.layout.mechanism.loads else tau

    def _forces(self, v: Any, a: Any) -> ca.SX:
        """tau (nv,) of a motion, without the loads that act along speeds."""
        tau, nodes = self.blank(len(self.V)), (self.lift.v(v), self.lift.a(v, a))
        wrenches = self.loads.copy() if self.flexible else self.loads
        taken = [sections.forces(*nodes) for sections in self.flexible]
        for sections, ((t, f), _) in zip(self.flexible, taken):
            if (node := self.layout.seats[sections.body].node) >= 0:
                wrenches[node] += np.array([*t, *f], dtype=object)
        dynamics.inverse_dynamics(self.tree, self.Q, *nodes, wrenches, self.work(), tau)
        for sections, (_, along) in zip(self.flexible, taken):
            tau[sections.own] += np.array(elements(along), dtype=object)
        return vector(self.lift.back(tau))

    def bias(self) -> ca.SX:
        """tau of a = 0: Coriolis, centrifugal, gravity (and external wrenches, with their sign)."""
        return self.inverse_dynamics(a=self.still)

    def gravity(self) -> ca.SX:
        """tau of a = v = 0; dampers among the loads stand still too."""
        tau = self.inverse_dynamics(a=self.still, v=self.still)
        return ca.substitute(tau, self.v, ca.SX.zeros(self.layout.nv)) if self.layout.mechanism.loads else tau

    def mass_matrix(self) -> ca.SX:
        """M (nv, nv)."""
        return matrix(self._inertia())

    def _inertia(self) -> np.ndarray:
        """M (nv, nv)."""
        M = self.lift.between(self._inertia_of_nodes())
        for sections in self.flexible:
            M = M + np.array([elements(row) for row in ca.vertsplit(ca.densify(sections.inertia()))], dtype=object)
        return M

    def _inertia_of_nodes(self) -> np.ndarray:
        M = self.blank(len(self.V), len(self.V))
        dynamics.mass_matrix(self.tree, self.Q, self.work(), M)
        return M

    def forward_dynamics(self) -> ca.SX:
        """a (nv,) for the forces tau, under the loops' rows where there are any."""
        nv = self.layout.nv
        if len(self.con.kind) or self.layout.mechanism.nonholonomic:
            return self.constrained()[0]
        if self.lift:
            return self._free()
        a, given = self.blank(nv), (self.tree, self.Q, self.V, self.pushed, self.loads, self.zeros, self.work())
        if self.layout.coupled or nv <= DENSE:
            dynamics.forward_dynamics_dense(*given, a, self.blank(nv, nv))
        else:
            dynamics.forward_dynamics(*given, a)
        return vector(a)

    def constrained(self, gamma: Any = None) -> tuple[ca.SX, ca.SX]:
        """a (nv,) and the multipliers (m,) for the forces tau; `gamma` is added to the rows' right side."""
        if self.layout.mechanism.nonholonomic or self.lift:
            return self._constrained_by_rows(gamma)
        m, nv = len(self.con.kind), self.layout.nv
        a, lam, extra = self.blank(nv), self.blank(m), self.blank(m)
        if gamma is not None:
            extra[:] = gamma
        shapes = ((m, nv), (m, nv), (m, m), (m, m), (2, m))
        scratch = (self.blank(m, 12), extra, self.blank(m), self.blank(m), *(self.blank(*shape) for shape in shapes))
        given = (self.tree, self.con, self.Q, self.V, self.pushed, self.loads, self.zeros, self.work(), *scratch, a, lam)
        if self.layout.coupled or nv <= DENSE:
            constrained_dynamics_dense(*given, self.blank(nv, nv), self.blank(m, nv))
        else:
            constrained_dynamics(*given)
        return vector(a), vector(lam)

    def _constrained_by_rows(self, gamma: Any = None) -> tuple[ca.SX, ca.SX]:
        """The same with rows that are only known as expressions: free motion, then the smallest change to the rows'."""
        _, _, right, A = self.constraint_rows()
        right = right if gamma is None else right + vector(gamma)
        free = self._free()
        change, lam = self.smallest_change(A, right - A @ free)
        return free + change, lam

    def _free(self) -> ca.SX:
        """a (nv,) of the forces tau without rows, by the mass matrix."""
        bias = self._forces(self.OWN[1], self.still)
        free = np.array([x - y for x, y in zip(self.pushed, elements(bias))], dtype=object)
        dynamics.solve(self._factor, free)
        return vector(free)

    @cached_property
    def _factor(self) -> np.ndarray:
        """The factor of the mass matrix."""
        M = self._inertia()
        dynamics.factor(M)
        return M

    def smallest_change(self, A: ca.SX, r: ca.SX) -> tuple[ca.SX, ca.SX]:
        """M^-1 A' lam with A M^-1 A' lam = r: of all speeds with A v = r those of least kinetic energy; and lam."""
        return smallest_change(self._factor, A, r, self.con.column, self.row_scales())

    def row_scales(self) -> list[float]:
        """N of all rows, loops first, where rank is decided (`kernels.rank`); 0 for a text, measured by its entries."""
        return [*self.con.size, *speed_row_scales(self.layout)]

    def multipliers(self) -> ca.SX:
        """The rows' multipliers (m,) for the forces tau."""
        return self.constrained()[1]

    def constraint_rows(self) -> tuple[ca.SX, ...]:
        """Residuals, their rates, gamma (m,) each, and A (m, nv): A v = rate, A a = gamma."""
        m = len(self.con.kind)
        error, rate, gamma, A = self.rows_of(self.con)
        if not self.layout.mechanism.nonholonomic:
            return error, rate, gamma, A
        held, _ = self.applied.rows()
        drift = ca.jtimes(held, self.q, self.coordinate_rate()) + ca.jacobian(held, self.t)
        loops = A if m else ca.SX.zeros(0, self.layout.nv)
        return (
            ca.densify(ca.vertcat(error, ca.SX.zeros(held.numel()))),
            ca.densify(ca.vertcat(rate, held)),
            ca.densify(ca.vertcat(gamma, -drift)),
            ca.densify(ca.vertcat(loops, ca.jacobian(held, self.v))),
        )

    def rows_of(self, con: Constraints) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        """Residuals, their rates, gamma (m,) each, and A (m, nv) of some loops' rows."""
        m = len(con.kind)
        W, x, A = self.blank(m, 12), self.work(), self.blank(m, len(self.V))
        gamma, error, rate = (self.blank(m) for _ in range(3))
        evaluate_rows(self.tree, con, self.Q, self.V, self.zeros, x, W, gamma, error, rate)
        row_jacobian(self.tree, con, W, x, A)
        return vector(error), vector(rate), vector(gamma), matrix([self.lift.back(row) for row in A])

    def row_wrenches(self) -> ca.SX:
        """(m, 12): each row's wrench on its two nodes, about the nodes' origins in their axes."""
        m = len(self.con.kind)
        W = self.blank(m, 12)
        evaluate_rows(self.tree, self.con, self.Q, self.V, self.zeros, self.work(), W, *(self.blank(m) for _ in range(3)))
        return matrix(W)

    def coriolis_matrix(self) -> ca.SX:
        """C (nv, nv)."""
        n, nv = len(self.layout.nodes), len(self.V)
        rows = int(sum(speeds(k) for k in self.tree.motion))
        S, dS, I, B, X, F, C = (
            self.blank(*shape) for shape in ((rows, 6), (rows, 6), (n, 6, 6), (n, 6, 6), (6, 6), (3, 6), (nv, nv))
        )
        coriolis_matrix(self.tree, self.Q, self.V, self.work(), S, dS, I, B, X, F, C)
        if not self.lift:
            return matrix(C)
        own = matrix(self.lift.between(C)) + matrix(self.lift.beside(self._inertia_of_nodes(), self.OWN[1]))
        return ca.densify(sum((sections.coriolis() for sections in self.flexible), own))

    def reactions(self, held: Mapping[str, tuple[Any, Any]] | None = None) -> ca.SX:
        """(joints, 6): the wrench in every joint of `mechanism.ordered`, on the child, in the child body's axes.

        held: what else acts on bodies, torque about the node's origin and force in the node's axes, such as loops do.
        """
        table = body_table(self.layout, self.value)
        W, outside = self.blank(len(table.node), 6), self.blank(len(table.node), 6)
        index = {j.child: k for k, j in enumerate(self.layout.mechanism.ordered)}
        for k, (frame, _) in enumerate(self.wrenches):
            body = self.layout.mechanism.frame(frame).body
            if body in index:
                _, t, f = self.wrench(k)
                outside[index[body], :3] += np.array(t, dtype=object)
                outside[index[body], 3:] += np.array(f, dtype=object)
        for body, (t, f) in (*self.body_loads.items(), *(held or {}).items()):
            if body in index:
                outside[index[body]] += np.array([*t, *f], dtype=object)
        for sections in self.flexible:
            (t, f), _ = sections.forces(self.V, self.A)
            outside[index[sections.body]] += np.array([*t, *f], dtype=object)
        joint_wrenches(self.tree, table, self.Q, self.V, self.A, outside, self.work(), W)
        return matrix(W)

    # ------------------------------------------------------------------------------------------------ kinematics
    def energy(self) -> ca.SX:
        """Kinetic and potential energy (2,), that of springs included."""
        kinetic, potential = kinematics.energy(self.tree, self.Q, self.V, self.work())
        for sections in self.flexible:
            T, V = sections.energy()
            kinetic, potential = kinetic + T, potential + V
        return vector((kinetic, potential + self.applied.energy if self.layout.mechanism.loads else potential))

    def momentum(self) -> ca.SX:
        """(10,): mass, centre of mass, its velocity, angular momentum about it, ground's axes."""
        if self.flexible:
            return self._momentum_with_sections()
        mass, com, velocity, L = kinematics.momentum(self.tree, self.Q, self.V, self.work())
        return vector((mass, *com, *velocity, *L))

    def _momentum_with_sections(self) -> ca.SX:
        """The same, flexible bodies added about the ground's origin."""
        m, c, P, L = ca.SX(0), ca.SX.zeros(3), ca.SX.zeros(3), ca.SX.zeros(3)
        if any(not ca.SX(x).is_zero() for x in self.tree.mass):
            m, com, velocity, about = kinematics.momentum(self.tree, self.Q, self.V, self.work())
            c, P = m * vector(com), m * vector(velocity)
            L = vector(about) + ca.cross(vector(com), P)
        for sections in self.flexible:
            m, c, P, L = (x + y for x, y in zip((m, c, P, L), sections.momentum()))
        return ca.densify(ca.vertcat(m, c / m, P / m, L - ca.cross(c / m, P)))

    def pose(self, frame: str) -> ca.SX:
        """(3, 4): rotation and origin of a frame in the ground."""
        R, p = kinematics.frame_pose(*self.seat(frame), self.posed)
        return matrix([[*R[k], p[k]] for k in range(3)])

    def jacobian(self, frame: str, axes: str) -> ca.SX:
        """(6, nv): angular first; axes "world" or "body"."""
        node, R, p = self.seat(frame)
        J = self.blank(6, len(self.V))
        R, p = kinematics.frame_pose(node, R, p, self.posed)
        kinematics.jacobian(self.tree, node, p, self.posed, J)
        full = matrix([self.lift.back(row) for row in J])
        if axes == "body":
            E = matrix(transpose(R))
            full = ca.vertcat(E @ full[:3, :], E @ full[3:, :])
        return ca.densify(full)

    def frame_velocity(self, frame: str, axes: str) -> ca.SX:
        """(6,): angular velocity and velocity of the frame's origin."""
        node, R, p = self.seat(frame)
        x = self.work()
        kinematics.velocities(self.tree, self.Q, self.V, x)
        return self._in_axes(kinematics.frame_velocity(node, R, p, x) if node >= 0 else None, frame, axes)

    def frame_acceleration(self, frame: str, axes: str, a: Any = None) -> ca.SX:
        """(6,): angular acceleration and acceleration of the frame's origin (gravity plays no part)."""
        node, R, p = self.seat(frame)
        x = self.work()
        nodes = self.A if a is None else self.lift.a(self.OWN[1], a)
        kinematics.accelerations(self.tree, self.Q, self.V, nodes, (0.0, 0.0, 0.0), x)
        return self._in_axes(kinematics.frame_acceleration(node, R, p, x) if node >= 0 else None, frame, axes)

    def jacobian_rate(self, frame: str, axes: str) -> ca.SX:
        """Jdot v (6,): the acceleration with a = 0; in body axes less w x u, the rate of the axes."""
        rate = self.frame_acceleration(frame, axes, a=self.still)
        if axes == "world":
            return rate
        velocity = self.frame_velocity(frame, axes)
        return ca.vertcat(rate[:3], rate[3:] - ca.cross(velocity[:3], velocity[3:]))

    def _in_axes(self, pair: Any, frame: str, axes: str) -> ca.SX:
        """A pair of vectors of the frame's own axes, in those asked for."""
        if pair is None:
            return ca.SX.zeros(6)
        if axes == "body":
            return vector((*pair[0], *pair[1]))
        R, _ = kinematics.frame_pose(*self.seat(frame), self.posed)
        return vector((*rotate(R, pair[0]), *rotate(R, pair[1])))

    # ------------------------------------------------------------------------------------------------ rates
    def coordinate_rate(self, v: Any = None) -> ca.SX:
        """qdot = N(q) v (nq,)."""
        v = self.V if v is None else v
        rate = self.blank(self.layout.nq)
        for c in self.layout.coordinates:
            k, l = c.qi, c.vi
            if c.motion == BALL:
                w, x, y, z = self.Q[k : k + 4]
                a, b, d = v[l : l + 3]
                rate[k] = -0.5 * (x * a + y * b + z * d)
                rate[k + 1] = 0.5 * (w * a + y * d - z * b)
                rate[k + 2] = 0.5 * (w * b + z * a - x * d)
                rate[k + 3] = 0.5 * (w * d + x * b - y * a)
            else:
                rate[k] = v[l]
        return vector(rate)

    def _tangent(self, f: ca.SX, *speeds: ca.SX) -> tuple[ca.SX, ...]:
        """df/dq along the speeds (nv columns), then df/d of each further argument."""
        N = ca.jacobian(self.coordinate_rate(), self.v)
        first = ca.jacobian(f, self.q) @ N
        return tuple(ca.densify(x) for x in (first, *(ca.jacobian(f, s) for s in speeds)))

    def inverse_dynamics_derivatives(self) -> tuple[ca.SX, ...]:
        """d tau / d(q, v, a) and, where there are parameters, d tau / dp."""
        f = ca.cse(self.inverse_dynamics())
        free = (self.p,) if self.p.numel() else ()
        dq, dv, *dp = self._tangent(f, self.v, *free)
        return (dq, dv, self.mass_matrix(), *dp)

    def forward_dynamics_derivatives(self) -> tuple[ca.SX, ...]:
        """d a / d(q, v, tau, p) = -M^-1 d(inverse dynamics) at the acceleration found; d a / d tau = M^-1."""
        nv = self.layout.nv
        free = (self.p,) if self.p.numel() else ()
        if self.layout.mechanism.loops or self.layout.mechanism.nonholonomic:
            dq, dv, dtau, *dp = self._tangent(ca.cse(self.forward_dynamics()), self.v, self.tau, *free)
            return (dq, dv, dtau, *dp)
        f = ca.cse(self.inverse_dynamics())
        parts = self._tangent(f, self.v, *free)
        at_a = ca.Function("at_a", [self.t, self.q, self.v, self.a, self.p, self.w], list(parts))
        acceleration = self._solved(self.tau - self.bias())  # by the same factor as the slopes
        parts = tuple(at_a.call([self.t, self.q, self.v, acceleration, self.p, self.w]))
        dq, dv, *dp = (self._solved(-part) for part in parts)
        return (dq, dv, self._solved(ca.SX.eye(nv)), *dp)

    def _solved(self, B: ca.SX) -> ca.SX:
        """M^-1 B, column by column: zeros of B cost nothing."""
        solved = [np.array(elements(ca.densify(B[:, k])), dtype=object) for k in range(B.shape[1])]
        for column in solved:
            dynamics.solve(self._factor, column)
        return ca.densify(matrix(np.array(solved, dtype=object).T))


def smallest_change(factor: np.ndarray, A: ca.SX, r: ca.SX, column: Any, size: Any) -> tuple[ca.SX, ca.SX]:
    """M^-1 A' lam with A M^-1 A' lam = r, and lam, of the factor of M. column, size: C and N of `kernels.rank`; a size of 0: own."""
    m, n = A.shape
    blank = lambda *shape: np.full(shape, 0.0, dtype=object)  # noqa: E731
    rows, H, G, S = blank(m, n), blank(m, n), blank(m, m), blank(m, m)
    for k in range(m):
        rows[k] = elements(A[k, :])
        H[k] = rows[k]
        dynamics.solve(factor, H[k])
        for l in range(k + 1):
            S[k, l] = sum((x * y for x, y in zip(rows[l], H[k])), ca.SX(0))
            G[k, l] = sum((c * x * y for c, x, y in zip(column, rows[l], rows[k])), ca.SX(0))
    sizes = [size[k] if size[k] != 0.0 else G[k, k] for k in range(m)]
    lam, change = blank(m), np.array([ca.SX(0)] * n, dtype=object)
    meet(rows, H, S, G, sizes, elements(r), lam, blank(2, m), change)
    return vector(change), vector(lam)
