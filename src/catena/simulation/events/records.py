"""Events: what happens at an instant of a run. Frozen records; `event_kinds.py` says how each is
read, checked and handled.

    Stop       a joint that meets its limit bounces or stays
    Impulse    a blow: momentum comes in at a frame or a joint
    Lock       a joint stops, or a frame is caught by another body or the ground, and stays so
    Release    a lock opens
    SwitchContact  a contact is switched off, so that its bodies go through each other, or on again
    When       an instant that is wanted: it is recorded, and may end the run

All but Stop happen `at` a time (s), or `when` a quantity falls to zero: a text of t, parameters,
coordinates and speeds ("q_knee - 0.2", as loads have them), or a function of a Tracer to an
expression, such as `lambda s: s.pose("tip")[2, 3]`. Speeds jump, positions do not; the energy that
a jump takes or brings is booked as work, so that the balance stays honest.

    catena.simulate(leg, until=2.0, events=[Stop("knee", restitution=0.3), Impulse(frame="foot",
    linear=(0, 0, 5), at=1.0)])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...errors import SimulationError

Condition = str | Callable[[Any], Any]


@dataclass(frozen=True)
class Stop:
    """The limits of a joint (or of one coordinate, "base.x") are felt.

    restitution: the speed after the impact over that before, 0 (stays) to 1 (no loss). lower,
    upper: rad or m; by default the joint's own.
    """

    joint: str
    restitution: float = 0.0
    lower: float | None = None
    upper: float | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.restitution <= 1.0:
            raise SimulationError(
                f"the stop of {self.joint!r} has restitution {self.restitution}; it lies between 0"
                " and 1"
            )


@dataclass(frozen=True)
class InstantEvent:
    """An event that happens at a time (or at each of several), or when a guard falls to zero.

    at: s. when: see the head of this file. name: how it is called in the result.
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
        """When it happens, s, where that is known beforehand."""
        if self.at is None:
            return ()
        return (
            tuple(float(t) for t in self.at)
            if isinstance(self.at, (tuple, list))
            else (float(self.at),)
        )

    @property
    def title(self) -> str:
        """The name, or the kind."""
        return self.name or type(self).__name__.lower()


@dataclass(frozen=True)
class Impulse(InstantEvent):
    """A blow. frame: where it strikes, with linear (N s) and angular (N m s) impulses along the
    axes of the "world" or of the "body". joint: {coordinate or joint: N m s or N s} from motors.
    """

    frame: str = ""
    linear: tuple[float, float, float] = (0.0, 0.0, 0.0)
    angular: tuple[float, float, float] = (0.0, 0.0, 0.0)
    axes: str = "world"
    joint: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.frame or self.joint) or self.axes not in ("world", "body"):
            raise SimulationError(
                f"{self!r}: an impulse strikes a frame, along the axes of the 'world' or the"
                " 'body', or a joint"
            )


@dataclass(frozen=True)
class Lock(InstantEvent):
    """Something stops relative to another thing, and stays so until it is released.

    joint: all its speeds become zero. Or frame: caught where it is by the body `to`, as if by a
    joint of this kind ("fixed", "ball", "revolute" about `axis` of the frame, ...). What moved
    before comes to rest by an impulse without bounce.
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
        """The name, or what is locked."""
        return self.name or f"the lock of {self.joint or self.frame}"


@dataclass(frozen=True)
class Release(InstantEvent):
    """A lock opens. lock: its name, or the joint or frame it holds."""

    lock: str = ""


@dataclass(frozen=True)
class SwitchContact(InstantEvent):
    """A contact of the mechanism, by its name, is switched off, so that its bodies go through each
    other; or on again, while they are apart or touch.
    """

    contact: str = ""
    on: bool = False


@dataclass(frozen=True)
class When(InstantEvent):
    """An instant that is recorded in the result. end: the run ends there."""

    end: bool = False


Event = Stop | InstantEvent
