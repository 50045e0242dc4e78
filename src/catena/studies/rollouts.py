"""Rollouts of a block: all its runs through one call of the driver of equal steps, where nothing
happens between them.
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
    """An array that this thread uses again for its next block: fresh memory costs as much as a
    short measure.
    """
    if getattr(_own, "room", None) is None or _own.room.shape != shape:
        _own.room = np.empty(shape)
    return _own.room


def block_rollout(plan: RunPlan) -> Rollout | None:
    """That of a plan of explicit equal steps without events, switches, samples or forces in pieces;
    None for others.
    """
    return None if plan.forces is not None and plan.forces.shape[1] > 1 else Rollout.of(plan)


def rows_of(rollout: Rollout, x0: Array, p: Array, u: Array) -> tuple[Rows, list[int]]:
    """The rows of runs (lanes in order), without those of groups in which one failed; and the
    numbers of these groups.

    The rows are there until this thread asks for the next ones.
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
