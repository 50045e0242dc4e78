"""Inverse dynamics for named motors, inverse kinematics, and the kinematic mode."""

from __future__ import annotations

import math

import numpy as np
import pytest

from catena.analysis.actuation import inverse_dynamics
from catena.analysis.assembly import assemble
from catena.analysis.inverse_kinematics import inverse_kinematics
from catena.analysis.kinematic_drive import kinematics
from catena.errors import ClosureError, QuestionError, StateError, UnknownNameError
from catena.machine.constraint_rows import rows_at
from catena.machine.machine import compile
from catena.model.loads import KnifeEdge
from catena.model.mechanism import GROUND, Body, Joint, Mechanism
from catena.model.pose import Pose
from closed import cut_four_bar, slider_crank, spatial_four_bar, stewart
from zoo import arm, random_tree


# --- inverse dynamics
@pytest.mark.parametrize(
    ("make", "motors"),
    [
        (cut_four_bar, ["A"]),
        (cut_four_bar, ["B"]),
        (slider_crank, ["shaft"]),
        (spatial_four_bar, ["motor"]),
        (stewart, [f"leg{k}" for k in range(1, 7)]),
    ],
)
def test_forward_after_inverse_is_the_identity_with_loops(make, motors):
    machine = compile(make())
    rng = np.random.default_rng(2)
    q, v = assemble(
        machine,
        machine.move(machine.neutral(), 0.2 * rng.normal(size=machine.nv)),
        rng.normal(size=machine.nv),
    )
    a = machine.forward_dynamics(q, v, rng.normal(size=machine.nv))
    found = inverse_dynamics(machine, q, v, a, motors)
    assert found.unique and "the answer is the only one" in found.sentence
    idle = [k for k, name in enumerate(machine.speed_names) if name not in motors]
    assert (found.tau[idle] == 0).all()
    np.testing.assert_allclose(
        machine.forward_dynamics(q, v, np.asarray(found)), a, rtol=1e-8, atol=1e-8
    )


def test_spare_motors_share_with_the_least_effort():
    machine = compile(cut_four_bar())
    q, v = assemble(machine, [0.3, 0.5, 0.2], [0, 1.0, 0])
    a = machine.forward_dynamics(q, v, np.zeros(3))
    one = inverse_dynamics(machine, q, v, 2 * a - a, ["A"])
    two = inverse_dynamics(machine, q, v, a, ["A", "B"])
    np.testing.assert_allclose(one.tau, 0, atol=1e-8)
    push = a + assemble(machine, q, [0, 1.0, 0])[1]
    one = inverse_dynamics(machine, q, v, push, ["A"])
    two = inverse_dynamics(machine, q, v, push, ["A", "B"])
    assert not two.unique and "1 of them are spare" in two.sentence
    assert np.linalg.norm(two.tau) < np.linalg.norm(one.tau)
    np.testing.assert_allclose(machine.forward_dynamics(q, v, two.tau), push, atol=1e-8)


def test_inverse_dynamics_of_a_tree_is_the_machine_s():
    machine = compile(arm(4))
    rng = np.random.default_rng(3)
    q, v, a = rng.normal(size=(3, 4))
    np.testing.assert_allclose(
        inverse_dynamics(machine, q, v, a).tau, machine.inverse_dynamics(q, v, a), atol=1e-11
    )


def test_motors_that_cannot_are_told():
    machine = compile(cut_four_bar())
    q, v = assemble(machine, [0.3, 0.5, 0.2])
    a = assemble(machine, q, [0, 1.0, 0])[1] + machine.forward_dynamics(q, v, np.zeros(3))
    with pytest.raises(
        QuestionError,
        match=r"\(none\) cannot make this motion: they drive 0 of its 1 degrees of freedom, "
        r"and '\w' is short",
    ):
        inverse_dynamics(machine, q, v, a, [])
    with pytest.raises(QuestionError, match="loop 'C' does not stay closed"):
        inverse_dynamics(machine, q, v, [1.0, 1.0, 1.0], ["A"])
    with pytest.raises(UnknownNameError, match="no coordinate 'motor'"):
        inverse_dynamics(machine, q, v, a, ["motor"])


