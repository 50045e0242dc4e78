"""Flexible bodies by modes for `boltzmann_hamel`: the rates e' of their amplitudes are
quasi-velocities of their own.

The body's frame sits at p with axes R on its link, where omega and the velocity V of its origin are
known; with r = sum_a c_a(e) B_a axis_a in that frame (`_beams`),

    2 T = (omega, V, e')^T B (omega, V, e')                 as (6) and (17) have it for a rigid link
    f_a = sum_b m_ab A_b,  A_0 = R'' + g,
            A_b = A(c_b axis_b) + 2 omega x axis_b c_b' + axis_b c_b''  as (22) does

f_0 acts on the link at p, f_a at r_a; the row of e'_s is sum_a C_as axis_a . f_a. Sections that
turn add their own moments.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca

from ...compiler import Tracer, matrix, vector
from ._beams import TracedBeam, beams
from ._boltzmann_hamel_links import TreeLink


class BendingLink(NamedTuple):
    """A flexible body on the link with the index `link` (-1: the ground). p, R: origin and axes of
    its frame there.
    """

    beam: TracedBeam
    link: int
    R: ca.SX
    p: ca.SX

    def needed(
        self, w: ca.SX, dw: ca.SX, acceleration: ca.SX, rate: ca.SX, bend: ca.SX
    ) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Return the moment about O_i and the force in the link's axes that the motion of the body
        requires, and the generalised forces along e'. acceleration: R'' + g of O_i; rate, bend: e',
        e''.
        """
        beam, R = self.beam, self.R
        at = R.T @ (acceleration + ca.cross(dw, self.p) + ca.cross(w, ca.cross(w, self.p)))
        w = R.T @ w
        dw = R.T @ dw
        places = beam.places()
        shift = beam.C @ rate
        twice = beam.C @ bend + ca.jtimes(beam.C, beam.e, rate) @ rate
        A = [at]
        axes = [beam.axis(k) for k in range(beam.c.numel())]
        for k, n in enumerate(axes):
            r = places[:, k + 1]
            A.append(
                ca.cross(dw, r)
                + ca.cross(w, ca.cross(w, r))
                + 2 * ca.cross(w, n) * shift[k]
                + n * twice[k]
            )
        f = ca.horzsplit(ca.horzcat(*A) @ beam.masses)
        moment, rows = self._sections(w, dw, rate, bend)
        moment += sum((ca.cross(places[:, k], f[k]) for k in range(1, len(f))), ca.SX(3, 1))
        rows += beam.C.T @ ca.vertcat(*(ca.dot(n, x) for n, x in zip(axes, f[1:])))
        return R @ moment + ca.cross(self.p, R @ f[0]), R @ f[0], rows

    def _sections(self, w: ca.SX, dw: ca.SX, rate: ca.SX, bend: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Return the moment, and the generalised forces along e', of sections that rotate at omega
        + chi e' about the body's axes.
        """
        b = self.beam
        H = ca.vertcat(*(b.J[d] * (w[d] + ca.dot(b.chi1[d], rate)) for d in range(3)))
        turned = ca.vertcat(*(b.J[d] * (dw[d] + ca.dot(b.chi1[d], bend)) for d in range(3)))
        rows = sum(
            (b.J[d] * (b.chi1[d] * dw[d] + b.chi2[d] @ bend) for d in range(3)),
            ca.SX.zeros(rate.numel()),
        )
        return turned + ca.cross(w, H), rows

    def quasi_inertia(self) -> ca.SX:
        """Return B (6 + n, 6 + n) of (omega, V, e'), along the body's axes."""
        b = self.beam
        s = ca.skew(self.beam.first(self.beam.c))
        turn = b.crossed(b.c, b.C) + ca.vertcat(*(b.J[d] * b.chi1[d].T for d in range(3)))
        bent = b.trace(b.C, b.C) + sum(
            (b.J[d] * b.chi2[d] for d in range(3)), ca.SX(len(b.own), len(b.own))
        )
        push = b.first(b.C)
        return ca.blockcat(
            [[b.inertia, s, turn], [s.T, b.m * ca.SX.eye(3), push], [turn.T, push.T, bent]]
        )


def bending_links(s: Tracer, chain: list[TreeLink]) -> list[BendingLink]:
    """Return the modal flexible bodies, each on its link."""
    found = []
    for beam in beams(s):
        node, R, p = s.seat(beam.body)
        own = [i for i, link in enumerate(chain) if link.name == beam.body] + [
            i for i, link in enumerate(chain) if link.node == node >= 0
        ]
        found.append(BendingLink(beam, own[0] if own else -1, matrix(R), vector(p)))
    return found
