"""Impacts of an open mechanism in which stops and locks hold single speeds, and there are no other
constraint rows.

    dv = M^-1 (P + E' L),      E v = wanted        for speeds that are pushed both ways
    s L >= 0,  s (E v - wanted) >= 0,  L (E v - wanted) = 0      for those that a stop pushes

E picks the held speeds. Their response is a block of the inverse mass matrix, so that this is one
boxed complementarity problem of as many rows as speeds are held. `contact.impact` solves the same
equations with rows of any kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contact import NOTHING, boxed_forces

Array = NDArray[np.float64]


class SpeedJump(NamedTuple):
    """after (nv,): the speeds after an impact. work: of all its impulses, J."""

    after: Array
    work: float


def open_impact(
    inverse: Array, v: Array, P: Array | None, held: Mapping[int, tuple[float, float]]
) -> SpeedJump:
    """Return the speeds after an impact from the speeds v (nv,).

    inverse (nv, nv): the inverse mass matrix. P (nv,): the applied impulse, or None. held: {speed:
    (its value afterwards, the direction in which it is pushed, or 0 for both)}.

    A rod that is stopped, with inertia 2 and no other part:

    >>> jump = open_impact(np.array([[0.5]]), np.array([3.0]), None, {0: (0.0, 0.0)})
    >>> jump.after, jump.work
    (array([0.]), -9.0)
    """
    dv = np.zeros(len(v)) if P is None else inverse @ P
    work = 0.0 if P is None else float(P @ v)
    if not held:
        return SpeedJump(v + dv, work + (0.0 if P is None else 0.5 * float(P @ dv)))
    index = np.array(list(held))
    to, side = np.array(list(held.values())).T
    W = inverse[np.ix_(index, index)]
    low = np.where(side > 0.0, 0.0, -np.inf)
    high = np.where(side < 0.0, 0.0, np.inf)
    miss = v[index] + dv[index] - to
    # impulses and speeds are measured by the energy that they carry
    size = np.sqrt(np.diagonal(W))
    slack = NOTHING * np.abs(miss / size).max() / size
    forces, at = boxed_forces(W[None], miss[None], low[None], high[None], slack[None])
    L = forces[0]
    dv = dv + inverse[:, index] @ L
    after = v + dv
    exact = at[0] == 0.0
    after[index[exact]] = to[exact]  # without rounding
    total = v + 0.5 * dv
    work = float(L @ total[index]) + (0.0 if P is None else float(P @ total))
    return SpeedJump(after, work)
