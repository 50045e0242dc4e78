"""An arm that presses against a wall: impedance, and hybrid control of force and place."""

from __future__ import annotations

from functools import cache

import numpy as np

from catena.formats import load
from catena.results.result import Result
from catena.simulation import control, simulate

from .drawing import over_time
from .page import Example, Page, Picture, number

# m, m, N/m, N
WALL = 0.8
TARGET = 0.85
STIFFNESS = 400.0
PRESS = 25.0


def run() -> Page:
    """Both laws, from the same start."""
    soft, told = impedance(), hybrid()
    tip = told.machine.pose(told.q.values[-1], "tip")[:3, 3]
    found = (
        number(
            "force by impedance",
            soft.contacts.normal_force.values[-1, 0],
            reference=STIFFNESS * (TARGET - WALL),
            unit="N",
            within=1e-6,
            basis="stiffness times depth",
        ),
        number(
            "force by hybrid control",
            told.contacts.normal_force.values[-1, 0],
            reference=PRESS,
            unit="N",
            within=1e-6,
            basis="as it was given",
        ),
        number(
            "place of the tip by hybrid control",
            tip,
            reference=(WALL, 0.0, 0.3),
            unit="m",
            within=1e-6,
            basis="as it was given, along the wall",
        ),
        number(
            "penetration of the wall",
            soft.ledger.contact.penetration,
            reference=0.0,
            within=1e-12,
            basis="it is rigid",
        ),
    )
    return Page(
        found,
        pictures(soft, told),
        text=(
            "The tip may leave the wall and meet it again: a contact of one point without friction."
            " By impedance the tip is on a spring whose rest lies behind the wall; by hybrid"
            " control it presses with a given force and keeps its place along the wall."
        ),
    )


START = {"shoulder": np.radians(70), "elbow": np.radians(-100)}


@cache
def impedance() -> Result:
    """Three seconds."""
    return simulate(
        load("arm_at_wall"),
        START,
        until=3.0,
        output=0.01,
        control=control.Impedance("tip", (TARGET, 0, 0.3), STIFFNESS, 60.0),
    )


@cache
def hybrid() -> Result:
    """Six seconds."""
    law = control.Hybrid("tip", (-1, 0, 0), PRESS, (0, 0, 0.3), STIFFNESS, 60.0, 30.0)
    return simulate(load("arm_at_wall"), START, until=6.0, output=0.01, control=law)


def pictures(soft: Result, told: Result) -> tuple[Picture, ...]:
    """Places and forces of both."""

    def lines(run: Result) -> list:
        at = run.machine.pose(run.q.values, "tip")[:, :3, 3]
        return [
            ("tip (m)", {"x": at[:, 0], "z": at[:, 2]}),
            ("force on the wall (N)", {"": run.contacts.normal_force.values[:, 0]}),
        ]

    return (
        Picture(
            over_time(soft.time, lines(soft), 1.8),
            "Impedance: the tip meets the wall, bounces, and comes to press with 20 N.",
        ),
        Picture(over_time(told.time, lines(told), 1.8), "Hybrid control: 25 N, and z = 0.3 m."),
        Picture(soft.plot("cyclograph"), "The arm at equal times, impedance."),
    )


EXAMPLE = Example(
    "Arm at a wall",
    "C. van der Merwe, An Analytical Consideration of Multi Body Dynamics as applied to Robotic"
    " Structures, 1995: contact of the tip, chapter 5.",
    "An arm whose tip touches a rigid wall: impact, contact, force control.",
    ("arm_at_wall",),
    run,
    departures=(
        (
            "The source derives the equations of a tip in contact; arm, wall and laws of control"
            " are ours."
        ),
    ),
)
