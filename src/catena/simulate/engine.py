"""Engine: one method running one system, from an instant to a later one. The only caller of the drivers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import SimulationError
from . import drivers
from .methods import Method
from .system import System

Array = np.ndarray


@dataclass
class Tally:
    """What a run has cost so far."""

    accepted: int = 0
    rejected: int = 0
    evaluations: int = 0
    smallest: float = np.inf  # step


@dataclass(frozen=True)
class Segment:
    """A stretch of a run: how it ended, when, the rows asked for, and which event ended it."""

    status: int
    t: float
    rows: Array  # (rows, size, W)
    event: int = -1


class Engine:
    """A system under a method, W states side by side. Holds the state x (size, W) and the buffers the drivers need."""

    def __init__(self, system: System, method: Method, x: Array, p: Array, *, tolerance: float, step: float, most: int,
                 largest: float = np.inf, guard: Any = None):  # fmt: skip
        self.system, self.method, self.step, self.most = system, method, step, most
        self.x = np.array(x, order="C")
        size, W = self.x.shape
        self.W, self.h, self.largest = W, step, largest
        self.rtol, self.atol = tolerance, np.full(size, tolerance)
        nu = system.nv
        mapped = method.kind == "map"
        self.buffer = np.zeros((1 + size + nu + len(p) + mapped, W))
        self.u = self.buffer[1 + size : 1 + size + nu]
        self.buffer[1 + size + nu : 1 + size + nu + len(p)] = p if p.ndim == 2 else p[:, None]
        self.kernel = system.kernel("step" if mapped else "derivative", W)
        self.settle = system.kernel("settle", W)
        self.guard = guard
        self.K = np.zeros((max(len(method.A), 1), size, W))
        self.new = np.zeros_like(self.x)
        count = guard.output_sizes[0] if guard is not None else 0
        self.g, self.g_new = np.zeros((count, W)), np.zeros((count, W))
        self.tally = Tally()

    def run(self, t: float, end: float, times: Array) -> Segment:
        """Advance from t to `end`, with rows at `times` (within (t, end])."""
        return getattr(self, f"_{self.method.kind}")(t, end, times)

    def _adaptive(self, t: float, end: float, times: Array) -> Segment:
        m, size = self.method, len(self.x)
        out = np.empty((len(times), size, self.W))
        settle = self.settle.block_address if self.settle else 0
        guard = self.guard.block_address if self.guard else 0
        status, t, self.h, row, accepted, rejected, evaluations, event = drivers.adaptive(
            self.kernel.block_address, settle, guard, m.A, m.B, m.C, m.E, m.P, float(m.order), self.x, self.buffer, self.K,
            self.new, float(t), float(end), self.h, self.largest, self.rtol, self.atol, np.ascontiguousarray(times), 0, out,
            self.g, self.g_new, self.most - self.tally.accepted - self.tally.rejected,
        )  # fmt: skip
        self.tally.accepted += accepted
        self.tally.rejected += rejected
        self.tally.evaluations += evaluations
        return Segment(status, t, out[:row], event)

    def _steps(self, t: float, end: float, times: Array) -> tuple[int, float, int]:
        """Equal steps that meet `end` and every one of `times`: their number, size, and how many lie between rows."""
        between = (times[0] - t) if len(times) else end - t
        every = max(1, int(np.ceil(between / self.step - 1e-9)))
        h = between / every
        steps = round((end - t) / h)
        if abs(t + steps * h - end) > 1e-9 * max(1.0, abs(end)) or (len(times) > 1 and np.ptp(np.diff(times)) > 1e-9):
            raise SimulationError("a method with fixed steps needs output times that are equally spaced and meet the end")
        return steps, h, every

    def _fixed(self, t: float, end: float, times: Array) -> Segment:
        m = self.method
        steps, h, every = self._steps(t, end, times)
        out = np.empty((steps // every, len(self.x), self.W))
        settle = self.settle.block_address if self.settle else 0
        status, t = drivers.fixed(
            self.kernel.block_address, settle, m.A, m.B, m.C, self.x, self.buffer, self.K, float(t), h, steps, every, out
        )
        return self._done(status, t, out, steps, steps * m.stages, h, len(times))

    def _map(self, t: float, end: float, times: Array) -> Segment:
        steps, h, every = self._steps(t, end, times)
        out = np.empty((steps // every, len(self.x), self.W))
        status, t = drivers.mapped(self.kernel.block_address, self.x, self.buffer, float(t), h, steps, every, out)
        return self._done(status, t, out, steps, steps, h, len(times))

    def _implicit(self, t: float, end: float, times: Array) -> Segment:
        m = self.method
        steps, h, every = self._steps(t, end, times)
        out = np.empty((steps // every, len(self.x), self.W))
        status, t = drivers.implicit(
            self.kernel.block_address, m.A, m.B, m.C, self.x, self.buffer, self.K, float(t), h, steps, every, out
        )
        return self._done(status, t, out, steps, steps * m.stages, h, len(times))

    def _done(self, status: int, t: float, out: Array, steps: int, evaluations: int, h: float, rows: int) -> Segment:
        self.tally.accepted += steps
        self.tally.evaluations += evaluations
        self.tally.smallest = min(self.tally.smallest, h)
        return Segment(status, t, out[:rows])
