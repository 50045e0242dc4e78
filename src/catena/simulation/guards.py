"""Guards: quantities whose fall to zero is an event.

A guard is zero at the event itself, with no margin, so that nothing in it depends on units. There are two sorts:

    edge        the condition of an event ("q_knee - 0.2"): it happens where the value goes from above zero to zero or below
    sustained   what must hold as long as a mode does (a gap is not negative, a force stays in its interval). It may start at
                zero, as a gap does after a rebound. It ends where the value goes from above zero to zero or below, or is
                negative and falls

`rate` tells a gap that is opening, negative by rounding alone, from one that closes: it has the sign of the value's derivative.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import casadi as ca


@dataclass(frozen=True)
class Bound:
    """An end of a coordinate's range, or of a force's interval. sign: of the direction that leads inside."""

    name: str
    sign: float


LOWER, UPPER = Bound("lower", 1.0), Bound("upper", -1.0)


class Meaning(Enum):
    """What it means that a guard falls to zero."""

    REACHES_STOP = "a coordinate reaches one of its stops"
    COMES_TO_REST = "a speed that slips comes to zero"
    LETS_GO = "the force that holds a speed leaves its interval"
    TOUCHES = "the gap of a contact closes"
    LOSES_CONTACT = "the normal force of a contact comes to zero"
    LEAVES_CONE = "the friction of a contact that sticks reaches its limit"
    SLIP_TURNS = "the slip of a contact ends, or has turned"
    LEAVES_FACE = "a point of two polyhedra leaves its face, or the end of an edge"
    MOVES_AWAY = "two polyhedra have moved so far that other features may touch"
    LIES_FLAT = "the end of a cylinder comes to stand flat"
    LIES_ALONG = "a capsule comes to lie along another"
    HAPPENS = "the condition of an event is met"


@dataclass(frozen=True)
class Guard:
    """A quantity whose fall to zero is an event.

    subject: the number of the switched part, or of the event, that it belongs to. value: its expression. rate: an expression of
    the sign of its derivative where it is sustained; a constant 1 makes it an edge. side: of the stop or interval.
    """

    meaning: Meaning
    subject: int
    value: ca.SX
    rate: ca.SX = field(default_factory=lambda: ca.SX(1))
    side: Bound | None = None


def expressions(guards: tuple[Guard, ...]) -> ca.SX:
    """(2 n,): all values, then all rates, as the drivers read them."""
    return ca.densify(ca.vertcat(*(g.value for g in guards), *(g.rate for g in guards))) if guards else ca.SX.zeros(0)
