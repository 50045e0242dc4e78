"""The dynamics of a mechanism as a frame of it sees them: responses to a wrench on the frame."""

from __future__ import annotations

import casadi as ca

from .trace import Tracer


def frame_dynamics(s: Tracer, frame: str, axes: str) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
    """Return J M^-1 J' (6, 6), M^-1 J' (nv, 6), the frame's acceleration at tau = 0 (6,), and J.

    M^-1 is the derivative of the forward dynamics by tau, so that it obeys loops and speed rows.
    """
    a = s.forward_dynamics()
    J = s.jacobian(frame, axes)
    omega = ca.jacobian(a, s.tau) @ J.T
    at_rest = ca.substitute(a, s.tau, ca.SX.zeros(s.tau.numel()))
    return (
        ca.densify(J @ omega),
        ca.densify(omega),
        ca.densify(J @ at_rest + s.jacobian_rate(frame, axes)),
        ca.densify(J),
    )
