"""Contacts that are short beside the steps of the integrator: nothing passes through anything
between two looks at the guards.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from catena import Body, Contact, Frame, Joint, Mechanism, Mimic, Pose, Shape, simulate
from catena.model.loads import JointForce
from catena.simulation.events import Stop

GROUND = "ground"
ORIGIN = (0.0, 0.0, 0.0)


def balls(radius: float) -> Mechanism:
    shapes = (Shape("sphere", (radius,), collides=True),)
    bodies = tuple(Body(name, 1.0, ORIGIN, (0.4 * radius**2,) * 3, shapes=shapes) for name in "ab")
    joints = tuple(Joint(f"{name} free", "free", GROUND, name) for name in "ab")
    return Mechanism(
        "balls", bodies, joints, gravity=ORIGIN, contacts=(Contact(("a", "b"), 0.0, 1.0),)
    )


APART = [0, 0, 0, 1, 0, 0, 0, 1.0, 0, 0, 1, 0, 0, 0.0]


@pytest.mark.parametrize("radius, method", [(1e-2, "dop853"), (1e-5, "dop853"), (1e-3, "radau")])
def test_a_small_ball_does_not_fly_through_another(radius: float, method: str) -> None:
    """Straight flight has no error that keeps steps short."""
    run = simulate(balls(radius), APART, [3.7, *[0] * 11], until=10.0, integrator=method)
    assert run.impact_time.values == pytest.approx([(1.0 - 2.0 * radius) / 3.7], rel=1e-9)
    assert run.v.values[-1, [0, 6]] == pytest.approx([0.0, 3.7], abs=1e-12)


def test_in_lanes_too_and_what_misses_misses() -> None:
    """Offsets across the line of flight: those below two radii meet."""
    offsets = np.array([0.0, 0.3, 0.9999, 1.0001, 0.5]) * 2e-3
    q = np.tile(APART, (5, 1))
    q[:, 8] = offsets
    run = simulate(balls(1e-3), q, np.tile([3.7, *[0] * 11], (5, 1)), until=10.0)
    assert (run.v.values[:, -1, 0] == 3.7).tolist() == [False, False, False, True, False]


@cache
def spinning(length: float) -> Mechanism:
    bodies = (Body("a", 0, ORIGIN, ORIGIN), Body("rod", 2.0, ORIGIN, (length**2 / 6,) * 3))
    joints = (
        Joint("z", "prismatic", GROUND, "a", axis=(0, 0, 1)),
        Joint("turn", "revolute", "a", "rod", axis=(0, 1, 0)),
    )
    ends = tuple(
        Frame(name, "rod", Pose(position=(x * length, 0, 0)))
        for name, x in (("A", -0.5), ("B", 0.5))
    )
    return Mechanism(
        "rod",
        bodies,
        joints,
        ends,
        gravity=(0, 0, -9.81 * length),
        contacts=(Contact((("A", "B"), GROUND), 0.0, 0.5),),
    )


@pytest.mark.parametrize(
    "length, speed, method",
    [
        (1.0, 3.0, "dop853"),
        (1.0, 100.0, "dop853"),
        (1e6, 1000.0, "dop853"),
        (1e-6, 1e4, "dop853"),
        (1.0, 300.0, "radau"),
    ],
)
def test_a_falling_rod_that_spins_meets_the_ground_with_the_first_end_that_comes_down(
    length: float, speed: float, method: str
) -> None:
    """Many turns in one step: height and angle are polynomials of time, which steps meet
    exactly.
    """
    run = simulate(
        spinning(length), [length, 0.3], [0, speed], until=0.45, output=0.45, integrator=method
    )
    t = np.linspace(0.0, 0.45, 1_000_001)
    first = t[np.argmax(1.0 - 9.81 / 2 * t**2 - 0.5 * np.abs(np.sin(0.3 + speed * t)) <= 0.0)]
    assert run.impact_time.values[0] == pytest.approx(first, abs=2 * t[1])


@pytest.mark.parametrize("deep", [1e-3, 1e-6, 1e-9])
def test_an_oscillation_that_only_just_reaches_a_wall_or_a_stop(deep: float) -> None:
    """z = cos t, and the wall at -1 + deep: it is met with v = sqrt(2 deep), shortly before pi."""
    at = -1.0 + deep
    first = np.arccos(-1.0 + deep)
    wall = Frame("wall", GROUND, Pose(position=(0, 0, at)))
    m = Mechanism(
        "mass",
        (Body("m", 1.0, ORIGIN, (1,) * 3),),
        (Joint("z", "prismatic", GROUND, "m", axis=(0, 0, 1)),),
        (wall,),
        gravity=ORIGIN,
        loads=(JointForce("spring", "z", "-q_z"),),
    )
    met = simulate(m.with_(contacts=(Contact(("m", "wall"), 0.0, 1.0),)), [1.0], until=4.0)
    stopped = simulate(m, [1.0], until=4.0, events=[Stop("z", 1.0, lower=at)])
    assert met.impact_time.values[0] == pytest.approx(
        first, abs=1e-6
    ) and stopped.event_time.values[0] == pytest.approx(first, abs=1e-6)


def test_a_gear_turns_fast() -> None:
    """What follows a joint turns a thousand times as fast."""
    joints = (
        Joint("slow", "revolute", GROUND, "wheel", axis=(0, 1, 0)),
        Joint(
            "fast",
            "revolute",
            GROUND,
            "arm",
            Pose(position=(0, 0, 0.5)),
            axis=(0, 1, 0),
            mimic=Mimic("slow", 1000.0),
        ),
    )
    m = Mechanism(
        "gear",
        tuple(Body(name, 1.0, ORIGIN, (1, 1, 1)) for name in ("wheel", "arm")),
        joints,
        (Frame("tip", "arm", Pose(position=(1, 0, 0))),),
        gravity=ORIGIN,
        contacts=(Contact(("tip", GROUND), 0.0, 1.0),),
    )
    run = simulate(m, [0.0], [1.0], until=0.1)
    assert run.impact_time.values[0] == pytest.approx(np.arcsin(0.5) / 1000, rel=1e-9)
