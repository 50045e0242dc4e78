"""Runs in lanes: the states, times and rows of many runs, and how they are advanced together
(`lane_driver.py`).

Every run has a time, a step and modes of its own. Runs in which no switched constraint is active
are advanced by equations without these constraints, the others by the complete equations; which of
the two is chosen depends on the run alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...compiler import LaneKernel, default_width
from ..system.first_order import System
from ..terms.error_scales import ErrorScales
from ..terms.guard_sides import GuardSides, guard_sides
from . import drivers, lane_driver, rosenbrock
from .lane_events import LOOKS
from .lane_stiffness import IMPLICIT, LEFT
from .methods import Method
from .methods import method as method_named
from .stiffness import Stiffness, Switch, costs, new_watch

Array = NDArray[np.float64]
Whole = NDArray[np.int64]


class Scratch:
    """The memory and the tables of a driver. looks: weights of dense output at the places where
    guards are evaluated.
    """

    def __init__(self, method: Method, size: int, given: int, width: int):
        self.method, self.width = method, width
        self.buffer = np.zeros((1 + size + given) * width)
        self.K, self.whole = np.zeros((len(method.A), size * width)), np.zeros((4, width), np.int64)
        self.order = np.zeros(size, np.int64)
        places = np.arange(LOOKS)[:, None] / LOOKS
        self.looks = np.ascontiguousarray(
            places ** np.arange(1, method.P.shape[1] + 1) @ method.P.T
        )

    @property
    def tableau(self) -> tuple[Any, ...]:
        """The tables of the method as drivers take them."""
        m = self.method
        sizes = float(m.order), float(m.dense)
        return m.A, m.stages, m.C, m.E, m.P, m.D[None], self.looks, *sizes


class Addresses(NamedTuple):
    """Machine code of a system: the addresses of the derivative, of the projection onto constraints
    and of the guards, zero for none, and how many numbers the guards give.
    """

    rate: int
    settle: int
    guard: int
    guards: int


class Segments(NamedTuple):
    """The request to advance some runs: their ends (R,), s; for each the index after its last
    output row (R,); the number of steps it may still take (R,); the times of rows, s; and where
    these are written: out (R, rows, size) and held (R, rows, nu), from row `first` on.
    """

    end: Array
    until_row: Whole
    most: Whole
    times: Array
    out: Array
    held: Array
    first: int


class AdaptiveRuns:
    """R runs by one adaptive method, W of them at a time.

    The runs are advanced together. x (R, size): states. given (R, nu + count): inputs, modes,
    parameters. t, h (R,): times and next steps, s; an h below zero is minus the longest that the
    first step may be, which is then chosen. row (R,): the index of the next output time. tally (R,
    3): accepted and rejected steps, evaluations. ended (R, 2): for the last segment of each, the
    status and the guard that ended it. rtol, scales: how errors are judged. origin (R, size), moved
    (R, 2): where the runs began, or were at their last impact, how far and how fast they have been
    since. largest: the largest step, s. sides: on which side of zero the conditions of events were
    last seen. watch: the evidence of the stiffness of each run (`stiffness.py`); watched: whether
    to test for it.
    """

    watched = False

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
        watch: Array | None = None,
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
        self.watch = new_watch(count, method) if watch is None else watch
        self._scratch = Scratch(method, x.shape[1], given.shape[1], width)

    def restart_scales(self, runs: Whole) -> None:
        """Reset the error scales of these runs, as if they began now: errors are judged relative to
        the motion from here on.
        """
        self.origin[runs], self.moved[runs] = self.scales.origin(self.x[runs]), 0.0

    def drive(self, code: Addresses, runs: Whole, asked: Segments) -> int:
        """Advance some runs, each to its end or its next event, with the machine code at these
        addresses. Return the number of evaluations.
        """
        before = self.tally[:, 2].sum()
        scratch = self._scratch
        lane_driver.advance(
            *code[:3],
            *scratch.tableau,
            *self._driver_arguments(runs, asked),
            scratch.buffer,
            scratch.K,
            np.zeros(self.width * code.guards),
            scratch.whole,
            code.guards > 0,
            self.watched,
            self.width,
        )
        return int(self.tally[:, 2].sum() - before)

    def _driver_arguments(self, runs: Whole, asked: Segments) -> tuple[Any, ...]:
        """Return the arguments of the drivers between the tables of the method and the drivers' own
        memory.
        """
        return (
            float(self.largest),
            self.scales.table,
            np.array([self.rtol, *self.scales.limits]),
            asked.times,
            runs,
            self.x,
            self.given,
            self.t,
            self.h,
            asked.end,
            self.row,
            asked.until_row,
            asked.most,
            asked.out,
            asked.held,
            asked.first,
            self.tally,
            self.ended,
            self.origin,
            self.moved,
            *self.sides,
            self.watch,
        )

    def finish(self, rate: int, settle: int, end: float, most: int) -> int:
        """Advance all runs to one end (s), or by at most so many steps, without rows. Return the
        worst status.
        """
        count, size = self.x.shape
        none = np.zeros(count, np.int64)
        rows = np.empty((count, 0, size))
        ends, steps = np.full(count, end), np.full(count, most)
        asked = Segments(ends, none, steps, np.empty(0), rows, rows[:, :, :0], 0)
        self.drive(Addresses(rate, settle, 0, 0), np.arange(count), asked)
        return int(self.ended[:, 0].max())


def watch_of(system: System, count: int, method: Method) -> Array:
    """Return the initial record of the evidence of stiffness, for `count` runs of a system."""
    contacts = bool(system.holding.contacts)
    large = method.stiff and not contacts
    operations = system.free_derivative.n_instructions() if large else 0
    return new_watch(count, method, contacts, operations)


class LaneRuns(AdaptiveRuns):
    """Runs of one system, advanced by its compiled equations. switches: {index of a run: its
    changes of method}.
    """

    def __init__(self, system: System, method: Method, x: Array, given: Array, **options: Any):
        own = {
            "sides": guard_sides(system.guards, len(x)),
            "watch": watch_of(system, len(x), method),
            **options,
        }
        super().__init__(method, x, given, **own)
        self.system = system
        self.watched = bool(method.stiff)
        self.switches: dict[int, list[Switch]] = {}
        self._partner = method_named(method.stiff) if method.stiff else method
        self._stiff_scratch: Scratch | None = None
        self._choice: Stiffness | None = None

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
        """Advance some runs, each to its end (R,) or its next event, with output rows at
        times[row:until_row]; see `drive`. A run that turns out to be stiff changes to the implicit
        method, and back when that is no longer cheaper.
        """
        asked = Segments(end, until_row, most, times, out, held, first)
        while len(runs):
            implicit = self.watch[runs, IMPLICIT] > 0.0
            if not implicit.any():
                self._by_tapes(runs, asked)
                runs = runs[self.ended[runs, 0] == drivers.STIFF]
            else:
                self._by_tapes(runs[~implicit], asked)
                self._by_tapes(runs[implicit], asked, implicit=True)
                runs = runs[self._due(runs, implicit, most)]
            for run in runs:
                self._choose_method(int(run))

    def _due(self, runs: Whole, implicit: NDArray[np.bool_], most: Whole) -> NDArray[np.bool_]:
        """Return which of these runs need a new choice of the method: those in which stiffness was
        noticed, and those that have taken the implicit steps allotted until the next choice.
        """
        ended = self.ended[runs, 0]
        taken = self.watched & (self.watch[runs, LEFT] <= 0.0) & (most[runs] > 0)
        return np.where(implicit, taken & (ended == drivers.TOO_MANY), ended == drivers.STIFF)

    def _by_tapes(self, runs: Whole, asked: Segments, implicit: bool = False) -> None:
        """Advance some runs by the explicit or the implicit method."""
        holding = self.system.holding
        busy = holding.held(self.modes[runs]) if not holding.contacts else np.ones(len(runs), bool)
        for some, prefix in ((runs[~busy], "free_"), (runs[busy], "")):
            if len(some):
                width = 1 if implicit else self.width
                rate, settle, guard = (
                    self.system.kernel(name, width)
                    for name in (f"{prefix}derivative", "settle", f"{prefix}guard")
                )
                guards = guard.output_sizes[0] if guard is not None else 0
                code = Addresses(address_of(rate), address_of(settle), address_of(guard), guards)
                evaluations = (
                    self._drive_implicit(prefix, code, some, asked)
                    if implicit
                    else self.drive(code, some, asked)
                )
                for kernel in (rate, guard):
                    if kernel is not None:
                        kernel.used(evaluations / width)

    def _drive_implicit(self, prefix: str, code: Addresses, runs: Whole, asked: Segments) -> int:
        """Advance some runs by the implicit method, each until its next choice of the method is
        due. Return the number of evaluations.
        """
        if self._stiff_scratch is None:
            sizes = self.x.shape[1], self.given.shape[1]
            self._stiff_scratch = Scratch(self._partner, *sizes, 1)
        scratch, m = self._stiff_scratch, self._partner
        tangent = self._tangent(prefix)
        before = self.tally.sum(axis=0)
        left = self.watch[:, LEFT] if self.watched else asked.most
        most = np.minimum(asked.most, left).astype(np.int64)
        rosenbrock.advance(
            *code[:3],
            address_of(tangent),
            *scratch.tableau,
            m.couplings,
            m.slopes,
            m.gamma,
            *self._driver_arguments(runs, asked._replace(most=(counted := most.copy()))),
            scratch.buffer,
            scratch.K,
            np.zeros(code.guards),
            scratch.whole,
            scratch.order,
            code.guards > 0,
            tangent.width,
        )
        taken = (most - counted)[runs]
        asked.most[runs] -= taken
        self.watch[runs, LEFT] -= taken
        spent = self.tally.sum(axis=0) - before
        tangent.used(float(spent[0]) * self.x.shape[1] / tangent.width)
        return int(spent[2])

    def _prefix(self, run: int) -> str:
        """Return the prefix of the names of the compiled functions that advance a run: with or
        without switched constraints.
        """
        holding = self.system.holding
        busy = holding.contacts or holding.held(self.modes[run : run + 1])[0]
        return "" if busy else "free_"

    def _tangent(self, prefix: str) -> LaneKernel:
        """Return the compiled directional derivative, for lanes of directions."""
        found = self.system.kernel(f"{prefix}tangent", default_width())
        assert found is not None
        return found

    # --- the choice of the method
    def _choose_method(self, run: int) -> None:
        """Choose the method by which a run continues, and record a change."""
        t = float(self.t[run])
        found, self.h[run] = self.choice.look(
            self.watch[run], t, float(self.h[run]), lambda: self._jacobian(run)
        )
        if found is not None:
            self.switches.setdefault(run, []).append(found)

    def forget_switches(self, run: int) -> None:
        """Remove changes of method after the present time of a run from its record, because the run
        was set back in time.
        """
        kept = [s for s in self.switches.get(run, []) if s.t <= self.t[run]]
        self.switches[run] = kept

    @property
    def choice(self) -> Stiffness:
        """The choice between the explicit and the implicit method."""
        if self._choice is None:
            s = self.system
            operations = s.free_derivative.n_instructions(), s.free_tangent.n_instructions()
            stages = self.method.stages, self._partner.stages
            self._choice = Stiffness(
                self.method.explicit,
                self._partner.name,
                costs(operations, stages, s.size, default_width()),
            )
        return self._choice

    def _jacobian(self, run: int) -> Array:
        """Return the Jacobian (size, size) at the present state of a run."""
        n = self.x.shape[1]
        nu = self.system.nu
        rows = (self.t[run : run + 1], self.x[run], self.given[run, :nu], self.given[run, nu:])
        inputs = [np.tile(row, (n, 1)) for row in rows]
        (found,), _ = self._tangent(self._prefix(run))([*inputs, np.eye(n, n + 1)], n)
        return found.T


def address_of(kernel: LaneKernel | None) -> int:
    """Return the address of the machine code of a kernel for one block of lanes, zero for no
    kernel.
    """
    return 0 if kernel is None else kernel.block_address
