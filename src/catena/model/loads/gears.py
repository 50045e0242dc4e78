"""Gears, belts, racks and screws: what the teeth of two bodies that one carrier bears do to their
motions.

    external, bevel  z1 (turn1 - phase) = -z2 turn2  internal, open belt
            z1 (turn1 - phase) = z2 turn2

A turn is that of the gear in its carrier, which may itself move: a planetary train is three bodies
and an arm that carries the planet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ...spatial import dot
from ..pose import Scalar, Vector
from .keys import FRAME, Holonomic, Key, Places, doc, number, register

TURNING = Key("turning").of()
SLIDING = Key("sliding").of()
PARALLEL = 1e-9  # sine of the angle of two axes that are parallel
SIGNS = {"external": -1.0, "internal": 1.0, "bevel": -1.0, "open": 1.0, "crossed": -1.0}


def _parallel(axes: Mapping[str, Vector], one: str, other: str) -> bool:
    return 1.0 - abs(dot(axes[one], axes[other])) < PARALLEL


@dataclass(frozen=True)
class _Pair(Holonomic):
    """Two wheels on one carrier: z1 (turn1 - phase) = sign z2 turn2, turns counted about one
    direction where the axes are parallel.
    """

    first: str = field(metadata=TURNING | doc("the first wheel"))
    second: str = field(metadata=TURNING | doc("the second wheel"))
    carrier: str = field(metadata=FRAME | doc("the body that carries both"))

    def faults(self, parameters: Mapping[str, float]) -> Iterator[str]:
        """Two wheels are needed, and as many sizes."""
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
    """Two gears on one carrier. teeth: of both, or their pitch radii, above zero: `mesh` gives the
    sense.

    external: they turn against each other; internal: one is a ring, they turn alike; bevel: axes
    that meet, each joint's axis pointing away from where they do, so that they turn against each
    other. phase: the turn of the first, rad, where that of the second is zero.
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

    def misfits(self, axes: Mapping[str, Vector]) -> Iterator[str]:
        """Parallel axes, except of bevel gears."""
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
        """Turn against turn, rad of the first gear."""
        return (self._row(s, self.teeth, self.mesh, self.phase),)


@register
@dataclass(frozen=True)
class Belt(_Pair):
    """A belt or chain over two wheels on one carrier that neither slips nor stretches. radii: m.
    run: "open" or "crossed". phase: as of gears.
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

    def misfits(self, axes: Mapping[str, Vector]) -> Iterator[str]:
        """Parallel axes."""
        if not _parallel(axes, "first", "second"):
            yield (
                f"the axes of {self.first!r} and {self.second!r} are not parallel, and a belt runs"
                " in one plane"
            )

    def residual(self, s: Places) -> tuple[Scalar, ...]:
        """Turn against turn, rad of the first wheel."""
        return (self._row(s, self.radii, self.run, self.phase),)


@register
@dataclass(frozen=True)
class RackAndPinion(Holonomic):
    """A rack slides along its carrier by radius times the turn of a pinion there, both along their
    joints' axes, plus `offset`.

    radius: m, of the pinion; negative where the rack lies on the side on which a positive turn
    moves it backwards. offset: m.
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

    def misfits(self, axes: Mapping[str, Vector]) -> Iterator[str]:
        """The rack runs across the pinion's axis."""
        if abs(dot(axes["pinion"], axes["rack"])) > PARALLEL:
            yield (
                f"the rack {self.rack!r} does not slide across the axis of the pinion"
                f" {self.pinion!r}"
            )

    def residual(self, s: Places) -> tuple[Scalar, ...]:
        """Way less radius times turn, m."""
        (turn, _), (way, _) = (
            s.travel(self.pinion, self.carrier, "turning"),
            s.travel(self.rack, self.carrier, "sliding"),
        )
        return (way - s.value(self.radius) * turn - s.value(self.offset),)


@register
@dataclass(frozen=True)
class Screw(Holonomic):
    """A nut slides along its carrier by `lead` for every turn of a spindle there, m; a left-hand
    thread has a lead below zero. offset: m.
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
        """The nut runs along the spindle."""
        if not _parallel(axes, "spindle", "nut"):
            yield (
                f"the nut {self.nut!r} does not slide along the axis of the spindle"
                f" {self.spindle!r}"
            )

    def residual(self, s: Places) -> tuple[Scalar, ...]:
        """Way less lead / (2 pi) times turn, m, both along the spindle's axis."""
        (turn, a), (way, b) = (
            s.travel(self.spindle, self.carrier, "turning"),
            s.travel(self.nut, self.carrier, "sliding"),
        )
        sign = 1.0 if dot(a, b) > 0 else -1.0
        return (
            way - s.value(self.lead) * (sign * 0.15915494309189535) * turn - s.value(self.offset),
        )
