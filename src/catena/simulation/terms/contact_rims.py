"""The flat end of a cylinder on a plane, as expressions: it rolls on one point of its rim, or
stands flat on three.

    rolls    the lowest point of the rim; the direction in which it lies is that of the tilt
    stands   three points, 120 degrees apart; their directions are numbers of the modes, so that
             other directions need no new code

What a flat end may do is v(psi) = v0 + v1 cos(psi - psi0) >= 0 all round, and its normal forces
push at some point within the circle. Three points hold the end as the whole rim does, and their
forces are determined; which three is chosen at events (`rim_handler.py`).

The lowest point has no direction at tilt zero, where an end begins to tip or comes down: there, and
while the tilt stays in the plane of the direction stored in the mode, the point has that direction,
also beyond zero tilt, so that the equations are smooth where the integrator evaluates them past an
event.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import casadi as ca

from ...collision import Solid, contact_points, rims, tangents
from ...compiler import Tracer
from ...contact import Meet, moving, solid, velocity_at
from ...model import Mechanism
from ...spatial import add, dot, scale, sub
from .contact_rows import ZERO_SLIP, ContactMode, TouchingPoint
from .guards import Guard, Meaning

# rad, or more by the tolerance of the run: a smaller tilt has no direction of its own, and does not
# leave the plane in which an end tips or comes down
FLAT_TILT = 1e-9
ROUNDED_TILT = 1e-14  # rad: a smaller tilt is rounding
ABSENT, ROLLS, STANDS = 0.0, 1.0, 2.0


def _record() -> Any:
    """Return a named tuple class whose fields begin with those of ContactMode."""
    return namedtuple(
        "_record",
        (*ContactMode._fields, "key", "end", "rim_x", "rim_y", "flat"),
        defaults=(*ContactMode(), ROLLS, 1.0, 1.0, 0.0, -1.0),
    )


class RimMode(_record()):  # type: ignore[misc]
    """The mode of a point of a rim: the fields of a ContactMode, then these.

    key: whether the point is ABSENT, ROLLS or STANDS. end: 1 for the first end of the cylinder, -1
    for the second. rim_x, rim_y: the direction of the point from the middle of the end, in the axes
    of the shape. flat: the sine of the tilt below which the end counts as flat, see FLAT_TILT; -1
    for a point that does not touch.
    """

    __slots__ = ()

    word = ContactMode.word

    @property
    def opened(self) -> RimMode:
        """The mode with the contact open, and the same rule and direction."""
        return RimMode(*ContactMode(still=self.still), *self[len(ContactMode._fields) :])

    @property
    def present(self) -> bool:
        """Whether the point exists: it rolls or stands."""
        return bool(self.key > 0.5)


@dataclass(frozen=True)
class RimPoint(TouchingPoint):
    """The contact point of one rim. ends: the rims on which it may lie, as cylinders of zero
    height.
    """

    ends: tuple[Any, ...]

    mode = RimMode()

    def _solids(self, s: Tracer, mode: Any) -> tuple[Solid, Solid]:
        """Return the end of the mode and the plane, placed in the ground frame."""
        assert self.point.against is not None
        (R_A, o_A, _, _), (R_B, o_B, _, _) = moving(s, self.point.body), moving(s, self.point.other)
        ends = [solid(s, shape, R_A, o_A) for shape in self.ends]
        first, last = ends[0], ends[-1]
        middle = (
            add(scale(0.5 * (1.0 + mode.end), first.p), scale(0.5 * (1.0 - mode.end), last.p))
            if len(ends) > 1
            else first.p
        )
        return first._replace(p=middle), solid(s, self.point.against, R_B, o_B)

    def lean(self, s: Tracer) -> ca.SX:
        """Return (2,): the tilt of the end as a vector in the axes of the shape, whose length is
        the sine of the angle between end and plane, and which points to the lowest point of the
        rim.
        """
        end, plane = self._solids(s, self.mode)
        return ca.vertcat(*(-dot(end.axis(k), plane.axis(2)) for k in range(2)))

    def _leaning(self, s: Tracer, mode: Any) -> tuple[ca.SX, ca.SX, Any]:
        """Return the tilt of the end as a vector (2,), as `lean` does; its rate of change times the
        radius of the rim (2,), m/s; and whether the tilt is along the direction stored in the mode,
        and stays so, within tolerances.
        """
        lean = self.lean(s)
        faster = ca.jtimes(lean, s.q, s.coordinate_rate()) * s.value(self.ends[0].size[0])
        (_, across), (rises, turns) = (_parts(x, mode) for x in (lean, faster))
        small = mode.flat * (mode.still / ZERO_SLIP + ca.fabs(rises))
        return lean, faster, ca.logic_and(ca.fabs(across) <= mode.flat, ca.fabs(turns) <= small)

    def _direction(self, s: Tracer, mode: Any) -> tuple[Any, Any]:
        """Return the direction (x, y) of the point from the middle of the end, in the axes of the
        shape: that of the mode where the end stands or is flat, otherwise that of the lean.
        """
        lean, _, straight = self._leaning(s, mode)
        square = ca.sumsqr(lean)
        own = ca.logic_or(mode.key > 1.5, ca.logic_or(straight, square <= ROUNDED_TILT**2))
        size = ca.sqrt(ca.if_else(own, 1.0, square))
        return ca.if_else(own, mode.rim_x, lean[0] / size), ca.if_else(
            own, mode.rim_y, lean[1] / size
        )

    def meet(self, s: Tracer, mode: Any = None) -> Meet:
        """Return the gap, the contact axes, the place and the velocity of the point."""
        mode = self.mode if mode is None else mode
        (_, o_A, w_A, v_A), (_, o_B, w_B, v_B) = (
            moving(s, self.point.body),
            moving(s, self.point.other),
        )
        end, plane = self._solids(s, mode)
        (x, y), n = self._direction(s, mode), plane.axis(2)
        place = add(
            end.p, add(scale(end.size[0] * x, end.axis(0)), scale(end.size[0] * y, end.axis(1)))
        )
        u = sub(velocity_at(place, o_A, w_A, v_A), velocity_at(place, o_B, w_B, v_B))
        axes = (n, *tangents(n)) if self.rough else (n,)
        return Meet(dot(n, sub(place, plane.p)), axes, place, [dot(axis, u) for axis in axes])

    def guards(
        self, part: int, mode: Any, gap: Any, u: Any, rate: Any, force: Any
    ) -> Iterator[Guard]:
        """Yield the guards of a contact point; the gap of an absent point is 1 m."""
        yield from super().guards(part, mode, ca.if_else(mode.key > 0.5, gap, 1.0), u, rate, force)

    def watched(self, s: Tracer, mode: Any) -> Iterator[tuple[Meaning, Any, Any]]:
        """Yield the guard that falls to zero when a rolling end comes down flat: the lean along the
        direction stored in the mode, as long as it stays in the plane of that direction.
        """
        if len(self.ends) > 1:
            return
        lean, faster, straight = self._leaning(s, mode)
        rolls = ca.logic_and(ca.logic_and(mode.closed > 0.5, mode.key < 1.5), straight)
        yield (
            Meaning.LIES_FLAT,
            ca.if_else(rolls, ROUNDED_TILT + _parts(lean, mode)[0], 1.0),
            ca.if_else(rolls, _parts(faster, mode)[0], 1.0),
        )


def _parts(x: ca.SX, mode: Any) -> tuple[ca.SX, ca.SX]:
    """Return the components of x (2,) along the direction stored in the mode, and across it."""
    return x[0] * mode.rim_x + x[1] * mode.rim_y, x[1] * mode.rim_x - x[0] * mode.rim_y


class FlatPoint(RimPoint):
    """One of the two further points of a cylinder's end that stands flat; both ends use the same
    two. It is absent while no end stands flat.
    """

    mode = RimMode(key=ABSENT)


def with_rims(m: Mechanism) -> list[TouchingPoint]:
    """Return the contact points of a run, with two further points at the end of the list for each
    cylinder whose rim may stand on a plane.
    """
    found = rims(m)
    owned = dict[str, tuple[Any, ...]]()
    for one, other, *_ in found:
        owned |= {p.name: (p.shape,) for p in (one, other)}
    contacts = m.contacts
    points: list[TouchingPoint] = [
        (
            RimPoint(p, contacts[p.contact], owned[p.name])
            if p.name in owned
            else TouchingPoint(p, contacts[p.contact])
        )
        for p in contact_points(m, by_features=True)
    ]
    return points + [
        FlatPoint(p, contacts[p.contact], (one.shape, other.shape))
        for one, other, *flat in found
        for p in flat
    ]
