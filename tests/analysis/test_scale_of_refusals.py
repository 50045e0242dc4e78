"""Refusals do not depend on units or on how slow a motion is: a four-bar of any size, at any pace.

      B----------C
     /            \\
    A              D
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import catena
from catena import Body, Contact, Joint, Mechanism, Pose, Shape, simulate
from catena.analysis import inverse_dynamics, kinematics
from catena.errors import MechanismError, QuestionError, StateError
from catena.model.loads import RackAndPinion
from catena.model.validation import doubts

TURN = {"axis": (0, 0, 1)}
SIZES = [1e-6, 1.0, 1e6]


def four_bar(length: float) -> Mechanism:
    at = lambda x: Pose(position=(x * length, 0, 0))  # noqa: E731
    bodies = tuple(
        Body(n, 1.0, (0.05 * length, 0, 0), (0.01 * length**2,) * 3)
        for n in ("crank", "rod", "rocker")
    )
    joints = (
        Joint("A", "revolute", "ground", "crank", **TURN),
        Joint("B", "revolute", "crank", "rod", at(0.1), **TURN),
        Joint("D", "revolute", "ground", "rocker", at(0.3), **TURN),
    )
    loop = Joint("C", "revolute", "rod", "rocker", at(0.3), offset=at(0.2), **TURN)
    return Mechanism("four_bar", bodies, joints, loops=(loop,), gravity=(0, 0, 0))


@pytest.mark.parametrize("pace", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("length", SIZES)
def test_accelerations_that_tear_a_loop_are_refused(length, pace):
    """The accelerations of a motion are accepted, and refused with one of them off by 1e-4."""
    m = four_bar(length)
    q, v, a = kinematics(m, {"A": (1.0, pace, pace**2)}, [1.0, -0.6, 1.6])
    assert inverse_dynamics(m, q, v, a, ["A"]).unique
    wrong = a * [1.0, 1.0 + 1e-4, 1.0]
    with pytest.raises(QuestionError, match="loop 'C' does not stay closed"):
        inverse_dynamics(m, q, v, wrong, ["A"])
    motion = {"A": a[0], "B": wrong[1]}
    with pytest.raises(QuestionError, match="loop 'C' does not stay closed"):
        catena.hybrid_dynamics(m, q, v, motion=motion)
    _, found = catena.hybrid_dynamics(m, q, v, motion={"A": a[0]})
    np.testing.assert_allclose(found, a, rtol=0, atol=1e-9 * np.abs(a).max())


@pytest.mark.parametrize("length", SIZES)
def test_a_motion_that_motors_cannot_make_is_refused(length):
    """A double pendulum with one motor: the other joint is short of a force, however small."""
    bodies = tuple(Body(n, 1.0, (length, 0, 0), (length**2,) * 3) for n in ("one", "two"))
    joints = (
        Joint("A", "revolute", "ground", "one", **TURN),
        Joint("B", "revolute", "one", "two", Pose(position=(length, 0, 0)), **TURN),
    )
    m = Mechanism("double", bodies, joints, gravity=(0, 0, 0))
    with pytest.raises(QuestionError, match="'B' is short of"):
        inverse_dynamics(m, [0.1, 0.2], [0, 0], [1e-7, 0.0], ["A"])


@pytest.mark.parametrize("tilt, fits", [(0.0, True), (1e-5, True), (1e-3, False)])
def test_a_rack_may_be_as_oblique_as_wheels_may(tilt, fits):
    bodies = tuple(Body(n, 1.0, (0, 0, 0), (1, 1, 1)) for n in ("pinion", "bar"))
    joints = (
        Joint("turn", "revolute", "ground", "pinion", **TURN),
        Joint("slide", "prismatic", "ground", "bar", axis=(np.cos(tilt), 0, np.sin(tilt))),
    )
    rack = RackAndPinion("rack", pinion="pinion", rack="bar", carrier="ground", radius=0.1)
    m = Mechanism("drive", bodies, joints, constraints=(rack,))
    if fits:
        m.validate()
    else:
        with pytest.raises(MechanismError, match="does not slide across the axis"):
            m.validate()


@pytest.mark.parametrize("depth, refused", [(5e-9, False), (2e-8, True)])
@pytest.mark.parametrize("how", [{}, {"contact": "time_stepping", "step": 1e-3}])
def test_a_run_may_start_as_deep_by_events_as_by_time_stepping(how, depth, refused):
    ball = Body(
        "ball", 1.0, (0, 0, 0), (0.4,) * 3, shapes=(Shape("sphere", (1.0,), collides=True),)
    )
    m = Mechanism(
        "ball",
        (ball,),
        (Joint("free", "free", "ground", "ball"),),
        contacts=(Contact(("ball", "ground"), 0.5, 0.0),),
    )
    q = [0, 0, 1.0 - depth, 1, 0, 0, 0]
    if refused:
        with pytest.raises(StateError, match="deep in 'ground'"):
            simulate(m, q, until=0.01, **how)
    else:
        simulate(m, q, until=0.01, **how)


def test_a_pickled_machine_has_the_options_of_its_equations():
    equations = catena.derive(four_bar(1.0), by="penalty", beta=3e7)
    machine = catena.compile(equations)
    again = pickle.loads(pickle.dumps(machine))
    q, _ = catena.assemble(four_bar(1.0), [1.0, -0.6, 1.6], fixed=["A"])
    given = q, np.zeros(3), np.array([1.0, 0.0, 0.0])
    assert again.equations.options == {"beta": 3e7}
    np.testing.assert_array_equal(again.forward_dynamics(*given), machine.forward_dynamics(*given))


def test_massless_bodies_are_not_told_to_be_heavy():
    """Kinematics and prescribed motion need no mass, and the warning says so."""
    m = Mechanism(
        "linkage", (Body.massless("bar"),), (Joint("A", "revolute", "ground", "bar", **TURN),)
    )
    (said,) = doubts(m)
    assert "'A' moves body 'bar'" in said and "prescribed motion need none" in said
