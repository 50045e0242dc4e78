"""Costs of an optimal motion by name: what is integrated over time, as an expression of the system's symbols. A registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import casadi as ca

from ...errors import StudyError
from ...errors.registry import Registry
from ...simulation.system import System
from ..outputs import expression, symbols

SMOOTH = 1e-3  # W: below it the power of a joint counts less than its absolute value, so that it has a derivative at zero


@dataclass(frozen=True)
class Cost:
    """A cost: its name, its rate (per second) and one line for people."""

    name: str
    rate: Callable[[System], ca.SX]
    doc: str


def _energy(s: System) -> ca.SX:
    power = s.u * s.v
    return ca.sum1(ca.sqrt(power**2 + SMOOTH**2) - SMOOTH)


COSTS: Registry[Cost] = Registry("cost", [
    Cost("time", lambda s: ca.SX(1), "the duration, s"),
    Cost("torque squared", lambda s: ca.sumsqr(s.u), "the integral of the squares of all joint forces"),
    Cost("energy", _energy, f"the work of the joint forces, each counted positive, J (smooth below {SMOOTH:g} W)"),
])  # fmt: skip


def cost_rate(system: System, cost: str | Mapping[str, float]) -> ca.SX:
    """The rate of a cost: a name, a text such as "tau_x^2 + 0.1*v_theta^2", or {name or text: weight}."""
    parts = {cost: 1.0} if isinstance(cost, str) else dict(cost)
    if not parts:
        raise StudyError(f"optimize: no cost is given; costs are {', '.join(COSTS)}, or a text such as 'tau_x^2'")
    total, table = ca.SX(0), symbols(system)
    for name, weight in parts.items():
        rate = COSTS[name].rate(system) if name in COSTS else expression(name, table, f"optimize: cost ({', '.join(COSTS)}, or a text)")
        total = total + float(weight) * rate
    return total
