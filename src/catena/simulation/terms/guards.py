"""Guards: quantities whose fall to zero is an event.

A guard is zero at the event itself, with no margin, so that nothing in it depends on units. There
are two sorts:

    edge        the condition of an event ("q_knee - 0.2"): it happens where the value goes from
                above zero to zero or below
    sustained   a condition that must hold as long as a mode does (a gap is not negative, a force
                stays in its interval). It may start at zero, as a gap does after a rebound. It ends
                where the value goes from above zero to zero or below, or is negative and falls

`rate` has the sign of the value's derivative. It distinguishes a gap that opens but is still
negative by rounding from a gap that closes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

import casadi as ca

from ...compiler import Tracer
from ...model import Motion, value_of


@dataclass(frozen=True)
class Bound:
    """A lower or upper end of a coordinate's range, or of a force's interval. sign: the direction
    that leads inside, 1 or -1.
    """

    name: str
    sign: float


LOWER = Bound("lower", 1.0)
UPPER = Bound("upper", -1.0)


class Meaning(Enum):
    """The kind of event that happens when a guard falls to zero."""

    REACHES_STOP = "a coordinate reaches one of its stops"
    COMES_TO_REST = "a speed that slips comes to zero"
    LETS_GO = "the force that holds a speed leaves its interval"
    TOUCHES = "the gap of a contact closes"
    LOSES_CONTACT = "the normal force of a contact comes to zero"
    LEAVES_CONE = "the friction of a contact that sticks reaches its limit"
    SLIP_TURNS = "the slip of a contact ends, or has turned"
    LEAVES_FACE = "a point of two shapes leaves its face, its edge, or the normals of its features"
    MOVES_AWAY = "two shapes have moved so far that other features may touch"
    LIES_FLAT = "the end of a cylinder comes to stand flat"
    HAPPENS = "the condition of an event is met"


@dataclass(frozen=True)
class Guard:
    """A quantity whose fall to zero is an event.

    meaning: the kind of the event. subject: the index of the switched part, or of the event, that
    it belongs to. value: its expression. rate: an expression of the sign of its derivative where
    the guard is sustained; a constant 1 makes it an edge. side: the end of the range or interval
    that it watches, where it has one.
    """

    meaning: Meaning
    subject: int
    value: ca.SX
    rate: ca.SX = field(default_factory=lambda: ca.SX(1))
    side: Bound | None = None


def expressions(guards: tuple[Guard, ...], turning: ca.SX) -> ca.SX:
    """Return (2 n + 1,): the values of all guards, then all rates, then how fast joints turn
    (rad/s), in the order in which the drivers read them; empty where there are no guards.
    """
    return (
        ca.densify(ca.vertcat(*(g.value for g in guards), *(g.rate for g in guards), turning))
        if guards
        else ca.SX.zeros(0)
    )


def fastest_turn(s: Tracer, values: Sequence[ca.SX]) -> ca.SX:
    """Return how fast the joints turn on which these values depend, rad/s: the largest, over the
    values, of the sum of the rates of the joints that the value depends on. Where joints turn far
    within a step, guards are evaluated at closer places (`lane_events.py`), so that no zero is
    missed. Ball joints are not counted: the error estimate of a step keeps them from turning far in
    it.
    """
    found, ratio = [ca.SX(0)], _ratios(s)
    for value in values:
        of = set(ca.jacobian_sparsity(ca.SX(value), s.q).get_triplet()[1])
        found.append(
            sum(
                (
                    ratio[c.qi] * ca.fabs(s.v[c.vi])
                    for c in s.layout.coordinates
                    if c.qi in of and ratio[c.qi]
                ),
                ca.SX(0),
            )
        )
    return ca.mmax(ca.vertcat(*found))


def _ratios(s: Tracer) -> dict[int, float]:
    """Return {coordinate: the largest ratio at which a joint turns with it}: one for a joint that
    turns itself, or more for one that follows it by a gear; zero where nothing turns.
    """
    m = s.layout.mechanism
    turns = (Motion.TURN, Motion.SCREW)
    found = {c.qi: float(c.motion in turns) for c in s.layout.coordinates}
    for j in m.joints:
        if (
            j.mimic is not None
            and j.mimic.joint in m.coordinate_names
            and j.freedoms[0].motion in turns
        ):
            leader = m.coordinate_names.index(j.mimic.joint)
            found[leader] = max(
                found[leader], abs(value_of(j.mimic.multiplier, m.parameters) or 0.0)
            )
    return found
