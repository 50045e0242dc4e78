"""Bricard's mechanism, benchmark A04: it moves although the count of its rows forbids it."""

from __future__ import annotations

from functools import cache

import numpy as np

from catena.analysis.kinematic_drive import DrivenMotion, kinematics
from catena.analysis.mobility import mobility
from catena.machine.machine import Machine
from catena.machine.reactions import reactions
from catena.results.plots import plot
from catena.results.result import Result
from catena.simulation import simulate
from catena.simulation.scenario import read

from .drawing import over_time
from .page import Example, Page, Picture, number

BASIS = "one angle, and thirty equations of free bodies, independent of catena, agreeing to 2e-14"
CORNER = {  # at t (s): the corner that the library plots, m
    2.0: (-0.7781353730332914, -0.9803526834432567, -0.1972526706171701),
    5.0: (0.9999327423021145, -0.9999999977383531, -6.725543608659973e-05),
    10.0: (0.9997309873038392, -0.9999999638258172, -0.0002689765122453429),
}
# rad, at 2 s
ANGLES = (
    2.893328205981294,
    -0.19855473779586155,
    2.8933282059812937,
    -0.1985547377958616,
    2.893328205981294,
)


def run() -> Page:
    """The count, the driven motion, and ten seconds of falling."""
    result = motion()
    machine = result.machine
    q = result.data["q"].values
    at = {t: int(np.searchsorted(result.time, t - 1e-9)) for t in CORNER}
    here = mobility(machine, q[at[2.0]])
    driven = kinematics(machine, {"hinge1": np.linspace(0.0, 2.8, 29)})
    state = [result.data[name].values[at[2.0]] for name in ("q", "v", "a", "tau")]
    reaction = np.array(list(reactions(machine, *state).values()))
    found = [
        number(
            "rows, independent rows, degrees of freedom",
            (here.rows, here.rank, here.degrees_of_freedom),
            reference=(5, 4, 1),
            basis="counted, it would have none",
        ),
        number("angles at 2 s", q[at[2.0]], reference=ANGLES, within=1e-6, unit="rad", basis=BASIS),
        *(
            number(
                f"corner at {t:g} s",
                machine.pose(q[at[t]], "corner")[:3, 3],
                reference=CORNER[t],
                within=1e-6,
                unit="m",
                basis=BASIS,
            )
            for t in CORNER
        ),
        number(
            "kinematic mode: hinges 3 and 5 against hinge 1",
            np.abs(driven.q[:, [2, 4]] - driven.q[:, [0]]).max(),
            reference=0.0,
            unit="rad",
            basis="the mechanism's threefold symmetry",
        ),
        number(
            "largest change of energy",
            np.abs(result.energy.values - result.energy.values[0]).max(),
            reference=0.0,
            within=1e-6,
            unit="J",
            basis="the library asks for 0.1 J",
        ),
        number(
            "largest opening of the loop",
            np.abs(result.data["closure"].values).max(),
            reference=0.0,
            within=1e-12,
            unit="m, 1",
        ),
    ]
    open_ = int(np.isnan(reaction).sum())
    all_ = reaction.size
    return Page(
        tuple(found),
        pictures(result, machine, driven),
        text=(
            "One row repeats the others at every place the mechanism passes, so one internal load"
            f" is not determined by rigid bodies: of the {all_} components of the joints' wrenches"
            f" {open_} depend on it and are reported as not determined, not as zero."
        ),
    )


@cache
def motion() -> Result:
    """The ten seconds of the benchmark."""
    case = read("bricard", tolerance=1e-11)
    return simulate(case.mechanism, **case.arguments)


def pictures(result: Result, machine: Machine, driven: DrivenMotion) -> tuple[Picture, ...]:
    """The mechanism, the benchmark's curve, the driven angles."""
    q = result.data["q"].values
    corner = machine.pose(q, "corner")[:, :3, 3]
    return (
        Picture(
            plot(result, "cyclograph", until=2.0, frames="corner", title=""),
            "The first two seconds: the cube's edges turn through each other.",
        ),
        Picture(
            over_time(result.time, [("corner (m)", dict(zip("xyz", corner.T)))], 2.4),
            "The curve that the library plots: the corner's place over 10 s.",
        ),
        Picture(
            over_time(
                driven.q[:, 0],
                [
                    (
                        "angle (rad)",
                        {"hinges 2 and 4": driven.q[:, 1], "hinges 3 and 5": driven.q[:, 2]},
                    )
                ],
                2.4,
                "hinge1 (rad)",
            ),
            "Kinematic mode: hinge 1 driven. Hinges 3 and 5 do what it does.",
        ),
    )


EXAMPLE = Example(
    "Bricard's mechanism",
    "R. Bricard, 1897; IFToMM library of computational benchmark problems, A04.",
    "An overconstrained mechanism: rank against count, loads that are not determined, ten seconds"
    " against the benchmark.",
    ("bricard",),
    run,
    commands=("catena run bricard", "catena info bricard"),
)
