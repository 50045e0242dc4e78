"""Engine: integrates a system by one method from an instant to a later one. Only it calls the
drivers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import SimulationError
from ...registry import loaded
from .. import stepping
from ..terms.error_scales import FINEST, SHARE, ErrorScales, error_scales
from ..terms.guard_sides import GuardSides, guard_sides
from . import drivers, fixed_step
from .lane_runs import LaneRuns, address_of, watch_of
from .stiffness import Switch

if TYPE_CHECKING:
    from ...compiler import LaneKernel
    from ..system.first_order import System
    from .methods import Method

Array = np.ndarray
FIRST_RUN = np.array([0])  # the list of runs of a single run
NOTHING_HELD = np.empty((1, 0, 0))  # rows without inputs
STEPS_AT_ONCE = 2000  # steps of runs in lanes between two points at which they can be interrupted


@dataclass
class Tally:
    """The cost of a run so far: steps and evaluations of the derivative; for runs in lanes, the
    largest values of all runs.

    largest: the largest step, s. laboured: a sentence that says where the run took suspiciously
    many steps; "" if it did not. switches: the changes of method.
    """

    accepted: int = 0
    rejected: int = 0
    evaluations: int = 0
    largest: float = 0.0
    laboured: str = ""
    switches: list[Switch] = field(default_factory=list)

    def copy(self) -> Tally:
        """Return a copy that does not change with this one."""
        return replace(self, switches=[Switch(*s) for s in self.switches])


@dataclass(frozen=True)
class Segment:
    """The part of a run between two stops of the integrator. status: why it ended, see
    `drivers.OUTCOMES`. t: its last time, s. rows (rows, size, W): the states at the output times.
    event: the guard that ended it, -1 for none.
    """

    status: int
    t: float
    rows: Array
    event: int = -1


class Engine:
    """A system and an integration method, for W states in lanes. It holds the state x (size, W) and
    the drivers' buffers.

    p: the parameters, (count,) or (count, W). tolerance: the relative tolerance of the whole run,
    of which a single step may use a twentieth. scales: relative to which errors are judged
    (`error_scales.py`); moved (W, 2): how far and how fast the runs have been. watch: the evidence
    of their stiffness (`stiffness.py`). step: s; of an adaptive method the first step, or, below
    zero, minus the longest that the first step may be; of a fixed one the longest, each of which is
    cut into `refine` equal parts. most: the number of steps after which a run is stopped. largest:
    s, the largest step of an adaptive method. u: a view of the inputs (nv, W); modes: a view of the
    modes of switched constraints, in the same buffer. store: an array (W, rows, size) into which
    output rows are written from row `filled` on; None: each segment has its own array. pieces: for
    a method with equal steps, piecewise constant forces.
    """

    def __init__(
        self,
        system: System,
        method: Method,
        x: Array,
        p: Array,
        *,
        tolerance: float,
        step: float,
        most: int,
        largest: float = np.inf,
        refine: int = 1,
        scales: ErrorScales | None = None,
    ):
        self.system = system
        self.method = method
        self.step = step
        self.most = most
        self.refine = refine
        self.x = np.array(x, order="C")
        size, self.W = self.x.shape
        self.h, self.largest = step, largest
        self.rtol, self._scales, self._begun, self.moved = (
            max(SHARE * tolerance, FINEST),
            scales,
            self.x.T.copy(),
            np.zeros((self.W, 2)),
        )
        self.watch = watch_of(system, self.W, method)
        mapped = method.kind in ("map", "stepping")
        first = 1 + size + system.nu
        last = 1 + size + system.nu + len(p)
        self.buffer = np.zeros((last + mapped, self.W))
        self.u = self.buffer[1 + size : 1 + size + system.nv]
        self.modes = self.buffer[1 + size + system.nv : first]
        self.p = self.buffer[first:last]
        self.p[:] = p if p.ndim == 2 else p[:, None]
        self.modes[:] = system.holding.start()[:, None]
        self.stepper = stepping.stepper(system, self.W) if method.kind == "stepping" else None
        self.room = np.zeros(self.stepper.size if self.stepper is not None else 0)
        self.settle = self._kernel("settle")
        self.K = np.zeros((max(len(method.A), 1), self.x.size))
        self.tally = Tally()
        self.store: Array | None = None
        self.filled = 0
        self.pieces = Pieces(np.zeros((self.W, 0, system.nv)))
        self._lanes: LaneRuns | None = None

    @cached_property
    def scales(self) -> ErrorScales:
        """The scales relative to which errors are judged."""
        return self._scales or error_scales(self.system)

    @cached_property
    def origin(self) -> Array:
        """The states (W, size) at which the runs began, or from which their motion since the last
        impact began.
        """
        return self.scales.origin(self._begun)

    def restart_scales(self) -> None:
        """Reset the error scales to those at the beginning of a run: errors are judged relative to
        the motion from here on.
        """
        self.origin[:], self.moved[:] = self.scales.origin(self.x.T), 0.0

    @cached_property
    def sides(self) -> GuardSides:
        """On which side of zero the guard of each event was when it was last evaluated."""
        return guard_sides(self.system.guards, self.W)

    @property
    def kernel(self) -> LaneKernel:
        """The compiled derivative; for methods that are a map from state to state, the compiled
        step; for time stepping, the contact problem.
        """
        if self.stepper is not None:
            return self.stepper.problem
        return self._kernel("step" if self.method.kind == "map" else "derivative")

    @property
    def guard(self) -> LaneKernel | None:
        """The compiled guards, or None where there are none."""
        return self._kernel("guard")

    def _kernel(self, name: str) -> Any:
        """Return an expression of the system, compiled for W lanes."""
        return self.system.kernel(name, self.W)

    @property
    def held(self) -> Array:
        """The inputs and the modes (nu, W), which are constant between events: a view of the
        buffer.
        """
        first = 1 + len(self.x)
        return self.buffer[first : first + self.system.nu]

    def evaluate(self, name: str, t: float, x: Array | None = None) -> list[Array]:
        """Return the outputs (n, W) of one of the system's compiled expressions at t (s) and x
        (size, W), by default the state of the engine.
        """
        x = self.x if x is None else x
        kernel = self._kernel(name)
        inputs = [
            np.full((self.W, 1), t),
            *(np.ascontiguousarray(a.T) for a in (x, self.held, self.p)),
        ]
        return [out.T for out in kernel(inputs, self.W)[0]]

    # --- running
    def run(self, t: float, end: float, times: Array) -> Segment:
        """Advance from t to `end` (s), with states at the output `times` in (t, end]; sampled
        controllers are sampled whenever that is due.
        """
        if not self.system.clocks:
            return self.advance(t, end, times)
        from .sampling import advance_between_samples

        return advance_between_samples(self, t, end, times)

    def advance(self, t: float, end: float, times: Array) -> Segment:
        """Advance as `run` does, without sampling controllers."""
        return getattr(self, f"_{self.method.kind}")(
            float(t), float(end), np.ascontiguousarray(times)
        )

    def _adaptive(self, t: float, end: float, times: Array) -> Segment:
        """Advance by an adaptive method."""
        return (
            self._advance_single(t, end, times)
            if self.W == 1
            else self._advance_lanes(t, end, times)
        )

    _rosenbrock = _adaptive

    def _advance_single(self, t: float, end: float, times: Array) -> Segment:
        """Advance a single run up to `end` or its next event, with the driver for many runs."""
        (out, first), inputs = self._room(len(times)), self.buffer[1 + len(self.x) :]
        # the runs share the memory of the engine
        runs = self._lanes = self._lanes or self._lane_runs(
            self.x.reshape(1, -1), inputs.reshape(1, -1)
        )
        runs.t[:], runs.h[:], runs.row[:], runs.tally[:] = t, self.h, 0, 0
        runs.advance(
            FIRST_RUN,
            np.array([end]),
            np.array([len(times)]),
            np.array([self._steps_left]),
            times,
            out,
            NOTHING_HELD,
            first,
        )
        self.h = float(runs.h[0])
        accepted, rejected, evaluations, status, event = map(int, (*runs.tally[0], *runs.ended[0]))
        self._count(accepted, rejected, evaluations, self.h)
        self.tally.switches += runs.switches.pop(0, [])
        return Segment(
            status, float(runs.t[0]), self._written(out, first, first + int(runs.row[0])), event
        )

    def _lane_runs(self, x: Array, given: Array) -> LaneRuns:
        """Return the runs of this engine as the record that `lane_runs` advances."""
        return LaneRuns(
            self.system,
            self.method,
            x,
            given,
            h=self.h,
            width=self.W,
            rtol=self.rtol,
            scales=self.scales,
            origin=self.origin,
            moved=self.moved,
            largest=self.largest,
            sides=self.sides,
            watch=self.watch,
        )

    def _advance_lanes(self, t: float, end: float, times: Array) -> Segment:
        """Advance the runs in lanes, each with its own steps, so that no run depends on its
        neighbours. If one run cannot go on, the state of that run is copied to all lanes at the
        end.
        """
        first, (out, row) = 1 + len(self.x), self._room(len(times))
        runs = self._lanes = self._lanes or self._lane_runs(
            np.empty(self.x.T.shape), np.empty(self.buffer[first:].T.shape)
        )
        runs.x[:], runs.given[:], runs.t[:], runs.row[:] = self.x.T, self.buffer[first:].T, t, 0
        rows = np.full(self.W, len(times))
        ends = np.full(self.W, end)
        going = np.arange(self.W)
        while len(going):
            most = np.minimum(self.most - runs.tally[:, :2].sum(axis=1), STEPS_AT_ONCE)
            runs.advance(going, ends, rows, most, times, out, np.empty((self.W, 0, 0)), row)
            going = np.flatnonzero(
                (runs.ended[:, 0] == drivers.TOO_MANY) & (runs.tally[:, :2].sum(axis=1) < self.most)
            )
        worst = int(runs.ended[:, 0].argmax())
        status = int(runs.ended[worst, 0])
        lane: Any = slice(None) if status == drivers.REACHED else [worst]
        self.x[:], self.buffer[first:] = runs.x[lane].T, runs.given[lane].T
        self.h = float(runs.h[lane].min())
        accepted, rejected, evaluations = runs.tally.max(axis=0).tolist()
        switches = [s for lane in sorted(runs.switches) for s in runs.switches[lane]]
        self.tally = Tally(
            accepted, rejected, evaluations, max(self.tally.largest, self.h), switches=switches
        )
        return Segment(
            status, float(runs.t[lane].min()), self._written(out, row, row + int(runs.row.min()))
        )

    @property
    def _steps_left(self) -> int:
        """The number of steps that the run may still take."""
        return self.most - self.tally.accepted - self.tally.rejected

    def _library(self, t: float, end: float, times: Array) -> Segment:
        """Advance by an integrator of a library, such as SciPy's Radau."""
        return loaded("catena.simulation.integrators.radau:advance")(self, t, end, times)

    @property
    def _flat(self) -> tuple[Array, Array]:
        """The state and the buffer as flat arrays (views), the form that the drivers take."""
        return self.x.reshape(-1), self.buffer.reshape(-1)

    # --- equal steps
    def _fixed(self, t: float, end: float, times: Array) -> Segment:
        """Advance in stretches of equal steps, such that steps end at each of `times` and at
        `end`.
        """
        rows: list[Array] = []
        for stop, gaps, wanted in stretches(t, end, times):
            every = self.refine * max(1, int(np.ceil((stop - t) / gaps / self.step - 1e-9)))
            out, first = self._room(gaps) if wanted else (np.empty((self.W, gaps, len(self.x))), 0)
            status, reached, row = self._equal_steps(
                t, (stop - t) / (gaps * every), gaps * every, every, out, first
            )
            if wanted:
                rows.append(self._written(out, first, row))
            if status != drivers.REACHED:
                return Segment(status, reached, self._joined(rows))
            t = stop
        return Segment(drivers.REACHED, end, self._joined(rows))

    _map = _implicit = _stepping = _fixed

    def _equal_steps(
        self, t: float, h: float, steps: int, every: int, out: Array, first: int
    ) -> tuple[int, float, int]:
        """Take so many steps of size h (s), and write a row of `out` after `every` of them, from
        row `first` on. Return status, time (s) and the next row.
        """
        m = self.method
        if self.stepper is not None:
            return self._contact_steps(t, h, steps, every, out, first)
        self.kernel.used(steps * max(1, len(m.A)))
        # explicit tableaux do not keep quaternions at unit length; the other methods do
        settle = address_of(self.settle) if m.kind == "fixed" or self.system.binds else 0
        drive, weights = fixed_step.explicit, []
        if m.kind == "implicit":
            drive = fixed_step.implicit
            weights = [self.scales.of_rates(h, self.x.T).T.ravel()]
        status, t, row, evaluations = drive(
            address_of(self.kernel),
            settle,
            m.A,
            m.B[None],
            m.C,
            *self._flat,
            self.K,
            *self.pieces.at(t, h),
            t,
            h,
            steps,
            every,
            out,
            first,
            *weights,
            self.W,
        )
        self._count(steps, 0, evaluations, h)
        return status, t, row

    def _contact_steps(
        self, t: float, h: float, steps: int, every: int, out: Array, first: int
    ) -> tuple[int, float, int]:
        """Take equal steps with contacts by time stepping; as `_equal_steps`."""
        assert self.stepper is not None
        self.stepper.used(steps)
        settle = address_of(self.settle) if self.system.binds else 0
        status, t, row, evaluations = fixed_step.stepping(
            *self.stepper.addresses,
            settle,
            *self._flat,
            self.room,
            self.stepper.given,
            *self.pieces.at(t, h),
            t,
            h,
            steps,
            every,
            out,
            first,
            self.W,
        )
        self._count(steps, 0, evaluations, h)
        return status, t, row

    # --- rows
    def _room(self, count: int) -> tuple[Array, int]:
        """Return the array (W, rows, size) for the next `count` rows, and the index of the first of
        them.
        """
        return (
            (np.empty((self.W, count, len(self.x))), 0)
            if self.store is None
            else (self.store, self.filled)
        )

    def _written(self, out: Array, first: int, last: int) -> Array:
        """Return the rows that were written, (rows, size, W)."""
        self.filled = last
        return out[:, first:last].transpose(1, 2, 0)

    def _joined(self, rows: list[Array]) -> Array:
        """Return the rows of all stretches as one array (rows, size, W)."""
        return rows[0] if len(rows) == 1 else np.concatenate([np.empty((0, *self.x.shape)), *rows])

    def _count(self, accepted: int, rejected: int, evaluations: int, h: float) -> None:
        """Add numbers of steps and evaluations, and the step size h (s), to the tally."""
        self.tally.accepted += accepted
        self.tally.rejected += rejected
        self.tally.evaluations += evaluations
        self.tally.largest = max(self.tally.largest, h)


