"""The registry of costs of an optimal motion. A cost is the integral over time of an expression of
the system's symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import casadi as ca

from ..errors import StudyError
from ..registry import Registry
from ..sensitivity import expression, symbols
from ..simulation.system import System


@dataclass(frozen=True)
class Cost:
    """A cost of a motion.

    rate: its rate per second. doc: one line for help texts. work: whether it is the work of every
    motor, each counted positive, which has no rate.
    """

    name: str
    rate: Callable[[System], ca.SX]
    doc: str
    work: bool = False


COSTS: Registry[Cost] = Registry(
    "cost",
    [
        Cost("time", lambda s: ca.SX(1), "the duration, s"),
        Cost(
            "torque squared",
            lambda s: ca.SX(ca.sumsqr(s.u)),
            "the integral of the squares of all joint forces",
        ),
        Cost(
            "energy",
            lambda s: ca.SX(0),
            "the work that each joint force does in an interval, counted positive, J",
            work=True,
        ),
    ],
)


def cost_rate(system: System, cost: str | Mapping[str, float]) -> tuple[ca.SX, float]:
    """Return the rate of a cost, and the weight of work in it.

    cost: a name, an expression such as "tau_x^2 + 0.1*v_theta^2", or {name or expression: weight}.
    """
    parts = {cost: 1.0} if isinstance(cost, str) else dict(cost)
    if not parts:
        raise StudyError(
            f"optimize: no cost is given; costs are {', '.join(COSTS)}, or a text such as 'tau_x^2'"
        )
    total = ca.SX(0)
    work = 0.0
    table = symbols(system)
    for name, weight in parts.items():
        known = COSTS.get(name)
        rate = (
            known.rate(system)
            if known
            else expression(name, table, f"optimize: cost ({', '.join(COSTS)}, or a text)")
        )
        total = total + float(weight) * rate
        work = work + float(weight) * (known is not None and known.work)
    if work < 0.0:
        raise StudyError(
            f"optimize: cost {cost!r} rewards work that is counted positive; its weight cannot be"
            " negative"
        )
    return total, work
