"""Partial velocities of a flexible body by modes, for `kane`: those of its fields, along the
ground's axes.

A point of the body lies at r = sum_a r_a B_a(x) in its frame at O, r_a = c_a(e) n_a with n_a the
axis of field a shifted to the ground's. Its velocity is V = sum_a B_a V_a, a = 0 standing for the
frame (B_0 = 1), so that each field has partial velocities of its own:

    V_0 = V_O,      V_a = omega x r_a + n_a c_a',      c_a' = C_as e_s'
    V'_a            their rates, by (1.28): n_a' = omega x n_a

and (3.19) becomes F*_r = -sum_ab m_ab V_ar . (V_b)', m_ab the integrals of rho B_a B_b. Rotating
sections have the angular velocities omega + chi e' about the body's axes, and therefore their own
partial angular velocities.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca

from ...compiler import Tracer
from ._beams import TracedBeam


class BendingPartials(NamedTuple):
    """A flexible body. V, dV: partial velocities of its fields and their rates, (3 x nv) each. w,
    dw (3 x nv): of its frame. S: its axes. r: r_a, one per field. E: e' = E v.
    """

    beam: TracedBeam
    S: ca.SX
    O: ca.SX
    w: ca.SX
    dw: ca.SX
    r: list[ca.SX]
    V: list[ca.SX]
    dV: list[ca.SX]
    E: ca.SX

    @property
    def name(self) -> str:
        """The name of the body."""
        return self.beam.body

    def inertia(self) -> ca.SX:
        """Return the contribution of the flexible body to the matrix A_rj (nv x nv) of the
        accelerations in Kane's equations.
        """
        m = self.beam.masses
        V = ca.vertcat(*self.V)
        beam = self.beam
        turned = self.S.T @ self.w
        A = V.T @ ca.kron(m, ca.SX.eye(3)) @ V
        for d in range(3):
            s = turned[d, :]
            bent = beam.chi1[d].T @ self.E
            A += beam.J[d] * (s.T @ s + s.T @ bent + bent.T @ s + self.E.T @ beam.chi2[d] @ self.E)
        return ca.sparsify(A)

    def forces(self, v: ca.SX, a: ca.SX, g: ca.SX) -> tuple[list[ca.SX], ca.SX, ca.SX]:
        """Return weight and inertia force on each field (3), the torque of
        turning sections (3, ground's axes), and the forces along e'.
        """
        m, beam = self.beam.masses, self.beam
        moved = ca.horzcat(*(V @ a + dV @ v for V, dV in zip(self.V, self.dV)))
        moved[:, 0] -= g
        F = -moved @ m
        w = self.S.T @ self.w @ v
        alpha = self.S.T @ (self.w @ a + self.dw @ v)
        rate = self.E @ v
        bend = self.E @ a
        H = ca.vertcat(*(beam.J[d] * (w[d] + ca.dot(beam.chi1[d], rate)) for d in range(3)))
        turn = ca.vertcat(
            *(beam.J[d] * (alpha[d] + ca.dot(beam.chi1[d], bend)) for d in range(3))
        ) + ca.cross(w, H)
        along = sum(
            (beam.J[d] * (beam.chi1[d] * alpha[d] + beam.chi2[d] @ bend) for d in range(3)),
            ca.SX.zeros(rate.numel()),
        )
        return ca.horzsplit(F), -self.S @ turn, -along

    def active(self, v: ca.SX, a: ca.SX, g: ca.SX) -> ca.SX:
        """Return the contribution of the flexible body to the generalised active and inertia forces
        F_r + F*_r (nv).
        """
        F, T, along = self.forces(v, a, g)
        return sum((V.T @ f for V, f in zip(self.V, F)), self.w.T @ T + self.E.T @ along)

    def wrench(self, v: ca.SX, a: ca.SX, g: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Return the torque about O and the force that the motion of the body requires, in the
        ground's axes.
        """
        F, T, _ = self.forces(v, a, g)
        return -T - sum((ca.cross(r, f) for r, f in zip(self.r, F)), ca.SX.zeros(3)), -F[0]


def bending(
    s: Tracer, beam: TracedBeam, S: ca.SX, O: ca.SX, w: ca.SX, dw: ca.SX, V: ca.SX, dV: ca.SX
) -> BendingPartials:
    """Return the partial velocities of a flexible body from those of its frame, (3 x nv) each."""
    E = ca.SX(len(beam.own), s.layout.nv)
    for k, column in enumerate(beam.own):
        E[k, column] = 1.0
    places = beam.places()
    omega = w @ s.v
    rate = E @ s.v
    C = beam.C
    dC = ca.jtimes(beam.C, beam.e, rate)
    shift = C @ rate
    r = [ca.SX(3, 1)]
    Vs = [V]
    dVs = [dV]
    for k in range(1, places.shape[1]):
        n = S @ beam.axis(k - 1)
        at = S @ places[:, k]
        moved = ca.cross(omega, at) + n * shift[k - 1]
        r.append(at)
        Vs.append(ca.sparsify(n @ (C[k - 1, :] @ E) - ca.skew(at) @ w))
        dVs.append(
            ca.cross(omega, n) @ (C[k - 1, :] @ E)
            + n @ (dC[k - 1, :] @ E)
            - ca.skew(at) @ dw
            - ca.skew(moved) @ w
        )
    return BendingPartials(beam, S, O, w, dw, r, Vs, dVs, E)
