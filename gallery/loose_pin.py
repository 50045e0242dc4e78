"""A pendulum on a pin with clearance: the pin rolls in its hole, and the pendulum swings faster."""

from __future__ import annotations

from functools import cache

import numpy as np

from catena.formats import load
from catena.results.result import Result
from catena.simulation import simulate

from .drawing import over_time
from .page import Example, Page, Picture, number

# pin, clearance, to the centre of mass (m); kg m2, 1 kg; m/s2
R = 0.01
C = 0.002
L = 0.5
INERTIA = 1 / 12
G = 9.81
SMALL = 1e-3  # rad


def run() -> Page:
    """A fall through the clearance, and a small swing."""
    fall, swing = dropped(), swung()
    period = 2 * np.pi * np.sqrt((INERTIA + (L - R) ** 2) / (G * (L + R**2 / C)))
    found = (
        number(
            "it falls through the clearance",
            fall.data["impact_time"].values[0],
            reference=np.sqrt(2 * C / G),
            unit="s",
            within=1e-9,
            basis="c = g t^2/2",
        ),
        number(
            "and hangs with its weight",
            fall.contacts.force.values[-1, 0, 2],
            reference=G,
            unit="N",
            within=1e-9,
            basis="1 kg",
        ),
        number(
            "period of small swings",
            measured(swing),
            reference=period,
            unit="s",
            within=1e-5,
            basis="the pin rolls: T^2 = 4 pi^2 (I + (l - r)^2)/(g (l + r^2/c))",
        ),
        number(
            "largest slip in the hole",
            np.nan_to_num(np.abs(swing.contacts.slip.values)).max(),
            reference=0.0,
            unit="m/s",
            within=1e-12,
            basis="it sticks, that is: rolls",
        ),
    )
    ideal = 2 * np.pi * np.sqrt((INERTIA + L**2) / (G * L))
    return Page(
        found,
        pictures(fall, swing),
        text=(
            "The pin has 10 mm, the hole 2 mm more on every side. While the rod turns by theta the"
            " pin rolls up the hole by r/c theta, five times as far: on a pin without clearance"
            f" the period would be {ideal:.4f} s, here it is {period:.4f} s. Clearance has made the"
            " joint stiffer, and friction has made it roll."
        ),
    )


@cache
def dropped() -> Result:
    """From the middle of the hole."""
    return simulate(load("loose_pin"), until=0.1, output=1e-3, tolerance=1e-11)


@cache
def swung() -> Result:
    """A small swing from rest, the pin where it has rolled to."""
    turn = R / C * SMALL
    return simulate(
        load("loose_pin"),
        [-C * np.sin(turn), -C * np.cos(turn), SMALL],
        until=2.0,
        output=1e-3,
        tolerance=1e-11,
    )


def measured(swing: Result) -> float:
    """The period: four times from rest to the middle, by the first two passages."""
    t, q = swing.time, swing.q.values[:, 2]
    at = np.flatnonzero(q[:-1] * q[1:] < 0)[:2]
    first, second = (t[k] + (t[k + 1] - t[k]) * q[k] / (q[k] - q[k + 1]) for k in at)
    return float(2 * (second - first))


def pictures(fall: Result, swing: Result) -> tuple[Picture, ...]:
    """Fall, and swing."""
    q = swing.q.values
    lines = [
        ("turn of the rod (mrad)", {"": 1e3 * q[:, 2]}),
        ("place of the pin (mm)", {"": 1e3 * q[:, 0]}),
        ("force (N)", {"normal": swing.contacts.normal_force.values[:, 0]}),
    ]
    return (
        Picture(over_time(swing.time, lines, 1.6), "A small swing: the pin rolls along the hole."),
        Picture(
            over_time(
                fall.time,
                [
                    ("height of the pin (mm)", {"": 1e3 * fall.q.values[:, 1]}),
                    ("force (N)", {"": fall.contacts.normal_force.values[:, 0]}),
                ],
                1.6,
            ),
            "The fall through the clearance.",
        ),
    )


EXAMPLE = Example(
    "Pin with clearance",
    "Closed forms of a rolling pin; the case is ours.",
    "A joint with clearance as a contact: a pin that falls, rolls and sticks in a larger hole.",
    ("loose_pin",),
    run,
)
