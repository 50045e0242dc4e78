"""Cams: a follower whose coordinate is a function of the cam's angle, given as an expression or by
points.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from ...errors import ExpressionError
from ...spatial import add, cross, dot, floor, scale, select, sub
from ..coordinate_functions import closed_spline, piecewise
from ..expressions import evaluate, parse
from ..pose import Scalar, Vector
from ..values import value_of
from .actions import Action, Freedom, Sites, through
from .keys import COORDINATE, FRAME, Holonomic, Key, Places, doc, register

TURN = 2.0 * math.pi
# the largest |cosine| of two directions that count as perpendicular, and the largest 1 - |cosine|
# of two that count as parallel
AXIS_COSINE_TOLERANCE = 1e-9
# relative to the distance between the follower's tip and the cam's axis: a tip that is not farther
# from the plane of the disc lies in it, and a lever arm that is not longer is zero
TIP_OFFSET_TOLERANCE = 1e-9
# relative to the size of the lift (or to one turn): a profile whose ends differ by no more closes
PROFILE_CLOSURE_TOLERANCE = 1e-9


@register
@dataclass(frozen=True)
class Cam(Holonomic):
    """The follower's coordinate is lift(angle), the angle being the cam's coordinate within one
    turn, 0 to 2 pi.

    profile: lift as an expression of `angle` and parameters, such as "h*(angle/(2*pi) -
    sin(angle)/(2*pi))"; or angles and lifts: points of one turn, from 0 to 2 pi (rad; m, or rad for
    a lever), which a closed spline interpolates. The constraint is two-sided, it pulls as well as
    it pushes; model a follower that may lift off as a contact.

    end: the shape of the follower where it touches a disc cam, which determines the forces in the
    bearings. "flat": a face perpendicular to its guide. "point": a knife edge, or the centre of a
    roller, at the origin of the frame `tip`. Without it the force along the guide is known, but
    that across it is not determined.
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
    end: str | None = field(
        default=None,
        metadata=Key("word", words=("flat", "point")).of()
        | doc("a flat face across the guide; or a point, also the centre of a roller"),
    )
    tip: str | None = field(
        default=None, metadata=FRAME | doc("whose origin is that point of the follower")
    )

    def faults(self, parameters: Mapping[str, float]) -> Iterator[str]:
        """Yield a fault where the profile is not given exactly once, or does not close after one
        turn.
        """
        if self.cam == self.follower:
            yield f"{self.cam!r} is the cam and its own follower"
        if (self.end == "point") != (self.tip is not None):
            yield 'end = "point" and `tip`, the frame at that point, belong together'
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
            or abs(x[0]) > PROFILE_CLOSURE_TOLERANCE
            or abs(x[-1] - TURN) > PROFILE_CLOSURE_TOLERANCE * TURN
        ):
            yield (
                f"its angles go from {x[0]:.6g} to {x[-1]:.6g} rad; they rise from 0 to one turn, 2"
                " pi rad"
            )
        else:
            yield from _open(y)

    def residual(self, s: Places) -> tuple[Scalar, ...]:
        """Return the follower's coordinate minus the lift."""
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

    def action(self, s: Sites) -> Action | str:
        """Return where a disc cam acts. The follower's freedom and the cam's torque determine two
        of the three components of a force in the plane of the disc; `end` determines the third.

        The force F on the follower has the moment M about the cam's axis, n M = lift'(angle). What
        remains is a force that does no work along either freedom: through the cam's axis and
        perpendicular to the guide, or through both axes of cam and lever.
        """
        cam, follower = (s.freedom(x) for x in (self.cam, self.follower))
        if cam is None or follower is None or cam.sort != "turning":
            return "cam and follower are not joints of one freedom each, of which the cam's turns"
        n = cam.line.axis
        found = _disc(cam, follower, s.slope(self.cam))
        if found is None:
            return "its follower does not move in the plane of a disc cam"
        force, across = found
        torque = add(cross(cam.line.point, force), scale(-s.slope(self.cam), n))
        way = sub(cam.line.point, follower.line.point)
        out_of_plane = np.any(np.abs(dot(way, n)) > TIP_OFFSET_TOLERANCE * np.sqrt(dot(way, way)))
        zero = scale(0.0, n)
        couples = ((across, zero), (cross(n, across), zero)) if out_of_plane else ()
        plane = ("one plane in which both are, as their joints are apart along the axis",)
        missing = plane if out_of_plane else ()
        left = through(cam.line.point, across)
        if self.end is None or (self.end == "flat" and follower.sort != "sliding"):
            said = "its end" if self.end is None else "the face of its lever; take a point"
            return Action(
                follower.body,
                cam.body,
                (torque, force),
                unknown=(left, *couples),
                missing=(said, *missing),
            )
        if self.tip is not None:
            p = s.origin(self.tip)
            lever = dot(n, cross(sub(cam.line.point, p), across))
            if np.any(np.abs(lever) <= TIP_OFFSET_TOLERANCE * np.sqrt(dot(p, p))):
                return "its tip is where a force cannot move the follower"
            size = -dot(n, sub(torque, cross(p, force))) / lever
            torque = add(torque, scale(size, left[0]))
            force = add(force, scale(size, left[1]))
        return Action(follower.body, cam.body, (torque, force), unknown=couples, missing=missing)

    def _spline(self, s: Places, angle: Scalar) -> Scalar:
        total: Scalar = 0.0
        for term, lifts in _terms(self.lifts).items():
            found = piecewise(closed_spline(self.angles, lifts), angle, select)[0]
            total = total + (found if term == 1 else s.value(term) * found)
        return total