# --- inverse kinematics
@pytest.mark.parametrize("seed", range(4))
def test_an_arm_reaches_a_pose(seed):
    machine = compile(arm(6))
    rng = np.random.default_rng(seed)
    there = rng.uniform(-2, 2, 6)
    X = machine.pose(there, "link6")
    q = inverse_kinematics(machine, "link6", X, guess=there + 0.3 * rng.normal(size=6))
    np.testing.assert_allclose(machine.pose(q, "link6"), X, atol=1e-9)
    # from far away
    np.testing.assert_allclose(
        machine.pose(inverse_kinematics(machine, "link6", X), "link6"), X, atol=1e-9
    )


def test_position_and_orientation_alone():
    machine = compile(arm(6))
    q = inverse_kinematics(machine, "link6", position=(0.3, 0.2, 0.3))
    np.testing.assert_allclose(machine.pose(q, "link6")[:3, 3], [0.3, 0.2, 0.3], atol=1e-9)
    R = Pose.rpy(0.3, -0.5, 1.0)
    q = inverse_kinematics(machine, "link6", orientation=R)
    np.testing.assert_allclose(machine.pose(q, "link6")[:3, :3], R.rotation, atol=1e-9)


def test_limits_are_kept():
    from dataclasses import replace

    free = arm(6)
    machine = compile(
        free.with_(joints=tuple(replace(j, lower=-1.2, upper=1.2) for j in free.joints))
    )
    rng = np.random.default_rng(9)
    there = rng.uniform(-1.0, 1.0, 6)
    X = machine.pose(there, "link6")
    q = inverse_kinematics(machine, "link6", X, guess=np.zeros(6))
    assert (np.abs(q) <= 1.2).all()
    np.testing.assert_allclose(machine.pose(q, "link6"), X, atol=1e-9)
    stiff = compile(
        free.with_(joints=tuple(replace(j, lower=-0.1, upper=0.1) for j in free.joints))
    )
    with pytest.raises(
        QuestionError,
        match=r"frame 'link6' of mechanism 'arm6' cannot reach the goal: .* m remain .*; at "
        "their limits: '",
    ):
        inverse_kinematics(stiff, "link6", position=(-0.3, 0.2, 0.3))
    assert inverse_kinematics(stiff, "link6", position=(-0.3, 0.2, 0.3), limits=False).shape == (6,)


def test_a_floating_body_and_a_closed_loop_reach():
    machine = compile(random_tree(61, ["free", "revolute"]))
    X = Pose.rpy(0.4, 0.2, -2.0, position=(1, 2, 3))
    q = inverse_kinematics(machine, "body1", X)
    np.testing.assert_allclose(machine.pose(q, "body1"), X.matrix(), atol=1e-9)
    platform = compile(stewart())
    start, _ = assemble(platform)
    X = Pose.rpy(0.1, -0.05, 0.1, position=(0.05, 0.02, 0.85))
    q = inverse_kinematics(platform, "platform", X, guess=start)
    np.testing.assert_allclose(platform.pose(q, "platform"), X.matrix(), atol=1e-9)
    assert np.abs(rows_at(platform, q).error).max() < 1e-9


def test_places_out_of_reach_are_told():
    machine = compile(arm(6))
    with pytest.raises(
        QuestionError, match=r"cannot reach the goal: 2.175 m remain at the nearest configuration"
    ):
        inverse_kinematics(machine, "link6", position=(3, 0, 0))
    with pytest.raises(UnknownNameError, match="no frame 'link7' in mechanism 'arm6'"):
        inverse_kinematics(machine, "link7", position=(1, 0, 0))
    with pytest.raises(StateError, match="no goal is given"):
        inverse_kinematics(machine, "link6")
    with pytest.raises(StateError, match="not a rotation matrix"):
        inverse_kinematics(machine, "link6", orientation=np.ones((3, 3)))
    with pytest.raises(StateError, match="not both"):
        inverse_kinematics(machine, "link6", Pose(), position=(0, 0, 0))


