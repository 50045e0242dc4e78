"""A billiard stroke: two rolling balls, one elastic impact, and how they roll again."""

from __future__ import annotations

from functools import cache

from catena.results.result import Result
from catena.simulation import simulate
from catena.simulation.scenario import read

from .drawing import over_time
from .page import Example, Page, Picture, number

# m, -, m/s2, m between the centres
R = 0.0285
MU = 0.2
G = 9.81
APART = 0.5


def run() -> Page:
    """Two seconds, against Coriolis's balls."""
    result = motion()
    met = APART - 2 * R
    slides = 2 / (7 * MU * G)  # a ball whose speed misses that of rolling by 1 m/s
    stick = [
        t
        for t, what in zip(result.data["event_time"].values, result.event.values)
        if what.endswith("sticks") and t > met
    ]
    found = (
        number(
            "speeds at the end: cue, object",
            result.v.values[-1, [0, 6]],
            reference=(2 / 7, 5 / 7),
            unit="m/s",
            within=1e-7,
            basis="moments about the cloth: 2/7 of the spin, 5/7 of the speed",
        ),
        number(
            "the balls meet",
            result.data["impact_time"].values[-1],
            reference=met,
            unit="s",
            within=1e-9,
            basis="1 m/s over the way between them",
        ),
        number(
            "they roll again",
            stick,
            reference=[met + slides] * len(stick),
            unit="s",
            within=1e-7,
            basis="slip falls by 7/2 mu g",
        ),
        number(
            "impulse of the impact",
            result.impulse.values[-1, 0],
            reference=0.17,
            unit="N s",
            within=1e-9,
            basis="equal masses, e = 1: the speed changes owner",
        ),
    )
    return Page(
        found,
        pictures(result),
        text=(
            "The cue ball rolls, meets the other head on and gives it all of its speed, but keeps"
            " its spin: it starts again from rest, and the other slides at first. Both roll after"
            " the same time."
        ),
    )


@cache
def motion() -> Result:
    """The file's scenario."""
    case = read("billiard", tolerance=1e-11)
    return simulate(case.mechanism, **case.arguments)


def pictures(result: Result) -> tuple[Picture, ...]:
    """Speeds and slips, forces."""
    t, v = result.time, result.v.values
    lines = [
        ("speed (m/s)", {"cue": v[:, 0], "object": v[:, 6]}),
        (
            "slip on the cloth (m/s)",
            {"cue": v[:, 0] - R * v[:, 4], "object": v[:, 6] - R * v[:, 10]},
        ),
    ]
    drag = result.contacts.friction_force.values[:, :2, 0]
    return (
        Picture(
            over_time(t, lines, 2.0),
            "Speeds of the centres, and of the lowest points: rolling is no slip.",
        ),
        Picture(
            over_time(
                t, [("friction of the cloth (N)", {"cue": drag[:, 0], "object": drag[:, 1]})], 2.0
            ),
            "Friction speeds up the cue ball, and slows the object ball down, while they slide.",
        ),
    )


EXAMPLE = Example(
    "Billiard stroke",
    "G. Coriolis, Theorie mathematique des effets du jeu de billard, 1835: the closed forms of"
    " balls that slide and roll.",
    "An elastic impact of bodies that roll, with friction on the cloth; the ends of both slips as"
    " events.",
    ("billiard",),
    run,
)
