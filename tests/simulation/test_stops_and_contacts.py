"""Stops of joints and contacts in one impact: both push, and neither pulls.

  [a]   falls on a slide
   :    z: m hangs below a, and slides on it between two stops, 0.2 m to either side
  [m]
--------  the ground
"""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena import Body, Contact, Frame, Joint, Mechanism, Pose, simulate

GROUND = "ground"
ORIGIN = (0.0, 0.0, 0.0)
G = 9.81


def telescope(restitution: float, **more) -> Mechanism:
    bodies = tuple(Body(name, 1.0, ORIGIN, (1, 1, 1)) for name in "am")
    joints = (
        Joint("x", "prismatic", GROUND, "a", axis=(0, 0, 1)),
        Joint("z", "prismatic", "a", "m", axis=(0, 0, 1), lower=-0.2, upper=0.2),
    )
    return Mechanism(
        "telescope", bodies, joints, contacts=(Contact(("m", GROUND), 0.0, restitution, **more),)
    )


def fallen(restitution: float, stop: float, until: float = 2.0, **more):
    return simulate(
        telescope(restitution, **more), [1.0, -0.2], until=until, limits="stop", restitution=stop
    )


@pytest.mark.parametrize("how", [{}, {"law": "poisson"}, {"impacts": "sequential"}])
def test_a_stop_does_not_pull_at_an_impact_and_comes_to_rest_with_the_contact(how: dict) -> None:
    """m stops at the ground, a goes on, as if it were alone, until the other stop: both rest
    then.
    """
    run = fallen(0.0, 0.0, **how)
    met = [float(t) for t, what in zip(run.event_time.values, run.event.values) if "meets" in what]
    assert met == pytest.approx([np.sqrt(2 * 0.8 / G), np.sqrt(2 * 1.2 / G)], rel=1e-9)
    assert (
        run.q.values[-1] == pytest.approx([-0.2, 0.2], abs=1e-15)
        and not run.v.values[-1].any()
        and not run.ledger.verdict
    )
    assert run.contacts.normal_force.values[-1] == pytest.approx([2 * G])


def test_what_rebounds_from_the_ground_is_caught_by_the_stop() -> None:
    """m rebounds with half its speed, meets a, and they fall together at the mean of their
    speeds.
    """
    run = fallen(0.5, 0.0, 0.6)
    v = np.sqrt(2 * G * 0.8)
    t = 0.4 / (1.5 * v)  # in the air both have the same acceleration
    mean = -0.25 * v - G * t
    height = 0.5 * v * t - G / 2 * t**2
    assert run.approach.values[1] == pytest.approx(np.sqrt(mean**2 + 2 * G * height), rel=1e-9)


def test_impacts_without_loss_keep_the_energy() -> None:
    run = fallen(1.0, 1.0, 5.0)
    E = (run.kinetic + run.potential).values
    assert len(run.impact_time) > 5 and np.ptp(E) < 1e-9 * G and not run.ledger.verdict


def test_their_derivatives() -> None:
    """Of what leaves its stop at an impact, against differences."""
    m, until = telescope(0.0), 0.45
    found = catena.sensitivities(
        m, with_respect_to=["q.x"], q=[1.0, -0.2], until=until, limits="stop"
    )
    ends = [
        simulate(m, [1.0 + d, -0.2], until=until, limits="stop", tolerance=1e-12).q.values[-1]
        for d in (1e-6, -1e-6)
    ]
    assert [found["q.x", "q.x"], found["q.z", "q.x"]] == pytest.approx(
        (ends[0] - ends[1]) / 2e-6, abs=1e-6
    )


def test_an_arm_between_its_stop_and_the_ground_comes_to_rest() -> None:
    """The last of the stop's impacts lifts the tip by nothing, and the tip's lift the arm from its
    stop by nothing: events end.
    """
    bodies = (
        Body("a", 0, ORIGIN, ORIGIN),
        Body("b", 0, ORIGIN, ORIGIN),
        Body("rod", 2.0, (0.25, 0, 0), (1 / 24,) * 3),
        Body("arm", 1.0, (0.25, 0, 0), (1 / 48,) * 3),
    )
    joints = (
        Joint("x", "prismatic", GROUND, "a", axis=(1, 0, 0)),
        Joint("z", "prismatic", "a", "b", axis=(0, 0, 1)),
        Joint("turn", "revolute", "b", "rod", axis=(0, 1, 0)),
        Joint(
            "elbow",
            "revolute",
            "rod",
            "arm",
            Pose(position=(0.5, 0, 0)),
            axis=(0, 1, 0),
            lower=-1.0,
            upper=1.0,
        ),
    )
    walls = tuple(
        Frame(name, GROUND, Pose.rpy(0, turn, 0, position=(x, 0, 0)))
        for name, turn, x in (("left", np.pi / 2, -1.0), ("right", -np.pi / 2, 1.0))
    )
    ends = (Frame("A", "rod"), Frame("B", "arm", Pose(position=(0.5, 0, 0))))
    contacts = tuple(
        Contact((("A", "B"), surface), 0.0, 0.7, impacts="sequential")
        for surface in (GROUND, "left", "right")
    )
    m = Mechanism("folding rod", bodies, joints, (*ends, *walls), contacts=contacts)
    start = [-0.0835092577810263, 1.2107564816181484, -2.036087947349239, 0.8458657437890386]
    run = simulate(
        m,
        start,
        [-0.24516867042940035, 4.2356775101020965, -2.2240415253845627, -0.7552100142539961],
        until=2.0,
        output=0.1,
        limits="stop",
    )
    assert len(run.event) < 500 and not run.ledger.verdict
