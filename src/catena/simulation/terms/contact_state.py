"""Gaps, places, rates and rows of the contacts of a system at a state, as expressions."""

from __future__ import annotations

import casadi as ca

from ...compiler import Tracer, vector
from .symbols import SystemSymbols


def contact_state(system: SystemSymbols) -> list[ca.SX]:
    """Return, for k contact points with m rows: gaps (k,), m; places (3 k,), m; rates (m,) of the
    rows, m/s; their axes (3 m,); and, as one vector, the directions in which the forces of all
    switched rows act, zero where these are off, followed by the constraint rows A.
    """
    h = system.holding

    def seen(s: Tracer) -> list[ca.SX]:
        meets = [c.meet(s, h._symbolic(h.first_contact + k)) for k, c in enumerate(h.contacts)]
        _, rate, _, B, z = h.rows(s)
        F, _, _ = h._force_directions(s, rate, B, z)
        count = sum(c.count for c in h.contacts)
        closed = s.layout.mechanism.constrained
        A = s.constraint_rows()[3] if closed else ca.SX.zeros(0, s.layout.nv)
        acting = ca.diag(z) @ F
        return [
            vector([m.gap for m in meets]),
            vector([x for m in meets for x in m.place]),
            rate[-count:],
            vector([x for m in meets for axis in m.axes for x in axis]),
            ca.vec(ca.vertcat(acting, A).T),
        ]

    return list(
        system.tape("contact state", "", seen, modes=True)(
            system.t, system.q, system.v, system.p, h.symbols
        )
    )
