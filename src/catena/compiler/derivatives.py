"""Derivatives of the dynamics as expressions: d/dq is along the speeds, so that a quaternion has three columns."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..kernels import dynamics
from .symbols import elements, matrix
from .trace import Tracer


def _tangent(s: Tracer, f: ca.SX, *others: ca.SX) -> tuple[ca.SX, ...]:
    """df/dq along the speeds (nv columns), then df/d of each further argument."""
    N = ca.jacobian(s.coordinate_rate(), s.v)
    first = ca.jacobian(f, s.q) @ N
    return tuple(ca.densify(x) for x in (first, *(ca.jacobian(f, x) for x in others)))


def inverse_dynamics_derivatives(s: Tracer) -> tuple[ca.SX, ...]:
    """d tau / d(q, v, a) and, where there are parameters, d tau / dp."""
    f = ca.cse(s.inverse_dynamics())
    free = (s.p,) if s.p.numel() else ()
    dq, dv, *dp = _tangent(s, f, s.v, *free)
    return (dq, dv, s.mass_matrix(), *dp)


def forward_dynamics_derivatives(s: Tracer) -> tuple[ca.SX, ...]:
    """d a / d(q, v, tau, p) = -M^-1 d(inverse dynamics) at the acceleration found; d a / d tau = M^-1."""
    nv = s.layout.nv
    free = (s.p,) if s.p.numel() else ()
    if s.layout.mechanism.loops or s.layout.mechanism.nonholonomic:
        dq, dv, dtau, *dp = _tangent(s, ca.cse(s.forward_dynamics()), s.v, s.tau, *free)
        return (dq, dv, dtau, *dp)
    f = ca.cse(s.inverse_dynamics())
    parts = _tangent(s, f, s.v, *free)
    at_a = ca.Function("at_a", [s.t, s.q, s.v, s.a, s.p, s.w], list(parts))
    acceleration = _solved(s, s.tau - s.bias())  # by the same factor as the slopes
    parts = tuple(at_a.call([s.t, s.q, s.v, acceleration, s.p, s.w]))
    dq, dv, *dp = (_solved(s, -part) for part in parts)
    return (dq, dv, _solved(s, ca.SX.eye(nv)), *dp)


def _solved(s: Tracer, B: ca.SX) -> ca.SX:
    """M^-1 B, column by column: zeros of B cost nothing."""
    solved = [np.array(elements(ca.densify(B[:, k])), dtype=object) for k in range(B.shape[1])]
    for column in solved:
        dynamics.solve(s._factor, column)
    return ca.densify(matrix(np.array(solved, dtype=object).T))
