"""Forces and torques as expressions of time, coordinates and speeds."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...spatial import rotate
from .keys import FRAME, SPEED, TIMES, Key, Load, Scene, doc, register

ZERO: tuple[str | float, ...] = (0.0, 0.0, 0.0)


@register
@dataclass(frozen=True)
class Force(Load):
    """A torque and a force at the origin of a frame, in "world" or "body" axes.

    Each component is a number or an expression of t, parameters, q_<coordinate> and v_<speed>.

    Parameters
    ----------
    name : str
        The name of the load.
    frame : str
        The frame (or body) at whose origin it acts.
    torque : 3 texts or floats, default zero
        N m.
    force : 3 texts or floats, default zero
        N.
    axes : str, default "world"
        "world": the axes of the ground; "body": the axes of the frame.
    switches : sequence of float, optional
        Times (s) at which it jumps, begins or ends; a simulation steps exactly onto them.

    Examples
    --------
    >>> Force("push", "tip", force=("10*sin(t)", 0, 0)).axes
    'world'
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
        """Apply the torque and the force at the origin of the frame."""
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
    """A generalised force along one speed, as an expression or number.

    Parameters
    ----------
    name : str
        The name of the load.
    coordinate : str
        The name of the speed along which it acts.
    force : str or float
        N m or N; a text may use t, parameters, q_<coordinate> and v_<speed>.
    switches : sequence of float, optional
        Times (s) at which it jumps, begins or ends; a simulation steps exactly onto them.

    Examples
    --------
    >>> JointForce("motor", "elbow", "-12*q_elbow").force
    '-12*q_elbow'
    """

    kind = "joint_force"
    coordinate: str = field(metadata=SPEED | doc("along whose speed it acts"))
    force: str | float = field(metadata=Key("expression", "force|torque").of() | doc("N m or N"))
    switches: tuple[float, ...] = field(
        default=(), metadata=TIMES | doc("times at which it jumps, begins or ends")
    )

    def act(self, s: Scene) -> None:
        """Apply the force along the speed."""
        s.drive(self.coordinate, s.text(self.name, self.force))
