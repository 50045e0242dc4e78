"""Events: what happens at instants of a run. Frozen records; `event_kinds.py` says how each is
read, checked and handled.

    Stop       a joint that reaches its limit rebounds or stays there
    Impulse    a blow: an impulse at a frame or a joint
    Lock       a joint stops, or a frame is fixed to another body or the ground, until released
    Release    a lock opens
    SwitchContact  a contact is switched off, so that its bodies pass through each other, or on
               again
    When       an instant that is recorded, and may end the run

All but Stop happen `at` a time (s), or `when` a quantity (the guard) falls to zero: a text of t,
parameters, coordinates and speeds ("q_knee - 0.2", as in loads), or a function from a Tracer to an
expression, such as `lambda s: s.pose("tip")[2, 3]`. Speeds jump, positions do not; the energy that
a jump dissipates or adds is recorded as work, so that the energy balance stays exact.

    catena.simulate(leg, until=2.0, events=[Stop("knee", restitution=0.3), Impulse(frame="foot",
    linear=(0, 0, 5), at=1.0)])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from ...errors import SimulationError

Condition = str | Callable[[Any], Any]


@dataclass(frozen=True)
class Stop:
    """A joint, or one coordinate of it, stops at its limits.

    Parameters
    ----------
    joint : str
        The name of a joint, or of one coordinate such as "base.x".
    restitution : float, default 0.0
        The speed after the impact over the speed before it, from 0 (no rebound) to 1 (no loss).
    lower, upper : float or None, default None
        Limits in rad or m; None takes the joint's own.

    Raises
    ------
    SimulationError
        If the restitution is not between 0 and 1.

    Examples
    --------
    >>> from catena.events import Stop
    >>> Stop("knee", restitution=0.3).restitution
    0.3
    """

    joint: str
    restitution: float = 0.0
    lower: float | None = None
    upper: float | None = None

    def __post_init__(self) -> None:
        for limit in (self.lower, self.upper):
            if not (limit is None or isinstance(limit, Real)) or isinstance(limit, bool):
                raise SimulationError(
                    f"the stop of {self.joint!r} has the limit {limit!r}; it is a number, rad or m"
                )
        if not (isinstance(self.restitution, Real) and 0.0 <= self.restitution <= 1.0):
            raise SimulationError(
                f"the stop of {self.joint!r} has restitution {self.restitution}; it lies between 0"
                " and 1"
            )


@dataclass(frozen=True)
class InstantEvent:
    """An event that happens at a time, at each of several times, or when a guard falls to zero.

    Parameters
    ----------
    at : float, tuple of float, or None
        The time or times of the event, s.
    when : str, callable or None
        The guard: a text such as "q_knee - 0.2", or a function from a Tracer to an expression.
    name : str, default ""
        The name of the event in results.

    Raises
    ------
    SimulationError
        Unless exactly one of `at` and `when` is given.
    """

    at: float | tuple[float, ...] | None = field(default=None, kw_only=True)
    when: Condition | None = field(default=None, kw_only=True)
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        if (self.at is None) == (self.when is None):
            found = "neither" if self.at is None else "both"
            raise SimulationError(
                f"{self!r} has {found} of `at` and `when`; give the time (s) when it happens, or a"
                " quantity that falls to zero"
            )

    @property
    def times(self) -> tuple[float, ...]:
        """Return the times of the event, s; empty for an event with a guard."""
        if self.at is None:
            return ()
        at = self.at if isinstance(self.at, (tuple, list)) else (self.at,)
        try:
            return tuple(float(t) for t in at)
        except (TypeError, ValueError):
            raise SimulationError(
                f"an event is to happen at {self.at!r:.60}; it takes a time, or several, s"
            ) from None

    @property
    def title(self) -> str:
        """Return the name of the event, or its kind where it has no name."""
        return self.name or type(self).__name__.lower()


@dataclass(frozen=True)
class Impulse(InstantEvent):
    """A blow: an impulse at the origin of a frame, or along coordinates.

    Parameters
    ----------
    frame : str, default ""
        The frame at whose origin the impulse acts.
    linear : tuple of 3 floats, default (0, 0, 0)
        The linear impulse, N s.
    angular : tuple of 3 floats, default (0, 0, 0)
        The angular impulse, N m s.
    axes : {"world", "body"}, default "world"
        The axes along which linear and angular are given.
    joint : mapping, default empty
        {coordinate or joint: impulse} along coordinates, N m s or N s.
    at, when, name
        As for every event at an instant: the time or times (s), or the guard, and a name.

    Raises
    ------
    SimulationError
        If neither a frame nor a joint is given, or the axes have another name.

    Examples
    --------
    >>> from catena.events import Impulse
    >>> Impulse(frame="foot", linear=(0.0, 0.0, 5.0), at=1.0).times
    (1.0,)
    """

    frame: str = ""
    linear: tuple[float, float, float] = (0.0, 0.0, 0.0)
    angular: tuple[float, float, float] = (0.0, 0.0, 0.0)
    axes: str = "world"
    joint: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.joint, Mapping):
            raise SimulationError(
                f"an impulse along joints is {self.joint!r:.60}; it is a mapping of joints or"
                " coordinates to impulses"
            )
        for what in (self.frame, self.axes):
            if not isinstance(what, str):
                raise SimulationError(
                    f"an impulse has the frame or axes {what!r:.60}; both are texts"
                )
        if not (self.frame or self.joint) or self.axes not in ("world", "body"):
            raise SimulationError(
                f"{self!r}: an impulse strikes a frame, along the axes of the 'world' or the"
                " 'body', or a joint"
            )


@dataclass(frozen=True)
class Lock(InstantEvent):
    """A joint stops, or a frame is fixed to a body where it is, until it is released.

    A motion of it ends by an impulse without rebound.

    Parameters
    ----------
    joint : str, default ""
        The joint whose speeds all become zero.
    frame : str, default ""
        The frame to lock, in place of a joint.
    to : str, default "ground"
        The body to which the frame is locked.
    kind : str, default "fixed"
        The kind of the joint that holds the frame: "fixed", "ball", "revolute" and so on.
    axis : vector of 3 numbers or None, default None
        The axis of that joint, in the frame.
    at, when, name
        As for every event at an instant: the time or times (s), or the guard, and a name.

    Raises
    ------
    SimulationError
        Unless exactly one of joint and frame is given.
    """

    joint: str = ""
    frame: str = ""
    to: str = "ground"
    kind: str = "fixed"
    axis: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if bool(self.joint) == bool(self.frame):
            raise SimulationError(
                f"{self!r}: a lock holds a joint, or a frame to a body; name one of them"
            )

    @property
    def title(self) -> str:
        """Return the name of the lock, or a phrase with the joint or frame that it holds."""
        return self.name or f"the lock of {self.joint or self.frame}"


@dataclass(frozen=True)
class Release(InstantEvent):
    """A lock opens.

    Parameters
    ----------
    lock : str
        The name of the lock, or the joint or frame that it holds.
    at, when, name
        As for every event at an instant: the time or times (s), or the guard, and a name.
    """

    lock: str = ""


@dataclass(frozen=True)
class SwitchContact(InstantEvent):
    """A contact of the mechanism is switched off, so that its bodies pass through each other, or
    on.

    Parameters
    ----------
    contact : str
        The name of the contact.
    on : bool, default False
        Whether to switch it on instead of off; the bodies must be apart or touch then.
    at, when, name
        As for every event at an instant: the time or times (s), or the guard, and a name.
    """

    contact: str = ""
    on: bool = False


@dataclass(frozen=True)
class When(InstantEvent):
    """An instant that is recorded in the result, and may end the run.

    Parameters
    ----------
    end : bool, default False
        Whether the run ends there.
    at, when, name
        As for every event at an instant: the time or times (s), or the guard, and a name.

    Examples
    --------
    >>> from catena.events import When
    >>> When(when="q_knee - 0.2", name="bent", end=True).title
    'bent'
    """

    end: bool = False


Event = Stop | InstantEvent
