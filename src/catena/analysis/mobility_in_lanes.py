"""Mobility of many configurations: rows are evaluated in lanes, ranks and null spaces over arrays.
The same algorithm as in `mobility.py`.
"""

from __future__ import annotations

import numpy as np

from ..kernels import EXACT
from ..machine import Machine, Metric, all_rows, metric, ranks, spaces
from .assembly_in_lanes import closed_rows
from .closure_search import CLOSED

Array = np.ndarray
# Distance of nearby configurations at which a higher rank is searched: rad, or lengths of the
# loops.
NEARBY_DISTANCE = 1e-2
# Random directions in which nearby configurations are searched.
NEARBY_SAMPLES = 6
# A speed whose largest share in any motion is less, relative to the lengths of the loops
# (`kernels.rank`), is stuck.
STUCK_SPEED_RATIO = 1e-9


def mobilities(machine: Machine, q: Array, motors: list[int]) -> dict[str, Array]:
    """Return, for configurations q (n, nq) with closed loops, a dictionary with rank, held and
    nearby (n,), integers; singular (n,), redundant (n, rows) and stuck (n, nv), booleans; and
    condition (n,).
    """
    n = len(q)
    by = metric(machine, acting=False)
    A = _rows(machine, q)
    rank = ranks(A, by)
    found = {
        "rank": rank,
        "redundant": _redundant(A, by),
        "singular": np.zeros(n, bool),
        "nearby": np.zeros(n, int),
        "condition": np.ones(n),
        "stuck": np.zeros((n, machine.nv), bool),
        "held": np.zeros(n, int),
    }
    for r in np.unique(rank):
        own = np.flatnonzero(rank == r)
        here = spaces(A[own], by)
        T = np.broadcast_to(here.T, (len(own), *here.T.shape[-2:]))
        found["nearby"][own] = machine.nv - np.maximum(_highest_rank(machine, q[own], T, by), r)
        found["singular"][own] = found["nearby"][own] < machine.nv - r
        if r:
            found["condition"][own] = here.values[:, r - 1] / here.values[:, 0]
        # of order one, independent of units
        ways = np.linalg.qr(T / np.sqrt(by.column)[:, None])[0] if T.size else T
        found["stuck"][own] = np.abs(ways).max(axis=2, initial=0.0) < STUCK_SPEED_RATIO
        if T.size and motors:
            found["held"][own] = np.linalg.matrix_rank(ways[:, motors], tol=STUCK_SPEED_RATIO)
    return found


def _rows(machine: Machine, q: Array) -> Array:
    """Return A (n, rows, nv) for all rows, also those that never act."""
    if not machine.rows:
        return all_rows(machine, np.zeros((len(q), 0, machine.nv)))
    return all_rows(machine, machine.constraint_rows(q, np.zeros((len(q), machine.nv)))[3])


def _redundant(A: Array, by: Metric) -> Array:
    """Return booleans (n, rows): whether a row depends on the rows before it (Gram-Schmidt, in the
    order of the rows).
    """
    scaled = by.scaled(A)
    basis = np.zeros_like(scaled)
    found = np.zeros(A.shape[:2], bool)
    for k in range(A.shape[1]):
        left = scaled[:, k].copy()
        for _ in range(2):  # two passes are enough
            for b in np.moveaxis(basis[:, :k], 1, 0):
                left -= np.einsum("ni,ni->n", b, left)[:, None] * b
        size = np.linalg.norm(left, axis=1)
        found[:, k] = ~(size > 10 * EXACT)
        basis[:, k] = np.where(
            found[:, k, None], 0.0, left / np.where(found[:, k], 1.0, size)[:, None]
        )
    return found


def _highest_rank(machine: Machine, q: Array, T: Array, by: Metric) -> Array:
    """Return (n,): the highest rank of A at configurations near each one, with closed loops. They
    are reached by small random motions in the basis T (n, nv, d) of the motions that the rows
    allow.
    """
    best = np.zeros(len(q), int)
    if not T.shape[2] or not machine.rows:
        return best
    rng = np.random.default_rng(2)
    unit = np.sqrt(by.column)
    for _ in range(NEARBY_SAMPLES):
        way = T @ rng.standard_normal(T.shape[2])
        near, gap = closed_rows(
            machine,
            machine.move(
                q, NEARBY_DISTANCE * way / np.linalg.norm(way / unit, axis=1, keepdims=True)
            ),
            list(range(machine.nv)),
        )
        best = np.maximum(best, np.where(gap < CLOSED, ranks(_rows(machine, near), by), 0))
    return best
