"""Projection of a state onto the loops after a time step, by the smallest change in the metric of the mass matrix.

    dq = -M^-1 A' (A M^-1 A')^+ e,      v <- v - M^-1 A' (A M^-1 A')^+ (A v + B)

The second is the velocity nearest to v in kinetic energy: v - v+ is M-orthogonal to every motion the loops allow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..kernels.rank import RANK
from ..machine.constraint_rows import Metric, least_change, loop_count, metric

if TYPE_CHECKING:
    from ..machine.machine import Machine

Array = np.ndarray
CLOSED = 1e-12  # residual at which a loop is closed, m or cosine


def project(machine: Machine, q: Any, v: Any, rounds: int = 5) -> tuple[Array, Array]:
    """(q, v) on the loops, nearest to those given in the metric of the mass matrix; any leading shape is a batch.

    At most `rounds` Newton steps for the positions, as many as the worst state of the batch needs. Meant for states that
    are nearly closed, as after a step of time; for a guess, `assemble` is the right question.
    """
    q, v = np.array(q, float), np.array(v, float)
    if not machine.rows:
        return q, v
    loops, by = slice(0, loop_count(machine)), metric(machine)
    for _ in range(rounds):
        error, _, _, A = machine.constraint_rows(q, np.zeros(machine.nv))
        if not np.abs(error).max(initial=0.0) > CLOSED:
            break
        q = machine.move(q, -shortest(machine, q, A[..., loops, :], error[..., loops], by.rows(loops)))
    _, rate, _, A = machine.constraint_rows(q, v)
    return q, v - shortest(machine, q, A, rate, by)


def shortest(machine: Machine, q: Array, A: Array, b: Array, by: Metric) -> Array:
    """d (..., nv) with A d = b and d' M d least; least squares where the rows contradict each other."""
    return least_change(machine.mass_matrix(q), A, b, by, np.sqrt(RANK))[0]
