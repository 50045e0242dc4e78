"""Position rows: constraints written as expressions, drives, and couplings of coordinates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ..pose import Scalar
from .keys import COORDINATE, Holonomic, Key, Places, doc, number, register


@register
@dataclass(frozen=True)
class Constraint(Holonomic):
    """g(q, t) = 0 as one expression of coordinates q_<name>, positions of frames x_<frame>,
    y_<frame>, z_<frame> (m, in the ground), t, parameters.

    Its value should be in metres or radians: assembly closes it to 1e-9.
    """

    kind = "expression"
    zero: str = field(metadata=Key("position").of() | doc("g(q, t), best in metres or radians"))

    @property
    def labels(self) -> tuple[str, ...]:
        """The expression, as the label of the row."""
        return (self.zero,)

    def residual(self, s: Places) -> tuple[Scalar, ...]:
        """Return the value of its expression."""
        return (s.text(self.name, self.zero),)


@register
@dataclass(frozen=True)
class Drive(Holonomic):
    """A coordinate follows an expression of t and parameters, such as "3*t": a rheonomic
    constraint, with whatever force this requires. The expression must have a second derivative, on
    which the force depends: a motion that starts from rest with a jump of its speed is not allowed.
    """

    kind = "drive"
    labels = ("motion of the drive",)
    coordinate: str = field(metadata=COORDINATE | doc("which is driven"))
    motion: str | float = field(
        metadata=Key("expression", "length|angle").of() | doc("its value over time, rad or m")
    )

    def residual(self, s: Places) -> tuple[Scalar, ...]:
        """Return the error q - motion(t) of the driven coordinate."""
        return (s.coordinate(self.coordinate) - s.text(self.name, self.motion),)

    def drives(self) -> str:
        """The driven coordinate."""
        return self.coordinate


@register
@dataclass(frozen=True)
class Coupling(Holonomic):
    """A sum of coordinates is constant, sum of ratio q = offset: it couples joints of different
    branches, or on both sides of a loop.
    """

    kind = "coupling"
    labels = ("ratio of the coupling",)
    coordinates: tuple[str, ...] = field(metadata=Key("coordinates").of() | doc("those of the sum"))
    ratios: tuple[Scalar, ...] = field(
        metadata=Key("numbers", negative=True, zero=False).of() | doc("one per coordinate")
    )
    offset: Scalar = field(
        default=0.0, metadata=number("any", negative=True) | doc("the value of the sum")
    )

    def faults(self, parameters: Mapping[str, float]) -> Iterator[str]:
        """Yield a fault where there is not one ratio per coordinate, or fewer than two
        coordinates.
        """
        if len(self.coordinates) != len(self.ratios):
            yield (
                f"it has {len(self.coordinates)} coordinates and {len(self.ratios)} ratios; one"
                " ratio per coordinate is wanted"
            )
        if len(set(self.coordinates)) < max(2, len(self.coordinates)):
            yield (
                f"it couples {', '.join(self.coordinates) or 'nothing'}; two or more different"
                " coordinates are wanted"
            )

    def residual(self, s: Places) -> tuple[Scalar, ...]:
        """Return the sum of ratio q minus the offset."""
        parts = [s.value(r) * s.coordinate(name) for r, name in zip(self.ratios, self.coordinates)]
        return (sum(parts[1:], parts[0]) - s.value(self.offset),)
