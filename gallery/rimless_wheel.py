"""A rimless wheel down a slope: landings without rebound, and the limit cycle they come to,
[McGeer1990].
"""

from __future__ import annotations

from functools import cache

import numpy as np

from catena.results.result import Result
from catena.simulation import simulate
from catena.simulation.scenario import read

from .drawing import over_time
from .page import Example, Page, Picture, number

# half the angle between spokes, rad; kg m2 about the hub; spokes of 1 m, 1 kg
HALF = np.pi / 8
SLOPE = 0.1
INERTIA = 0.02
G = 9.81


def run() -> Page:
    """Five seconds, step by step."""
    result = motion()
    kept = (INERTIA + np.cos(2 * HALF)) / (INERTIA + 1)
    gained = 4 * G * np.sin(HALF) * np.sin(SLOPE) / (INERTIA + 1)
    landing = (result.approach.values / (2 * np.sin(HALF))) ** 2
    limit = gained / (1 - kept**2)
    away = landing - limit
    found = (
        number(
            "squared speeds at landings, relative to the limit, by step",
            away[1:5] / away[:4],
            reference=[kept**2] * 4,
            within=1e-6,
            basis="each landing keeps c = (I + m l^2 cos 2a)/(I + m l^2) of the speed",
        ),
        number(
            "squared speed at the last landing",
            landing[-1],
            unit="rad2/s2",
            within=1e-6,
            reference=limit + away[0] * kept ** (2 * (len(away) - 1)),
            basis="w^2 = D/(1 - c^2) and what is left of the start",
        ),
        number(
            "slip of spokes that stand",
            np.nan_to_num(np.abs(result.contacts.slip.values)).max(),
            reference=0.0,
            unit="m/s",
            within=1e-12,
            basis="they stick",
        ),
    )
    return Page(
        found,
        pictures(result),
        text=(
            "Eight spokes without mass. Each landing takes speed, each step downhill gives some"
            " back: the squares of the speeds come to their limit as a geometric series."
        ),
    )


@cache
def motion() -> Result:
    """The file's scenario."""
    case = read("rimless_wheel", tolerance=1e-11)
    return simulate(case.mechanism, **case.arguments)


def pictures(result: Result) -> tuple[Picture, ...]:
    """The spin over time, and the forces of the spokes."""
    t, v = result.time, result.v.values
    standing = result.contacts.force.values[:, 0]
    lines = [
        ("spin (rad/s)", {"": v[:, 2]}),
        ("force on the standing spoke (N)", {"along": standing[:, 0], "across": standing[:, 2]}),
    ]
    return (
        Picture(
            over_time(t, lines, 2.0, marks=result.data["impact_time"].values.tolist()),
            "Spin and ground force; dotted: landings.",
        ),
        Picture(result.plot("contacts"), "Which spoke stands, and with which force."),
    )


EXAMPLE = Example(
    "Rimless wheel",
    "T. McGeer, Passive Dynamic Walking, The International Journal of Robotics Research 9 (1990)"
    " 62-82.",
    "Walking as a series of impacts, sticking and lift-off, with its limit cycle.",
    ("rimless_wheel",),
    run,
)
