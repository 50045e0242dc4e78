"""Rollouts: all runs of a block through one call of the driver of equal steps, where nothing happens between them."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..simulation import drivers, fixed_step
from ..simulation.engine import _address, _stretches
from ..simulation.plan import RunPlan
from .evaluation import Rows

Array = NDArray[np.float64]
_own = threading.local()


def _room(shape: tuple[int, ...]) -> Array:
    """An array that this thread uses again for its next block: fresh memory costs as much as a short measure."""
    if getattr(_own, "room", None) is None or _own.room.shape != shape:
        _own.room = np.empty(shape)
    return _own.room


@dataclass(frozen=True)
class Rollout:
    """Equal steps from the first row to the last: h (s), `every` of them between two rows."""

    plan: RunPlan
    h: float
    every: int

    @staticmethod
    def of(plan: RunPlan) -> Rollout | None:
        """That of a plan of explicit equal steps without events, switches, samples or forces in pieces; None for others."""
        sampled = callable(plan.control) and not hasattr(plan.control, "law")
        pieces = plan.forces is not None and plan.forces.shape[1] > 1
        if plan.how.kind not in ("fixed", "map") or not plan.scheme.empty or sampled or pieces or plan.system.clocks or len(plan.switches):
            return None
        parts = list(_stretches(plan.start, plan.until, plan.times))
        if len(parts) != 1 or not parts[0][2]:
            return None
        span = parts[0][0] - plan.start
        gaps = parts[0][1]
        every = plan.refine * max(1, int(np.ceil(span / gaps / plan.step - 1e-9)))
        return Rollout(plan, span / (gaps * every), every)

    def run(self, x0: Array, p: Array, u: Array) -> tuple[Rows, list[int]]:
        """The rows of runs (lanes in order), without those of groups in which one failed; and the numbers of these groups.

        The rows are there until this thread asks for the next ones.
        """
        plan, s, m = self.plan, self.plan.system, self.plan.how
        kernel = s.kernel("step" if m.kind == "map" else "derivative")
        assert kernel is not None
        W, size, rows = kernel.width, s.size, len(plan.times)
        groups = len(x0) // W
        kernel.used(groups * rows * self.every * max(1, len(m.A)))
        modes = np.broadcast_to(s.holding.start(), (len(x0), s.nu - s.nv))
        X, held = (np.ascontiguousarray(y.reshape(groups, W, -1).transpose(0, 2, 1)).reshape(groups, -1) for y in (x0, np.concatenate([u, modes, p], axis=1)))
        out, ended = _room((groups, W, 1 + rows, size)), np.empty((groups, 2))
        out[:, :, 0] = x0.reshape(groups, W, size)
        settle = _address(s.kernel("settle")) if m.kind == "fixed" or s.binds else 0
        buffer, K = np.zeros(sum(kernel.input_sizes) * W), np.zeros((max(len(m.A), 1), size * W))
        fixed_step.rollout(kernel.block_address, settle, m.A, m.B[None], m.C, X, held, buffer, K, np.zeros((W, 0, s.nv)), plan.start, self.h,
                           rows * self.every, self.every, out, ended, W)  # fmt: skip
        failed = np.flatnonzero(ended[:, 0] != drivers.REACHED)
        good = np.setdiff1d(np.arange(groups), failed)
        lanes = (good[:, None] * W + np.arange(W)).ravel()
        x = out.reshape(groups * W, 1 + rows, size)
        own = np.concatenate([u, modes], axis=1)[:, None]
        times = np.append(plan.start, plan.times)
        if len(failed):
            x, own = x[lanes], own[lanes]
        return Rows(lanes, times, x, np.broadcast_to(own, (len(lanes), len(times), s.nu))), failed.tolist()
