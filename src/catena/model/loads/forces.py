"""Forces and torques as expressions of time, coordinates and speeds."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...spatial import rotate
from .keys import FRAME, SPEED, TIMES, Key, Load, Scene, doc, register

ZERO: tuple[str | float, ...] = (0.0, 0.0, 0.0)


@register
@dataclass(frozen=True)
class Force(Load):
    """A wrench on a frame, torque and force each as three texts or numbers, in "world" or "body"
    axes at the frame's origin.

    switches: times (s) at which it jumps, begins or ends; a simulation steps exactly onto them.
    """

    kind = "force"
    frame: str = field(metadata=FRAME | doc("at whose origin it acts"))
    torque: tuple[str | float, ...] = field(
        default=ZERO, metadata=Key("expressions", "torque").of() | doc("three components, N m")
    )
    force: tuple[str | float, ...] = field(
        default=ZERO, metadata=Key("expressions", "force").of() | doc("three components, N")
    )
    axes: str = field(
        default="world",
        metadata=Key("word", words=("world", "body")).of()
        | doc("of the ground, or of the frame's body"),
    )
    switches: tuple[float, ...] = field(
        default=(), metadata=TIMES | doc("times at which it jumps, begins or ends")
    )

    def act(self, s: Scene) -> None:
        """Push at the frame's origin."""
        torque, force = (
            tuple(s.text(self.name, x) for x in part) for part in (self.torque, self.force)
        )
        if self.axes == "body":
            R = s.axes(self.frame)
            torque = rotate(R, torque)
            force = rotate(R, force)
        s.push(self.frame, force, torque)


@register
@dataclass(frozen=True)
class JointForce(Load):
    """A generalised force along one coordinate's speed, as a text or number (N m or N). switches:
    as for `Force`.
    """

    kind = "joint_force"
    coordinate: str = field(metadata=SPEED | doc("along whose speed it acts"))
    force: str | float = field(metadata=Key("expression", "force|torque").of() | doc("N m or N"))
    switches: tuple[float, ...] = field(
        default=(), metadata=TIMES | doc("times at which it jumps, begins or ends")
    )

    def act(self, s: Scene) -> None:
        """Drive the speed."""
        s.drive(self.coordinate, s.text(self.name, self.force))
