"""Derivatives of the dynamics as expressions: d/dq is taken along the speeds, so that a quaternion
has three columns.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from ..kernels import inverse_dynamics_derivatives as closed_form
from .symbols import elements, matrix
from .trace import Tracer


def _tangent(s: Tracer, f: ca.SX, *others: ca.SX) -> tuple[ca.SX, ...]:
    """Return df/dq along the speeds (nv columns), then df/d of each further argument."""
    N = ca.jacobian(s.coordinate_rate(), s.v)
    first = ca.jacobian(f, s.q) @ N
    return tuple(ca.densify(x) for x in (first, *(ca.jacobian(f, x) for x in others)))


def inverse_dynamics_derivatives(s: Tracer) -> tuple[ca.SX, ...]:
    """Return d tau / d(q, v, a) and, where there are parameters, d tau / dp."""
    dq, dv, *dp = _slopes(s, s.a)
    return (dq, dv, s.mass_matrix(), *dp)


def forward_dynamics_derivatives(s: Tracer) -> tuple[ca.SX, ...]:
    """Return d a / d(q, v, tau, p) = -M^-1 d(inverse dynamics) at the acceleration found; d a / d
    tau = M^-1.
    """
    if s.layout.mechanism.constrained:
        return _tangent(s, ca.cse(s.forward_dynamics()), s.v, s.tau, *_free(s))
    inverse = _Inverse(s)
    dq, dv, *dp = (inverse(-part) for part in _slopes(s, inverse(s.tau - s.bias())))
    return (dq, dv, inverse.whole(), *dp)


def _free(s: Tracer) -> tuple[ca.SX, ...]:
    """Return the parameters as a list of arguments to differentiate by; an empty list where there
    are none.
    """
    return (s.p,) if s.p.numel() else ()


def _slopes(s: Tracer, a: ca.SX) -> tuple[ca.SX, ...]:
    """Return d tau / d(q, v, p) of inverse dynamics at the acceleration a. If only bodies and
    joints act, it is in closed form.
    """
    if s.flexible or s.lift or s.wrenches or s.layout.mechanism.loads:
        return _at(s, a, _tangent(s, ca.cse(s.inverse_dynamics()), s.v, *_free(s)))
    nv = s.layout.nv
    dq, dv, M = (s.blank(nv, nv) for _ in range(3))
    closed_form(s.light, s.Q, s.V, elements(a), s.work(), dq, dv, M)
    dp = _at(s, a, [ca.densify(ca.jacobian(ca.cse(s.inverse_dynamics()), p)) for p in _free(s)])
    return (matrix(dq), matrix(dv), *dp)


def _at(s: Tracer, a: ca.SX, parts: Sequence[ca.SX]) -> tuple[ca.SX, ...]:
    """Return expressions of the symbols s.a with another acceleration substituted."""
    return (
        tuple(
            ca.Function("at_a", [s.t, s.q, s.v, s.a, s.p, s.w], list(parts)).call(
                [s.t, s.q, s.v, a, s.p, s.w]
            )
        )
        if parts
        else ()
    )


class _Inverse:
    """M^-1 = N D^-1 N' with N = L^-1 from M = L' D L. A speed is coupled only to those of its
    ancestors in the tree, so that independent branches cost nothing.
    """

    def __init__(self, s: Tracer):
        F = ca.sparsify(matrix(s._factor))
        L = ca.tril(F, False) + ca.SX.eye(s.layout.nv)
        self.N, self.inverted = (
            ca.sparsify(ca.solve(L, ca.SX.eye(s.layout.nv))),
            ca.diag(ca.diag(F)),
        )

    def __call__(self, B: ca.SX) -> ca.SX:
        """Return the solution M^-1 B of equations with the mass matrix."""
        return ca.densify(self.N @ (self.inverted @ (self.N.T @ ca.sparsify(B))))

    def whole(self) -> ca.SX:
        """Return M^-1; one half of it is computed, the other follows by symmetry."""
        return ca.densify(ca.tril2symm(ca.tril(self.N @ (self.inverted @ self.N.T))))
