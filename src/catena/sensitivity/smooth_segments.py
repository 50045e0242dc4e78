"""The nominal run of a sensitivity, cut into legs: on each, forces and modes stay, and the system
is smooth.

leg | turn | leg | turn | leg          a turn: a new piece of given forces, a load that jumps, or an
                                       event
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
class Turn:
    """An event: when (s), which guard fell, the states and the held inputs on both sides, whether
    it ended the run, what was said, which contacts were hit.
    """

    t: float
    guard: Guard | None
    number: int
    before: Array
    after: Array
    held: Array
    then: Array
    ends: bool
    said: str
    hits: tuple[Hit, ...] = ()


@dataclass(frozen=True)
class Leg:
    """From `begin` to `end` (s) with `held` (nu,), in which the forces are those of piece `piece`;
    the turn at its end, if it has one.

    short: by so much (s) its variations end earlier, where they are stiff
    (`saltation.before_rest`).
    """

    begin: float
    end: float
    held: Array
    piece: int
    turn: Turn | None = None
    short: float = 0.0


class _Recorder(Runner):
    """A runner that notes the states on both sides of every event."""

    def __init__(self, plan: RunPlan):
        super().__init__(plan)
        self.turns: list[Turn] = []

    def _begin(self) -> Any:
        part = super()._begin()
        self.held0, self.x_begin = self.engine.held[:, 0].copy(), self.engine.x[:, 0].copy()
        return part

    def _events(self, event: int) -> bool:
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
            said = "; ".join(o.what for o in self.log[count:]) or (
                guard.meaning.value if guard else "a scheduled event"
            )
            self.turns.append(
                Turn(
                    self.t,
                    guard,
                    event,
                    before,
                    after,
                    held,
                    then,
                    ended,
                    said,
                    tuple(struck[first:]),
                )
            )
        return ended


def legs(plan: RunPlan) -> tuple[Array, list[Leg]]:
    """The state at the start, after what happens there, and the legs of the run. In these a slip
    has its own direction, however straight it is.
    """
    if patches := plan.system.holding.patches:
        names = ", ".join(repr(x.patch.name) for x in patches)
        raise StudyError(
            f"{names}: these shapes touch by features that are chosen on the way, which are not"
            " differentiated; let frames or spheres touch instead"
        )
    x, held, turns, until = _events(plan)
    _refuse_flat_ends(plan, [held, *(turn.then for turn in turns)])
    held = _curved(plan, held)
    turns = [
        replace(turn, held=_curved(plan, turn.held), then=_curved(plan, turn.then))
        for turn in turns
    ]
    marks = sorted({*_marks(plan, until), *(turn.t for turn in turns), until} - {plan.start})
    return x, list(_cut(plan, held, marks, turns))


def _refuse_flat_ends(plan: RunPlan, held: list[Array]) -> None:
    h = plan.system.holding
    for k, c in enumerate(h.contacts):
        if isinstance(c, RimPoint) and any(
            h.mode(h.first_contact + k, x[plan.system.nv :]).key > ROLLS for x in held
        ):
            raise StudyError(
                f"{c.name!r}: the end of a cylinder stands flat, on three points that are chosen on"
                " the way, which are not differentiated; let frames on its rim touch instead"
            )


def _curved(plan: RunPlan, held: Array) -> Array:
    h = plan.system.holding
    own = held.copy()
    for k in range(len(h.contacts)):
        own[
            plan.system.nv
            + h.slots[h.first_contact + k].start
            + ContactMode._fields.index("straight")
        ] = 0.0
    return own


def _events(plan: RunPlan) -> tuple[Array, Array, list[Turn], float]:
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
    return runner.x_begin, runner.held0, runner.turns, runner.t


def _marks(plan: RunPlan, until: float) -> Iterator[float]:
    """Where given forces or loads change."""
    count = plan.forces.shape[1] if plan.forces is not None else 1
    yield from (t for t in np.linspace(plan.start, plan.until, count + 1)[1:-1] if t < until)
    yield from (t for t in plan.switches if t < until)


def _cut(plan: RunPlan, held: Array, marks: list[float], turns: list[Turn]) -> Iterator[Leg]:
    begin = plan.start
    left = list(turns)
    nv = plan.system.nv
    span = (plan.until - plan.start) / (plan.forces.shape[1] if plan.forces is not None else 1)
    for end in marks:
        piece = int((0.5 * (begin + end) - plan.start) / span)
        own = held.copy()
        if plan.forces is not None:
            own[:nv] = plan.forces[0, piece]
        here = [turn for turn in left if turn.t == end]
        left = left[len(here) :]
        turned: list[Turn | None] = [*here] or [None]
        for turn in turned:
            yield Leg(begin, end, own, piece, turn)
            begin = end
            held = held if turn is None else turn.then
            own = held.copy()
            if plan.forces is not None:
                own[:nv] = plan.forces[0, piece]
