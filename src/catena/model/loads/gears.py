"""Gears, belts, racks and screws: constraints between the motions of two bodies on one carrier.

    external, bevel        z1 (turn1 - phase) = -z2 turn2
    internal, open belt    z1 (turn1 - phase) = z2 turn2

A turn is that of the gear relative to its carrier, which may itself move: a planetary train is
three bodies and an arm that carries the planet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from ...spatial import add, cross, dot, neg, scale, sub
from ..pose import Scalar, Vector
from .actions import Action, Line, Sites, Wrench, through
from .keys import FRAME, Holonomic, Key, Places, doc, number, register

TURNING = Key("turning").of()
SLIDING = Key("sliding").of()
# rad: axes that are parallel, or perpendicular, up to this angle count as such; files round axes to
# some six digits
AXIS_ANGLE_TOLERANCE = 4.5e-5
# two axes that are not farther apart, relative to their distance from the ground's origin, are one
# axis; wheels that are farther apart along the axes, relative to the distance of the axes (or to
# the pinion's radius), do not lie in one plane
AXIS_DISTANCE_TOLERANCE = 1e-9
SIGNS = {"external": -1.0, "internal": 1.0, "bevel": -1.0, "open": 1.0, "crossed": -1.0}


def _parallel(axes: Mapping[str, Vector], one: str, other: str) -> bool:
    """Whether two axes are parallel."""
    return 1.0 - abs(dot(axes[one], axes[other])) < 0.5 * AXIS_ANGLE_TOLERANCE**2


PRESSURE_ANGLE = number("angle", zero=False) | doc(
    "of the teeth, which push wheels apart; without it that push is not determined"
)


@dataclass(frozen=True)
class _Across:
    """Two parallel axes, viewed along them. n: the direction of the first. u: the unit vector from
    the first axis to the second. apart: their distance, m. v: n x u.
    """

    n: Vector
    u: Vector
    v: Vector
    apart: Scalar
    offset_along_axis: bool  # whether the two points lie in different planes across the axes

    @staticmethod
    def of(one: Line, other: Line) -> _Across | None:
        """Return the two axes, or None where they are the same axis."""
        n = one.axis
        way = sub(other.point, one.point)
        along = dot(way, n)
        flat = sub(way, scale(along, n))
        apart = np.sqrt(dot(flat, flat))
        size = np.sqrt(dot(one.point, one.point)) + np.sqrt(dot(other.point, other.point))
        if np.any(apart <= AXIS_DISTANCE_TOLERANCE * size):
            return None
        u = scale(1.0 / apart, flat)
        return _Across(
            n, u, cross(n, u), apart, bool(np.any(np.abs(along) > AXIS_DISTANCE_TOLERANCE * apart))
        )

    def open_plane(self) -> tuple[tuple[Wrench, ...], tuple[str, ...]]:
        """Return the couples that remain unknown because the position of the wheels along their
        axes is not given, and phrases that say what is missing.
        """
        return _couples(self.u, self.v) if self.offset_along_axis else ((), ())


def _couples(u: Vector, v: Vector) -> tuple[tuple[Wrench, ...], tuple[str, ...]]:
    """Return the couples about u and v, perpendicular to the axis, of forces whose plane is
    unknown.
    """
    zero = scale(0.0, u)
    return ((u, zero), (v, zero)), (
        "one plane in which both are, as their joints are apart along the axis",
    )


def _pressed(
    s: Sites, angle: Scalar | None, point: Vector, apart: Vector
) -> tuple[Wrench | None, tuple[Wrench, ...], tuple[str, ...]]:
    """Return the sideways force of teeth where they mesh, per unit of force along the pitch line:
    with a pressure angle (wrench, nothing unknown, nothing missing); without it an unknown wrench.
    apart: the unit direction in which the teeth push the body on which they act.
    """
    if angle is None:
        return None, (through(point, apart),), ("its pressure_angle",)
    return through(point, scale(float(np.tan(s.value(angle))), apart)), (), ()


@dataclass(frozen=True)
class _Pair(Holonomic):
    """Two wheels on one carrier: z1 (turn1 - phase) = sign z2 turn2, turns counted about the same
    direction where the axes are parallel.
    """

    first: str = field(metadata=TURNING | doc("the first wheel"))
    second: str = field(metadata=TURNING | doc("the second wheel"))
    carrier: str = field(metadata=FRAME | doc("the body that carries both"))

    def faults(self, parameters: Mapping[str, float]) -> Iterator[str]:
        """Yield a fault where both wheels are the same, or where there are not two sizes."""
        if self.first == self.second:
            yield f"it joins {self.first!r} to itself; two wheels are wanted"

    def _row(self, s: Places, sizes: tuple[Scalar, ...], how: str, phase: Scalar) -> Scalar:
        (one, a), (other, b) = (
            s.travel(body, self.carrier, "turning") for body in (self.first, self.second)
        )
        sign = SIGNS[how] if how == "bevel" or dot(a, b) > 0 else -SIGNS[how]
        z1, z2 = map(s.value, sizes)
        return one - s.value(phase) - sign * (z2 / z1) * other


@register
@dataclass(frozen=True)
class GearPair(_Pair):
    """Two gears on one carrier, by their numbers of teeth (or pitch radii), which are above zero;
    `mesh` gives the sense of rotation.

    external: they turn in opposite senses; internal: one is a ring, they turn in the same sense;
    bevel: the axes intersect, each joint's axis points away from the intersection, and they turn in
    opposite senses. phase: the turn of the first gear, rad, where that of the second is zero.
    pressure_angle: rad, of straight teeth: the bearings carry the force that separates the gears.
    """

    kind = "gear_pair"
    labels = ("teeth",)
    teeth: tuple[Scalar, ...] = field(
        metadata=Key("numbers", ("number", "number"), zero=False).of()
        | doc("numbers of teeth, or pitch radii, of both")
    )
    mesh: str = field(
        default="external",
        metadata=Key("word", words=("external", "internal", "bevel")).of()
        | doc("outside each other, inside a ring, or with axes that meet"),
    )
    phase: Scalar = field(
        default=0.0,
        metadata=number("angle", negative=True)
        | doc("turn of the first where that of the second is zero"),
    )

    pressure_angle: Scalar | None = field(default=None, metadata=PRESSURE_ANGLE)

    def misfits(self, axes: Mapping[str, Vector]) -> Iterator[str]:
        """Yield a fault where the axes are not parallel, except for bevel gears."""
        if self.mesh == "bevel" and _parallel(axes, "first", "second"):
            yield (
                f"the axes of {self.first!r} and {self.second!r} are parallel; bevel gears have"
                " axes that meet: mesh is external or internal"
            )
        if self.mesh != "bevel" and not _parallel(axes, "first", "second"):
            yield (
                f"the axes of {self.first!r} and {self.second!r} are not parallel, as those of an"
                f' {self.mesh} pair are; mesh = "bevel" is for axes that meet'
            )

    def residual(self, s: Places) -> tuple[Scalar, ...]:
        """Return the difference of the turns, rad of the first gear."""
        return (self._row(s, self.teeth, self.mesh, self.phase),)

    def action(self, s: Sites) -> Action | str:
        """Return the wrench at the pitch point, which divides the distance of the axes in the ratio
        of the teeth: along the tangent of the pitch circles, and sideways by the pressure angle,
        towards the centre of a wheel with outer teeth.
        """
        if self.mesh == "bevel":
            return "where along their teeth bevel gears touch is not among its keys"
        one, other = (s.line(x, self.carrier, "turning") for x in (self.first, self.second))
        z1, z2 = map(s.value, self.teeth)
        total = z1 - z2 if self.mesh == "internal" else z1 + z2
        seen = _Across.of(one, other)
        if seen is None or total == 0.0:
            return "its gears have one axis, so that there is no point at which they touch"
        radius = seen.apart * (z1 / total)  # negative where the second is a ring: behind the first
        point = add(one.point, scale(radius, seen.u))
        outwards = 1.0 if self.mesh == "internal" and z1 > z2 else -1.0  # the first is the ring
        unit = 1.0 / radius
        pressed, unknown, missing = _pressed(
            s, self.pressure_angle, point, scale(outwards * np.abs(unit) / unit, seen.u)
        )
        couples, plane = seen.open_plane()
        return Action(
            s.body(self.first),
            s.body(self.second),
            through(point, scale(unit, seen.v)),
            sideways=None if pressed is None else _times(np.abs(unit), pressed),
            unknown=(*unknown, *couples),
            missing=(*missing, *plane),
        )


@register
@dataclass(frozen=True)
class Belt(_Pair):
    """A belt or chain over two wheels on one carrier that neither slips nor stretches. radii: m.
    run: "open" or "crossed". phase: the turn of the first wheel, rad, where that of the second is
    zero. pretension: N, the mean tension of its two strands, which the bearings carry; the
    transmitted force adds to one strand what it takes from the other.
    """

    kind = "belt"
    labels = ("belt",)
    radii: tuple[Scalar, ...] = field(
        metadata=Key("numbers", ("length", "length"), zero=False).of() | doc("of both wheels")
    )
    run: str = field(
        default="open",
        metadata=Key("word", words=("open", "crossed")).of() | doc("which way the belt goes round"),
    )
    phase: Scalar = field(
        default=0.0,
        metadata=number("angle", negative=True)
        | doc("turn of the first where that of the second is zero"),
    )
    pretension: Scalar | None = field(
        default=None,
        metadata=number("force")
        | doc("mean of both strands; without it what they pull together is not determined"),
    )

    def misfits(self, axes: Mapping[str, Vector]) -> Iterator[str]:
        """Yield a fault where the axes are not parallel."""
        if not _parallel(axes, "first", "second"):
            yield (
                f"the axes of {self.first!r} and {self.second!r} are not parallel, and a belt runs"
                " in one plane"
            )

    def residual(self, s: Places) -> tuple[Scalar, ...]:
        """Return the difference of the turns, rad of the first wheel."""
        return (self._row(s, self.radii, self.run, self.phase),)

    def action(self, s: Sites) -> Action | str:
        """Return the wrench along its two strands, the common tangents of the two circles."""
        one, other = (s.line(x, self.carrier, "turning") for x in (self.first, self.second))
        r1, r2 = map(s.value, self.radii)
        seen = _Across.of(one, other)
        reach = r1 + r2 if self.run == "crossed" else abs(r1 - r2)
        if seen is None or np.any(seen.apart <= reach):
            return "its wheels overlap, so that no belt runs straight from one to the other"
        cosine = (r1 + r2 if self.run == "crossed" else r1 - r2) / seen.apart
        sine = np.sqrt(1.0 - cosine * cosine)
        strands = []  # which pull the first wheel towards the second: backwards, then forwards
        for side in (1.0, -1.0):
            touch = add(scale(r1 * cosine, seen.u), scale(side * r1 * sine, seen.v))
            pull = add(scale(sine, seen.u), scale(-side * cosine, seen.v))
            strands.append(through(add(one.point, touch), pull))
        both = _plus(strands[1], strands[0])
        couples, plane = seen.open_plane()
        known = self.pretension is not None
        return Action(
            s.body(self.first),
            s.body(self.second),
            _times(0.5 / r1, _plus(strands[1], _times(-1.0, strands[0]))),
            steady=_times(s.value(self.pretension), both) if self.pretension is not None else None,
            unknown=(*(() if known else (both,)), *couples),
            missing=(*(() if known else ("its pretension",)), *plane),
        )


@register
@dataclass(frozen=True)
class RackAndPinion(Holonomic):
    """A rack slides along its carrier by radius times the turn of a pinion, both along their
    joints' axes, plus `offset`.

    radius: m, of the pinion; negative where the rack lies on the side where a positive turn of the
    pinion moves it backwards. offset: m. pressure_angle: rad, of straight teeth: the bearings carry
    the force that separates rack and pinion.
    """

    kind = "rack_and_pinion"
    labels = ("rack",)
    pinion: str = field(metadata=TURNING | doc("the wheel"))
    rack: str = field(metadata=SLIDING | doc("the bar"))
    carrier: str = field(metadata=FRAME | doc("the body that carries both"))
    radius: Scalar = field(
        metadata=number("length", zero=False, negative=True)
        | doc("of the pinion; negative on the other side")
    )
    offset: Scalar = field(
        default=0.0,
        metadata=number("length", negative=True) | doc("place of the rack where the turn is zero"),
    )
    pressure_angle: Scalar | None = field(default=None, metadata=PRESSURE_ANGLE)

    def misfits(self, axes: Mapping[str, Vector]) -> Iterator[str]:
        """Yield a fault where the rack does not slide perpendicular to the pinion's axis."""
        if abs(dot(axes["pinion"], axes["rack"])) > AXIS_ANGLE_TOLERANCE:
            yield (
                f"the rack {self.rack!r} does not slide across the axis of the pinion"
                f" {self.pinion!r}"
            )

    def residual(self, s: Places) -> tuple[Scalar, ...]:
        """Return the displacement minus radius times turn, m."""
        (turn, _), (way, _) = (
            s.travel(self.pinion, self.carrier, "turning"),
            s.travel(self.rack, self.carrier, "sliding"),
        )
        return (way - s.value(self.radius) * turn - s.value(self.offset),)

    def action(self, s: Sites) -> Action:
        """Return the wrench at the pitch point, one radius from the pinion's axis: along the rack,
        and sideways by the pressure angle, away from the pinion.
        """
        turn = s.line(self.pinion, self.carrier, "turning")
        way = s.line(self.rack, self.carrier, "sliding")
        radius = s.value(self.radius)
        arm = cross(way.axis, turn.axis)  # n x arm is the rack's way
        point = add(turn.point, scale(radius, arm))
        pressed, unknown, missing = _pressed(
            s, self.pressure_angle, point, arm if radius > 0.0 else neg(arm)
        )
        along = dot(sub(way.point, turn.point), turn.axis)
        offset_along_axis = np.any(np.abs(along) > AXIS_DISTANCE_TOLERANCE * abs(radius))
        couples, plane = _couples(arm, way.axis) if offset_along_axis else ((), ())
        return Action(
            s.body(self.rack),
            s.body(self.pinion),
            through(point, way.axis),
            sideways=pressed,
            unknown=(*unknown, *couples),
            missing=(*missing, *plane),
        )


