"""Springs and dampers: along a coordinate, between two points, between two frames, and inside a
flexible body.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from ...spatial import add, cross, dot, neg, rotate, scale, sub, unrotate
from ..expression_functions import apply
from ..pose import Scalar, Vector
from .keys import COORDINATE, FRAME, Key, Load, Scene, doc, number, register

TURNS_THEN_SLIDES = (
    ("angular stiffness",) * 3 + ("stiffness",) * 3,
    ("angular damping",) * 3 + ("damping",) * 3,
)


@register
@dataclass(frozen=True)
class JointSpring(Load):
    """A spring and damper along one coordinate: force -stiffness (q - rest) - damping v.

    Parameters
    ----------
    name : str
        The name of the load.
    coordinate : str
        The coordinate q along which it acts; v is its speed.
    stiffness : scalar
        N m/rad or N/m.
    rest : scalar
        The coordinate at which it exerts no force, rad or m.
    damping : scalar, default 0
        N m s/rad or N s/m.

    Examples
    --------
    >>> JointSpring("return", "elbow", stiffness=20, rest=0).damping
    0.0
    """

    kind = "joint_spring"
    coordinate: str = field(metadata=COORDINATE | doc("along which it acts"))
    stiffness: Scalar = field(
        metadata=number("stiffness|angular stiffness") | doc("N m/rad or N/m")
    )
    rest: Scalar = field(
        metadata=number("length|angle", negative=True)
        | doc("the coordinate where it is free of force, rad or m")
    )
    damping: Scalar = field(
        default=0.0,
        metadata=number("damping|angular damping") | doc("N m s/rad or N s/m"),
    )

    def linear(self) -> tuple[str, Scalar, Scalar, Scalar]:
        """Return the spring as (coordinate, stiffness, rest, damping)."""
        return self.coordinate, self.stiffness, self.rest, self.damping

    def act(self, s: Scene) -> None:
        """Apply -k (q - rest) - d v along its speed, and store k (q - rest)^2 / 2."""
        (q, v), (k, rest, d) = (
            s.coordinate(self.coordinate),
            map(s.value, (self.stiffness, self.rest, self.damping)),
        )
        s.drive(self.coordinate, -k * (q - rest) - d * v)
        s.store(0.5 * k * (q - rest) ** 2)


@register
@dataclass(frozen=True)
class Spring(Load):
    """A spring and damper between the origins of two frames: tension stiffness (distance - length)
    + damping rate, rate being that of the distance.

    Parameters
    ----------
    name : str
        The name of the load.
    start, end : str
        The two frames (or bodies, or "ground") between whose origins it acts.
    stiffness : scalar
        N/m.
    length : scalar
        Its length without force, m.
    damping : scalar, default 0
        N s/m.

    Examples
    --------
    >>> Spring("strut", "hip", "ground", stiffness=800, length=0.3).length
    0.3
    """

    kind = "spring"
    start: str = field(metadata=FRAME | doc("where it begins"))
    end: str = field(metadata=FRAME | doc("where it ends"))
    stiffness: Scalar = field(metadata=number("stiffness") | doc("force per stretch"))
    length: Scalar = field(metadata=number("length") | doc("its length without force"))
    damping: Scalar = field(
        default=0.0, metadata=number("damping") | doc("force per speed of stretching")
    )

    def faults(self, parameters: Mapping[str, float]) -> Iterator[str]:
        """Yield a fault where both ends are the same frame."""
        return _one_end(self.start, self.end)

    def gaps(self) -> tuple[tuple[str, str], ...]:
        """Return its two ends, whose origins must not coincide."""
        return ((self.start, self.end),)

    def act(self, s: Scene) -> None:
        """Apply the tension along the line between its ends, and store its energy."""
        k, length, d = map(s.value, (self.stiffness, self.length, self.damping))
        gap, distance, rate = stretch_between(s, self.start, self.end)
        pull = (k * (distance - length) + d * rate) / distance
        s.push(self.end, scale(-pull, gap))
        s.push(self.start, scale(pull, gap))
        s.store(0.5 * k * (distance - length) ** 2)


@register
@dataclass(frozen=True)
class Bushing(Load):
    """A soft joint between two frames that coincide at rest, in the axes of the first.

    The three angles are the vector part of the relative rotation, sin(angle) times its axis, which
    is the rotation vector to first order.

    Parameters
    ----------
    name : str
        The name of the load.
    start, end : str
        The first frame, in whose axes it acts, and the second.
    stiffness : 6 scalars
        Three for turning (N m/rad), then three for displacement (N/m).
    damping : 6 scalars, default 0
        Three for turning (N m s/rad), then three for displacement (N s/m).

    Examples
    --------
    >>> Bushing("mount", "engine", "chassis", stiffness=(50, 50, 50, 1e4, 1e4, 1e4)).damping
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    """

    kind = "bushing"
    start: str = field(metadata=FRAME | doc("the first frame, in whose axes it acts"))
    end: str = field(metadata=FRAME | doc("the second frame"))
    stiffness: tuple[Scalar, ...] = field(
        metadata=Key("numbers", TURNS_THEN_SLIDES[0]).of()
        | doc("three turns, then three displacements")
    )
    damping: tuple[Scalar, ...] = field(
        default=(0.0,) * 6, metadata=Key("numbers", TURNS_THEN_SLIDES[1]).of() | doc("likewise")
    )

    def faults(self, parameters: Mapping[str, float]) -> Iterator[str]:
        """Yield a fault where both ends are the same frame."""
        return _one_end(self.start, self.end)

    def act(self, s: Scene) -> None:
        """Apply six springs and dampers in the axes of the first frame to the second body, and the
        reaction to the first.
        """
        k, d = ([s.value(x) for x in values] for values in (self.stiffness, self.damping))
        A, B, (p, u), (o, w) = (
            s.axes(self.start),
            s.axes(self.end),
            s.origin(self.end),
            s.origin(self.start),
        )
        arm = sub(p, o)
        turning = s.spin(self.start)
        # its columns: the axes of the second frame, seen from the first
        R = [unrotate(A, column) for column in zip(*B)]
        turn = tuple(0.5 * (R[i][j] - R[j][i]) for i, j in ((1, 2), (2, 0), (0, 1)))
        spin = unrotate(A, sub(s.spin(self.end), turning))
        gap = unrotate(A, arm)
        slide = unrotate(A, sub(sub(u, w), cross(turning, arm)))
        torque = rotate(A, tuple(-k[i] * turn[i] - d[i] * spin[i] for i in range(3)))
        force = rotate(A, tuple(-k[3 + i] * gap[i] - d[3 + i] * slide[i] for i in range(3)))
        s.push(self.end, force, torque)
        s.push(self.start, neg(force), neg(add(torque, cross(arm, force))))
        s.store(0.5 * sum(k[i] * turn[i] ** 2 + k[3 + i] * gap[i] ** 2 for i in range(3)))


@register
@dataclass(frozen=True)
class CoordinateSpring(Load):
    """A spring and damper along a sum of coordinates, s = sum of ratio q, such as a tendon over
    pulleys.

    Its force is -ratio (stiffness (s - rest) + damping s') along each coordinate. rest: in the unit
    of s. stiffness: N m or N per unit of s.
    """

    kind = "coordinate_spring"
    coordinates: tuple[str, ...] = field(metadata=Key("coordinates").of() | doc("those of the sum"))
    ratios: tuple[Scalar, ...] = field(
        metadata=Key("numbers", negative=True).of() | doc("one per coordinate")
    )
    stiffness: Scalar = field(metadata=number("any") | doc("N m or N per unit of the sum"))
    rest: Scalar = field(
        metadata=number("any", negative=True) | doc("the sum where it is free of force")
    )
    damping: Scalar = field(default=0.0, metadata=number("any") | doc("force per rate of the sum"))

    def faults(self, parameters: Mapping[str, float]) -> Iterator[str]:
        """Yield a fault where there is not one ratio per coordinate."""
        if len(self.coordinates) != len(self.ratios):
            yield (
                f"it has {len(self.coordinates)} coordinates and {len(self.ratios)} ratios; one"
                " ratio per coordinate is wanted"
            )

    def act(self, s: Scene) -> None:
        """Apply the same tension along every coordinate, times its ratio."""
        k, rest, d, *ratios = map(s.value, (self.stiffness, self.rest, self.damping, *self.ratios))
        moved = [s.coordinate(name) for name in self.coordinates]
        length, rate = (sum((r * x for r, x in zip(ratios, values)), 0.0) for values in zip(*moved))
        for name, ratio in zip(self.coordinates, ratios):
            s.drive(name, -ratio * (k * (length - rest) + d * rate))
        s.store(0.5 * k * (length - rest) ** 2)


@register
@dataclass(frozen=True)
class Cable(Load):
    """An elastic cable through the origins of several frames, free to slide at those between its
    ends.

    Its tension is stiffness (path - length) + damping rate (N/m, m, N s/m), the path being the sum
    of its straight parts. pulls: "tension", a cable that is slack below its length, or "both", a
    spring.
    """

    kind = "cable"
    frames: tuple[str, ...] = field(
        metadata=Key("frames").of() | doc("through whose origins it goes")
    )
    stiffness: Scalar = field(metadata=number("stiffness") | doc("tension per stretch"))
    length: Scalar = field(metadata=number("length") | doc("its length without tension"))
    damping: Scalar = field(
        default=0.0, metadata=number("damping") | doc("tension per rate of stretching")
    )
    pulls: str = field(
        default="tension",
        metadata=Key("word", words=("tension", "both")).of()
        | doc('"tension": slack below its length; "both": a spring'),
    )

    def faults(self, parameters: Mapping[str, float]) -> Iterator[str]:
        """Yield a fault where there are fewer than two frames, or where two equal frames follow
        each other.
        """
        if len(self.frames) < 2:
            yield f"it goes through {len(self.frames)} frames; a cable has two ends"
        yield from (f"it goes from {a!r} to itself" for a, b in pairwise(self.frames) if a == b)

    def gaps(self) -> tuple[tuple[str, str], ...]:
        """Return the ends of each straight part, whose origins must not coincide."""
        return tuple(pairwise(self.frames))

    def act(self, s: Scene) -> None:
        """Apply the same tension along each straight part of the path."""
        k, length, d = map(s.value, (self.stiffness, self.length, self.damping))
        parts = [(a, b, *stretch_between(s, a, b)) for a, b in pairwise(self.frames)]
        stretch = sum((distance for *_, distance, _ in parts), -length)
        tension = k * stretch + d * sum((rate for *_, rate in parts), 0.0)
        if self.pulls == "tension":
            tension = apply("max", [tension, 0.0]) * (apply("sign", [stretch]) + 1.0) / 2.0
            stretch = apply("max", [stretch, 0.0])
        for a, b, gap, distance, _ in parts:
            s.push(b, scale(-tension / distance, gap))
            s.push(a, scale(tension / distance, gap))
        s.store(0.5 * k * stretch**2)


def stretch_between(s: Scene, start: str, end: str) -> tuple[Vector, Scalar, Scalar]:
    """Return the vector from the origin of one frame to that of another, its length (m), and the
    rate of the length (m/s).
    """
    (p, u), (o, w) = s.origin(end), s.origin(start)
    gap, opening = sub(p, o), sub(u, w)
    distance = apply("sqrt", [dot(gap, gap)])
    return gap, distance, dot(gap, opening) / distance


@dataclass(frozen=True)
class Strain(Load):
    """The elastic forces of a flexible body along the amplitudes of its shapes: -K (q + lag v). K:
    rows, N/m or N m; lag: the ratio of damping to stiffness, s.
    """

    kind, written = "strain", False
    coordinates: tuple[str, ...]
    K: tuple[tuple[Scalar, ...], ...]
    lag: Scalar = 0.0

    def act(self, s: Scene) -> None:
        """Apply -K (q + lag v), and store the energy q' K q / 2."""
        K = [[s.value(x) for x in row] for row in self.K]
        lag = s.value(self.lag)
        found = [s.coordinate(x) for x in self.coordinates]
        for name, (q, _), row in zip(self.coordinates, found, K):
            pull = sum((k * x for k, (x, _) in zip(row, found)), 0.0)
            s.drive(name, -pull - lag * sum((k * v for k, (_, v) in zip(row, found)), 0.0))
            s.store(0.5 * q * pull)


def _one_end(start: str, end: str) -> Iterator[str]:
    if start == end:
        yield f"it joins {start!r} to itself; a spring has two ends"
