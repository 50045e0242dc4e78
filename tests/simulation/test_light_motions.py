r"""Motions of little or no inertia that contacts determine, against closed forms and a gait.

      \ | /
     -- o --      a rimless wheel: all of its mass in the hub, legs without inertia
      / | \
"""

from __future__ import annotations

import numpy as np
import pytest

from catena import Body, Contact, Frame, Joint, Mechanism, Pose, Shape, events, simulate
from catena.errors import SimulationError, SingularError

pytestmark = pytest.mark.filterwarnings("ignore::catena.errors.MechanismWarning")
UP = (0, 0, 1)
ACROSS = (0, 1, 0)
LEGS = 6
ALPHA = np.pi / LEGS
SLOPE = 0.1


def wheel(inertia: float, length: float = 1.0, law: str = "newton") -> Mechanism:
    """A rimless wheel that goes down a slope, in the vertical plane."""
    angles = 2 * ALPHA * np.arange(LEGS)
    feet = tuple(
        Frame(f"foot {k}", "hub", Pose(position=(length * np.sin(x), 0, -length * np.cos(x))))
        for k, x in enumerate(angles)
    )
    hub = Body("hub", 2.0, (0, 0, 0), (inertia * 2.0 * length**2,) * 3)
    joints = (
        Joint("x", "prismatic", "ground", "slide", axis=(1, 0, 0)),
        Joint("z", "prismatic", "slide", "lift", axis=UP),
        Joint("turn", "revolute", "lift", "hub", axis=ACROSS),
    )
    gravity = (9.81 * np.sin(SLOPE), 0, -9.81 * np.cos(SLOPE))
    contact = Contact((tuple(f.name for f in feet), "ground"), 1.0, 0.0, law=law)
    massless = (Body.massless("slide"), Body.massless("lift"))
    return Mechanism(
        "rimless_wheel", (*massless, hub), joints, feet, gravity=gravity, contacts=(contact,)
    )


def stand(angle: float, rate: float, length: float = 1.0) -> tuple[list[float], list[float]]:
    """The state in which the wheel turns about its first foot: angle (rad) from the normal."""
    s, c = np.sin(angle), np.cos(angle)
    q = [length * s, length * c, angle]
    return q, [rate * length * c, -rate * length * s, rate]


@pytest.mark.parametrize("law", ["newton", "poisson"])
@pytest.mark.parametrize("length", [1e-3, 1.0, 1e3])
def test_a_rimless_wheel_without_inertia(length, law):
    """Between impacts an inverted pendulum; at an impact the speed falls to cos(2 alpha) of it."""
    start, rate = -ALPHA + 0.1, 2.0 / np.sqrt(length)
    q, v = stand(start, rate, length)
    run = simulate(wheel(0.0, length, law), q, v, until=0.7 * np.sqrt(length), tolerance=1e-11)
    assert len(run.data["impact_time"]) == 1
    k = int(np.argmin(np.abs(run.data["event_time"].values - run.data["impact_time"].values[0])))
    before = run.data["event_v_before"].values[k, 2]
    after = run.data["event_v_after"].values[k, 2]
    fall = np.cos(start + SLOPE) - np.cos(ALPHA + SLOPE)
    assert before == pytest.approx(np.sqrt(rate**2 + 2 * 9.81 / length * fall), rel=1e-9)
    assert after == pytest.approx(before * np.cos(2 * ALPHA), rel=1e-12)
    assert not run.ledger.doubts()


def test_a_small_inertia_costs_no_steps():
    """The limit is approached in proportion to the inertia, with as many steps as a large one."""
    q, v = stand(-ALPHA + 0.1, 2.0)
    end, steps = {}, {}
    for inertia in (0.0, 1e-11, 1e-9, 1e-7):
        run = simulate(wheel(inertia), q, v, until=0.7, tolerance=1e-11)
        end[inertia] = run.data["v"].values[-1, 2]
        steps[inertia] = run.ledger.steps
    assert max(steps.values()) <= 1.1 * steps[0.0]
    slope = (end[1e-7] - end[0.0]) / 1e-7
    assert abs(end[1e-9] - end[0.0] - 1e-9 * slope) < 1e-11
    assert abs(end[1e-11] - end[0.0]) < 1e-10


