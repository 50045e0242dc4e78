"""Events of stops and dry friction for many runs at once: the laws of `event_handler.py` and
`mode_choice.py` over arrays.

For open mechanisms whose runs have no other events: what holds are rows v_k = 0, each a column of
the inverse mass matrix. With I = M^-1 and the set of rows h that hold in an impact,

    dv = I_.h L,  I_hh L = wanted - v_h
            stops push in one direction: L has its sign, or the row opens

The laws are those of `mode_choice.py`, over arrays; impulses are the boxed problem of
`contact.boxed_problem`, for all runs together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...contact import NOTHING, boxed_forces
from ...errors import StateError
from ...machine import accelerated, where
from ..integrators.lane_runs import LaneRuns, Whole
from ..planning.checks import outside
from ..planning.plan import RunPlan
from ..terms.guards import LOWER, UPPER, Meaning
from ..terms.switched_constraints import NO_LIMIT
from .accumulation import Impacts
from .contact_handler import ContactHandler
from .event_handler import EVENTS_AT_ONE_INSTANT, EVENTS_IN_ONE_RUN, Occurrence
from .mode_choice import (
    HELD,
    HIGH,
    LOW,
    THROWING_SPEED,
    ZERO_SPEED,
    candidates,
    force_slack,
    held_or_slipping,
    locked,
    slow,
    widened,
)
from .simultaneous_stops import INSTANT_LENGTH, reach_together

Array = NDArray[np.float64]
SIDES = (LOWER, UPPER)
SIGNS = np.array([side.sign for side in SIDES])


class SpeedEvents:
    """Events of R runs in which stops and dry friction of joints are the only ones.

    touching (R, parts, 2): whether a coordinate touches its lower or upper stop. series: {(run,
    part, side): the series of Impacts}. energy (R,): twice the largest kinetic energy at an event
    so far, J. limits (R, parts, 2): positions of the stops, rad or m. dry (R, parts): dry friction,
    N m or N. A part is one speed that a stop or friction can hold.
    """

    @staticmethod
    def serves(plan: RunPlan) -> bool:
        """Whether stops and dry friction are the only events that the runs of a plan can have."""
        s, scheme = plan.system, plan.scheme
        only = bool(s.holding.speeds) and not (
            s.holding.locks or s.holding.contacts or scheme.guarded or scheme.timed or scheme.locks
        )
        return only and s.equations.state_is_qv and s.driven is None and not plan.machine.rows

    def __init__(self, plan: RunPlan, lanes: LaneRuns):
        self.plan = plan
        self.lanes = lanes
        self.machine = plan.machine
        self.system = plan.system
        self.speeds = self.system.holding.speeds
        count = len(lanes.x)
        parts = len(self.speeds)
        self.index, self.coordinate = (
            np.array([h.index for h in self.speeds]),
            np.array([h.coordinate for h in self.speeds]),
        )
        self.restitution = np.array([h.restitution for h in self.speeds])
        p = lanes.given[:, self.system.nu :]
        columns = (
            self.system.bounds.map(count)(p.T) if p.shape[1] else self.system.bounds(np.zeros(0))
        )
        lower, upper, self.dry = (np.broadcast_to(np.array(x).T, (count, parts)) for x in columns)
        self.limits = np.stack([lower, upper], axis=2)
        self.touching, self.energy = np.zeros((count, parts, 2), bool), np.zeros(count)
        self.series: dict[tuple[int, int, int], Impacts] = {}
        self._logs: list[list[Occurrence]] = [[] for _ in range(count)]
        self._last, self._crowd, self._count = (
            np.full(count, -np.inf),
            np.zeros(count, int),
            np.zeros(count, int),
        )

    # --- entry points
    def begin(self, runs: Whole) -> dict[int, str]:
        """Find which coordinates start on their stops and which joints start at rest, before the
        first step. Return {run: reason for its end}, which is empty.
        """
        before = self._logs_and_states(runs)
        for k, h in enumerate(self.speeds):
            for side in (n for n, bound in enumerate(SIDES) if bound in h.sides):
                self._start_at(runs, k, side)
        self._choose(runs)
        self._record_states(runs, before)
        return {}

    def _logs_and_states(self, runs: Whole) -> list[tuple[int, Array]]:
        """Return for each run how many events it has logged, and its state (q, v)."""
        s = self.system
        x = self.lanes.x[runs, : s.nq + s.nv]
        return [(len(self._logs[run]), own) for run, own in zip(runs, x)]

    def _record_states(self, runs: Whole, before: list[tuple[int, Array]]) -> None:
        """Add the states before and after to the events that were logged since `before`, which
        `_logs_and_states` returned.
        """
        s = self.system
        for run, (first, x) in zip(runs, before):
            log = self._logs[run]
            if len(log) > first:
                states = tuple(x.tolist()), tuple(self.lanes.x[run, : s.nq + s.nv].tolist())
                log[first:] = [Occurrence(o.time, o.what, *states) for o in log[first:]]

    def fell(self, runs: Whole, guards: Whole) -> tuple[dict[int, str], dict[int, str]]:
        """Handle, in each of some runs, the one guard that fell to zero there. Return {run: reason
        for its end}, which is empty, and {run: error} of runs that cannot go on.
        """
        known = self.system.guards
        meant = np.array([list(Meaning).index(g.meaning) for g in known])[guards]
        part = np.array([g.subject for g in known])[guards]
        stop = meant == list(Meaning).index(Meaning.REACHES_STOP)
        failed = self._count_events(runs, stop)
        before = self._logs_and_states(runs)
        if stop.any():
            side = np.array([SIDES.index(g.side) if g.side is not None else 0 for g in known])[
                guards
            ]
            self._meet(runs[stop], part[stop], side[stop])
        rest = meant == list(Meaning).index(Meaning.COMES_TO_REST)
        if rest.any():
            self.lanes.x[runs[rest], self.system.nq + self.index[part[rest]]] = 0.0
        going = runs[~np.isin(runs, list(failed))]
        if len(going):
            self._choose(going)
        self._record_states(runs, before)
        return {}, failed

    def due(self, run: int) -> str:
        """Handle scheduled events: there are none, so the run does not end ("")."""
        return ""

    def log(self, run: int) -> list[Occurrence]:
        """Return the events that have happened in a run."""
        return self._logs[run]

    def contacts(self, run: int) -> ContactHandler | None:
        """Return the handler of contacts, which these runs do not have."""
        return None

    def _add_to_log(self, run: int, what: str, t: float | None = None) -> None:
        """Log an event of a run, at its present time or at t (s)."""
        self._logs[run].append(Occurrence(float(self.lanes.t[run]) if t is None else t, what))

    def _count_events(self, runs: Whole, stop: NDArray[np.bool_]) -> dict[int, str]:
        """Count an event of each run. Return {run: error} of those whose events repeat without
        progress in time. stop: whether the event is an impact at a stop.
        """
        t = self.lanes.t[runs]
        instant = np.where(stop, 0.0, INSTANT_LENGTH * (t - self.plan.start))
        near = t - self._last[runs] <= np.maximum(instant, 16.0 * np.spacing(np.abs(t)))
        self._crowd[runs] = np.where(near, self._crowd[runs] + 1, 0)
        self._last[runs] = t
        self._count[runs] += 1
        failed = {}
        for run in runs[
            (self._crowd[runs] > EVENTS_AT_ONE_INSTANT) | (self._count[runs] > EVENTS_IN_ONE_RUN)
        ]:
            last = self._logs[run][-1].what if self._logs[run] else "a condition that is met"
            at = f"{self.lanes.t[run]:.9g} s, the last: {last}"
            crowd = self._crowd[run] > EVENTS_AT_ONE_INSTANT
            failed[int(run)] = (
                f"more than {EVENTS_AT_ONE_INSTANT} events at t = {at}; the run cannot get past it"
                if crowd
                else f"more than {EVENTS_IN_ONE_RUN} events until t = {at}; end the run before"
            )
        return failed

    # --- states and modes
    def _modes(self, runs: Whole) -> Array:
        """Return (n, parts, 4): a copy of the modes of each run, as the fields of `SpeedMode`."""
        return self.lanes.modes[runs].reshape(len(runs), -1, 4)

    def _set_modes(self, runs: Whole, modes: Array) -> None:
        """Set the modes of these runs."""
        self.lanes.modes[runs] = modes.reshape(len(runs), -1)

    def _state(self, runs: Whole) -> tuple[Array, Array]:
        """Return copies of q (n, nq) and v (n, nv)."""
        s, x = self.system, self.lanes.x[runs]
        return x[:, : s.nq], x[:, s.nq : s.nq + s.nv]

    def _mass_matrix(self, runs: Whole) -> Array:
        """Return the mass matrices (n, nv, nv) of these runs."""
        p = self.lanes.given[runs, self.system.nu :]
        return self.machine.mass_matrix(self._state(runs)[0], parameters=p if p.shape[1] else None)

    def _inverse(self, M: Array) -> np.ndarray:
        """Return the inverses of mass matrices. Raise a SingularError that names the joint where
        one of them is singular.
        """
        try:
            inverse = np.linalg.inv(M)
        except np.linalg.LinAlgError:
            inverse = np.full_like(M, np.nan)
        for k in np.flatnonzero(~np.isfinite(inverse).all(axis=(1, 2))):
            accelerated(self.machine, M[k], np.eye(len(M[k])))
        return inverse

    def _at_rest(
        self,
        runs: Whole,
        part: Whole | slice,
        M: Array,
        asked: NDArray[np.bool_],
        ratio: float = ZERO_SPEED,
    ) -> NDArray[np.bool_]:
        """Return whether these speeds are negligible relative to the largest kinetic energy so far.
        asked: the runs whose present kinetic energy may raise that largest value, if the speeds are
        not negligible. ratio: the threshold, as a ratio of speeds.
        """
        _, v = self._state(runs)
        own = v[:, self.index]
        I = np.diagonal(M, axis1=1, axis2=2)[:, self.index]
        if not isinstance(part, slice):
            own, I = (np.take_along_axis(x, part[:, None], 1) for x in (own, I))
        counts = ((own != 0.0) & asked).any(axis=1)
        energy = np.einsum("ni,nij,nj->n", v, M, v)
        self.energy[runs] = np.where(
            counts, np.maximum(self.energy[runs], energy), self.energy[runs]
        )
        return slow(own, I, self.energy[runs], ratio)

    # --- stops
    def _stop_named(self, run: int, k: int, side: int) -> str:
        """Return the description of a stop, for messages."""
        return (
            f"its {SIDES[side].name} stop at {self.limits[run, k, side]:.6g} {self.speeds[k].unit}"
        )

    def _start_at(self, runs: Whole, k: int, side: int) -> None:
        """Find which runs start on a stop, and handle the impact of those that move against it.
        Raise StateError where one starts beyond the stop.
        """
        q, v = self._state(runs)
        h, sign = self.speeds[k], SIGNS[side]
        gap = sign * (q[:, h.coordinate] - self.limits[runs, k, side])
        for n in np.flatnonzero(gap < -outside(self.machine)[h.coordinate])[:1]:
            raise StateError(
                f"simulate: {where(self.machine)}: {h.name!r} starts at {q[n, h.coordinate]:.6g}"
                f" {h.unit}, beyond {self._stop_named(runs[n], k, side)}; start within the stops"
            )
        on = gap <= 0.0
        against = sign * v[:, h.index] < 0.0
        if (meeting := runs[on & against]).size:
            self._meet(meeting, np.full(len(meeting), k), np.full(len(meeting), side))
        self.touching[runs[on & ~against], k, side] = True

    def _meet(self, runs: Whole, part: Whole, side: Whole) -> None:
        """Handle coordinates that reach their stops: they rebound, or they stay where the impact is
        too slow or rebounds have accumulated.
        """
        sign = SIGNS[side]
        limit = self.limits[runs, part, side]
        nq = self.system.nq
        self.lanes.x[runs, self.coordinate[part]] = limit
        approach = -sign * self.lanes.x[runs, nq + self.index[part]]
        still = self._at_rest(runs, part, self._mass_matrix(runs), (approach > 0.0)[:, None])[:, 0]
        # without an impact; whether they stay is decided by the forces
        touches = (approach <= 0.0) | still
        self.touching[runs[touches], part[touches], side[touches]] = True
        runs, part, side, sign, limit, approach = (
            x[~touches] for x in (runs, part, side, sign, limit, approach)
        )
        if not len(runs):
            return
        rests: NDArray[np.bool_] = np.any(self.touching[runs], axis=-1)
        rebound = self.restitution[part] * approach
        for run, k, n, fast, after in zip(
            runs.tolist(), part.tolist(), side.tolist(), approach.tolist(), rebound.tolist()
        ):
            h = self.speeds[k]
            then = f"rebounds with {after:.6g} {h.unit}/s" if after else "does not rebound"
            self._add_to_log(
                run,
                f"{h.name} meets {self._stop_named(run, k, n)} with {fast:.6g} {h.unit}/s and"
                f" {then}",
            )
        self._meet_together(runs, part)
        # a negligible impact throws nothing off the other stops
        weak = self._at_rest(runs, part, self._mass_matrix(runs), np.array(False), THROWING_SPEED)
        self._jump(runs, part, sign * rebound, rests & weak)
        self.lanes.restart_scales(runs)
        ends = np.array(
            [
                self._accumulated(*key)
                for key in zip(runs.tolist(), part.tolist(), side.tolist(), approach.tolist())
            ]
        )
        stays = (rebound == 0.0) | ends
        self.touching[runs[stays], part[stays], side[stays]] = True
        again = np.flatnonzero(ends)
        if len(again):
            self._jump(runs[again], part[again], np.zeros(len(again)), rests[again])

    def _meet_together(self, runs: Whole, part: Whole) -> None:
        """Let stops that other parts reach at the same instant take part in the impacts of `part`,
        before these; as `EventHandler._meet_together`.
        """
        slides = self.coordinate >= 0
        q, v = self._state(runs)
        approach = -SIGNS * v[:, self.index, None]
        gap = SIGNS * (q[:, self.coordinate, None] - self.limits[runs])
        duration = (self.lanes.t[runs] - self.plan.start)[:, None, None]
        found = reach_together(
            gap, approach, self.limits[runs], self.restitution[:, None], duration
        )
        free = (self._modes(runs)[..., HELD] < 0.5) & slides
        free[np.arange(len(runs)), part] = False
        for n, k, side in np.argwhere(found & free[..., None] & ~self.touching[runs]).tolist():
            run, fast = int(runs[n]), float(approach[n, k, side])
            h = self.speeds[k]
            self._add_to_log(
                run,
                f"{h.name} meets {self._stop_named(run, k, side)} with {fast:.6g} {h.unit}/s and"
                " does not rebound",
            )
            self.lanes.x[run, h.coordinate] = self.limits[run, k, side]
            self._accumulated(run, k, side, fast)
            self.touching[run, k, side] = True

    def _accumulated(self, run: int, k: int, side: int, approach: float) -> bool:
        """Record an impact, and return whether the series of impacts that it belongs to has reached
        its limit.
        """
        key = run, k, side
        self.series[key] = self.series.get(key, Impacts()).then(
            float(self.lanes.t[run]), approach, float(self.limits[run, k, side])
        )
        return self.series[key].limit is not None

    # --- impacts
    def _jump(
        self, runs: Whole, part: Whole, to: Array, resting: NDArray[np.bool_] | None = None
    ) -> None:
        """Change one speed of each run to `to` by an impulse, while locks and stops hold the speeds
        that they hold, and add its work to the energy balance. resting (n, parts): further speeds
        that become zero, as in the last and smallest impact of a series.
        """
        modes, (_, v), n = self._modes(runs), self._state(runs), np.arange(len(runs))
        fixed = locked(modes)
        rows = fixed | self.touching[runs].any(axis=-1)
        # between two stops it is pushed both ways
        side = np.where(fixed, 0.0, self.touching[runs] @ SIGNS)
        if resting is not None:
            rows = rows | resting
            side = np.where(resting, 0.0, side)
        rows[n, part], side[n, part] = True, 0.0
        wanted = -v[:, self.index]
        wanted[n, part] += to
        full = self._inverse(self._mass_matrix(runs))
        I = full[:, self.index[:, None], self.index]
        L = np.where(rows, _impulses(I, wanted, rows, side), 0.0)
        dv = np.einsum("nij,nj->ni", full[:, :, self.index], L)
        work = np.einsum("nk,nk->n", L, (v + 0.5 * dv)[:, self.index])
        after = v + dv
        exact = rows & ((side == 0.0) | (L != 0.0))
        target = np.zeros(rows.shape)
        target[n, part] = to
        after[:, self.index] = np.where(exact, target, after[:, self.index])  # without rounding
        s, x = self.system, self.lanes.x
        x[runs, s.nq : s.nq + s.nv] = after
        x[runs, -1] += work

    # --- modes
    def _choose(self, runs: Whole) -> None:
        """Determine for all speeds that can be held whether they are held or slip, and log what has
        changed.
        """
        before, (_, v), M = self._modes(runs), self._state(runs), self._mass_matrix(runs)
        fixed = locked(before)
        still = self._at_rest(runs, slice(None), M, ~fixed)
        self.touching[runs] &= (still | fixed)[..., None]
        modes = candidates(before, v[:, self.index], still, self.touching[runs], self.dry[runs])
        self._set_modes(runs, modes)
        tried = (modes[..., HELD] > 0.5) & ~fixed
        if (some := tried.any(axis=1)).any():
            self._solve(runs[some], M[some], tried[some])
        self._log_changes(runs, before, fixed)

    def _solve(self, runs: Whole, M: Array, tried: NDArray[np.bool_]) -> None:
        """Determine which of the speeds in `tried` are held and which slip."""
        modes = self._modes(runs)
        free = modes.copy()
        free[tried, HELD] = 0.0
        self._set_modes(runs, free)
        a = self._accelerations(runs)
        inertia = np.diagonal(M, axis1=1, axis2=2)[:, self.index]
        size = np.einsum("ni,nij,nj->n", a, M, a)
        slack = force_slack(self.dry[runs], inertia, size)
        W = self._inverse(M)[:, self.index[:, None], self.index]
        modes = held_or_slipping(modes, tried, W, a[:, self.index], slack)
        self._set_modes(runs, widened(modes, slack))
        self.touching[runs] &= ~(tried & (modes[..., HELD] < 0.5))[..., None]

    def _accelerations(self, runs: Whole) -> Array:
        """Return the accelerations (n, nv) in the present modes."""
        lanes, nu = self.lanes, self.system.nu
        kernel = self.system.kernel("forces", lanes.width)
        given = [
            lanes.t[runs][:, None],
            lanes.x[runs],
            np.ascontiguousarray(lanes.given[runs, :nu]),
            np.ascontiguousarray(lanes.given[runs, nu:]),
        ]
        (a, _), _ = kernel(given, len(runs))  # type: ignore[misc]
        return a

    def _log_changes(self, runs: Whole, before: Array, locked: NDArray[np.bool_]) -> None:
        """Log what has changed in the modes; locks log their own changes."""
        now = self._modes(runs)
        for n, k in np.argwhere(
            ((now[..., HELD] > 0.5) != (before[..., HELD] > 0.5)) & ~locked
        ).tolist():
            run = int(runs[n])
            name = self.speeds[k].name
            held = now[n, k, HELD] > 0.5
            shown = now[n, k] if held else before[n, k]
            side = 0 if shown[HIGH] >= NO_LIMIT else 1 if shown[LOW] <= -NO_LIMIT else -1
            if side < 0:
                self._add_to_log(run, f"{name} {'sticks' if held else 'slips'}")
            elif not held:
                self._add_to_log(run, f"{name} leaves {self._stop_named(run, k, side)}")
            else:
                # a series that has not ended goes on: stops can throw each other off in turn
                series = self.series.get((run, k, side), Impacts())
                limit = series.limit
                if limit is not None:
                    del self.series[run, k, side]
                series_note = f", the limit of {series.number} impacts" if limit is not None else ""
                self._add_to_log(
                    run, f"{name} rests on {self._stop_named(run, k, side)}{series_note}", limit
                )


def _impulses(I: Array, wanted: Array, rows: NDArray[np.bool_], side: Array) -> Array:
    """Return the impulses L (n, k) with I L = wanted in the active rows (n, k); a row with a side
    pushes in that direction only, or opens.
    """
    size = np.sqrt(np.maximum(np.diagonal(I, axis1=1, axis2=2), 0.0))
    size = np.where(size > 0.0, size, 1.0)
    largest = np.abs(np.where(rows, wanted / size, 0.0)).max(axis=1)
    both = rows[:, :, None] & rows[:, None, :]
    L, _ = boxed_forces(
        np.where(both, I, 0.0),
        np.where(rows, -wanted, 0.0),
        np.where(rows & (side <= 0.0), -NO_LIMIT, 0.0),
        np.where(rows & (side >= 0.0), NO_LIMIT, 0.0),
        NOTHING * largest[:, None] / size,
    )
    return L
