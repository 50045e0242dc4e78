"""Settling: a state put back onto its constraints, the shortest way in the metric of the mass matrix.

    q <- q moved by M^-1 A' mu, A M^-1 A' mu = -e,      v <- v + M^-1 A' mu, A M^-1 A' mu = -A v

for the rows that are on: loops always, what can be held while it is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import casadi as ca

from ..compiler.trace import Tracer, smallest_change
from ..kernels.motion import BALL


class Binding(NamedTuple):
    """Rows that bind a state: residuals, their rates, A, the switches z (1: on, 0: off), and N of `kernels.rank`."""

    error: ca.SX
    rate: ca.SX
    A: ca.SX
    z: ca.SX
    size: list[Any]


def nearest(s: Tracer, rows: Binding, r: ca.SX) -> ca.SX:
    """The smallest change of the speeds, by kinetic energy, with A change = r in the rows that are on."""
    A = ca.densify(ca.diag(rows.z) @ rows.A)
    return smallest_change(s._factor, A, ca.densify(rows.z * r), s.con.column, rows.size)[0]


def moved(s: Tracer, h: Any) -> ca.SX:
    """q after moving with the speeds v for a time h: turns of balls exactly, quaternions kept at length one."""
    q = [s.q[k] for k in range(s.layout.nq)]
    for place in s.layout.coordinates:
        k, l = place.qi, place.vi
        if place.motion == BALL:
            half = 0.5 * h * s.v[l : l + 3]
            angle = ca.sqrt(ca.sumsqr(half) + 1e-300)
            c, w = ca.cos(angle), ca.sin(angle) / angle * half
            a, b = q[k], ca.vertcat(*q[k + 1 : k + 4])
            turned = ca.vertcat(a * c - ca.dot(b, w), a * w + c * b + ca.cross(b, w))
            turned = turned / ca.sqrt(ca.sumsqr(turned))
            q[k : k + 4] = [turned[i] for i in range(4)]
        else:
            q[k] = s.q[k] + h * s.v[l]
    return ca.vertcat(*q)


def projected(s: Tracer, balls: list[int], rows: Binding | None, modes: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Unit quaternions, then one mass-weighted Newton step onto the rows, positions first."""
    q, v, given = s.q, s.v, [s.t, s.q, s.v, s.p, modes]
    for k in balls:
        unit = q[k : k + 4] / ca.sqrt(ca.sumsqr(q[k : k + 4]))
        q = ca.vertcat(q[:k], unit, q[k + 4 :])
    if rows is None:
        return q, v
    if not rows.error.is_zero():
        shift = ca.Function("shift", given, [nearest(s, rows, -rows.error)])(s.t, q, v, s.p, modes)
        q = ca.Function("moved", [s.q, s.v], [moved(s, 1.0)])(q, shift)
    return q, v + ca.Function("slow", given, [nearest(s, rows, -rows.rate)])(s.t, q, v, s.p, modes)