# --- kinematic mode
def test_a_slider_crank_driven_by_its_shaft():
    """Piston position, velocity and acceleration over a turn, against the textbook."""
    t = np.linspace(0, 2 * math.pi, 25)
    q, v, a = kinematics(slider_crank(), {"shaft": (t, 2.0, 0.5)}, guess=[0, 0, 1.3])
    r, l = 0.3, 1.0
    s, c = np.sin(t), np.cos(t)
    root = np.sqrt(l**2 - r**2 * s**2)
    first = -r * s - r**2 * s * c / root
    second = -r * c - r**2 * ((c**2 - s**2) / root + r**2 * s**2 * c**2 / root**3)
    np.testing.assert_allclose(q[:, 2], r * c + root, atol=1e-12)
    np.testing.assert_allclose(v[:, 2], 2.0 * first, atol=1e-11)
    np.testing.assert_allclose(a[:, 2], 4.0 * second + 0.5 * first, atol=1e-10)
    assert q.shape == (25, 3)


def test_the_kinematic_mode_moves_as_the_dynamics_do():
    machine = compile(spatial_four_bar())
    start, v = assemble(machine, v=[1.0, 0, 0, 0, 0], fixed=["motor"])
    a = machine.forward_dynamics(start, v, np.zeros(5))
    q2, v2, a2 = kinematics(machine, {"motor": (start[0], v[0], a[0])}, guess=start)
    np.testing.assert_allclose(q2, start, atol=1e-12)
    np.testing.assert_allclose(v2, v, atol=1e-10)
    np.testing.assert_allclose(a2, a, atol=1e-8)


def test_the_kinematic_mode_says_what_is_wrong():
    machine = compile(slider_crank())
    guess = [0, 0, 1.3]
    with pytest.raises(QuestionError, match="nothing of mechanism 'slider_crank' is driven"):
        kinematics(machine, {}, guess)
    with pytest.raises(ClosureError, match="loop 'wrist_pin' stays open by"):
        kinematics(machine, {"shaft": 1.0, "cylinder": 2.0}, guess)
    x = 0.3 * math.cos(1.0) + math.sqrt(1 - 0.09 * math.sin(1.0) ** 2)
    with pytest.raises(
        QuestionError, match="the speeds of the driven coordinates do not keep loop 'wrist_pin'"
    ):
        kinematics(machine, {"shaft": (1.0, 1.0), "cylinder": (x, 1.0)}, guess)
    with pytest.raises(
        UnknownNameError, match="no coordinate 'crank' in mechanism 'slider_crank', to be driven"
    ):
        kinematics(machine, {"crank": 1.0}, guess)
    with pytest.raises(
        QuestionError,
        match=r"5 degree\(s\) of freedom are left free in mechanism 'arm6'; drive 5 more",
    ):
        kinematics(arm(6), {"joint1": 0.3})
    with pytest.raises(StateError, match="'shaft' is given 4 values"):
        kinematics(machine, {"shaft": (1, 2, 3, 4)}, guess)
    skate = Mechanism(
        "sleigh",
        (Body("skate", 1.0, (0, 0, 0), (1, 1, 1)),),
        (Joint("ice", "planar", GROUND, "skate"),),
        nonholonomic=(KnifeEdge("blade", "skate", (0, 1, 0)),),
    )
    with pytest.raises(QuestionError, match="mechanism 'sleigh' has constraints of speeds"):
        kinematics(skate, {"ice.x": 1.0})
    with pytest.raises(
        StateError, match="a question is put to a Mechanism or a Machine, not to a str"
    ):
        kinematics("arm", {})
