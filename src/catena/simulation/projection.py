"""Settling: a state put back onto its constraints, the shortest way in the metric of the mass matrix.

    q <- q moved by M^-1 A' mu, A M^-1 A' mu = -e,      v <- v + M^-1 A' mu, A M^-1 A' mu = -A v

for the rows that are on: loops always, what can be held while it is.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from ..compiler.trace import Tracer, elements, vector
from ..kernels.constrained_dynamics import proximal
from ..kernels.dynamics import solve
from ..kernels.motion import BALL


def switched(S: ca.SX, r: ca.SX, z: ca.SX) -> ca.SX:
    """mu with S mu = r in the rows that are on (z = 1), and zero in those that are off (z = 0)."""
    m = z.numel()
    on, L, mu = np.full((m, m), 0.0, dtype=object), np.full((m + 1, m), 0.0, dtype=object), np.full(m, 0.0, dtype=object)
    for i in range(m):
        for j in range(m):
            on[i, j] = z[i] * z[j] * S[i, j] + ((1.0 - z[i]) * S[i, i] if i == j else 0.0)
    proximal(on, elements(z * r), mu, L)
    return vector(mu)


def nearest(s: Tracer, A: ca.SX, r: ca.SX, z: ca.SX) -> ca.SX:
    """The smallest change of the speeds, by kinetic energy, with A change = r in the rows that are on."""
    columns = []
    for k in range(A.shape[0]):
        column = np.array(elements(A[k, :]), dtype=object)
        solve(s._factor, column)
        columns.append(vector(column))
    Y = ca.horzcat(*columns)  # M^-1 A'
    return ca.mtimes(Y, switched(ca.mtimes(A, Y), r, z))


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


def projected(s: Tracer, balls: list[int], rows: tuple[ca.SX, ...] | None, modes: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Unit quaternions, then one mass-weighted Newton step onto the rows (residuals, rates, A, switches), positions first."""
    q, v, given = s.q, s.v, [s.t, s.q, s.v, s.p, modes]
    for k in balls:
        unit = q[k : k + 4] / ca.sqrt(ca.sumsqr(q[k : k + 4]))
        q = ca.vertcat(q[:k], unit, q[k + 4 :])
    if rows is None:
        return q, v
    error, rate, A, z = rows
    if not error.is_zero():
        shift = ca.Function("shift", given, [nearest(s, A, -error, z)])(s.t, q, v, s.p, modes)
        q = ca.Function("moved", [s.q, s.v], [moved(s, 1.0)])(q, shift)
    return q, v + ca.Function("slow", given, [nearest(s, A, -rate, z)])(s.t, q, v, s.p, modes)
