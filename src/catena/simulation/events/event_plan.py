"""The event plan of a run: what can happen in it, from the given events and from the joints'
limits and friction.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import casadi as ca

from ... import contact as contact_laws
from ...errors import MechanismWarning
from ...kernels import BALL, usual_length
from ...model import per_speed
from ...results import units
from .. import terms
from ..terms.contact_rows import TouchingPoint
from ..terms.switched_constraints import HoldableSpeed, LockableFrame, SwitchedConstraints
from .event_kinds import at_instants, kind_of
from .records import Event, InstantEvent, Lock

if TYPE_CHECKING:
    from ...compiler import Tracer
    from ...machine import Machine
    from ..terms.contact_slots import PatchPoint, TouchingPatch


@dataclass(frozen=True)
class EventPlan:
    """What can happen in a run.

    holding: the constraints that can be switched on and off during the run. guarded: events with a
    condition, in the order of their guards. timed: (time in s, event), sorted by time. locks: all
    locks. parts: for each lock, the indices of the switched constraints that it activates.
    """

    holding: SwitchedConstraints
    guarded: tuple[InstantEvent, ...] = ()
    timed: tuple[tuple[float, InstantEvent], ...] = ()
    locks: tuple[Lock, ...] = ()
    parts: tuple[tuple[int, ...], ...] = ()

    @property
    def empty(self) -> bool:
        """Return whether the run has no events and no constraint that can be switched."""
        return not (self.holding.size or self.guarded or self.timed)


def plan_events(
    machine: Machine,
    events: Iterable[Event],
    limits: str,
    friction: str,
    restitution: float = 0.0,
    contact: str = "events",
    driven: Sequence[int] = (),
) -> EventPlan:
    """Return the event plan of a run.

    limits: "stop" makes every joint stop at its limits, with the given restitution. friction:
    "stick" lets dry friction hold joints at rest. contact: "ignore" leaves out the contacts of the
    mechanism. driven: the places in v of prescribed speeds, which no friction can hold. Each event
    is checked against the mechanism.
    """
    asked = list(events)
    points, facing, more = _touching(machine, contact)
    if limits == "stop":
        points += [
            TouchingPoint(p, c)
            for p, c in contact_laws.loop_stops(
                machine.mechanism, restitution, usual_length(machine.layout)
            )
        ]
    points += more
    if not asked and not points and limits != "stop" and friction != "stick":
        return NO_EVENTS
    if limits == "stop":
        _warn_of_loops(machine)
    kinds = [kind_of(e) for e in asked]
    speeds = _of_joints(machine, limits, friction, restitution, driven)
    frames: list[LockableFrame] = []
    held: list[tuple[Lock, Sequence[int], LockableFrame | None]] = []
    for kind, e in zip(kinds, asked):
        indices = kind.holds(machine, e)
        frame = kind.closes(machine, e)
        for k in indices:
            speeds[k] = kind.fit(machine, e, speeds.get(k) or _speeds(machine)[k])
        frames += [frame] if frame is not None else []
        held += [(e, indices, frame)] if isinstance(e, Lock) else []
    guarded = tuple(e for e in at_instants(asked) if e.when is not None)
    timed = sorted(((t, e) for e in at_instants(asked) for t in e.times), key=lambda pair: pair[0])
    for kind, e in zip(kinds, asked):
        kind.check(machine, e, asked)
    ordered = sorted(speeds)
    parts = [
        (
            tuple(ordered.index(k) for k in indices)
            if frame is None
            else (len(ordered) + frames.index(frame),)
        )
        for _, indices, frame in held
    ]
    holding = _constraints([speeds[k] for k in ordered], frames, guarded, points, facing)
    return EventPlan(
        holding, guarded, tuple(timed), tuple(lock for lock, _, _ in held), tuple(parts)
    )


NO_EVENTS = EventPlan(SwitchedConstraints())  # the plan of most runs


def _touching(
    machine: Machine, contact: str
) -> tuple[list[TouchingPoint], list[TouchingPatch], list[PatchPoint]]:
    """Return the contact points, the contact patches, and the points of those patches."""
    m = machine.mechanism
    if contact == "ignore" or not m.contacts:
        return [], [], []
    return terms.with_rims(m), *terms.touching_pairs(m)


def _constraints(
    speeds: list[HoldableSpeed],
    frames: list[LockableFrame],
    guarded: Sequence[InstantEvent],
    points: list[TouchingPoint],
    facing: list[TouchingPatch],
) -> SwitchedConstraints:
    """Return the switched constraints of a run, with a key for the cache of compiled expressions.
    Runs with equal keys have the same expressions; the key is None where a condition is a Python
    function.
    """
    speed_keys = [replace(h, restitution=0.0) for h in speeds]
    texts = [e.when for e in guarded]
    contact_keys = [(p.point, p.rough) for p in points]
    words = None if any(map(callable, texts)) else repr((speed_keys, frames, texts, contact_keys))
    return SwitchedConstraints(
        speeds, frames, [_condition(e) for e in guarded], words, points, facing
    )


def _warn_of_loops(machine: Machine) -> None:
    """Warn of limits of loop joints that are not enforced, as no coordinate measures them."""
    unenforced = [
        j.name
        for j in machine.mechanism.loops
        if contact_laws.has_limits(j) and not contact_laws.can_stop(j)
    ]
    if unenforced:
        said = (
            f"the limits of {', '.join(map(repr, unenforced))} are not felt: a joint that closes a"
            " loop stops as one slide, or as one turn of less than half a turn"
        )
        warnings.warn(
            f"{said}; let another joint of that loop close it", MechanismWarning, stacklevel=6
        )


def _speeds(machine: Machine) -> list[HoldableSpeed]:
    """Return the record of the speed with index k, without limits and friction."""
    place = {c.vi: c.qi for c in machine.layout.coordinates if c.motion != BALL}
    unit = units(machine.mechanism.moving)[1]
    return [
        HoldableSpeed(name, k, place.get(k, -1), unit[k])
        for k, name in enumerate(machine.speed_names)
    ]


def _of_joints(
    machine: Machine, limits: str, friction: str, restitution: float, driven: Sequence[int]
) -> dict[int, HoldableSpeed]:
    """Return {index: record} of the speeds that limits or dry friction of their joints may hold."""
    found: dict[int, HoldableSpeed] = {}
    own = [values for j in machine.mechanism.moving for values in zip(j.lower, j.upper)]
    dry = per_speed(machine.mechanism, "friction")
    for k, (h, (lower, upper)) in enumerate(zip(_speeds(machine), own)):
        if limits == "stop":
            h = replace(h, lower=lower, upper=upper, restitution=restitution)
        if friction == "stick" and k not in driven:
            h = replace(h, friction=dry[k])
        if h.guarded:
            found[k] = h
    return found


def _condition(e: InstantEvent) -> Callable[[Tracer], ca.SX]:
    """Return the guard of an event as a function of a Tracer; a condition given as a string is
    parsed.
    """
    when = e.when
    return when if callable(when) else lambda s: ca.SX(s.applied.text(e.title, str(when)))
