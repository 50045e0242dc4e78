"""States that questions take: refused where they break the constraint rows, or projected onto them
where that was asked for.
"""

from __future__ import annotations

import numpy as np

from ..machine.machine import Machine
from .assembly import assemble

Array = np.ndarray
ADVICE = "begin with q, v = catena.assemble(mechanism, q, v), or say project=True"


def possible_state(
    machine: Machine, question: str, q: Array, v: Array, project: bool, t: float = 0.0
) -> tuple[Array, Array]:
    """q (..., nq) and v (..., nv) of states that keep every loop closed at time t, s.

    project: the states of `assemble`, the nearest that are possible; otherwise those given, and a
    ClosureError says which loop they leave open, or tear open, by how much.
    """
    if not machine.rows:
        return q, v
    if project:
        return assemble(machine, q, v, t=t)
    machine.require_possible(question, q, v, t=t, advice=ADVICE)
    return q, v
