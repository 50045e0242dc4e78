"""Tracing: a kernel that is called with CasADi symbols returns the straight-line expression of one
mechanism.

Constants are folded, and common subexpressions are computed once (`casadi.cse`). A `Tracer` holds
the symbols of one mechanism; each of its methods returns one quantity as an expression of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..kernels import (
    RANK,
    Constraints,
    Tree,
    body_table,
    constrained_dynamics,
    constrained_dynamics_dense,
    constraints,
    coriolis_matrix,
    dynamics,
    evaluate_rows,
    independent,
    joint_wrenches,
    kinematics,
    meet,
    on_child,
    regrouped,
    row_jacobian,
    speed_row_scales,
    speeds,
)
from ..spatial import add, cross, unrotate
from .beam_sections import Sections
from .load_expressions import Applied
from .massless import factored_or_nan, massless_speeds, row_inertia
from .symbols import elements, entries, matrix, vector
from .trace_kinematics import Kinematics

__all__ = [
    "DENSE",
    "Tracer",
    "elements",
    "entries",
    "factored",
    "matrix",
    "met",
    "smallest_change",
    "solved",
    "vector",
]

# up to so many speeds, factoring the mass matrix beats the articulated pass in a tape (measured:
# UR5, Panda)
DENSE = 12


class Tracer(Kinematics):
    """The symbols of a mechanism and its quantities, loads and flexible bodies included."""

    @cached_property
    def flexible(self) -> list[Sections]:
        """The flexible bodies by modes; their mass belongs to no node."""
        return [Sections(self, modal) for modal in self.layout.modal]

    @cached_property
    def applied(self) -> Applied:
        """The forces of the mechanism's own loads."""
        return Applied(self)

    @cached_property
    def body_loads(self) -> dict[str, tuple[Any, Any]]:
        """The wrench of the loads on each body that has one, as torque about its node's origin and
        force, in the node's axes.
        """
        found = {}
        for body, (t, f) in self.applied.wrenches.items():
            node, _, p = self.seat(body)
            N = self.posed.R[node] if node >= 0 else np.eye(3)
            t = unrotate(N, elements(t))
            f = unrotate(N, elements(f))
            found[body] = (add(t, cross(p, f)), f)
        return found

    @cached_property
    def pushed(self) -> list[Any]:
        """The joint forces that act: tau plus the forces of the loads along the speeds."""
        return (
            [x + y for x, y in zip(self.TAU, elements(self.applied.forces))]
            if self.layout.mechanism.loads
            else self.TAU
        )

    @cached_property
    def loads(self) -> np.ndarray:
        """(n, 6): all external wrenches, by node, those of the loads included."""
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

    # --- dynamics
    @cached_property
    def light(self) -> Tree:
        """The tree for quantities that depend only on forces along the speeds: inertia is moved to
        the nodes where it costs least (`regrouping`).
        """
        return regrouped(self.tree)

    def inverse_dynamics(self, a: Any = None, v: Any = None) -> ca.SX:
        """Return tau (nv,) for the acceleration `a` (by default the symbols) at the speeds `v`,
        both the mechanism's own.
        """
        tau = self._forces(self.OWN[1] if v is None else v, self.OWN[2] if a is None else a)
        return tau - self.applied.forces if self.layout.mechanism.loads else tau

    def _forces(self, v: Any, a: Any) -> ca.SX:
        """Return tau (nv,) of a motion, without the loads that act along speeds."""
        tau = self.blank(len(self.V))
        nodes = (self.lift.v(v), self.lift.a(v, a))
        wrenches = self.loads.copy() if self.flexible else self.loads
        taken = [sections.forces(*nodes) for sections in self.flexible]
        for sections, ((t, f), _) in zip(self.flexible, taken):
            if (node := self.layout.seats[sections.body].node) >= 0:
                wrenches[node] += np.array([*t, *f], dtype=object)
        dynamics.inverse_dynamics(self.light, self.Q, *nodes, wrenches, self.work(), tau)
        for sections, (_, along) in zip(self.flexible, taken):
            tau[sections.own] += np.array(elements(along), dtype=object)
        return vector(self.lift.back(tau))

    def bias(self) -> ca.SX:
        """Return tau at a = 0: Coriolis, centrifugal, gravity (and external wrenches, with their
        sign).
        """
        return self.inverse_dynamics(a=self.still)

    def gravity(self) -> ca.SX:
        """Return tau at a = v = 0; dampers among the loads exert nothing."""
        tau = self.inverse_dynamics(a=self.still, v=self.still)
        return (
            ca.substitute(tau, self.v, ca.SX.zeros(self.layout.nv))
            if self.layout.mechanism.loads
            else tau
        )

    def mass_matrix(self) -> ca.SX:
        """Return the mass matrix M (nv, nv)."""
        return matrix(self._inertia())

    def _inertia(self) -> np.ndarray:
        """The mass matrix M (nv, nv), traced once."""
        M = self.lift.congruence(self._inertia_of_nodes())
        for sections in self.flexible:
            M = M + entries(sections.inertia())
        return M

    def _inertia_of_nodes(self) -> np.ndarray:
        M = self.blank(len(self.V), len(self.V))
        dynamics.mass_matrix(self.light, self.Q, self.work(), M)
        return M

    def forward_dynamics(self) -> ca.SX:
        """Return a (nv,) for the forces tau, under the loops' rows where there are any."""
        nv = self.layout.nv
        if len(self.con.kind) or self.layout.mechanism.row_records:
            return self.constrained()[0]
        if self.lift:
            return self._free()
        a = self.blank(nv)
        given = (self.light, self.Q, self.V, self.pushed, self.loads, self.zeros, self.work())
        if self.layout.coupled or nv <= DENSE:
            dynamics.forward_dynamics_dense(*given, a, self.blank(nv, nv))
        else:
            dynamics.forward_dynamics(*given, a)
        return vector(a)

    def constrained(self) -> tuple[ca.SX, ca.SX]:
        """Return a (nv,) and the multipliers (m,) for the forces tau."""
        if self.layout.mechanism.row_records or self.lift or self.massless:
            return self._constrained_by_rows()
        m = len(self.con.kind)
        nv = self.layout.nv
        a, lam = self.blank(nv), self.blank(m)
        shapes = ((m, nv), (m, nv), (m, m), (m, m), (2, m))
        scratch = (
            self.blank(m, 12),
            *(self.blank(m) for _ in range(3)),
            *(self.blank(*shape) for shape in shapes),
        )
        given = (
            self.light,
            self.con,
            self.Q,
            self.V,
            self.pushed,
            self.loads,
            self.zeros,
            self.work(),
            *scratch,
            a,
            lam,
        )
        if self.layout.coupled or nv <= DENSE:
            constrained_dynamics_dense(*given, self.blank(nv, nv), self.blank(m, nv))
        else:
            constrained_dynamics(*given)
        return vector(a), vector(lam)

    def _constrained_by_rows(self) -> tuple[ca.SX, ca.SX]:
        """Return the same as `constrained` with rows that are known only as expressions: the free
        motion, then the smallest change that satisfies the rows.
        """
        _, _, right, A = self.constraint_rows()
        free = self._free()
        change, lam = self.smallest_change(A, right - A @ free)
        return free + change, lam

    def _free(self) -> ca.SX:
        """Return a (nv,) under the forces tau without constraint rows, from the mass matrix. If
        speeds move no inertia, the weighted rows are added (`massless`).
        """
        forces = vector(self.pushed) - self._forces(self.OWN[1], self.still)
        if self.massless:
            _, _, gamma, A = self.constraint_rows()
            forces = forces + row_inertia(self, A, self.row_scales()) @ gamma
        return solved(self._factor, forces)

    @cached_property
    def massless(self) -> list[int]:
        """The speeds that move no inertia, where constraint rows may determine them."""
        return massless_speeds(self.layout, self.mass_matrix)

    @cached_property
    def _factor(self) -> np.ndarray:
        """The factor of the mass matrix; where speeds move no inertia, of the mass matrix with
        weighted constraint rows added (`massless`).
        """
        M = self._inertia()
        if not self.massless:
            return factored(M)
        A = self.constraint_rows()[3]
        return factored_or_nan(M + entries(row_inertia(self, A, self.row_scales()) @ A))

    def smallest_change(self, A: ca.SX, r: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Return M^-1 A' lam and lam, with A M^-1 A' lam = r. Of all speeds v with A v = r, M^-1 A'
        lam are those of least kinetic energy.
        """
        return smallest_change(self._factor, A, r, self.con.column, self.row_scales())

    def row_scales(self) -> list[float]:
        """Return N of all rows, loops first, by which the rank is decided (`kernels.rank`); 0 for a
        row given as an expression, which is scaled by its entries.
        """
        return [*self.con.size, *speed_row_scales(self.layout)]

    def rank_closeness(self) -> ca.SX:
        """Return how close the rank of the rows is to changing: for the pivot nearest to its
        threshold, the ratio of the two or its inverse, whichever is below 1; 1 is at the threshold.
        """
        A = ca.sparsify(self.constraint_rows()[3])
        G = entries(A @ ca.diag(vector(self.con.column)) @ A.T)
        size = _own_sizes(self.row_scales(), G)
        independent(G, size, self.blank(len(G)))
        ratios = vector([G[k, k] / (RANK * size[k]) for k in range(len(G))])
        return ca.mmax(ca.fmin(ratios, 1.0 / ratios))

    def multipliers(self) -> ca.SX:
        """Return the rows' multipliers (m,) for the forces tau."""
        return self.constrained()[1]

    def constraint_rows(self) -> tuple[ca.SX, ...]:
        """Return residuals, their rates, gamma (m,) each, and A (m, nv): A v = rate, A a =
        gamma.
        """
        m = len(self.con.kind)
        error, rate, gamma, A = self.rows_of(self.con)
        if not self.layout.mechanism.row_records:
            return error, rate, gamma, A
        held, _ = self.applied.rows()
        drift = ca.jtimes(held, self.q, self.coordinate_rate()) + ca.jacobian(held, self.t)
        loops = A if m else ca.SX.zeros(0, self.layout.nv)
        return (
            ca.densify(ca.vertcat(error, self.applied.positions())),
            ca.densify(ca.vertcat(rate, held)),
            ca.densify(ca.vertcat(gamma, -drift)),
            ca.densify(ca.vertcat(loops, ca.jacobian(held, self.v))),
        )

    def rows_of(self, con: Constraints) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        """Return residuals, their rates, gamma (m,) each, and A (m, nv) of the rows of some
        loops.
        """
        m = len(con.kind)
        W = self.blank(m, 12)
        x = self.work()
        A = self.blank(m, len(self.V))
        gamma, error, rate = (self.blank(m) for _ in range(3))
        evaluate_rows(self.tree, con, self.Q, self.V, self.zeros, x, W, gamma, error, rate)
        row_jacobian(self.tree, con, W, x, A)
        return (
            vector(error),
            vector(rate),
            vector(gamma),
            matrix([self.lift.back(row) for row in A]),
        )

    def every_row(self) -> tuple[ca.SX, ...]:
        """Return for every row of every loop, then of constraints and speed rows: A (m, nv), and
        the wrench (m, 6) of one unit on its child, about the ground's origin in its axes. Then for
        the children of all joints, loops included, R (b, 9) and p (b, 3) in the ground.
        """
        con = constraints(self.layout, self.value)
        x = self.work()
        m = self.layout.mechanism
        count = len(con.kind)
        W = self.blank(count, 12)
        A = self.blank(count, len(self.V))
        none = [0.0] * len(self.V)
        evaluate_rows(
            self.tree, con, self.Q, none, none, x, W, *(self.blank(count) for _ in range(3))
        )
        row_jacobian(self.tree, con, W, x, A)
        rows = [self.lift.back(row) for row in A]
        wrenches = [on_child(con, x, W, k) for k in range(count)]
        held, _ = self.applied.rows()
        loops = matrix(rows) if rows else ca.SX.zeros(0, self.layout.nv)
        wrenches += self.applied.row_wrenches()
        poses = [self.pose(j.child) for j in (*m.ordered, *m.loops)]
        R = [elements(X[:, :3].T) for X in poses]
        return (
            ca.densify(ca.vertcat(loops, ca.jacobian(held, self.v))),
            matrix(wrenches),
            matrix(R),
            matrix([elements(X[:, 3]) for X in poses]),
        )

    def row_wrenches(self) -> ca.SX:
        """Return (m, 12): each row's wrench on its two nodes, about the nodes' origins in their
        axes.
        """
        m = len(self.con.kind)
        W = self.blank(m, 12)
        evaluate_rows(
            self.tree,
            self.con,
            self.Q,
            self.V,
            self.zeros,
            self.work(),
            W,
            *(self.blank(m) for _ in range(3)),
        )
        return matrix(W)

    def coriolis_matrix(self) -> ca.SX:
        """Return the Coriolis matrix C (nv, nv)."""
        n = len(self.layout.nodes)
        nv = len(self.V)
        rows = int(sum(speeds(k) for k in self.tree.motion))
        S, dS, I, B, X, F, C = (
            self.blank(*shape)
            for shape in ((rows, 6), (rows, 6), (n, 6, 6), (n, 6, 6), (6, 6), (3, 6), (nv, nv))
        )
        coriolis_matrix(self.tree, self.Q, self.V, self.work(), S, dS, I, B, X, F, C)
        if not self.lift:
            return matrix(C)
        own = matrix(self.lift.congruence(C)) + matrix(
            self.lift.rate_term(self._inertia_of_nodes(), self.OWN[1])
        )
        return ca.densify(sum((sections.coriolis() for sections in self.flexible), own))

    def reactions(self, held: Mapping[str, tuple[Any, Any]] | None = None) -> ca.SX:
        """Return (joints, 6): the wrench in every joint of `mechanism.ordered`, on the child, in
        the child body's axes.

        held: further wrenches on bodies, torque about the node's origin and force in the node's
        axes, such as those of loops.
        """
        table = body_table(self.layout, self.value)
        W = self.blank(len(table.node), 6)
        outside = self.blank(len(table.node), 6)
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

    def energy(self) -> ca.SX:
        """Return kinetic and potential energy (2,), that of springs included."""
        kinetic, potential = kinematics.energy(self.tree, self.Q, self.V, self.work())
        for sections in self.flexible:
            T, V = sections.energy()
            kinetic = kinetic + T
            potential = potential + V
        return vector(
            (kinetic, potential + self.applied.energy if self.layout.mechanism.loads else potential)
        )

    def momentum(self) -> ca.SX:
        """Return (10,): mass, centre of mass, its velocity, angular momentum about it, in the
        ground's axes.
        """
        if self.flexible:
            return self._momentum_with_sections()
        mass, com, velocity, L = kinematics.momentum(self.tree, self.Q, self.V, self.work())
        return vector((mass, *com, *velocity, *L))

    def _momentum_with_sections(self) -> ca.SX:
        """Return the momentum with that of flexible bodies added, about the ground's origin."""
        m = ca.SX(0)
        c = ca.SX.zeros(3)
        P = ca.SX.zeros(3)
        L = ca.SX.zeros(3)
        if any(not ca.SX(x).is_zero() for x in self.tree.mass):
            m, com, velocity, about = kinematics.momentum(self.tree, self.Q, self.V, self.work())
            c = m * vector(com)
            P = m * vector(velocity)
            L = vector(about) + ca.cross(vector(com), P)
        for sections in self.flexible:
            m, c, P, L = (x + y for x, y in zip((m, c, P, L), sections.momentum()))
        return ca.densify(ca.vertcat(m, c / m, P / m, L - ca.cross(c / m, P)))


def factored(M: np.ndarray) -> np.ndarray:
    """Factorise a symmetric matrix of symbols in place, and return it."""
    dynamics.factor(M)
    return M


def solved(factor: np.ndarray, b: ca.SX) -> ca.SX:
    """Return the solution M^-1 b for the factor of a mass matrix and a column b."""
    x = np.array(elements(b), dtype=object)
    dynamics.solve(factor, x)
    return vector(x)


def triangle(factor: np.ndarray) -> tuple[ca.SX, ca.SX]:
    """Return L (n, n), sparse, of unit diagonal, and D (n,) of a factor: M^-1 = L^-1 D L'^-1."""
    F = ca.sparsify(matrix(factor))
    return ca.tril(F, False) + ca.SX.eye(len(factor)), ca.diag(F)


def solve_columns(factor: np.ndarray, B: ca.SX) -> ca.SX:
    """Return M^-1 B of a factor, with sparse matrices of symbols, in which zeros cost nothing."""
    L, D = triangle(factor)
    return ca.solve(L, ca.solve(L.T, B) * D)


def smallest_change(
    factor: np.ndarray, A: ca.SX, r: ca.SX, column: Any, size: Any
) -> tuple[ca.SX, ca.SX]:
    """Return M^-1 A' lam with A M^-1 A' lam = r, and lam, from the factor of M. column, size: C and
    N of `kernels.rank`; a row of size 0 is scaled by its entries.
    """
    A = ca.sparsify(A)
    return met(A, solve_columns(factor, A.T), r, A @ ca.diag(vector(column)) @ A.T, size)


def _own_sizes(size: Any, G: np.ndarray) -> list[Any]:
    """Return the scales N of rows, with 0 replaced by a scale computed from the entries of the
    row.
    """
    return [x if x != 0.0 else G[k, k] for k, x in enumerate(size)]


def met(A: ca.SX, Y: ca.SX, r: ca.SX, G: ca.SX, size: Any) -> tuple[ca.SX, ca.SX]:
    """Return Y lam with A Y lam = r, and lam, where Y (n, m) is the response to the forces of the
    rows A (m, n). G = A C A', size: the scales N.
    """
    m, n = A.shape
    rows, H, S, metric = (entries(x) for x in (A, Y.T, A @ Y, G))
    blank = lambda *shape: np.full(shape, 0.0, dtype=object)  # noqa: E731
    lam = blank(m)
    change = np.array([ca.SX(0)] * n, dtype=object)
    meet(rows, H, S, metric, _own_sizes(size, metric), elements(r), lam, blank(2, m), change)
    return vector(change), vector(lam)