@pytest.mark.parametrize("inertia", [1e-11, 1e-7])
def test_a_ball_of_little_inertia_rolls_as_a_point_slides(inertia):
    """Down a slope with a = g sin(slope) / (1 + J / m r^2)."""
    ball = Body(
        "ball",
        3.0,
        (0, 0, 0),
        (3.0 * inertia,) * 3,
        shapes=(Shape("sphere", (1.0,), collides=True),),
    )
    m = Mechanism(
        "roller",
        (ball,),
        (Joint("free", "free", "ground", "ball"),),
        gravity=(9.81 * np.sin(SLOPE), 0, -9.81 * np.cos(SLOPE)),
        contacts=(Contact(("ball", "ground"), 0.5, 0.0),),
    )
    run = simulate(m, [0, 0, 1, 1, 0, 0, 0], until=1.0, tolerance=1e-10)
    a = 9.81 * np.sin(SLOPE) / (1.0 + inertia)
    assert run.data["v"].values[-1, 0] == pytest.approx(a, rel=1e-9)
    assert run.data["q"].values[-1, 0] == pytest.approx(a / 2, rel=1e-9)
    assert run.ledger.steps < 200


# --- the simplest walker [Garcia1998]
GAIT_SLOPE = 0.009
GAIT_ANGLE = 0.200310900544287
GAIT_RATE = -0.199832473004977


def walker(foot: float) -> Mechanism:
    """A mass of 1 at the hip, two massless legs of length 1 with a small mass at each foot."""

    def leg(name: str) -> Body:
        return Body(name, foot, (0, 0, -1), (0, 0, 0))

    hip = Body("hip", 1.0, (0, 0, 0), (0, 0, 0))
    return Mechanism(
        "simplest_walker",
        (Body.massless("slide"), hip, leg("left"), leg("right")),
        (
            Joint("x", "prismatic", "ground", "slide", axis=(1, 0, 0)),
            Joint("z", "prismatic", "slide", "hip", axis=UP),
            Joint("a", "revolute", "hip", "left", axis=ACROSS),
            Joint("b", "revolute", "hip", "right", axis=ACROSS),
        ),
        tuple(Frame(f"{name} foot", name, Pose(position=(0, 0, -1))) for name in ("left", "right")),
        gravity=(np.sin(GAIT_SLOPE), 0, -np.cos(GAIT_SLOPE)),
        contacts=tuple(
            Contact((f"{name} foot", "ground"), 10.0, 0.0, name=name) for name in ("left", "right")
        ),
    )


def one_step(foot: float):
    """A run over one step of the gait; the swinging foot passes through the ground."""
    q, v = stand(-GAIT_ANGLE, -GAIT_RATE)
    swing = -GAIT_RATE * (1.0 - (1.0 - np.cos(2 * GAIT_ANGLE)))
    passes = (
        events.SwitchContact("right", at=0.0),
        events.SwitchContact("right", on=True, when="q_b + 0.21"),
    )
    return simulate(
        walker(foot), [*q, GAIT_ANGLE], [*v, swing], until=3.9, events=passes, tolerance=1e-11
    )


@pytest.mark.parametrize("foot", [1e-6, 1e-10])
def test_the_simplest_walker_repeats_its_published_step(foot):
    """The fixed point for feet without mass, within a few times the mass of the feet."""
    run = one_step(foot)
    q, v = (run.data[f"event_{x}_after"].values[-1] for x in "qv")
    assert "right closes" in str(run.data["event"].values[-1])
    bound = 10.0 * foot + 3e-9
    assert q[3] == pytest.approx(-GAIT_ANGLE, abs=bound)
    assert q[2] == pytest.approx(GAIT_ANGLE, abs=bound)
    assert v[3] == pytest.approx(-GAIT_RATE, abs=bound)
    assert v[2] == pytest.approx(-GAIT_RATE * np.cos(2 * GAIT_ANGLE), abs=bound)
    assert not run.ledger.doubts()


def test_a_leg_that_flies_without_inertia_is_refused_by_name():
    with pytest.raises(SingularError, match=r"speed 'b' .* moves no inertia.*'right'.*armature"):
        one_step(0.0)


def test_a_wheel_that_flies_without_inertia_is_refused_by_name():
    with pytest.raises(SingularError, match=r"speed 'turn' .* moves no inertia.*'hub'"):
        simulate(wheel(0.0), [0, 1.5, 0.1], until=0.1)


def test_a_law_that_follows_friction_is_refused_by_name():
    q, v = stand(-ALPHA + 0.1, 2.0)
    with pytest.raises(SimulationError, match="a motion has next to none"):
        simulate(wheel(0.0, law="routh_poisson"), q, v, until=0.7)
