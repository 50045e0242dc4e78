"""Sections: the mass of a flexible body by modes as point masses along it, and rotors, traced with
the symbols of one `Tracer`.

The body's frame moves with angular velocity w and velocity V, in its own axes; a section lies in it
at r and moves there with F e', where e are the amplitudes (F = dr/de). The force on its mass m and
the wrench on the body are

    f = m (V' + w' x r + w x (w x r) + 2 w x r' + r''),  sum f,  sum r x f;  along the amplitudes
    sum F^T f

which is all that the kernels need. With the sums s = sum m r, I = sum m (r.r 1 - r r), A = sum m F,
B = sum m r x F, D = sum m F^T F, the kinetic energy is T = 1/2 m V.V + V.(w x s) + 1/2 w.I w + V.A
e' + w.B e' + 1/2 e'.D e'.

This route is independent of the mass integrals that lagrange, hamilton and variational use.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..kernels import kinematics
from ..spatial import add, cross, neg, rotate, unrotate
from .trace_kinematics import Kinematics

X, Y, Z = range(3)


class Sections:
    """The sections of one flexible body. modal: its record, `flexible.modes.Modal`."""

    def __init__(self, s: Kinematics, modal: Any):
        self.s, self.body = s, modal.body
        basis = modal.integrals.basis
        I = modal.integrals
        joint = next(j for j in s.layout.mechanism.moving if j.name == modal.joint)
        names = list(s.layout.mechanism.speed_names)
        n = len(basis.directions)
        vi = names.index(joint.speed_names[0])
        qi = next(c.qi for c in s.layout.coordinates if c.vi == vi)
        self.own = slice(vi, vi + n)
        self.e = s.q[qi : qi + n]
        self.rate = s.v[vi : vi + n]
        self.L = ca.SX(s.value(modal.length))
        self.m = ca.DM(I.weights) * s.value(modal.rhoA) * self.L  # (K,)
        self.J = [s.value(J) * self.L for J in modal.rhoJ]
        at = basis.at(I.points)
        count = len(basis.moving) + 1
        phi = np.zeros((3, len(I.points), n))
        for field, i in enumerate(basis.moving, start=1):
            phi[basis.axes[field], :, i] = at.B[field]
        G = np.zeros((len(I.points), n, n))
        for (i, j), g in zip(basis.pairs, at.B[count:]):
            G[:, i, j] = G[:, j, i] = g
        self.phi = [_constant(part) for part in phi]  # (K, n) each
        self.G = _constant(G.reshape(len(I.points), n * n))
        along = [ca.SX(1), 1 / self.L, 1 / self.L]
        self.chi1 = [c * _constant(at.chi[d] @ I.weights) for d, c in enumerate(along)]  # (n,)
        self.chi2 = [
            c * c * _constant((at.chi[d] * I.weights) @ at.chi[d].T) for d, c in enumerate(along)
        ]
        bent = -0.5 / self.L * (self.G @ ca.reshape(self.e @ self.e.T, n * n, 1))
        # (K, 3)
        self.r = ca.horzcat(
            self.L * I.points + self.phi[X] @ self.e + bent,
            self.phi[Y] @ self.e,
            self.phi[Z] @ self.e,
        )
        rows = [ca.reshape(self.G[k, :], n, n) @ self.e for k in range(len(I.points))]
        # (K, n) each
        self.F = [self.phi[X] - ca.horzcat(*rows).T / self.L, self.phi[Y], self.phi[Z]]

    # --- the frame
    @property
    def velocity(self) -> tuple[ca.SX, ca.SX]:
        """Return the angular velocity w and the velocity V of the body's frame, in its own axes."""
        V = self.s.frame_velocity(self.body, "body")
        return V[:3], V[3:]

    def _accelerated(self, v: Any, a: Any) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Return w, w' and V' minus gravity of the body's frame, at these speeds and accelerations
        of the nodes.
        """
        (node, R, p), x, g = self.s.seat(self.body), self.s.work(), tuple(self.s.tree.gravity)
        if node < 0:
            return ca.SX.zeros(3), ca.SX.zeros(3), _column(unrotate(R, neg(g)))
        kinematics.accelerations(self.s.tree, self.s.Q, v, a, neg(g), x)
        dw, dV = kinematics.frame_acceleration(node, R, p, x)
        return _column(unrotate(R, x.w[node])), _column(dw), _column(dV)

    # --- forces
    def forces(self, v: Any, a: Any) -> tuple[tuple[Any, Any], ca.SX]:
        """Return the wrench of the sections on the body's node at these speeds and accelerations of
        the nodes, (torque about its origin, force) in its axes, and the forces (n,) along the
        amplitudes that this motion requires.
        """
        w, dw, dV = self._accelerated(v, a)
        de, dde = (ca.vertcat(*list(x)[self.own]) for x in (v, a))
        n = de.numel()
        r = self.r
        moved = ca.horzcat(*(F @ de for F in self.F))
        turned = ca.horzcat(*(F @ dde for F in self.F))
        turned[:, X] += -1 / self.L * (self.G @ ca.reshape(de @ de.T, n * n, 1))
        W = ca.skew(w)
        a_k = (
            ca.repmat(dV.T, r.shape[0], 1) + r @ (ca.skew(dw) + W @ W).T + 2 * moved @ W.T + turned
        )
        f = ca.repmat(self.m, 1, 3) * a_k
        force = ca.sum1(f).T
        torque = ca.sum1(_crossed(r, f)).T
        along = sum((F.T @ f[:, d] for d, F in enumerate(self.F)), ca.SX.zeros(n))
        H = ca.vertcat(*(self.J[d] * (w[d] + ca.dot(self.chi1[d], de)) for d in range(3)))
        dH = ca.vertcat(*(self.J[d] * (dw[d] + ca.dot(self.chi1[d], dde)) for d in range(3)))
        torque += dH + ca.cross(w, H)
        along += sum(
            (self.J[d] * (self.chi1[d] * dw[d] + self.chi2[d] @ dde) for d in range(3)),
            ca.SX.zeros(n),
        )
        return self._on_node(-torque, -force), along

    def _on_node(self, torque: ca.SX, force: ca.SX) -> tuple[Any, Any]:
        _, R, p = self.s.seat(self.body)
        t = rotate(R, _list(torque))
        f = rotate(R, _list(force))
        return add(t, cross(p, f)), f

    # --- sums
    @cached_property
    def sums(self) -> tuple[ca.SX, ...]:
        """Return the sums over the sections of the module's documentation: m, s (3,), I (3, 3), A
        (3, n), B (3, n), D (n, n), rotors included.
        """
        r, F, m = self.r, self.F, self.m
        s = r.T @ m
        Q = r.T @ (ca.repmat(m, 1, 3) * r)
        I = ca.trace(Q) * ca.SX.eye(3) - Q + ca.diag(ca.vertcat(*self.J))
        A = ca.vertcat(*(m.T @ F[d] for d in range(3)))
        N = [[(m * r[:, i]).T @ F[j] for j in range(3)] for i in range(3)]  # sum m r_i F_j
        B = ca.vertcat(
            *(
                N[i][j] - N[j][i] + self.J[d] * self.chi1[d].T
                for d, (i, j) in enumerate(((1, 2), (2, 0), (0, 1)))
            )
        )
        D = sum(
            (
                F[d].T @ (ca.repmat(m, 1, F[d].shape[1]) * F[d]) + self.J[d] * self.chi2[d]
                for d in range(3)
            ),
            ca.SX(0),
        )
        return ca.sum1(m), s, I, A, B, D

    def inertia(self) -> ca.SX:
        """Return the contribution of the sections to the mass matrix, (nv, nv)."""
        m, s, I, A, B, D = self.sums
        J = self.s.jacobian(self.body, "body")
        Jw = J[:3, :]
        Jv = J[3:, :]
        nv = self.s.layout.nv
        E = ca.SX.eye(nv)[self.own, :]
        half = (
            0.5 * m * Jv.T @ Jv
            - Jv.T @ ca.skew(s) @ Jw
            + 0.5 * Jw.T @ I @ Jw
            + (Jv.T @ A + Jw.T @ B) @ E
            + 0.5 * E.T @ D @ E
        )
        return half + half.T

    def coriolis(self) -> ca.SX:
        """Return the contribution of the sections to C, (nv, nv): the sum of m J_k^T (J_k' + w x
        J_k); J_k is the Jacobian of a section's velocity.
        """
        J = self.s.jacobian(self.body, "body")
        w = self.velocity[0]
        q_rate = self.s.coordinate_rate()
        E = ca.SX.eye(self.s.layout.nv)[self.own, :]
        C = ca.SX.zeros(self.s.layout.nv, self.s.layout.nv)
        points = [
            (
                self.m[k],
                J[3:, :]
                - ca.skew(self.r[k, :]) @ J[:3, :]
                + ca.vertcat(*(F[k, :] for F in self.F)) @ E,
            )
            for k in range(self.m.numel())
        ]
        for m, J_k in points:
            rate = ca.reshape(ca.jtimes(ca.vec(J_k), self.s.q, q_rate), *J_k.shape)
            C += m * J_k.T @ (rate + ca.skew(w) @ J_k)
        turn = ca.SX(J[:3, :])
        rate = ca.reshape(ca.jtimes(ca.vec(turn), self.s.q, q_rate), *turn.shape)
        for d in range(3):
            i, j = (d + 1) % 3, (d + 2) % 3
            H = self.J[d] * (w[d] + ca.dot(self.chi1[d], self.rate))
            C += (
                turn.T[:, d] @ (self.J[d] * rate[d, :])
                + self.J[d] * (E.T @ self.chi1[d]) @ rate[d, :]
            )
            C += H * (turn.T[:, i] @ turn[j, :] - turn.T[:, j] @ turn[i, :])
        return C

    def energy(self) -> tuple[ca.SX, ca.SX]:
        """Return the kinetic energy, and the potential energy in the field of gravity."""
        (m, s, I, A, B, D), (w, V), de = self.sums, self.velocity, self.rate
        kinetic = (
            0.5 * m * ca.sumsqr(V)
            + ca.dot(V, ca.cross(w, s) + A @ de)
            + ca.dot(w, 0.5 * I @ w + B @ de)
        )
        kinetic += 0.5 * ca.dot(de, D @ de)
        X_WB = self.s.pose(self.body)
        return kinetic, -ca.dot(_column(self.s.tree.gravity), m * X_WB[:, 3] + X_WB[:, :3] @ s)

    def momentum(self) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        """Return mass, first moment, linear momentum and angular momentum about the ground's
        origin, in the ground's axes.
        """
        (m, s, I, A, B, _), (w, V), de, X_WB = (
            self.sums,
            self.velocity,
            self.rate,
            self.s.pose(self.body),
        )
        R, p = X_WB[:, :3], X_WB[:, 3]
        P = R @ (m * V + ca.cross(w, s) + A @ de)
        return m, m * p + R @ s, P, R @ (I @ w + ca.cross(s, V) + B @ de) + ca.cross(p, P)


def _constant(x: np.ndarray) -> ca.SX:
    """Return an array as symbols, without its zeros."""
    return ca.SX(ca.sparsify(ca.DM(x)))


def _column(x: Any) -> ca.SX:
    return ca.vertcat(*(ca.SX(y) for y in x))


def _list(x: ca.SX) -> list[Any]:
    x = ca.densify(x)  # NumPy cannot keep zeros of its structure
    return [x[k] for k in range(x.numel())]


def _crossed(a: ca.SX, b: ca.SX) -> ca.SX:
    """Return the cross products of rows, (K, 3)."""
    pairs = ((1, 2), (2, 0), (0, 1))
    return ca.horzcat(*(a[:, i] * b[:, j] - a[:, j] * b[:, i] for i, j in pairs))
