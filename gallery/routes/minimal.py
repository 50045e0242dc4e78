"""Minimal coordinates: the loops' rows solved away by their null space T, A T = 0.

a = a_p + T y,     A a_p = gamma,     (T' M T) y = T' (tau - b - M a_p)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from catena.machine.lookup import machine_of, state
from catena.machine.terms import terms
from catena.model.mechanism import Mechanism

if TYPE_CHECKING:
    from catena.machine.machine import Machine

Array = np.ndarray


def minimal_coordinates(
    m: Mechanism | Machine, q: Any, v: Any, tau: Any, wrenches: Any = None
) -> Array:
    """a (nv,) of the forces tau under the loops."""
    machine = machine_of(m)
    q, v, tau = state(machine, "minimal coordinates", q=q, v=v, tau=tau)
    t = terms(machine, q, v, wrenches)
    T = t.spaces.T
    a_p = t.spaces.inverse @ t.rows.gamma
    return a_p + T @ np.linalg.solve(T.T @ t.M @ T, T.T @ (tau - t.b - t.M @ a_p))
