"""The scheme of a run: what can happen in it, from the events asked for and the joints' limits and friction."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from ..compiler.trace import Tracer
from ..errors import MechanismWarning, SimulationError, unknown
from ..kernels.motion import BALL
from ..machine.lookup import by_speed, speeds_of
from ..machine.machine import Machine
from ..model.mechanism import Joint
from .events import Event, Guard, Happening, Impulse, Lock, Release, Stop
from .switched_constraints import Holdable, Holding


@dataclass(frozen=True)
class Scheme:
    """What a run can meet: `holding` for the tape, happenings with a guard in the order of its guards, those with a time."""

    holding: Holding
    guarded: tuple[Happening, ...] = ()
    timed: tuple[tuple[float, Happening], ...] = ()
    locks: tuple[Lock, ...] = ()  # of frames, in the order of holding.locks

    @property
    def empty(self) -> bool:
        """Whether nothing can happen."""
        return not (self.holding.size or self.guarded or self.timed)


def scheme(machine: Machine, events: Iterable[Event], limits: str, friction: str, restitution: float = 0.0) -> Scheme:
    """The scheme of these events; limits "stop": every joint's limits are felt; friction "stick": dry friction holds."""
    asked = list(events)
    if not asked and limits != "stop" and friction != "stick":
        return NOTHING
    if limits == "stop":
        _felt(machine)
    for event in asked:
        if not isinstance(event, (Stop, Happening)):
            raise SimulationError(
                f"{event!r} is no event; events are Stop, Impulse, Lock, Release and When of catena.events"
            )
    happenings = [e for e in asked if isinstance(e, Happening)]
    locks = [e for e in happenings if isinstance(e, Lock) and e.frame]
    guarded = tuple(e for e in happenings if e.when is not None)
    speeds = _holdable(machine, asked, limits, friction, restitution)
    loops, texts = [_loop(machine, e) for e in locks], [e.when for e in guarded]
    bare = [replace(h, restitution=0.0) for h in speeds]  # which no tape knows of
    words = None if any(map(callable, texts)) else repr((bare, loops, texts))
    holding = Holding(speeds, loops, [_guard(machine, e) for e in guarded], words)
    timed = sorted(((t, e) for e in happenings for t in e.times), key=lambda pair: pair[0])
    _check(machine, happenings)
    return Scheme(holding, guarded, tuple(timed), tuple(locks))


NOTHING = Scheme(Holding())  # of most runs


def _felt(machine: Machine) -> None:
    """Warn of limits that no coordinate can feel."""
    deaf = [j.name for j in machine.mechanism.loops if any(x != -np.inf for x in j.lower) or any(x != np.inf for x in j.upper)]
    if deaf:
        said = f"the limits of {', '.join(map(repr, deaf))} are not felt: a joint that closes a loop has no coordinate to stop"
        warnings.warn(f"{said}; let another joint of that loop close it", MechanismWarning, stacklevel=6)


def _holdable(machine: Machine, events: Sequence[Event], limits: str, friction: str, restitution: float) -> list[Holdable]:
    """Every speed that something may hold, once, in order."""
    free: dict[int, Holdable] = {}
    for c in machine.layout.coordinates:
        for k in range(3 if c.motion == BALL else 1):
            l = c.vi + k
            free[l] = Holdable(machine.speed_names[l], l, -1 if c.motion == BALL else c.qi)
    found: dict[int, Holdable] = {}
    first = 0
    for j in machine.mechanism.moving:
        for k in range(j.nv):
            l, dry = first + k, j.friction[k] if friction == "stick" else 0.0
            bounded = limits == "stop" and free[l].coordinate >= 0 and (j.lower[k] != -np.inf or j.upper[k] != np.inf)
            if bounded:
                found[l] = replace(free[l], lower=j.lower[k], upper=j.upper[k], restitution=restitution)
            if dry != 0.0:
                found[l] = replace(found.get(l, free[l]), friction=dry)
        first += j.nv
    for e in events:
        if isinstance(e, Stop):
            for l in speeds_of(machine, e.joint):
                found[l] = _stop(machine, e, found.get(l, free[l]))
        elif isinstance(e, Lock) and e.joint:
            for l in speeds_of(machine, e.joint):
                found.setdefault(l, free[l])
    return [found[l] for l in sorted(found)]


def _stop(machine: Machine, e: Stop, h: Holdable) -> Holdable:
    joint = next(j for j in machine.mechanism.moving if h.name in j.speed_names)
    k = joint.speed_names.index(h.name)
    lower = joint.lower[k] if e.lower is None else e.lower
    upper = joint.upper[k] if e.upper is None else e.upper
    if h.coordinate < 0 or (lower == -np.inf and upper == np.inf):
        why = "a ball has no coordinate to stop" if h.coordinate < 0 else "it has no limits; give lower or upper"
        raise SimulationError(f"the stop of {e.joint!r} cannot be felt at {h.name!r}: {why}")
    return replace(h, lower=lower, upper=upper, restitution=e.restitution)


def _loop(machine: Machine, e: Lock) -> Joint:
    """The loop joint that a frame's lock closes; its place on the parent is found when it does."""
    frame = machine.mechanism.frame(e.frame)
    machine.mechanism.frame(e.to)
    if frame.body == e.to:
        raise SimulationError(f"{e.title}: frame {e.frame!r} is on {e.to!r} itself, so that nothing is left to lock")
    return Joint(e.title, e.kind, e.to, frame.body, axis=e.axis, offset=frame.pose)


def _guard(machine: Machine, e: Happening) -> Callable[[Tracer], ca.SX]:
    when: Guard | None = e.when
    return when if callable(when) else lambda s: ca.SX(s.applied.text(e.title, str(when)))


def _check(machine: Machine, happenings: Sequence[Happening]) -> None:
    """Names that do not exist are told before anything runs."""
    names = [n for e in happenings if isinstance(e, Lock) for n in (e.name, e.joint, e.frame) if n]
    for e in happenings:
        if isinstance(e, Impulse):
            if e.frame:
                machine.mechanism.frame(e.frame)
            by_speed(machine, e.title, e.joint)
        elif isinstance(e, Release) and e.lock not in names:
            raise SimulationError(unknown("lock", e.lock, dict.fromkeys(names), "this run"))
