"""The power (W) that loads, and constraint rows that depend on time, put into a mechanism, as
expressions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from ...compiler import Tracer

if TYPE_CHECKING:
    from .symbols import SystemSymbols

# sum of two powers relative to the sum of their magnitudes: a smaller one is rounding, and counts
# as zero
CANCELLED_POWER = 1e-12


def load_power(system: SystemSymbols) -> ca.SX:
    """Return the power of loads, W, less the rate of the energy stored in springs. Where springs
    alone act these are equal; the rounding of their difference is then set to zero, because
    otherwise the integrator would resolve it as work.
    """
    if not system.mechanism.loads:
        return ca.SX(0)

    def power(s: Tracer) -> list[ca.SX]:
        stored = ca.jtimes(s.applied.energy, s.q, s.coordinate_rate())
        forces = s.applied.generalised()
        net = ca.dot(forces, s.v) + stored
        size = ca.dot(ca.fabs(forces), ca.fabs(s.v)) + ca.fabs(stored)
        return [ca.if_else(ca.fabs(net) > CANCELLED_POWER * size, net, 0.0)]

    return system.tape("load power", "", power)(system.t, system.q, system.v, system.p)


def row_power(system: SystemSymbols) -> ca.SX:
    """Return the power, W, of constraints and speed rows that depend on time: lambda (A v), where A
    v = -B is not zero.
    """
    if not system.mechanism.row_records:
        return ca.SX(0)
    s = system.tracer()
    rows, _ = s.applied.rows()
    B = ca.cse(ca.substitute(rows, s.v, ca.SX.zeros(s.v.numel())))
    if B.is_zero():
        return ca.SX(0)
    lam = s.multipliers()[-rows.numel() :]
    f = ca.Function("row_power", [s.t, s.q, s.v, s.tau, s.p], [-ca.dot(lam, B)])
    return f(system.t, system.q, system.v, system.tau, system.p)
