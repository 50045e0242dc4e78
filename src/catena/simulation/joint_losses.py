"""Losses in the joints: viscous damping, and Coulomb friction smoothed over small speeds."""

from __future__ import annotations

import casadi as ca

from ..compiler.trace import Tracer
from ..model.followers import per_speed
from ..model.motions import SMOOTH
from .switched_constraints import nonzero


def damping(s: Tracer) -> ca.Function:
    """(v, p) -> (nv,): the joint forces of damping."""
    d = ca.vertcat(*(s.value(x) for x in per_speed(s.layout.mechanism, "damping")))
    return ca.Function("damping", [s.v, s.p], [-d * s.v])


def losses(s: Tracer) -> ca.Function:
    """(v, p) -> (nv,): the joint forces of damping and of Coulomb friction, smoothed over small
    speeds.
    """
    coulomb = [s.value(x) for x in per_speed(s.layout.mechanism, "friction")]
    dry = ca.vertcat(*coulomb) * ca.tanh(s.v / SMOOTH) if any(nonzero(x) for x in coulomb) else 0.0
    return ca.Function("losses", [s.v, s.p], [damping(s)(s.v, s.p) - dry])
