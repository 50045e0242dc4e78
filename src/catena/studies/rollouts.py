"""Rollouts of a block: all its runs in one call of the driver with fixed steps, without events or
samples between rows.
"""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from ..simulation.integrators import drivers
from ..simulation.planning import RunPlan
from ..simulation.runners import Rollout
from .evaluation import Rows

Array = NDArray[np.float64]
_own = threading.local()


def _room(shape: tuple[int, ...]) -> Array:
    """Return an array that this thread reuses for its next block, because new memory would cost as
    much time as a short measure.
    """
    if getattr(_own, "room", None) is None or _own.room.shape != shape:
        _own.room = np.empty(shape)
    return _own.room


def block_rollout(plan: RunPlan) -> Rollout | None:
    """Return the rollout of a plan with explicit fixed steps; None for other plans.

    Events, switches, samples, and joint forces that change over time exclude a rollout.
    """
    return None if plan.forces is not None and plan.forces.shape[1] > 1 else Rollout.of(plan)


def rows_of(rollout: Rollout, x0: Array, p: Array, u: Array) -> tuple[Rows, list[int]]:
    """Return the rows of the runs, lane by lane, and the indices of groups in which a run failed.
    Groups with a failure are left out of the rows. The memory of the rows is reused by the next
    call from the same thread.
    """
    plan = rollout.plan
    s = rollout.plan.system
    own = np.concatenate([u, np.broadcast_to(s.holding.start(), (len(x0), s.nu - s.nv))], axis=1)
    out = _room((len(x0), 1 + len(plan.times), s.size))
    times = np.append(plan.start, plan.times)
    ended = rollout.drive(x0, np.concatenate([own, p], axis=1), out)
    bad = ended[:, 0] != drivers.REACHED
    lanes = np.flatnonzero(~np.repeat(bad, len(x0) // len(ended)))
    x, held = (out[lanes], own[lanes]) if bad.any() else (out, own)
    return (
        Rows(lanes, times, x, np.broadcast_to(held[:, None], (len(lanes), len(times), s.nu))),
        np.flatnonzero(bad).tolist(),
    )
