"""Modal flexible bodies, from their mass integrals ([Everett1988] eq. 33-37): the terms that
formulations add.

A point of the body lies at r = n + v in the body's frame B, n of the neutral body, v its
deflection, and moves with

    V_p = V + w x r + BD r                                                                      (36)
    T = 1/2 integral rho V_p . V_p                                                              (33)
      = 1/2 m V.V + V.(w x s + s') + 1/2 w.I w + w.h + 1/2 integral rho r'.r'                   (37)

where V and w are those of the frame, ' is the derivative in it (BD), s = integral rho r, I =
integral rho (r.r 1 - r r), h = integral rho r x r'. With r = sum_a c_a B_a axis_a
(`flexible.integrals`) all of them are sums over the integrals S and P:

    integral rho (sum c_a B_a) (sum d_b B_b) = m sum_ab c_a d_b P_ab axis_a axis_b  =:  <c, d>
            (3, 3)

(37) has n and v as separate terms; here they are combined, because n is the first of the fields.
Rotating sections add 1/2 J (w + chi.e')^2 about each axis.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from ...compiler import Tracer

AROUND = ((1, 2), (2, 0), (0, 1))


class TracedBeam:
    """The mass integrals of one flexible body with the symbols of a tracer. e: its amplitudes; own:
    the indices of their speeds.
    """

    def __init__(self, s: Tracer, modal: Any):
        self.s, self.body = s, modal.body
        I = modal.integrals
        basis = modal.integrals.basis
        joint = s.layout.mechanism.joint(modal.joint)
        before = s.layout.mechanism.moving[: s.layout.mechanism.moving.index(joint)]
        q = sum(j.nq for j in before)
        v = sum(j.nv for j in before)
        n = joint.nv
        self.e, self.own = s.q[q : q + n], list(range(v, v + n))
        L = ca.SX(s.value(modal.length))
        self.m, self.J = s.value(modal.rhoA) * L, [s.value(J) * L for J in modal.rhoJ]
        self.c = ca.vertcat(*modal.amplitudes([self.e[k] for k in range(n)], L))  # (fields,)
        self.C = ca.jacobian(self.c, self.e)  # (fields, n)
        self._S, self._P = I.S, I.P
        self._fields = [np.flatnonzero(basis.axes == d).tolist() for d in range(3)]
        scale = (ca.SX(1), 1 / L, 1 / L)  # twist is an angle, slopes are displacements per length
        self.chi1 = [x * ca.SX(ca.sparsify(ca.DM(I.chi1[d]))) for d, x in enumerate(scale)]
        self.chi2 = [x * x * ca.SX(ca.sparsify(ca.DM(I.chi2[d]))) for d, x in enumerate(scale)]

    def first(self, c: ca.SX) -> ca.SX:
        """Return integral rho sum c_a B_a over the beam, (3, k) for k columns c of amplitudes: the
        first moment of the fields.
        """
        return self.m * ca.vertcat(
            *(ca.DM(self._S[f]).T @ c[f, :] if f else ca.SX(1, c.shape[1]) for f in self._fields)
        )

    def second(self, c: ca.SX, d: ca.SX, i: int, j: int) -> ca.SX:
        """Return <c, d>_ij = integral rho (sum c_a B_a)_i (sum d_b B_b)_j over the beam, (k, l) for
        k columns c and l columns d of amplitudes.
        """
        f, g = self._fields[i], self._fields[j]
        if not f or not g:
            return ca.SX(c.shape[1], d.shape[1])
        return self.m * (c[f, :].T @ ca.DM(self._P[np.ix_(f, g)]) @ d[g, :])

    def tensor(self, c: ca.SX, d: ca.SX) -> ca.SX:
        """Return the matrix of all integrals <c, d>_ij (`second`), (3, 3), for one column c and one
        column d of amplitudes.
        """
        return ca.vertcat(
            *(ca.horzcat(*(self.second(c, d, i, j) for j in range(3))) for i in range(3))
        )

    def trace(self, c: ca.SX, d: ca.SX) -> ca.SX:
        """Return the integral of a scalar product, integral rho (sum c_a B_a) . (sum d_b B_b), (k,
        l) for k columns c and l columns d.
        """
        return sum((self.second(c, d, i, i) for i in range(3)), ca.SX(c.shape[1], d.shape[1]))

    def crossed(self, c: ca.SX, d: ca.SX) -> ca.SX:
        """Return integral rho (sum c_a B_a) x (sum d_b B_b), (3, l), for one column c and l columns
        d.
        """
        return ca.vertcat(*(self.second(c, d, i, j) - self.second(c, d, j, i) for i, j in AROUND))

    @property
    def inertia(self) -> ca.SX:
        """I = integral rho (r.r 1 - r r), including that of rotating sections, (3, 3)."""
        Q = self.tensor(self.c, self.c)
        return ca.trace(Q) * ca.SX.eye(3) - Q + ca.diag(ca.vertcat(*self.J))

    # --- the fields one by one
    @property
    def masses(self) -> ca.SX:
        """(1 + fields, 1 + fields): the integrals of rho, rho B_a and rho B_a B_b."""
        S = ca.DM(self._S)
        return self.m * ca.SX(ca.blockcat([[ca.DM(1), S.T], [S, ca.DM(self._P)]]))

    def places(self) -> ca.SX:
        """Return (3, 1 + fields): the coefficients of 1 and B_a in r: 0, and c_a on its axis."""
        return ca.sparsify(
            ca.horzcat(ca.SX(3, 1), *(self.axis(k) * self.c[k] for k in range(self.c.numel())))
        )

    def velocities(self, w: ca.SX, V: ca.SX, rate: ca.SX) -> ca.SX:
        """Return (3, 1 + fields): the coefficients of 1 and B_a in the velocity V + w x r + r' of
        the body's points, along its axes.
        """
        dc = self.C @ rate
        moved = ca.horzcat(V, *(self.axis(k) * dc[k] for k in range(dc.numel())))
        return moved + ca.skew(w) @ self.places()

    def axis(self, k: int) -> ca.SX:
        """Return the unit vector (3,) along which field k displaces."""
        e = ca.SX(3, 1)
        e[next(d for d in range(3) if k in self._fields[d])] = 1.0
        return e

    def energies(
        self, V: ca.SX, w: ca.SX, rate: ca.SX, R: ca.SX, p: ca.SX, g: ca.SX
    ) -> tuple[ca.SX, ca.SX]:
        """Return T and V. V, w (3,): velocity and angular velocity of the frame along its own axes.
        rate: of the amplitudes. R, p: the pose of the frame. g: gravity.
        """
        dc = self.C @ rate
        s = self.first(self.c)
        T = (
            0.5 * self.m * ca.sumsqr(V)
            + ca.dot(V, ca.cross(w, s) + self.first(dc))
            + 0.5 * ca.dot(w, self.inertia @ w)
        )
        T += ca.dot(w, self.crossed(self.c, dc)) + 0.5 * self.trace(dc, dc)
        for d in range(3):
            T += self.J[d] * (
                w[d] * ca.dot(self.chi1[d], rate) + 0.5 * ca.dot(rate, self.chi2[d] @ rate)
            )
        return T, -ca.dot(g, self.m * p + R @ s)


def beams(s: Tracer) -> list[TracedBeam]:
    """Return the modal flexible bodies of a mechanism."""
    return [TracedBeam(s, modal) for modal in s.layout.modal]
