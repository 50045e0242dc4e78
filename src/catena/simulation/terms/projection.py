"""Projection of a state onto its constraints, by the smallest change in the metric of the mass
matrix.

    q <- q moved by M^-1 A' mu, A M^-1 A' mu = -e,      v <- v + M^-1 A' mu, A M^-1 A' mu = -A v

for the active rows: those of loops always, switched constraints while they are on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import casadi as ca

from ...compiler import Tracer, entries, factored, looped, matrix, row_inertia, smallest_change
from ...kernels import BALL, Layout
from .light_motions import LIGHT_INERTIA_RATIO, inertia_of_choice


class Binding(NamedTuple):
    """Rows onto which a state is projected: residuals and rates (m,), A (m, nv), the switches z
    (m,) (1: on, 0: off), and the scales of the rows by which their rank is decided (N of
    `kernels.rank`). many: whether there are so many rows that the compiled code uses loops for
    them. light: whether motions may have no inertia (`light_motions.py`); they are then given some.
    """

    error: ca.SX
    rate: ca.SX
    A: ca.SX
    z: ca.SX
    size: list[Any]
    many: bool = False
    light: bool = False


def nearest(s: Tracer, rows: Binding, r: ca.SX, free: list[int]) -> ca.SX:
    """Return the smallest change (nv,) of the free speeds, measured by kinetic energy, with A
    change = r in the active rows.
    """
    change = ca.SX.zeros(s.layout.nv)
    if rows.light:
        light = LIGHT_INERTIA_RATIO * inertia_of_choice(s)
        M = s.mass_matrix() + ca.diag(ca.SX(light))
        L = factored(entries(ca.densify(M[free, free])))
    elif len(free) < s.layout.nv:
        M = s.mass_matrix()[free, free]
        if s.massless:  # the projection is then measured by the rows as well
            B = ca.diag(rows.z) @ rows.A[:, free]
            M = M + row_inertia(s, B, rows.size, free) @ B
        L = factored(entries(M))
    else:
        L = s._factor
    A = rows.A[:, free]
    column = s.con.column[free]
    if rows.many:
        (change[free],) = looped.call(
            "row_change", A.shape, A, matrix(L), r, rows.z, rows.size, column
        )
    else:
        change[free] = smallest_change(
            L, ca.densify(ca.diag(rows.z) @ A), ca.densify(rows.z * r), column, rows.size
        )[0]
    return change


def moved(s: Tracer, h: Any) -> ca.SX:
    """Return q after a motion with the speeds v for a time h (s). Ball joints rotate exactly, so
    that their quaternions keep length one.
    """
    q = [s.q[k] for k in range(s.layout.nq)]
    for place in s.layout.coordinates:
        k, l = place.qi, place.vi
        if place.motion == BALL:
            half = 0.5 * h * s.v[l : l + 3]
            angle = ca.sqrt(ca.sumsqr(half) + 1e-300)
            c = ca.cos(angle)
            w = ca.sin(angle) / angle * half
            a = q[k]
            b = ca.vertcat(*q[k + 1 : k + 4])
            turned = ca.vertcat(a * c - ca.dot(b, w), a * w + c * b + ca.cross(b, w))
            turned = turned / ca.sqrt(ca.sumsqr(turned))
            q[k : k + 4] = [turned[i] for i in range(4)]
        else:
            q[k] = s.q[k] + h * s.v[l]
    return ca.vertcat(*q)


def with_unit_quaternions(layout: Layout, q: ca.SX) -> ca.SX:
    """Return q with the quaternions of its ball joints scaled to length one."""
    for k in (node.qi for node in layout.nodes if node.motion == BALL):
        unit = q[k : k + 4] / ca.sqrt(ca.sumsqr(q[k : k + 4]))
        q = ca.vertcat(q[:k], unit, q[k + 4 :])
    return q


def projected(
    s: Tracer,
    rows: Binding | None,
    modes: ca.SX,
    state: tuple[ca.SX, ca.SX] | None = None,
    free: list[int] | None = None,
) -> tuple[ca.SX, ca.SX]:
    """Return (q, v) with unit quaternions, after one mass-weighted Newton step of the positions,
    then of the speeds, onto the rows.

    modes: the symbols of switched constraints that the rows depend on. state: (q, v) to begin with,
    by default the tracer's symbols. free: the speeds that may change, by default all.
    """
    (q, v), given = state or (s.q, s.v), [s.t, s.q, s.v, s.p, modes]
    free = list(range(s.layout.nv)) if free is None else free
    q = with_unit_quaternions(s.layout, q)
    if rows is None:
        return q, v
    if not rows.error.is_zero():
        shift = ca.Function("shift", given, [nearest(s, rows, -rows.error, free)])(
            s.t, q, v, s.p, modes
        )
        q = ca.Function("moved", [s.q, s.v], [moved(s, 1.0)])(q, shift)
    return q, v + ca.Function("slow", given, [nearest(s, rows, -rows.rate, free)])(
        s.t, q, v, s.p, modes
    )
