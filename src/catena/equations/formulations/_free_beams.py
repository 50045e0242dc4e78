"""Bodies that bend by modes, for formulations in absolute velocities: Newton's and Euler's laws,
and one balance per amplitude.

The frame of the body sits on its link. A point of it is at r = sum_a c_a(e) B_a axis_a in that
frame (`_beams`) and has the acceleration sum_a A_a B_a there, A_0 that of the frame's origin. With
m_ab the integrals of rho B_a B_b,

    f_a = sum_b m_ab A_b
    force = f_0 - m_00 g,  moment about the frame's origin = sum_a c_a axis_a x f_a,
            of amplitude s: sum_a (dc_a/de_s) axis_a . f_a

is what its joints, its strain and the bodies attached to it must provide. Sections that rotate at w
+ chi e' require an additional moment. All of it is linear in V' = (u', w' of the links, e'').
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca

from ...compiler import matrix, vector
from ..absolute.joint_constraints import Bodies
from ._beams import TracedBeam, beams


class Needed(NamedTuple):
    """The forces that the motion of a flexible body requires. force, torque (about its frame's
    origin): along its own axes. along: the generalised force of each amplitude.
    """

    torque: ca.SX
    force: ca.SX
    along: ca.SX


class FreeBeam:
    """A body that bends, on the link with the index `link` (-1: the ground). p, R: origin and axes
    of its frame there.
    """

    def __init__(self, b: Bodies, beam: TracedBeam):
        self.b = b
        self.beam = beam
        self.at = b.bending[beam.body].V
        side = b.frame(beam.body)
        self.link, self.R, self.p = side.link, matrix(side.R), vector(side.p)

    @property
    def axes(self) -> ca.SX:
        """The axes of its frame, in the ground."""
        return self.R if self.link < 0 else matrix(self.b.axes(self.link)) @ self.R

    @property
    def origin(self) -> ca.SX:
        """The origin of its frame, in the ground."""
        return (
            self.p
            if self.link < 0
            else vector(self.b.centre(self.link)) + matrix(self.b.axes(self.link)) @ self.p
        )

    def motion(self, V: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Return angular velocity and velocity of its frame along its own axes, and e', from V; or
        their rates from V'.
        """
        if (k := self.link) < 0:
            return ca.SX(3, 1), ca.SX(3, 1), V[self.at]
        w = V[6 * k + 3 : 6 * k + 6]
        u = matrix(self.b.axes(k)).T @ V[6 * k : 6 * k + 3] + ca.cross(w, self.p)
        return self.R.T @ w, self.R.T @ u, V[self.at]

    def needed(self, moved: ca.SX, gravity: ca.SX) -> Needed:
        """Return the forces that the motion with the accelerations V' (moved) requires."""
        beam, b = self.beam, self.b
        (w, u, rate), (alpha, linear, bend) = self.motion(b.V), self.motion(moved)
        fields = beam.velocities(w, u, rate)
        A = (
            beam.velocities(alpha, linear, bend)
            + ca.reshape(b.rate(ca.vec(fields)), fields.shape)
            + ca.skew(w) @ fields
        )
        A[:, 0] -= self.axes.T @ gravity
        f = A @ beam.masses
        places = beam.places()
        turn, along = self.sections(moved)
        along += beam.C.T @ ca.vertcat(
            *(ca.dot(beam.axis(k), f[:, k + 1]) for k in range(beam.c.numel()))
        )
        torque = sum((ca.cross(places[:, k], f[:, k]) for k in range(1, places.shape[1])), turn)
        return Needed(torque, f[:, 0], along)

    def sections(self, moved: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Return the torque, and the forces along the amplitudes, that sections require which
        rotate at w + chi e' about the body's axes.
        """
        beam, (w, _, rate), (alpha, _, bend) = self.beam, self.motion(self.b.V), self.motion(moved)
        H = ca.vertcat(*(beam.J[d] * (w[d] + ca.dot(beam.chi1[d], rate)) for d in range(3)))
        turned = ca.vertcat(
            *(beam.J[d] * (alpha[d] + ca.dot(beam.chi1[d], bend)) for d in range(3))
        )
        along = (beam.J[d] * (beam.chi1[d] * alpha[d] + beam.chi2[d] @ bend) for d in range(3))
        return turned + ca.cross(w, H), sum(along, ca.SX(bend.numel(), 1))

    def balance(self, x: Needed) -> ca.SX:
        """Return the forces x as components along V: force and torque on its link, and forces along
        its amplitudes.
        """
        found = ca.SX(self.b.V.numel(), 1)
        found[self.at] = x.along
        if (k := self.link) >= 0:
            force = self.R @ x.force
            found[6 * k : 6 * k + 3] = matrix(self.b.axes(k)) @ force
            found[6 * k + 3 : 6 * k + 6] = self.R @ x.torque + ca.cross(self.p, force)
        return found


def beam_masses(b: Bodies) -> ca.SX:
    """Return the terms that bodies that bend add to the mass matrix of V."""
    moved = ca.SX.sym("moved", b.V.numel())
    total = ca.SX(b.V.numel(), b.V.numel())
    for x in free_beams(b):
        total += ca.sparsify(ca.jacobian(x.balance(x.needed(moved, ca.SX(3, 1))), moved))
    return total


def beam_bias(b: Bodies) -> ca.SX:
    """Return the forces along V that flexible bodies require without accelerations, less their
    weight.
    """
    still = ca.SX(b.V.numel(), 1)
    g = gravity(b)
    return sum((x.balance(x.needed(still, g)) for x in free_beams(b)), still)


def beam_wrenches(b: Bodies, moved: ca.SX) -> dict[str, ca.SX]:
    """Return {body: wrench}, about the ground's origin in its axes, that each flexible body
    requires at the accelerations V' (moved), in addition to its weight.
    """
    found = {}
    for x in free_beams(b):
        need = x.needed(moved, gravity(b))
        force = x.axes @ need.force
        found[x.beam.body] = ca.vertcat(x.axes @ need.torque + ca.cross(x.origin, force), force)
    return found


def free_beams(b: Bodies) -> list[FreeBeam]:
    """Return the modal flexible bodies."""
    return [FreeBeam(b, beam) for beam in beams(b.tracer)]


def gravity(b: Bodies) -> ca.SX:
    """Return the mechanism's gravity, along the ground's axes."""
    return vector([b.value(z) for z in b.mechanism.gravity])
