"""Runs in lanes: the states, times and rows of many runs, and how they are advanced together
(`lane_driver.py`).

Every run has a time, a step and modes of its own. Runs in which nothing is held are advanced by a
tape without the switched constraints, the others by the whole tape; which of the two is chosen
depends on the run alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...compiler import LaneKernel
from ..system.first_order import System
from ..terms.error_scales import ErrorScales
from ..terms.guard_sides import GuardSides, guard_sides
from . import lane_driver
from .lane_events import LOOKS
from .methods import Method

Array = NDArray[np.float64]
Whole = NDArray[np.int64]


class AdaptiveRuns:
    """R runs by one adaptive method, W of them at a time.

    x (R, size): states. given (R, nu + count): inputs, modes, parameters. t, h (R,): times and next
    steps, s; an h below zero is minus the longest that the first step may be, which is then chosen.
    row (R,): the index of the next output time. tally (R, 3): accepted and rejected steps,
    evaluations. ended (R, 2): the status with which the last segment of each ended, and the guard.
    rtol, scales: how errors are judged. origin (R, size), moved (R, 2): where the runs began, or
    were at their last impact, how far and how fast they have been since. largest: the largest step,
    s. sides: on which side of zero the conditions of events were last seen.
    """

    def __init__(
        self,
        method: Method,
        x: Array,
        given: Array,
        *,
        h: float,
        t: float = 0.0,
        width: int,
        rtol: float,
        scales: ErrorScales,
        origin: Array,
        moved: Array | None = None,
        largest: float = np.inf,
        sides: GuardSides | None = None,
    ):
        self.method = method
        self.width = width
        self.rtol = rtol
        self.largest = largest
        self.scales = scales
        self.origin, self.moved = origin, np.zeros((len(x), 2)) if moved is None else moved
        self.x, self.given, count = x, given, len(x)
        self.sides = guard_sides((), count) if sides is None else sides
        self.t, self.h = np.full(count, t), np.full(count, h)
        self.row, self.tally, self.ended = (
            np.zeros(count, np.int64),
            np.zeros((count, 3), np.int64),
            np.zeros((count, 2), np.int64),
        )
        size, W = x.shape[1], width
        self._buffer = np.zeros((1 + size + given.shape[1]) * W)
        self._K, self._whole = np.zeros((len(method.A), size * W)), np.zeros((4, W), np.int64)
        places = np.arange(LOOKS)[:, None] / LOOKS
        self._looks = np.ascontiguousarray(
            places ** np.arange(1, method.P.shape[1] + 1) @ method.P.T
        )

    def restart_scales(self, runs: Whole) -> None:
        """Judge errors of these runs relative to their motion from here on, as if they began
        here.
        """
        self.origin[runs], self.moved[runs] = self.scales.origin(self.x[runs]), 0.0

    def drive(
        self,
        rate: int,
        settle: int,
        guard: int,
        guards: int,
        runs: Whole,
        end: Array,
        until_row: Whole,
        most: Whole,
        times: Array,
        out: Array,
        held: Array,
        first: int,
    ) -> int:
        """Advance some runs, each to its end (R,) or its next event, by code at these addresses.
        Return how many evaluations that took.

        guards: how many numbers the guards give. Rows at times[row:until_row] are written to out
        (R, rows, size) and held (R, rows, nu), from `first` on. most (R,): steps of each run.
        """
        m = self.method
        before = self.tally[:, 2].sum()
        lane_driver.advance(
            rate,
            settle,
            guard,
            m.A,
            m.stages,
            m.C,
            m.E,
            m.P,
            m.D[None],
            self._looks,
            float(m.order),
            float(m.dense),
            float(self.largest),
            self.scales.table,
            np.array([self.rtol, *self.scales.limits]),
            times,
            runs,
            self.x,
            self.given,
            self.t,
            self.h,
            end,
            self.row,
            until_row,
            most,
            out,
            held,
            first,
            self.tally,
            self.ended,
            self.origin,
            self.moved,
            *self.sides,
            self._buffer,
            self._K,
            np.zeros(self.width * guards),
            self._whole,
            guards > 0,
            self.width,
        )
        return int(self.tally[:, 2].sum() - before)

    def finish(self, rate: int, settle: int, end: float, most: int) -> int:
        """Advance all runs to one end (s), or by at most so many steps, without rows. Return the
        worst status.
        """
        count, size = self.x.shape
        none = np.zeros(count, np.int64)
        rows = np.empty((count, 0, size))
        self.drive(
            rate,
            settle,
            0,
            0,
            np.arange(count),
            np.full(count, end),
            none,
            np.full(count, most),
            np.empty(0),
            rows,
            rows[:, :, :0],
            0,
        )
        return int(self.ended[:, 0].max())


class LaneRuns(AdaptiveRuns):
    """Runs of one system, advanced by its tapes."""

    def __init__(self, system: System, method: Method, x: Array, given: Array, **options: Any):
        own = {"sides": guard_sides(system.guards, len(x)), **options}
        super().__init__(method, x, given, **own)
        self.system = system

    @property
    def modes(self) -> Array:
        """(R, size): the modes of switched constraints, a view."""
        return self.given[:, self.system.nv : self.system.nu]

    def advance(
        self,
        runs: Whole,
        end: Array,
        until_row: Whole,
        most: Whole,
        times: Array,
        out: Array,
        held: Array,
        first: int,
    ) -> None:
        """Advance some runs, each to its end (R,) or its next event, with rows at
        times[row:until_row]; see `drive`.
        """
        holding = self.system.holding
        busy = holding.held(self.modes[runs]) if not holding.contacts else np.ones(len(runs), bool)
        for some, prefix in ((runs[~busy], "free_"), (runs[busy], "")):
            if len(some):
                rate, settle, guard = (
                    self.system.kernel(name, self.width)
                    for name in (f"{prefix}derivative", "settle", f"{prefix}guard")
                )
                guards = guard.output_sizes[0] if guard is not None else 0
                evaluations = self.drive(
                    address_of(rate),
                    address_of(settle),
                    address_of(guard),
                    guards,
                    some,
                    end,
                    until_row,
                    most,
                    times,
                    out,
                    held,
                    first,
                )
                for kernel in (rate, guard):
                    if kernel is not None:
                        kernel.used(evaluations / self.width)


def address_of(kernel: LaneKernel | None) -> int:
    """Return the address of the code of a block of lanes, zero for no kernel."""
    return 0 if kernel is None else kernel.block_address
