"""Flexible bodies in `variational` ([Everett1988] eq. 33-37): the rows of their kinetic energy, and
of their weight.

    delta int T dt = - int dt integral rho 0D 0D p . 0_delta p                                  (34)
    0D p     = V + w x r + BD r                                                                 (36)
    0_delta p = 0_delta o + 0_theta_B x r + B_delta r                                    (35) by (6)

o is the origin of the body's frame B, r = n + v leads from it to a point. What multiplies the
arbitrary d_r of a speed is

    V_u . integral rho a  +  w_u . integral rho r x a  +  e_u . integral rho (dr/de) . a,
            a = 0D 0D p - g

(34) is what the expanded variation (38)-(40) collapses to, (41):
`tests/equations/test_flexible_algebra.py` shows it. The vectors of a flexible body live along its
own axes, where its shapes are given, and its weight is varied in the ground.
"""

from __future__ import annotations

import casadi as ca

from ...compiler import Tracer, matrix, vector
from ._beams import TracedBeam, beams
from ._variational_vectors import INERTIAL, FrameKinematics, Turning


class Flexible:
    """The flexible bodies of a mechanism and their frames' motion."""

    def __init__(self, s: Tracer, k: FrameKinematics):
        self.s, self.k, self.u = s, k, k.speeds
        self.found = [(beam, *self._frame(beam)) for beam in beams(s)]

    def _frame(self, beam: TracedBeam) -> tuple[Turning, Turning]:
        """Return w and V of the body's frame, along its own axes; they are vectors in the frame of
        the node on which it is.
        """
        node, R, p = self.s.seat(beam.body)
        E = ca.sparsify(matrix(R)).T
        r = ca.sparsify(vector(p))
        if node == INERTIAL:
            still = Turning(INERTIAL, ca.SX(3, 1), ca.SX(3, 1), ca.SX(3, self.u.Z.shape[1]))
            return still, still
        w = self.k.angular(node, node)
        v = self.k.linear(node, node)
        V = v + w.cross(r, ca.SX(3, 1))
        w, V = (Turning(node, E @ x.x, E @ x.D, E @ x.P) for x in (w, V))
        return w, V

    def energies(self) -> tuple[ca.SX, ca.SX]:
        """Return the kinetic and the potential energy of all flexible bodies."""
        g = vector(self.s.tree.gravity)
        total = [ca.SX(0), ca.SX(0)]
        for beam, w, V in self.found:
            X = self.s.pose(beam.body)
            for k, part in enumerate(
                beam.energies(V.x, w.x, self.u.v[beam.own], X[:, :3], X[:, 3], g)
            ):
                total[k] += part
        return total[0], total[1]

    def inertia(self) -> ca.SX:
        """Return the coefficients of u' that the flexible bodies contribute to the equations of
        motion.
        """
        n = self.u.Z.shape[1]
        M = ca.SX(n, n)
        for b, w, V in self.found:
            E = self.u.W[b.own, :]
            A = b.first(b.C)
            B = b.crossed(b.c, b.C)
            half = (
                0.5 * b.m * V.P.T @ V.P
                - V.P.T @ ca.skew(b.first(b.c)) @ w.P
                + 0.5 * w.P.T @ b.inertia @ w.P
            )
            half += (V.P.T @ A + w.P.T @ B) @ E + 0.5 * E.T @ b.trace(b.C, b.C) @ E
            for d in range(3):
                turned = b.chi1[d].T @ E
                half += b.J[d] * (w.P[d, :].T @ turned + 0.5 * E.T @ b.chi2[d] @ E)
            M += half + half.T
        return ca.sparsify(M)

    def bias(self) -> ca.SX:
        """Return the terms without u' that the flexible bodies contribute to the equations of
        motion: inertia terms with constant u, and the weight.
        """
        rows = ca.SX.zeros(self.u.Z.shape[1])
        for (b, w, V), (force, torque, along) in zip(self.found, self._forces()):
            rows += V.P.T @ force + w.P.T @ torque + self.u.W[b.own, :].T @ along
        return rows

    def needed(self, y: ca.SX) -> dict[str, ca.SX]:
        """Return {body: wrench} about the ground's origin: integral rho a and rho r x a, at the
        rates y.
        """
        found = {}
        for (b, w, V), (force, torque, _) in zip(self.found, self._forces()):
            s = b.first(b.c)
            E = self.u.W[b.own, :] @ y
            dw = w.P @ y
            dV = V.P @ y
            force = force + b.m * dV + ca.cross(dw, s) + b.first(b.C) @ E
            torque = torque + ca.cross(s, dV) + b.inertia @ dw + b.crossed(b.c, b.C) @ E
            torque += ca.vertcat(*(b.J[d] * ca.dot(b.chi1[d], E) for d in range(3)))
            X = self.s.pose(b.body)
            t = X[:, :3] @ torque
            f = X[:, :3] @ force
            found[b.body] = ca.vertcat(t + ca.cross(X[:, 3], f), f)
        return found

    def _forces(self) -> list[tuple[ca.SX, ca.SX, ca.SX]]:
        """Return integral rho a, rho r x a and rho (dr/de) . a of each body with constant u, less
        the weight, along its axes.
        """
        found = []
        g = vector(self.s.tree.gravity)
        for b, w, V in self.found:
            o, R = w.x, self.s.pose(b.body)[:, :3]
            # 0D w = BD w
            dw = w.D
            dV = V.D + ca.cross(o, V.x) - R.T @ g
            rate = self.u.v[b.own]
            e_rate = self.u.rate[b.own]
            dc = b.C @ rate
            ddc = b.C @ e_rate + ca.jtimes(dc, b.e, rate)
            s = b.first(b.c)
            N = b.tensor(b.c, dc)
            I = b.inertia
            force = (
                b.m * dV
                + ca.cross(dw, s)
                + ca.cross(o, ca.cross(o, s))
                + 2 * ca.cross(o, b.first(dc))
                + b.first(ddc)
            )
            torque = (
                ca.cross(s, dV)
                + I @ dw
                + ca.cross(o, I @ o)
                + 2 * (ca.trace(N) * o - N.T @ o)
                + b.crossed(b.c, ddc)
            )
            along = b.first(b.C).T @ dV + b.crossed(b.c, b.C).T @ dw + 2 * b.crossed(dc, b.C).T @ o
            along += self._centrifugal(b, o) + b.trace(b.C, ddc)
            for d, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):
                # what the sections' own turning adds to the angular momentum
                spin = b.J[d] * ca.dot(b.chi1[d], rate)
                torque[d] += b.J[d] * ca.dot(b.chi1[d], e_rate)
                torque[i] += o[j] * spin
                torque[j] -= o[i] * spin
                along += b.J[d] * (b.chi1[d] * dw[d] + b.chi2[d] @ e_rate)
            found.append((force, torque, along))
        return found

    @staticmethod
    def _centrifugal(b: TracedBeam, o: ca.SX) -> ca.SX:
        """Return integral rho (dr/de) . (w x (w x r)), (n,)."""
        total = -ca.sumsqr(o) * b.trace(b.C, b.c)
        for i in range(3):
            for j in range(3):
                total += o[i] * o[j] * b.second(b.C, b.c, i, j)
        return total
