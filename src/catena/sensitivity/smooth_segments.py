"""The nominal run of a sensitivity, cut into segments: on each, forces and modes are constant, and
the system is smooth.

segment | transition | segment | transition | segment

A segment ends at an event (a transition), at a new piece of given forces, or where a load jumps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import StudyError
from ..simulation.handlers import Hit
from ..simulation.integrators import drivers
from ..simulation.planning import RunPlan
from ..simulation.runners import Runner, forces
from ..simulation.terms import ROLLS, ContactMode, Guard, RimPoint

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Transition:
    """An event of the nominal run.

    t: its time, s. guard, number: the guard that fell to zero, and its index. before, after: the
    states on both sides. held, then: the inputs on both sides. ends: whether it ended the run.
    description: a sentence. hits: the contacts that were hit.
    """

    t: float
    guard: Guard | None
    number: int
    before: Array
    after: Array
    held: Array
    then: Array
    ends: bool
    description: str
    hits: tuple[Hit, ...] = ()


@dataclass(frozen=True)
class Segment:
    """A part of the run from `begin` to `end` (s) on which the inputs `held` (nu,) are constant.

    piece: the index of the piece of given forces. transition: the event at its end, None where
    there is none. short: the time (s) before the end of the segment at which its variations are
    ended, where they become stiff (`saltation.end_before_rest`).
    """

    begin: float
    end: float
    held: Array
    piece: int
    transition: Transition | None = None
    short: float = 0.0


class _Recorder(Runner):
    """A runner that records the states on both sides of every event."""

    def __init__(self, plan: RunPlan):
        super().__init__(plan)
        self.transitions: list[Transition] = []

    def _begin(self) -> Any:
        """Begin the run, and record state and inputs after the events at its start."""
        part = super()._begin()
        self.held0, self.x_begin = self.engine.held[:, 0].copy(), self.engine.x[:, 0].copy()
        return part

    def _events(self, event: int) -> bool:
        """Handle the events of an instant, and record the states and inputs on both sides."""
        before = self.engine.x[:, 0].copy()
        held = self.engine.held[:, 0].copy()
        count = len(self.log)
        struck = self.contacts.impacts.hits if self.contacts is not None else []
        first = len(struck)
        fell = self.status == drivers.EVENT
        ended = super()._events(event)
        after = self.engine.x[:, 0].copy()
        then = self.engine.held[:, 0].copy()
        if fell or len(self.log) > count or not np.array_equal(after, before):
            guard = self.engine.system.guards[event] if fell else None
            description = "; ".join(o.what for o in self.log[count:]) or (
                guard.meaning.value if guard else "a scheduled event"
            )
            self.transitions.append(
                Transition(
                    self.t,
                    guard,
                    event,
                    before,
                    after,
                    held,
                    then,
                    ended,
                    description,
                    tuple(struck[first:]),
                )
            )
        return ended


def run_segments(plan: RunPlan) -> tuple[Array, list[Segment]]:
    """Return the state at the start, after the events there, and the segments of the run.

    In these a slip keeps its own direction, however straight it is. Raises StudyError where shapes
    touch by features that change, which is not differentiated.
    """
    if patches := plan.system.holding.patches:
        names = ", ".join(repr(x.patch.name) for x in patches)
        raise StudyError(
            f"{names}: these shapes touch by features that are chosen on the way, which are not"
            " differentiated; let frames or spheres touch instead"
        )
    x, held, transitions, until = _events(plan)
    _refuse_flat_ends(plan, [held, *(transition.then for transition in transitions)])
    held = _without_straight_flags(plan, held)
    transitions = [
        replace(
            transition,
            held=_without_straight_flags(plan, transition.held),
            then=_without_straight_flags(plan, transition.then),
        )
        for transition in transitions
    ]
    times = sorted(
        {*_change_times(plan, until), *(transition.t for transition in transitions), until}
        - {plan.start}
    )
    return x, list(_cut(plan, held, times, transitions))


def _refuse_flat_ends(plan: RunPlan, held: list[Array]) -> None:
    """Raise StudyError where the end of a cylinder stands flat during the run."""
    h = plan.system.holding
    for k, c in enumerate(h.contacts):
        if isinstance(c, RimPoint) and any(
            h.mode(h.first_contact + k, x[plan.system.nv :]).key > ROLLS for x in held
        ):
            raise StudyError(
                f"{c.name!r}: the end of a cylinder stands flat, on three points that are chosen on"
                " the way, which are not differentiated; let frames on its rim touch instead"
            )


def _without_straight_flags(plan: RunPlan, held: Array) -> Array:
    """Return the inputs with the flag `straight` of every contact mode switched off."""
    h = plan.system.holding
    own = held.copy()
    for k in range(len(h.contacts)):
        own[
            plan.system.nv
            + h.slots[h.first_contact + k].start
            + ContactMode._fields.index("straight")
        ] = 0.0
    return own


def _events(plan: RunPlan) -> tuple[Array, Array, list[Transition], float]:
    """Return the state and inputs at the start, the events, and the end (s) of the nominal run."""
    if plan.scheme.empty:
        u = (
            np.zeros((plan.system.nv, 1))
            if plan.control is None or hasattr(plan.control, "law")
            else forces(plan.system.nv, plan.control)
        )
        return plan.x0[0].copy(), np.append(u.ravel(), plan.system.holding.start()), [], plan.until
    runner = _Recorder(plan)
    for _ in runner.slices():
        pass
    if runner.status not in (drivers.REACHED, drivers.EVENT):
        raise StudyError(
            f"the run of which sensitivities are asked does not reach its end: {runner.sentence}"
        )
    return runner.x_begin, runner.held0, runner.transitions, runner.t


def _change_times(plan: RunPlan, until: float) -> Iterator[float]:
    """Yield the times (s) at which given forces or loads change."""
    count = plan.forces.shape[1] if plan.forces is not None else 1
    yield from (t for t in np.linspace(plan.start, plan.until, count + 1)[1:-1] if t < until)
    yield from (t for t in plan.switches if t < until)


def _cut(
    plan: RunPlan, held: Array, times: list[float], transitions: list[Transition]
) -> Iterator[Segment]:
    """Yield the segments between the times `times`, with the events at their ends."""
    begin = plan.start
    left = list(transitions)
    nv = plan.system.nv
    piece_duration = (plan.until - plan.start) / (
        plan.forces.shape[1] if plan.forces is not None else 1
    )
    for end in times:
        piece = int((0.5 * (begin + end) - plan.start) / piece_duration)
        own = held.copy()
        if plan.forces is not None:
            own[:nv] = plan.forces[0, piece]
        here = [transition for transition in left if transition.t == end]
        left = left[len(here) :]
        turned: list[Transition | None] = [*here] or [None]
        for transition in turned:
            yield Segment(begin, end, own, piece, transition)
            begin = end
            held = held if transition is None else transition.then
            own = held.copy()
            if plan.forces is not None:
                own[:nv] = plan.forces[0, piece]
