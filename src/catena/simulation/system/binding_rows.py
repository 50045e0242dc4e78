"""The constraint rows of a system as traced functions: loops and speed rows, switched constraints
in their current modes, contact points; and the projection of a state onto them.
"""

from __future__ import annotations

import casadi as ca

from ...compiler import Tracer
from ...equations import StateKind
from ...kernels import BALL
from ..terms.projection import Binding, projected
from ..terms.symbols import SystemSymbols


def binding(system: SystemSymbols) -> ca.Function:
    """Return the function (t, q, v, p, modes) -> M, A, A v, B, B v, z. M is the mass matrix; A are
    the rows of loops and speed rows, B those of the switched constraints; z is one for each active
    row of B, else zero.
    """
    closed = system.mechanism.constrained

    def rows(s: Tracer) -> tuple[ca.SX, ...]:
        _, rate, _, A = (
            s.constraint_rows()
            if closed
            else (None, ca.SX.zeros(0), None, ca.SX.zeros(0, system.nv))
        )
        _, held, _, B, z = system.holding.rows(s)
        return s.mass_matrix(), A, rate, B, held, z

    return system.tape("binding", "", rows, modes=True)


def touching(system: SystemSymbols) -> ca.Function:
    """Return the function (t, q, v, p, modes) -> gaps (k,) of the contact points, and gamma of
    their rows, where B a = gamma keeps a contact closed.
    """

    def rows(s: Tracer) -> tuple[ca.SX, ...]:
        error, _, gamma, _, _ = system.holding.contact_terms(s)
        return ca.vertcat(*(error[at][0] for at in system.holding.contact_rows())), gamma

    return system.tape("touching", "", rows, modes=True)


def settle(system: SystemSymbols) -> ca.Function | None:
    """Return the function that projects a state x onto the constraints, or None where there are
    none. Quaternions become unit quaternions, loops are closed by a mass-weighted projection, and
    speeds are projected onto the rows; driven coordinates are set to their prescribed motion.
    """
    balls = any(node.motion == BALL for node in system.layout.nodes)
    redundant = system.formulation.state is StateKind.BODIES
    here = (system.t, system.q, system.v, system.p)
    modes = system.holding.symbols
    if system.driven is not None:
        q, v = system.driven.settled()(*here, *system.aim(system.t)[:2])
    elif system.formulation.approximate or not (balls or system.binds or redundant):
        return None
    else:
        onto = lambda s: projected(s, _rows(system, s) if system.binds else None, modes)  # noqa: E731
        q, v = system.tape(
            "projected", [system.binds, system.stabiliser.projects], onto, modes=True
        )(*here, modes)
    x = system.equations.encode(q, v, system.p)
    return ca.Function(
        "settle", system.inputs, [ca.cse(ca.densify(ca.vertcat(x, system.c, system.work)))]
    )


def _rows(system: SystemSymbols, s: Tracer) -> Binding:
    """Return the rows onto which a state is projected: loops, speed rows and active constraints."""
    error = ca.SX.zeros(0)
    rate = ca.SX.zeros(0)
    A = ca.SX.zeros(0, system.nv)
    size = []
    if system.mechanism.constrained and system.stabiliser.projects:
        error, rate, _, A = s.constraint_rows()
        size = s.row_scales()
    e, r, _, B, z = system.holding.rows(s)
    z = ca.vertcat(ca.SX.ones(error.numel()), z)
    error, rate, A, z = (
        ca.densify(x) for x in (ca.vertcat(error, e), ca.vertcat(rate, r), ca.vertcat(A, B), z)
    )
    size = size + system.holding.row_scales(s)
    return Binding(error, rate, A, z, size, system.holding.many, system.light)
