"""Loads and speed rows: what acts on a mechanism besides gravity and motors, and what its speeds must obey besides loops.

Records only, as in `mechanism.py`; `compile.applied` turns them into expressions. Values are SI or expressions of
parameters. Texts in `Force`, `JointForce` and `SpeedRow` may use t, the parameters, and every coordinate and speed:
q_<name> and v_<name>, where a dot in a coordinate's name is written as an underscore (q_base_x).
"""

from __future__ import annotations

from dataclasses import dataclass

from .pose import Scalar, Vector, scalar, unit


@dataclass(frozen=True)
class JointSpring:
    """A spring and damper along one coordinate: force -stiffness (q - rest) - damping v (N m/rad or N/m; and s)."""

    name: str
    coordinate: str
    stiffness: Scalar
    rest: Scalar
    damping: Scalar = 0.0

    def __post_init__(self) -> None:
        for attribute in ("stiffness", "rest", "damping"):
            object.__setattr__(self, attribute, scalar(getattr(self, attribute)))


@dataclass(frozen=True)
class Spring:
    """A spring and damper between the origins of two frames: tension stiffness (distance - length) + damping rate (N/m, m, N s/m)."""

    name: str
    start: str
    end: str
    stiffness: Scalar
    length: Scalar
    damping: Scalar = 0.0

    def __post_init__(self) -> None:
        for attribute in ("stiffness", "length", "damping"):
            object.__setattr__(self, attribute, scalar(getattr(self, attribute)))


@dataclass(frozen=True)
class Bushing:
    """A soft joint between two frames that coincide at rest, in the axes of the first.

    stiffness: three for turning (N m/rad), three for displacement (N/m). The turning angle is the rotation's vector part,
    sin(angle) times its axis: exact for small turns. damping: likewise (N m s/rad, N s/m).
    """

    name: str
    start: str
    end: str
    stiffness: tuple[Scalar, ...]
    damping: tuple[Scalar, ...] = (0.0,) * 6

    def __post_init__(self) -> None:
        for attribute in ("stiffness", "damping"):
            object.__setattr__(self, attribute, tuple(scalar(x) for x in getattr(self, attribute)))


@dataclass(frozen=True)
class Force:
    """A wrench on a frame, torque and force each as three texts or numbers, in "world" or "body" axes at the frame's origin."""

    name: str
    frame: str
    torque: tuple[str | float, ...] = (0.0, 0.0, 0.0)
    force: tuple[str | float, ...] = (0.0, 0.0, 0.0)
    axes: str = "world"


@dataclass(frozen=True)
class JointForce:
    """A generalised force along one coordinate's speed, as a text or number (N m or N)."""

    name: str
    coordinate: str
    force: str | float


@dataclass(frozen=True)
class Strain:
    """What a flexible body's shapes resist: forces -K (q + lag v) along their coordinates. K: rows, N/m or N m; lag: s."""

    name: str
    coordinates: tuple[str, ...]
    K: tuple[tuple[Scalar, ...], ...]
    lag: Scalar = 0.0


Load = JointSpring | Spring | Bushing | Force | JointForce | Strain


@dataclass(frozen=True)
class KnifeEdge:
    """The origin of a frame has no velocity along `direction`, an axis of the frame: a skate, a thin wheel's side."""

    name: str
    frame: str
    direction: Vector

    def __post_init__(self) -> None:
        object.__setattr__(self, "direction", unit(self.direction))


@dataclass(frozen=True)
class Rolling:
    """A thin disc rolls without slipping on a plane through the ground's origin.

    frame: at the disc's centre. axis: the disc's own, in the frame's axes. radius: m. normal: of the plane, in the ground's
    axes. Three rows: the point of the disc that touches the plane stands still.
    """

    name: str
    frame: str
    radius: Scalar
    axis: Vector = (0.0, 1.0, 0.0)
    normal: Vector = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", scalar(self.radius))
        object.__setattr__(self, "axis", unit(self.axis))
        object.__setattr__(self, "normal", unit(self.normal))


@dataclass(frozen=True)
class SpeedRow:
    """A(q, t) v + B(q, t) = 0 as one text, linear in the speeds v_<name>."""

    name: str
    expression: str


Nonholonomic = KnifeEdge | Rolling | SpeedRow


def identifier(coordinate: str) -> str:
    """How a coordinate is written in an expression, after q_ or v_."""
    return "".join(c if c.isalnum() else "_" for c in coordinate)


