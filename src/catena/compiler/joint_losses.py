"""Losses in the joints: viscous damping, and Coulomb friction smoothed over small speeds.

    f = -d v - F tanh(v / SMOOTH)        along each speed; d and F include those of joints that
                                         follow

Every computation with losses uses this: simulations, `machine.losses`, the questions about motor
forces, `catena inverse`, studies.
"""

from __future__ import annotations

import casadi as ca

from ..model import SMOOTH, per_speed
from .trace import Tracer


def damping(s: Tracer) -> ca.Function:
    """Return the function (v, p) -> (nv,), the joint forces of damping."""
    d = ca.vertcat(*(s.value(x) for x in per_speed(s.layout.mechanism, "damping")))
    return ca.Function("damping", [s.v, s.p], [-d * s.v])


def coulomb(s: Tracer) -> ca.Function:
    """Return the function p -> (nv,), the limits of Coulomb friction along each speed, N or N m."""
    F = ca.vertcat(*(s.value(x) for x in per_speed(s.layout.mechanism, "friction")))
    return ca.Function("coulomb", [s.p], [ca.densify(F)])


def losses(s: Tracer) -> ca.Function:
    """Return the function (v, p) -> (nv,), the joint forces of damping and of smoothed Coulomb
    friction.
    """
    coulomb = [s.value(x) for x in per_speed(s.layout.mechanism, "friction")]
    dry = ca.vertcat(*coulomb) * ca.tanh(s.v / SMOOTH) if any(map(_acts, coulomb)) else 0.0
    return ca.Function("losses", [s.v, s.p], [damping(s)(s.v, s.p) - dry])


def loss_forces(s: Tracer) -> ca.SX:
    """Return the forces of `losses` (nv,) as an expression of this tracer's speeds and
    parameters.
    """
    return losses(s)(s.v, s.p)


def _acts(x: object) -> bool:
    """Return whether a value is not zero; an expression counts as nonzero."""
    return not isinstance(x, (int, float)) or x != 0.0
