"""Motions with little or no inertia, which contacts determine: point masses, massless legs, small
wheels.

    M a + bias = tau + B' mu,      B a = gamma       for the rows B of the closed contacts

has a unique solution also where M is singular, as long as no motion that the rows allow is without
inertia; but M^-1 does not exist, and where an inertia is small, B M^-1 B' has lost as many digits
as it is smaller than the others. Adding B' w (B a - gamma), which is zero, changes nothing:

    (M + B' w B) a + bias = tau + B' w gamma + B' mu

and this matrix is as well conditioned as the remaining motions. The weights w are those of
`compiler.massless`. While contacts are chosen, none of them is closed: the mode `inertia` of `Rest`
then adds `inertia_of_choice`, whose effect the handler of contacts subtracts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ...compiler import (
    Tracer,
    entries,
    factored,
    row_inertia,
    smallest_change,
    solved,
    whole_inertia,
)

if TYPE_CHECKING:
    from .symbols import SystemSymbols

# inertia of a motion relative to that of the whole mechanism (its mass times its squared length):
# below it, M^-1 would cost more digits than a run at its default tolerance has to spare
LIGHT_INERTIA_RATIO = 1e-5


def has_light_motions(s: Tracer) -> bool:
    """Whether some motion has less than LIGHT_INERTIA_RATIO of the mechanism's inertia, in one of
    three random configurations.
    """
    f = ca.Function("M", [s.t, s.q, s.p], [ca.densify(s.mass_matrix())])
    return any(
        light_inertias(np.array(f(0.0, *s.layout.somewhere(seed))), s)[0] < LIGHT_INERTIA_RATIO
        for seed in range(3)
    )


def light_inertias(M: np.ndarray, s: Tracer) -> np.ndarray:
    """Return the inertias (nv,) of the principal motions of a mass matrix M (nv, nv), smallest
    first, relative to that of the whole mechanism. Slides are measured by its length.
    """
    scale = np.sqrt(np.asarray(s.con.column, float))
    return np.linalg.eigvalsh(M * np.outer(scale, scale)) / whole_inertia(s.layout)


def inertia_of_choice(s: Tracer) -> np.ndarray:
    """Return the diagonal (nv,) of an inertia as large as that of the whole mechanism."""
    return np.asarray(whole_inertia(s.layout) / np.asarray(s.con.column, float))


def accelerations(system: SystemSymbols, tau: ca.SX) -> ca.SX:
    """Return a (nv,) under the joint forces tau (nv,) and the forces of loops, without those of
    contacts: from M + B' w B as explained above.
    """
    holding, s = system.holding, system.tracer()
    f = ca.Function(
        "light_accelerations",
        [s.t, s.q, s.v, s.p, holding.symbols, s.tau],
        [ca.cse(ca.densify(_accelerations(s, holding)))],
    )
    return f(system.t, system.q, system.v, system.p, holding.symbols, tau)


def _accelerations(s: Tracer, holding: Any) -> ca.SX:
    """Return the accelerations of `accelerations` as expressions of a tracer's symbols. holding:
    the SwitchedConstraints.
    """
    _, _, gamma, B, z = holding.contact_terms(s)
    count = B.shape[0]
    B = ca.diag(z) @ B
    weighted = row_inertia(s, B, holding.row_scales(s)[-count:])
    M = s.mass_matrix() + weighted @ B
    M = M + ca.diag(holding.rest_mode.inertia * ca.SX(inertia_of_choice(s)))
    forces = s.tau - s.bias() + weighted @ gamma
    closed = s.layout.mechanism.constrained
    if closed:
        _, _, right, A = s.constraint_rows()
        rows = row_inertia(s, A, s.row_scales())
        M, forces = M + rows @ A, forces + rows @ right
    L = factored(entries(ca.densify(M)))
    free = solved(L, forces)
    if not closed:
        return free
    return free + smallest_change(L, A, right - A @ free, s.con.column, s.row_scales())[0]
