"""Springs and dampers: along a coordinate, between two points, between two frames, and inside a flexible body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ...spatial import add, cross, dot, neg, rotate, scale, sub, unrotate
from ..expression_functions import apply
from ..pose import Scalar
from .keys import COORDINATE, FRAME, Key, Load, Scene, number, register

TURNS_THEN_SLIDES = ("angular stiffness",) * 3 + ("stiffness",) * 3, ("angular damping",) * 3 + ("damping",) * 3


@register
@dataclass(frozen=True)
class JointSpring(Load):
    """A spring and damper along one coordinate: force -stiffness (q - rest) - damping v (N m/rad or N/m; and s)."""

    kind = "joint_spring"
    coordinate: str = field(metadata=COORDINATE)
    stiffness: Scalar = field(metadata=number("any"))
    rest: Scalar = field(metadata=number("any", negative=True))
    damping: Scalar = field(default=0.0, metadata=number("any"))

    def linear(self) -> tuple[str, Scalar, Scalar, Scalar]:
        """It is linear in its coordinate."""
        return self.coordinate, self.stiffness, self.rest, self.damping

    def act(self, s: Scene) -> None:
        """-k (q - rest) - d v along its speed."""
        (q, v), (k, rest, d) = s.coordinate(self.coordinate), map(s.value, (self.stiffness, self.rest, self.damping))
        s.drive(self.coordinate, -k * (q - rest) - d * v)
        s.store(0.5 * k * (q - rest) ** 2)


@register
@dataclass(frozen=True)
class Spring(Load):
    """A spring and damper between the origins of two frames: tension stiffness (distance - length) + damping rate (N/m, m, N s/m)."""

    kind = "spring"
    start: str = field(metadata=FRAME)
    end: str = field(metadata=FRAME)
    stiffness: Scalar = field(metadata=number("stiffness"))
    length: Scalar = field(metadata=number("length"))
    damping: Scalar = field(default=0.0, metadata=number("damping"))

    def faults(self, parameters: Mapping[str, float]) -> Iterator[str]:
        """Two ends are needed."""
        return _one_end(self.start, self.end)

    def gaps(self) -> tuple[tuple[str, str], ...]:
        """Its ends."""
        return ((self.start, self.end),)

    def act(self, s: Scene) -> None:
        """A tension along the line between its ends."""
        k, length, d = map(s.value, (self.stiffness, self.length, self.damping))
        (p, u), (o, w) = s.origin(self.end), s.origin(self.start)
        gap, opening = sub(p, o), sub(u, w)
        distance = apply("sqrt", [dot(gap, gap)])
        pull = (k * (distance - length) + d * dot(gap, opening) / distance) / distance
        s.push(self.end, scale(-pull, gap))
        s.push(self.start, scale(pull, gap))
        s.store(0.5 * k * (distance - length) ** 2)


@register
@dataclass(frozen=True)
class Bushing(Load):
    """A soft joint between two frames that coincide at rest, in the axes of the first.

    stiffness: three for turning (N m/rad), three for displacement (N/m). The turning angle is the rotation's vector part,
    sin(angle) times its axis: exact for small turns. damping: likewise (N m s/rad, N s/m).
    """

    kind = "bushing"
    start: str = field(metadata=FRAME)
    end: str = field(metadata=FRAME)
    stiffness: tuple[Scalar, ...] = field(metadata=Key("numbers", TURNS_THEN_SLIDES[0]).of())
    damping: tuple[Scalar, ...] = field(default=(0.0,) * 6, metadata=Key("numbers", TURNS_THEN_SLIDES[1]).of())

    def faults(self, parameters: Mapping[str, float]) -> Iterator[str]:
        """Two ends are needed."""
        return _one_end(self.start, self.end)

    def act(self, s: Scene) -> None:
        """Six springs and dampers in the axes of the first frame, and the reaction on the first body."""
        k, d = ([s.value(x) for x in values] for values in (self.stiffness, self.damping))
        A, B, (p, u), (o, w) = s.axes(self.start), s.axes(self.end), s.origin(self.end), s.origin(self.start)
        arm, turning = sub(p, o), s.spin(self.start)
        R = [unrotate(A, column) for column in zip(*B)]  # its columns: the axes of the second frame, seen from the first
        turn = tuple(0.5 * (R[i][j] - R[j][i]) for i, j in ((1, 2), (2, 0), (0, 1)))
        spin = unrotate(A, sub(s.spin(self.end), turning))
        gap, slide = unrotate(A, arm), unrotate(A, sub(sub(u, w), cross(turning, arm)))
        torque = rotate(A, tuple(-k[i] * turn[i] - d[i] * spin[i] for i in range(3)))
        force = rotate(A, tuple(-k[3 + i] * gap[i] - d[3 + i] * slide[i] for i in range(3)))
        s.push(self.end, force, torque)
        s.push(self.start, neg(force), neg(add(torque, cross(arm, force))))
        s.store(0.5 * sum(k[i] * turn[i] ** 2 + k[3 + i] * gap[i] ** 2 for i in range(3)))


@dataclass(frozen=True)
class Strain(Load):
    """What a flexible body's shapes resist: forces -K (q + lag v) along their coordinates. K: rows, N/m or N m; lag: s."""

    kind, written = "strain", False
    coordinates: tuple[str, ...]
    K: tuple[tuple[Scalar, ...], ...]
    lag: Scalar = 0.0

    def act(self, s: Scene) -> None:
        """-K (q + lag v)."""
        K, lag, found = [[s.value(x) for x in row] for row in self.K], s.value(self.lag), [s.coordinate(x) for x in self.coordinates]
        for name, (q, _), row in zip(self.coordinates, found, K):
            pull = sum((k * x for k, (x, _) in zip(row, found)), 0.0)
            s.drive(name, -pull - lag * sum((k * v for k, (_, v) in zip(row, found)), 0.0))
            s.store(0.5 * q * pull)


def _one_end(start: str, end: str) -> Iterator[str]:
    if start == end:
        yield f"it joins {start!r} to itself; a spring has two ends"
