"""Cams: a follower whose coordinate is a function of the cam's angle, given as a text or through
points.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from ...errors import ExpressionError
from ...spatial import floor, select
from ..courses import closed_spline, piecewise
from ..expressions import evaluate, parse
from ..pose import Scalar
from ..values import value_of
from .keys import COORDINATE, Holonomic, Key, Places, doc, register

TURN = 2.0 * math.pi
CLOSES = 1e-9  # of the lift: what begins and ends nearer to each other closes


@register
@dataclass(frozen=True)
class Cam(Holonomic):
    """The follower's coordinate is lift(angle), the angle being the cam's coordinate within one
    turn, 0 to 2 pi.

    profile: lift as a text of `angle` and parameters, such as "h*(angle/(2*pi) -
    sin(angle)/(2*pi))"; or angles and lifts: points of one turn, from 0 to 2 pi (rad; m, or rad for
    a lever), through which a closed spline goes. The row pulls as well as it pushes: a follower
    that may lift off is a contact.
    """

    kind = "cam"
    alternatives = (("profile",), ("angles", "lifts"))
    labels = ("lift",)
    cam: str = field(metadata=COORDINATE | doc("the angle of the cam"))
    follower: str = field(metadata=COORDINATE | doc("of the follower"))
    profile: str = field(
        default="", metadata=Key("profile").of() | doc("lift over the angle, rad or m")
    )
    angles: tuple[Scalar, ...] = field(
        default=(),
        metadata=Key("numbers", "angle").of() | doc("points of one turn, from 0 to 2 pi"),
    )
    lifts: tuple[Scalar, ...] = field(
        default=(), metadata=Key("numbers", negative=True).of() | doc("lifts there, m or rad")
    )

    def faults(self, parameters: Mapping[str, float]) -> Iterator[str]:
        """A profile, once, that closes."""
        if self.cam == self.follower:
            yield f"{self.cam!r} is the cam and its own follower"
        if bool(self.profile) == bool(self.angles or self.lifts):
            yield (
                "its lift is given by `profile`, or by points `angles` and `lifts`; one of the two"
                " is wanted"
            )
        elif self.profile:
            yield from self._text_faults(parameters)
        else:
            yield from self._point_faults(parameters)

    def _text_faults(self, parameters: Mapping[str, float]) -> Iterator[str]:
        try:
            text = parse(self.profile, ["angle", *parameters])
            yield from _open(
                [evaluate(text, {**parameters, "angle": TURN * k / 64}) for k in range(65)]
            )
        except ExpressionError as why:
            yield str(why)

    def _point_faults(self, parameters: Mapping[str, float]) -> Iterator[str]:
        x = list(self.angles)
        y = [value_of(z, parameters) for z in self.lifts]
        if not all(isinstance(z, float) for z in x):
            yield "its angles are numbers, not expressions of parameters"
            return
        if None in y:
            return  # a parameter that is not there: said already
        if len(x) != len(y) or len(x) < 4:
            yield (
                f"it has {len(x)} angles and {len(y)} lifts; as many of both are wanted, four at"
                " least"
            )
        elif (
            any(b <= a for a, b in pairwise(x))
            or abs(x[0]) > CLOSES
            or abs(x[-1] - TURN) > CLOSES * TURN
        ):
            yield (
                f"its angles go from {x[0]:.6g} to {x[-1]:.6g} rad; they rise from 0 to one turn, 2"
                " pi rad"
            )
        else:
            yield from _open(y)

    def residual(self, s: Places) -> tuple[Scalar, ...]:
        """Follower less lift."""
        turn = s.coordinate(self.cam)
        angle = turn - TURN * floor(turn / TURN)
        return (
            s.coordinate(self.follower)
            - (
                s.profile(self.name, self.profile, angle)
                if self.profile
                else self._spline(s, angle)
            ),
        )

    def _spline(self, s: Places, angle: Scalar) -> Scalar:
        return piecewise(
            closed_spline(self.angles, [s.value(y) for y in self.lifts]), angle, select
        )[0]


def _open(lifts: list[float]) -> Iterator[str]:
    """The fault of a profile that does not end where it began."""
    size = max(lifts) - min(lifts)
    if not abs(lifts[-1] - lifts[0]) <= CLOSES * size:
        yield (
            f"its profile does not close: the lift is {lifts[0]:.6g} at the angle 0 and"
            f" {lifts[-1]:.6g} after one turn; let it end where it begins, or use a [[constraint]]"
            " with `zero` for a cam that does not go round"
        )