@dataclass(frozen=True)
class Pieces:
    """Piecewise constant forces (W, pieces, nv), N m or N, one after another from the time `begin`
    on, each for `span` seconds; no forces where there are no pieces.
    """

    forces: Array
    begin: float = 0.0
    span: float = np.inf

    def at(self, t: float, h: float) -> tuple[Array, int, int]:
        """Return the forces, the number of steps of size h (s) that each piece lasts, and the
        number of steps taken before t (s). Raise SimulationError where a piece is not a whole
        number of steps.
        """
        if not self.forces.shape[1]:
            return self.forces, 1, 0
        hold = max(1, round(self.span / h))
        if abs(hold * h / self.span - 1.0) > 1e-9:
            raise SimulationError(
                f"forces change every {self.span:.9g} s, which is not a whole number of steps of"
                f" {h:.9g} s: choose `step` and `output` so that it is"
            )
        return self.forces, hold, round((t - self.begin) / h)

    def first(self, count: int) -> Pieces:
        """Return the forces of the first `count` runs."""
        return replace(self, forces=self.forces[:count])

    def number(self, t: Array | float, after: bool = False) -> Any:
        """Return the index of the piece that acts just before t (s), or just after it if
        `after`.
        """
        found = (
            np.floor((np.asarray(t) - self.begin) / self.span + 1e-9)
            if after
            else np.ceil((np.asarray(t) - self.begin) / self.span - 1e-9) - 1
        )
        return np.clip(found.astype(int), 0, self.forces.shape[1] - 1)


def stretches(t: float, end: float, times: Array) -> Iterator[tuple[float, int, bool]]:
    """Divide the time from t to `end` at the output times. Yield (end of a stretch, number of equal
    intervals in it, whether these end at output times): to the first output time, through all of
    them, and from the last one to the end. Raise SimulationError where the output times are not
    equally spaced.
    """
    begin = t
    if len(times):
        # equal up to the rounding of a late start
        gaps = np.diff(times)
        equal = 1e-9 * (times[-1] - t) + 16.0 * np.spacing(max(abs(t), abs(times[-1])))
        if len(gaps) and np.ptp(gaps) > equal:
            found = f"these are {gaps.min():.6g} to {gaps.max():.6g} s apart"
            raise SimulationError(
                f"a method with fixed steps needs output times that are equally spaced; {found}."
                " Take dop853, which is adaptive"
            )
        whole = len(gaps) > 0 and abs(times[0] - t - gaps[0]) <= equal
        if whole:
            yield times[-1], len(times), True
        else:
            yield times[0], 1, True
            if len(gaps):
                yield times[-1], len(gaps), True
        t = times[-1]
    if end - t > max(1e-12 * (end - begin), 16.0 * np.spacing(max(abs(t), abs(end)))):
        yield end, 1, False
