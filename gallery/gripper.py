"""A gripper that holds by friction, and what happens where friction does not suffice."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from catena.formats import load
from catena.results.result import Result
from catena.simulation import simulate

from .drawing import over_time
from .page import Example, Page, Picture, number

# kg, N, m/s2, a friction that does not hold
M = 0.5
SQUEEZE = 10.0
G = 9.81
LITTLE = 0.2


def run() -> Page:
    """Held with friction 0.5, lost with 0.2."""
    held, lost = motion(0.5), motion(LITTLE)
    fall = G - 2 * LITTLE * SQUEEZE / M
    found = (
        number(
            "friction at the fingers",
            held.contacts.friction_force.values[-1, :, 2],
            reference=[M * G / 2] * 2,
            unit="N",
            basis="half the weight each",
        ),
        number(
            "normal forces",
            held.contacts.normal_force.values[-1],
            reference=[SQUEEZE] * 2,
            unit="N",
            basis="the squeeze",
        ),
        number(
            "largest displacement while held",
            np.abs(held.q.values).max(),
            reference=0.0,
            unit="m",
            within=1e-14,
            basis="it sticks",
        ),
        number(
            "acceleration where friction does not hold",
            lost.a.values[-1, 3],
            reference=-fall,
            unit="m/s2",
            basis="g - 2 mu F/m",
        ),
        number(
            "it has fallen",
            lost.q.values[-1, 3],
            reference=-fall * lost.time[-1] ** 2 / 2,
            unit="m",
            basis="the same",
        ),
    )
    return Page(
        found,
        pictures(held, lost),
        text=(
            "A ball between two pads stays as long as 2 mu F > m g, that is with a friction above"
            " 0.245."
        ),
    )


@cache
def motion(friction: float) -> Result:
    """0.1 s with that friction."""
    m = load("gripper")
    return simulate(
        m.with_(contacts=tuple(replace(c, friction=friction) for c in m.contacts)),
        until=0.1,
        output=1e-3,
        tolerance=1e-11,
    )


def pictures(held: Result, lost: Result) -> tuple[Picture, ...]:
    """Heights and friction."""
    lines = [
        (
            "height (mm)",
            {"friction 0.5": 1e3 * held.q.values[:, 3], "friction 0.2": 1e3 * lost.q.values[:, 3]},
        ),
        (
            "friction at a finger (N)",
            {
                "friction 0.5": held.contacts.friction_force.values[:, 0, 2],
                "friction 0.2": lost.contacts.friction_force.values[:, 0, 2],
            },
        ),
    ]
    return (
        Picture(over_time(held.time, lines, 2.0), "Held, and lost."),
        Picture(lost.plot("contacts"), "Forces and modes of the grip that slips."),
    )


EXAMPLE = Example(
    "Gripper",
    "Closed forms of Coulomb friction; the case is ours.",
    "A grasp by friction: sticking without creep, and slipping.",
    ("gripper",),
    run,
)
