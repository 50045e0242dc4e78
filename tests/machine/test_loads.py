"""Springs, dampers, bushings and forces: gradients of their energy, forward after inverse, the same
in both lives of time.
"""

from __future__ import annotations

import numpy as np
import pytest

import zoo
from catena.errors import MechanismError, StateError
from catena.machine.machine import compile
from catena.model.loads import (
    Bushing,
    Force,
    JointForce,
    JointSpring,
    KnifeEdge,
    Rolling,
    SpeedRow,
    Spring,
)
from catena.model.mechanism import Body, Frame, Joint, Mechanism
from catena.model.pose import Pose

TREE = zoo.random_tree(
    3, ["revolute", "ball", "universal", "revolute", "prismatic"], branching=0
).with_(
    frames=(
        Frame("tip", "body4", Pose(position=(0.1, 0.2, 0.3))),
        Frame("middle", "body2", Pose(position=(0.1, -0.2, 0.3))),
    )
)
SPRINGS = (
    JointSpring("coil", "revolute0", 10.0, 0.1),
    Spring("rope", "tip", "middle", 100.0, 0.3),
    Spring("guy", "ground", "tip", 50.0, 1.0),
)
LOADS = (
    *SPRINGS,
    Bushing("rubber", "middle", "tip", (1, 2, 3, 4, 5, 6), (0.1,) * 6),
    Force(
        "wind",
        "tip",
        force=("sin(t)", "q_revolute0*v_revolute3", 1.0),
        torque=(1, 0, "t"),
        axes="body",
    ),
    JointForce("drag", "prismatic4", "-3*v_prismatic4^2"),
)


def states(machine, count=4):
    rng = np.random.default_rng(0)
    return machine.sample(rng, count), *rng.standard_normal((2, count, machine.nv))


@pytest.mark.parametrize("load", LOADS, ids=lambda load: load.name)
def test_forward_after_inverse_with_loads(load):
    machine = compile(TREE.with_(loads=(load,)))
    q, v, a = states(machine)
    tau = machine.inverse_dynamics(q, v, a, t=0.3)
    assert np.abs(machine.forward_dynamics(q, v, tau, t=0.3) - a).max() < 1e-11


def test_forces_of_springs_are_the_gradient_of_their_energy():
    machine = compile(TREE.with_(loads=SPRINGS))
    q, v, _ = states(machine)
    h = 1e-5
    energy = [machine.energy(machine.move(q, k * h * v), 0 * v)[1] for k in (-2, -1, 1, 2)]
    rate = (8 * (energy[2] - energy[1]) - (energy[3] - energy[0])) / (12 * h)
    np.testing.assert_allclose(
        np.einsum("bi,bi->b", machine.gravity(q), v), rate, rtol=1e-8, atol=1e-8
    )


def test_a_load_on_a_welded_body_is_felt_by_its_joint():
    bodies = (
        Body("wall", 2.0, (0, 0, 0), (0.1, 0.1, 0.1)),
        Body("arm", 1.0, (0.5, 0, 0), (0.1, 0.1, 0.1)),
    )
    joints = (
        Joint("weld", "fixed", "ground", "wall"),
        Joint("pin", "revolute", "wall", "arm", axis=(0, 1, 0)),
    )
    push = Force("push", "wall", force=(3.0, 0.0, 0.0))
    still = Mechanism("wall", bodies, joints, gravity=(0, 0, 0), loads=(push,))
    wrench = compile(still).reactions([0.0], [0.0], [0.0])["weld"]
    np.testing.assert_allclose(wrench, (0, 0, 0, -3, 0, 0), atol=1e-12)


def test_a_disc_that_rolls_straight_goes_on():
    disc = Mechanism(
        "disc",
        (Body("disc", 1.0, (0, 0, 0), (0.25, 0.5, 0.25)),),
        (Joint("base", "free", "ground", "disc"),),
        nonholonomic=(Rolling("roll", "disc", 1.0),),
    )
    machine = compile(disc)
    q = np.array([0, 0, 1.0, 1, 0, 0, 0])
    v = np.array([2.0, 0, 0, 0, 2.0, 0])
    _, rate, _, _ = machine.constraint_rows(q, v)
    assert np.abs(rate).max() < 1e-15
    assert np.abs(machine.forward_dynamics(q, v, np.zeros(6))).max() < 1e-12
    np.testing.assert_allclose(machine.multipliers(q, v, np.zeros(6)), (0, 0, 9.81), atol=1e-12)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (SpeedRow("r", "sin(x)"), "no name 'x'"),
        (SpeedRow("r", "__import__('os')"), "are allowed"),
        (SpeedRow("r", "v_revolute0^2"), "not linear in the speeds"),
        (KnifeEdge("r", "tipp", (1, 0, 0)), "no frame 'tipp'"),
    ],
)
def test_rows_that_are_refused(row, why):
    with pytest.raises(MechanismError, match=why):
        compile(TREE.with_(nonholonomic=(row,)))


def test_a_helical_loop_closes_in_both_lives():
    loop = Joint("screw", "helical", "body0", "body4", Pose(position=(0.3, 0, 0)), pitch=0.2)
    q, v, tau = states(compile(TREE))
    a = [  # the loop is open here: the arithmetic of both lives is the same off the rows too
        compile(TREE.with_(loops=(loop,)), life=life).evaluate(
            "forward_dynamics", q, v, tau, check=False
        )[0]
        for life in ("generic", "lanes")
    ]
    np.testing.assert_allclose(*a, rtol=1e-9, atol=1e-9)
    found = [
        compile(TREE.with_(loops=(loop,)), life=life).constraint_rows(q, v)
        for life in ("generic", "lanes")
    ]
    for one, two in zip(*found):
        np.testing.assert_allclose(one, two, atol=1e-12)


def rail(**more: object) -> Mechanism:
    return Mechanism(
        "rail",
        [Body("a", 1.0, (0, 0, 0), (1, 1, 1))],
        [Joint("slide", "prismatic", "ground", "a")],
        **more,
    )  # type: ignore[arg-type]


def test_a_row_without_a_speed_is_refused():
    with pytest.raises(MechanismError, match="row 'r': 'q_slide' has no speed in it"):
        compile(rail(nonholonomic=[SpeedRow("r", "q_slide")]))


def test_a_spring_whose_ends_meet_is_named():
    machine = compile(rail(loads=[Spring("coil", "ground", "a", 10.0, 0.3)]))
    assert np.isfinite(machine.forward_dynamics([0.1], [0.0], [0.0])).all()
    for q in (np.zeros(1), np.array([[0.1], [0.0]])):
        with pytest.raises(
            StateError, match="the ends of spring 'coil', 'ground' and 'a', lie in one point"
        ):
            machine.forward_dynamics(q, np.zeros(1), np.zeros(1))
