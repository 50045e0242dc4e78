"""Loads of machines: drag in air, clutches and brakes, one-way clutches. Friction is smoothed over
`slip_speed`: a clutch that sticks still creeps, more slowly than that.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ...spatial import dot, scale, sub
from ..expression_functions import apply
from ..pose import Scalar, Vector
from .keys import COORDINATE, FRAME, Key, Load, Scene, doc, number, register


@register
@dataclass(frozen=True)
class Drag(Load):
    """Drag of a stream on the origin of a frame: force -coefficient |u| u along the velocity u of
    the frame relative to the stream.

    coefficient: 1/2 density drag-coefficient area, kg/m. stream: its velocity in the ground's axes,
    m/s.
    """

    kind = "drag"
    frame: str = field(metadata=FRAME | doc("on whose origin the stream acts"))
    coefficient: Scalar = field(
        metadata=number("drag coefficient") | doc("1/2 density drag-coefficient area, kg/m")
    )
    stream: tuple[Scalar, ...] = field(
        default=(0.0, 0.0, 0.0),
        metadata=Key("numbers", ("speed",) * 3, negative=True).of()
        | doc("velocity of the stream in the ground's axes"),
    )

    def act(self, s: Scene) -> None:
        """Apply the force against the velocity relative to the stream."""
        x, y, z = map(s.value, self.stream)
        stream: Vector = (x, y, z)
        u = sub(s.origin(self.frame)[1], stream)
        s.push(self.frame, scale(-s.value(self.coefficient) * apply("sqrt", [dot(u, u)]), u))


@register
@dataclass(frozen=True)
class Clutch(Load):
    """A friction clutch between two coordinates, or a brake on one: torque -capacity tanh(slip /
    slip_speed), slip = v1 - ratio v2.

    capacity: an expression or number, N m or N, such as "20*max(0, min(1, t - 0.5))". A clutch that
    should stick creeps, by at most slip_speed as long as the torque is below three quarters of its
    capacity. For a brake that holds exactly, use the dry friction of a joint.
    """

    kind = "clutch"
    coordinate: str = field(metadata=COORDINATE | doc("of the first side"))
    capacity: str | float = field(
        metadata=Key("expression", "force|torque").of() | doc("greatest torque, N m or N")
    )
    slip_speed: Scalar = field(
        metadata=number("speed|angular speed", zero=False)
        | doc("slip at which three quarters of it are reached, rad/s or m/s")
    )
    other: tuple[str, ...] = field(
        default=(), metadata=Key("coordinates").of() | doc("of the second side; none: a brake")
    )
    ratio: Scalar = field(
        default=1.0,
        metadata=number("any", negative=True) | doc("of the second side's speed in the slip"),
    )

    def act(self, s: Scene) -> None:
        """Apply opposite torques to both coordinates."""
        ratio = s.value(self.ratio)
        slip = s.coordinate(self.coordinate)[1]
        for name in self.other:
            slip = slip - ratio * s.coordinate(name)[1]
        torque = s.text(self.name, self.capacity) * apply("tanh", [slip / s.value(self.slip_speed)])
        s.drive(self.coordinate, -torque)
        for name in self.other:
            s.drive(name, ratio * torque)


@register
@dataclass(frozen=True)
class Freewheel(Load):
    """A one-way clutch: the coordinate turns freely forwards; backwards a damper resists it, with
    the torque damping |v| (N m s/rad or N s/m).
    """

    kind = "freewheel"
    coordinate: str = field(metadata=COORDINATE | doc("of the first side"))
    damping: Scalar = field(
        metadata=number("damping|angular damping", zero=False)
        | doc("backwards, N m s/rad or N s/m")
    )
    other: tuple[str, ...] = field(
        default=(), metadata=Key("coordinates").of() | doc("of the second side; none: the housing")
    )

    def act(self, s: Scene) -> None:
        """Apply no torque while the coordinate moves forwards, and the torque of the damper on both
        sides while it moves backwards.
        """
        slip = s.coordinate(self.coordinate)[1]
        for name in self.other:
            slip = slip - s.coordinate(name)[1]
        torque = s.value(self.damping) * apply("max", [-slip, 0.0])
        s.drive(self.coordinate, torque)
        for name in self.other:
            s.drive(name, -torque)
