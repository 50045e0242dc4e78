"""The kinds of events.

A record of `EVENT_KINDS` holds everything about one kind: its keys in a file, its checks, which
constraints it may switch, and what it does when it happens. A new kind is a record in `records.py`
and one here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ...compiler import Tracer, matrix
from ...errors import SimulationError, unknown
from ...machine import Machine, by_speed, speeds_of
from ...model import GROUND, Joint
from ...registry import Registry
from ..terms.switched_constraints import LOCKED, FrameMode, HoldableSpeed, LockableFrame
from .records import Event, Impulse, InstantEvent, Lock, Release, Stop, SwitchContact, When

if TYPE_CHECKING:
    from .context import EventContext

INSTANT = {  # keys that every event at an instant has
    "at": ("times", "when it happens, once or several times"),
    "when": ("guard", "it happens when this falls to zero"),
    "name": ("text", "how results call it"),
}


def _nothing(*_: Any) -> None:
    """Do nothing; the default of the optional functions of a kind."""
    return None


@dataclass(frozen=True)
class EventKind:
    """One kind of event.

    record: the class of the event. summary: a sentence for help texts. keys: the keys of a
    [[scenario.events]] table, each with the name of its reader in `scenario.events.READERS` and a
    few words. check(machine, event, all events): raises where the event names something that does
    not exist. holds(machine, event): the indices of the speeds that the event may hold.
    fit(machine, event, speed): the record of such a speed with the limits and the restitution of
    the event. closes(machine, event): the frame that the event may lock, or None. handle(context,
    t, event): carries the event out; it returns True where the run ends. impulse(machine, tracer,
    event): the generalised impulse (nv,) of the event, as an expression.
    """

    name: str
    record: type
    summary: str
    keys: Mapping[str, tuple[str, str]] = field(default_factory=lambda: dict(INSTANT))
    check: Callable[[Machine, Any, Sequence[Event]], None] = _nothing
    holds: Callable[[Machine, Any], Sequence[int]] = lambda machine, event: ()
    fit: Callable[[Machine, Any, HoldableSpeed], HoldableSpeed] = lambda machine, event, speed: (
        speed
    )
    closes: Callable[[Machine, Any], LockableFrame | None] = _nothing
    handle: Callable[[EventContext, float, Any], bool | None] = _nothing
    impulse: Callable[[Machine, Tracer, Any], ca.SX] = lambda machine, tracer, event: ca.SX.zeros(
        machine.nv
    )


def kind_of(event: Any) -> EventKind:
    """Return the kind of an event; raise SimulationError for an object that is no event."""
    for kind in EVENT_KINDS.values():
        if type(event) is kind.record:
            return kind
    known = ", ".join(kind.record.__name__ for kind in EVENT_KINDS.values())
    raise SimulationError(f"{event!r} is no event; events are {known} of catena.events")


# --- stop
def _fit_stop(machine: Machine, e: Stop, h: HoldableSpeed) -> HoldableSpeed:
    """Return the record of a speed with the limits and the restitution of a stop. Raises
    SimulationError where the speed belongs to no single coordinate, or neither limit is finite.
    """
    joint = next(j for j in machine.mechanism.moving if h.name in j.speed_names)
    k = joint.speed_names.index(h.name)
    lower = joint.lower[k] if e.lower is None else e.lower
    upper = joint.upper[k] if e.upper is None else e.upper
    if h.coordinate < 0 or (lower == -np.inf and upper == np.inf):
        why = (
            "a ball has no coordinate to stop"
            if h.coordinate < 0
            else "it has no limits; give lower or upper"
        )
        raise SimulationError(f"the stop of {e.joint!r} has no effect at {h.name!r}: {why}")
    return replace(h, lower=lower, upper=upper, restitution=e.restitution)


# --- impulse
def _check_impulse(machine: Machine, e: Impulse, events: Sequence[Event]) -> None:
    """Raise an error where the mechanism lacks the frame or a joint of an impulse."""
    if e.frame:
        machine.mechanism.frame(e.frame)
    by_speed(machine, e.title, e.joint)


def _strike(handler: EventContext, t: float, e: Impulse) -> None:
    """Change the speeds by the momentum of an impulse."""
    P = np.zeros(handler.machine.nv)
    for k, x in by_speed(handler.machine, e.title, e.joint).items():
        P[k] += x
    if e.frame:
        J = handler.machine.jacobian(
            handler.state_of()[0], e.frame, e.axes, parameters=handler.parameters
        )
        P += J.T @ np.array([*e.angular, *e.linear], float)
    handler.say(t, e.name or f"an impulse strikes {e.frame or ', '.join(e.joint)}")
    handler.jump(t, P)


def _joint_impulse(machine: Machine, s: Tracer, e: Impulse) -> ca.SX:
    """Return the generalised impulse (nv,): J' of the frame times its impulse, and those of
    joints.
    """
    P = ca.SX.zeros(machine.nv)
    for k, x in by_speed(machine, e.title, e.joint).items():
        P[k] += x
    return P + s.jacobian(e.frame, e.axes).T @ ca.DM([*e.angular, *e.linear]) if e.frame else P


# --- lock and release
def _lockable(machine: Machine, e: Lock) -> LockableFrame | None:
    """Return the loop joint by which a lock holds a frame, or None for a lock of a joint. Its pose
    on its parent is set when the lock closes.
    """
    if not e.frame:
        return None
    frame = machine.mechanism.frame(e.frame)
    machine.mechanism.frame(e.to)
    if frame.body == e.to:
        raise SimulationError(
            f"{e.title}: frame {e.frame!r} is on {e.to!r} itself, so that there is no motion to"
            " lock"
        )
    return LockableFrame(Joint(e.title, e.kind, e.to, frame.body, axis=e.axis, offset=frame.pose))


def _lock(handler: EventContext, t: float, e: Lock) -> None:
    """Bring the locked joint or frame to rest by an impulse without rebound, and switch on its
    constraints.
    """
    if e.joint:
        for part in handler.held_by(e):
            handler.set_mode(part, LOCKED)
    else:
        handler.set_mode(handler.held_by(e)[0], FrameMode.at(_locked_pose(handler, e)))
    handler.say(
        t, e.name or (f"{e.joint} is locked" if e.joint else f"{e.frame} is locked to {e.to}")
    )
    handler.jump(t)


def _locked_pose(handler: EventContext, e: Lock) -> np.ndarray:
    """Return the pose (4, 4) of the locked frame relative to the body to which it is locked."""
    machine = handler.machine
    q = handler.state_of()[0]
    seat = machine.layout.seats[e.to]
    body = np.eye(4) if e.to == GROUND else machine.pose(q, e.to, parameters=handler.parameters)
    s = Tracer(machine.layout)
    rows = [
        [s.value(x) for x in (*row, p)] for row, p in zip(seat.pose.rotation, seat.pose.position)
    ]
    X = np.vstack([np.array(ca.Function("own", [s.p], [matrix(rows)])(handler.p)), [0, 0, 0, 1.0]])
    return X @ np.linalg.solve(body, machine.pose(q, e.frame, parameters=handler.parameters))


def _lock_names(e: Lock) -> list[str]:
    """Return the names by which a release may refer to a lock."""
    return [name for name in (e.name, e.joint, e.frame) if name]


def _check_release(machine: Machine, e: Release, events: Sequence[Event]) -> None:
    """Raise SimulationError where no event of the run is the lock that a release names."""
    names = [name for other in events if isinstance(other, Lock) for name in _lock_names(other)]
    if e.lock not in names:
        raise SimulationError(unknown("lock", e.lock, dict.fromkeys(names), "this run"))


def _release(handler: EventContext, t: float, e: Release) -> None:
    """Set the constraints of a lock back to their free modes."""
    for lock in handler.plan.locks:
        if e.lock in _lock_names(lock):
            for part in handler.held_by(lock):
                handler.set_mode(part, handler.constraints.parts[part].mode)
    handler.say(t, e.name or f"{e.lock} is released")


# --- contacts
def _check_contact(machine: Machine, e: SwitchContact, events: Sequence[Event]) -> None:
    """Raise SimulationError where the mechanism lacks the contact that an event names."""
    names = [c.name for c in machine.mechanism.contacts]
    if e.contact not in names:
        raise SimulationError(
            unknown("contact", e.contact, dict.fromkeys(names), f"{machine.mechanism.name!r}")
        )


def _switch_contact(handler: EventContext, t: float, e: SwitchContact) -> None:
    """Switch a contact on or off; raise SimulationError where the run has no contacts with
    events.
    """
    if handler.contacts is None:
        raise SimulationError(
            f"{e.title}: contact {e.contact!r} cannot be switched, for this run has no contacts"
            " with events (contact = 'ignore', or time stepping); leave out the event, or run"
            " with contact = 'events'"
        )
    handler.say(t, e.name or f"contact {e.contact} is switched {'on' if e.on else 'off'}")
    handler.contacts.switch(t, e.contact, e.on)


# --- when
def _record(handler: EventContext, t: float, e: When) -> bool:
    """Log the event; return True where it ends the run."""
    handler.say(t, e.title)
    return e.end


EVENT_KINDS = Registry(
    "event",
    (
        EventKind(
            "stop",
            Stop,
            "a joint that meets its limit rebounds or stays",
            {
                "joint": ("joint", "or one coordinate of it"),
                "restitution": ("number", "speed after over speed before, 0 to 1"),
                "lower": ("coordinate", "of the joint, unless given"),
                "upper": ("coordinate", "of the joint, unless given"),
            },
            holds=lambda machine, e: speeds_of(machine, e.joint),
            fit=_fit_stop,
        ),
        EventKind(
            "impulse",
            Impulse,
            "a blow: momentum comes in at a frame or a joint",
            {
                **INSTANT,
                "frame": ("frame", "at whose origin it strikes"),
                "linear": ("linear impulse", "at the origin of the frame"),
                "angular": ("angular impulse", "at the frame"),
                "axes": ("axes", "of the ground or of the body"),
                "joint": ("impulses", "in place of a frame: N m s or N s along coordinates"),
            },
            check=_check_impulse,
            handle=_strike,
            impulse=_joint_impulse,
        ),
        EventKind(
            "lock",
            Lock,
            "a joint stops, or a frame is caught by another body or the ground, and stays so",
            {
                **INSTANT,
                "joint": ("joint", "whose speeds become zero"),
                "frame": ("frame", "in place of a joint: what is caught where it is"),
                "to": ("body", "what catches the frame"),
                "kind": ("joint kind", "the joint that holds the frame"),
                "axis": ("direction", "of that joint, in the frame"),
            },
            holds=lambda machine, e: speeds_of(machine, e.joint) if e.joint else (),
            closes=_lockable,
            handle=_lock,
        ),
        EventKind(
            "release",
            Release,
            "a lock opens",
            {**INSTANT, "lock": ("lock", "its name, or the joint or frame that it holds")},
            check=_check_release,
            handle=_release,
        ),
        EventKind(
            "switch_contact",
            SwitchContact,
            "a contact is switched off or on: bodies go through each other while it is off",
            {
                **INSTANT,
                "contact": ("contact", "its name"),
                "on": ("flag", "on, instead of off"),
            },
            check=_check_contact,
            handle=_switch_contact,
        ),
        EventKind(
            "when",
            When,
            "an instant that is recorded, and may end the run",
            {**INSTANT, "end": ("flag", "the run ends there")},
            handle=_record,
        ),
    ),
    SimulationError,
)
register = EVENT_KINDS.register


def at_instants(events: Sequence[Event]) -> list[InstantEvent]:
    """Return the events that happen at a time or under a condition: all but stops."""
    return [e for e in events if isinstance(e, InstantEvent)]
