"""Rollouts: runs with equal steps and without events or samples, many groups of lanes by one call
of the driver.

The rows are written directly into the memory of the result. The numbers are those of `Runner`, bit
for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import SimulationError
from ..integrators import drivers, fixed_step
from ..integrators.engine import Pieces, Tally, stretches
from ..integrators.lane_runs import address_of
from .dead_positions import can_tear
from .runner import EQUAL_STEPS_PER_SLICE, Slice, forces, held_at, rows_of_slice

if TYPE_CHECKING:
    from ..planning.plan import RunPlan

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rollout:
    """A plan of equal steps from the first row to the last: h (s), the step size; every: the number
    of steps between two rows.
    """

    plan: RunPlan
    h: float
    every: int

    @staticmethod
    def of(plan: RunPlan) -> Rollout | None:
        """Return the rollout of a plan with explicit equal steps and without events, switches of
        loads or samples; None for other plans.
        """
        sampled = callable(plan.control) and not hasattr(plan.control, "law")
        if (
            plan.how.kind not in ("fixed", "map")
            or not plan.scheme.empty
            or sampled
            or plan.system.clocks
            or len(plan.switches)
        ):
            return None
        parts = list(stretches(plan.start, plan.until, plan.times))
        if len(parts) != 1 or not parts[0][2]:
            return None
        end, gaps, _ = parts[0]
        every = plan.refine * max(1, int(np.ceil((end - plan.start) / gaps / plan.step - 1e-9)))
        return Rollout(plan, (end - plan.start) / (gaps * every), every)

    @property
    def steps(self) -> int:
        """The number of steps from the start to the end."""
        return len(self.plan.times) * self.every

    @property
    def parts(self) -> list[slice]:
        """The runs that one call of the driver advances: as many groups of lanes as still leave
        work for other threads, and let an interruption be noticed.
        """
        plan = self.plan
        groups = len(self.plan.groups)
        each = (
            max(1, min(EQUAL_STEPS_PER_SLICE // self.steps, -(-groups // plan.threads)))
            * plan.width
        )
        return [slice(k, min(k + each, len(plan.x0))) for k in range(0, len(plan.x0), each)]

    def drive(self, x0: Array, held: Array, out: Array, pieces: Pieces | None = None) -> Array:
        """Advance groups of W runs. Return (groups, 2): the status of each group, and the time that
        it reached (s). x0 (groups W, size): states. held (groups W, nu + count): inputs, modes and
        parameters. out (groups W, 1 + rows, size): receives the start and the rows. pieces:
        piecewise constant forces.
        """
        plan = self.plan
        s = self.plan.system
        m = self.plan.how
        kernel = s.kernel("step" if m.kind == "map" else "derivative")
        assert kernel is not None
        W, size = kernel.width, s.size
        groups = len(x0) // W
        kernel.used(groups * self.steps * max(1, len(m.A)))
        X, held = (
            np.ascontiguousarray(y.reshape(groups, W, -1).transpose(0, 2, 1)).reshape(groups, -1)
            for y in (x0, held)
        )
        ended = np.empty((groups, 2))
        settle = address_of(s.kernel("settle")) if m.kind == "fixed" or s.binds else 0
        buffer = np.zeros(sum(kernel.input_sizes) * W)
        K = np.zeros((max(len(m.A), 1), size * W))
        F, hold, _ = (pieces or Pieces(np.zeros((groups * W, 0, s.nv)))).at(plan.start, self.h)
        fixed_step.rollout(
            kernel.block_address,
            settle,
            m.A,
            m.B[None],
            m.C,
            X,
            held,
            buffer,
            K,
            F.reshape(groups, W, -1, s.nv),
            hold,
            plan.start,
            self.h,
            self.steps,
            self.every,
            out.reshape(groups, W, -1, size),
            ended,
            W,
        )
        return ended

    # --- runs of the plan
    def slices(self, rows: slice, room: Array | None) -> list[Slice]:
        """Return two slices of the runs `rows`, which are whole groups of lanes: the row of the
        start, and all other rows. The list is empty if one run cannot go on; then `Runner` finds
        the reason. room (lanes, 1 + rows, size): memory for the states; None: a new array.
        """
        plan, s = self.plan, self.plan.system
        lanes = len(range(rows.start, rows.stop, plan.width)) * plan.width
        # lanes without a run of their own advance copies of the last run
        own = np.minimum(np.arange(rows.start, rows.start + lanes), rows.stop - 1)
        x0 = plan.x0[own]
        held = np.zeros((lanes, s.nu))
        held[:, s.nv :] = s.holding.start()
        if plan.control is not None and not hasattr(plan.control, "law"):
            held[:, : s.nv] = forces(s.nv, plan.control)[:, 0]
        pieces = None
        if plan.forces is not None:
            pieces = Pieces(
                np.ascontiguousarray(plan.forces[own]),
                plan.start,
                (plan.until - plan.start) / plan.forces.shape[1],
            )
            held[:, : s.nv] = pieces.forces[:, 0]
        out = np.empty((lanes, 1 + len(plan.times), s.size)) if room is None else room
        try:
            ended = self.drive(x0, np.hstack([held, plan.p[own]]), out, pieces)
        except SimulationError:
            return []
        if (ended[:, 0] != drivers.REACHED).any():
            return []
        count = rows.stop - rows.start
        x = out[:count].transpose(1, 2, 0)
        u = held[:count].T
        now = held_at(plan.times, u, pieces.first(count) if pieces is not None else None)
        return [Slice(np.array([plan.start]), x[:1], u[None]), Slice(plan.times, x[1:], now)]

    @property
    def tally(self) -> Tally:
        """The cost of one group of runs."""
        return Tally(self.steps, 0, self.steps * max(len(self.plan.how.B), 1), self.h)


def rollout_of(plan: RunPlan) -> Rollout | None:
    """Return the rollout of a plan if there are several runs, each short enough for one slice, and
    no prescribed motion could open a loop; None for other plans, which use `Runner`.
    """
    try:
        found = Rollout.of(plan) if plan.width > 1 and not can_tear(plan) else None
    except SimulationError:  # output times that are not equally spaced: the runner raises it
        return None
    return found if found is not None and len(plan.times) <= rows_of_slice(plan) else None