@register
@dataclass(frozen=True)
class Screw(Holonomic):
    """A nut slides along its carrier by `lead` for every turn of a spindle, m; a left-hand thread
    has a negative lead. offset: m.
    """

    kind = "screw"
    labels = ("thread",)
    spindle: str = field(metadata=TURNING | doc("what turns"))
    nut: str = field(metadata=SLIDING | doc("what slides"))
    carrier: str = field(metadata=FRAME | doc("the body that carries both"))
    lead: Scalar = field(
        metadata=number("length", zero=False, negative=True)
        | doc("way per turn; negative: a left-hand thread")
    )
    offset: Scalar = field(
        default=0.0,
        metadata=number("length", negative=True) | doc("place of the nut where the turn is zero"),
    )

    def misfits(self, axes: Mapping[str, Vector]) -> Iterator[str]:
        """Yield a fault where the nut does not slide along the spindle."""
        if not _parallel(axes, "spindle", "nut"):
            yield (
                f"the nut {self.nut!r} does not slide along the axis of the spindle"
                f" {self.spindle!r}"
            )

    def residual(self, s: Places) -> tuple[Scalar, ...]:
        """Return the displacement minus lead / (2 pi) times turn, m, both along the spindle's
        axis.
        """
        (turn, a), (way, b) = (
            s.travel(self.spindle, self.carrier, "turning"),
            s.travel(self.nut, self.carrier, "sliding"),
        )
        sign = 1.0 if dot(a, b) > 0 else -1.0
        return (
            way - s.value(self.lead) * (sign * 0.15915494309189535) * turn - s.value(self.offset),
        )

    def action(self, s: Sites) -> Action:
        """Return the wrench about the spindle's axis: a force along it, and a couple about it."""
        turn = s.line(self.spindle, self.carrier, "turning")
        way = s.line(self.nut, self.carrier, "sliding")
        torque, force = through(turn.point, way.axis)
        lead = s.value(self.lead) * 0.15915494309189535
        return Action(
            s.body(self.nut),
            s.body(self.spindle),
            (add(torque, scale(lead, way.axis)), force),
        )


def _times(x: Scalar, w: Wrench) -> Wrench:
    return scale(x, w[0]), scale(x, w[1])


def _plus(w: Wrench, other: Wrench) -> Wrench:
    return add(w[0], other[0]), add(w[1], other[1])
