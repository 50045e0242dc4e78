"""The impact equations: how speeds change suddenly when impulses act and rows must hold afterwards.
They are solved only here.

    M dv = P + B' L,      B dv = change          for rows that push and pull
    s L >= 0,  s (B dv - change) >= 0,  L (B dv - change) = 0
            for rows that push in one direction s alone

The configuration does not change. Whether rows are dependent is decided from the rows alone
(`kernels.rank`). Impulses and speeds are measured in the metric of the mass matrix: a row b has the
size sqrt(b M^-1 b'), an impulse and a speed that of the energy they carry. So neither units nor
ratios of inertia decide anything.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import SingularError
from ..machine import Machine, Metric, accelerated, least_change

Array = NDArray[np.float64]
# An impulse or a speed at most this, relative to the largest in the metric of the mass matrix, is
# zero.
NEGLIGIBLE_RATIO = 1e-12


class Impact(NamedTuple):
    """The solution of the impact equations: dv (n,), the change of the speeds; L (m,), the impulses
    of the rows; missed (m,), B dv - change in the metric of the mass matrix, which is zero except
    for rows that contradict each other and for one-sided rows that open.
    """

    dv: Array
    L: Array
    missed: Array


def impact(
    machine: Machine,
    M: Array,
    B: Array,
    change: Array,
    P: Array,
    by: Metric,
    side: Array | None = None,
) -> Impact:
    """Return the Impact for the mass matrix M (n, n), rows B (m, n), change (m,) and applied
    impulse P (n,).

    by: the metric in which the rank of B is decided. side (m,): 1 or -1 for a row that pushes in
    that direction only, 0 for a row that does both (the default). machine: supplies the names for a
    SingularError.
    """
    free = accelerated(machine, M, P[:, None])[:, 0]
    if not len(B):
        return Impact(free, np.zeros(0), np.zeros(0))
    side = np.zeros(len(B)) if side is None else side
    size = row_sizes(machine, M, B)
    dv, L = _pushed(M, B, change - B @ free, by, side, size)
    return Impact(free + dv, L, (B @ (free + dv) - change) / size)


def row_sizes(machine: Machine, M: Array, B: Array) -> Array:
    """Return sqrt(b M^-1 b') of every row b: the largest rate b v among motions with a kinetic
    energy of 1/2.
    """
    size = np.sqrt(np.maximum(np.einsum("ij,ji->i", B, accelerated(machine, M, B.T)), 0.0))
    return np.where(size > 0.0, size, 1.0)


def _pushed(
    M: Array, B: Array, wanted: Array, by: Metric, side: Array, size: Array
) -> tuple[Array, Array]:
    """Return dv and L with B dv = wanted, and with complementarity for one-sided rows, by an
    active-set search over the rows that push.
    """
    active = np.ones(len(B), bool)
    for _ in range(10 * len(B) + 10):
        dv = np.zeros(len(M))
        L = np.zeros(len(B))
        if active.any():
            dv, L[active] = least_change(
                M, B[active], wanted[active], Metric(by.column, by.size[active])
            )
        pulls = np.where(active, side * L * size, 0.0)
        opens = np.where(active, 0.0, side * (B @ dv - wanted) / size)
        scale = NEGLIGIBLE_RATIO * max(np.abs(L * size).max(), np.abs(wanted / size).max())
        if pulls.min() < -scale:
            active[pulls.argmin()] = False
        elif opens.min() < -scale:
            active[opens.argmin()] = True
        else:
            return dv, L
    raise SingularError(
        "no set of stops that push was found for an impact: those that meet at one instant"
        " contradict each other"
    )
