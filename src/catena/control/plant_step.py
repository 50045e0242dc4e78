"""The dynamics of a mechanism with independent coordinates, and one step in time, as expressions.

x = (q, v), x' = f(x, tau) with the viscous damping of the joints
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca

from ..compiler import Tracer
from ..errors import QuestionError
from ..machine import Machine
from ..model import per_speed, value_of

Rate = Callable[[ca.SX, ca.SX], ca.SX]


def require_independent(question: str, machine: Machine) -> None:
    """Raise a QuestionError where a machine has loops, speed rows or quaternions."""
    if machine.rows or machine.nq != machine.nv:
        what = "closed loops or speed rows" if machine.rows else "ball or free joints"
        raise QuestionError(
            f"{question}: mechanism {machine.mechanism.name!r} has {what}; it takes mechanisms"
            " whose coordinates are independent and without quaternions"
        )


def plant_rate(machine: Machine) -> Rate:
    """Return the function (x, tau) -> x' of symbols, with the machine's own parameters."""
    s = Tracer(machine.layout, machine.snap)
    p = machine.mechanism.parameters
    damping = ca.DM([value_of(d, p) for d in per_speed(machine.mechanism, "damping")])
    forward = ca.Function("forward", [s.q, s.v, s.tau, s.p, s.t], [s.forward_dynamics()])
    nq = machine.nq

    def rate(x: ca.SX, tau: ca.SX) -> ca.SX:
        v = x[nq:]
        return ca.vertcat(v, forward(x[:nq], v, tau - damping * v, list(p.values()), 0.0))

    return rate


def rk4_step(rate: Rate, x: ca.SX, tau: ca.SX, h: float) -> ca.SX:
    """Return the state after one step of RK4 of h seconds with constant forces."""
    k1 = rate(x, tau)
    k2 = rate(x + 0.5 * h * k1, tau)
    k3 = rate(x + 0.5 * h * k2, tau)
    k4 = rate(x + h * k3, tau)
    return x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