def _terms(lifts: tuple[Scalar, ...]) -> dict[Scalar, list[float]]:
    """Return {term: coefficients} with lift = sum of coefficients times terms, where one of the
    terms is 1. A spline is linear in its points, so that a spline whose lifts all contain a
    parameter h is h times a spline of numbers.
    """
    found: dict[Scalar, list[float]] = {}
    for k, lift in enumerate(lifts):
        parts = {1: lift} if isinstance(lift, float) else lift.expand().as_coefficients_dict()
        for term, number in parts.items():
            found.setdefault(term, [0.0] * len(lifts))[k] = float(number)
    return found


def _open(lifts: list[float]) -> Iterator[str]:
    """Yield the fault of a profile whose end differs from its beginning."""
    size = max(lifts) - min(lifts)
    if not abs(lifts[-1] - lifts[0]) <= PROFILE_CLOSURE_TOLERANCE * size:
        yield (
            f"its profile does not close: the lift is {lifts[0]:.6g} at the angle 0 and"
            f" {lifts[-1]:.6g} after one turn; let it end where it begins, or use a [[constraint]]"
            " with `zero` for a cam that does not go round"
        )


def _disc(cam: Freedom, follower: Freedom, slope: Scalar) -> tuple[Vector, Vector] | None:
    """Return the force on a follower in the plane of its cam per unit of the row's multiplier,
    without the part that does no work, and the unit direction of that part. slope: the derivative
    of the row by the cam's angle. None where the follower leaves the plane.
    """
    n, s = cam.line.axis, follower.line.axis
    parallel = np.abs(dot(n, s))
    if follower.sort == "sliding":
        return None if np.any(parallel > AXIS_COSINE_TOLERANCE) else (s, cross(n, s))
    way = sub(follower.line.point, cam.line.point)
    way = sub(way, scale(dot(way, n), n))
    apart = np.sqrt(dot(way, way))
    if np.any(1.0 - parallel > AXIS_COSINE_TOLERANCE) or np.any(apart == 0.0):
        return None
    u = scale(1.0 / apart, way)
    # the moment about the cam's axis is that about the lever's, one unit, and that of the force
    return scale((-slope - dot(n, s)) / apart, cross(n, u)), u
