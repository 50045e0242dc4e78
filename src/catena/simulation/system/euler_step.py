"""A step of semi-implicit Euler as one traced function."""

from __future__ import annotations

import casadi as ca

from ..terms.projection import moved
from ..terms.symbols import SystemSymbols


def euler_step(system: SystemSymbols) -> ca.Function:
    """Return the function (t, x, u, p, h) -> x after one step of semi-implicit Euler with step size
    h (s). Speeds advance by the accelerations, then coordinates by the new speeds.
    """
    h = ca.SX.sym("h")
    s = system.tracer()
    v = system.v + h * system.acceleration
    move = ca.Function("move", [s.q, s.v, h], [moved(s, h)])
    q = move(system.q, v, h)
    if system.driven is not None:
        q, v = system.driven.placed(q, v, *system.aim(system.t + h)[:2])
    x = system.equations.encode(q, v, system.p)
    more = [system.c + h * system.controller.rate, system.work + h * system.power]
    return ca.Function("step", [*system.inputs, h], [ca.cse(ca.densify(ca.vertcat(x, *more)))])
