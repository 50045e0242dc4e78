"""variational: agreement in every choice of frames and speeds, energies, nonholonomic rows, cost,
and what it refuses.
"""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from catena.equations.equations import operations
from catena.equations.formulations import derive
from catena.equations.formulations.kane import kane
from catena.equations.formulations.lagrange import lagrange
from catena.equations.formulations.variational import variational
from catena.errors import FormulationError, SingularError, UnknownNameError
from catena.machine.machine import compile
from catena.model.loads import Force, JointSpring, KnifeEdge, Rolling, SpeedRow, Spring
from catena.model.mechanism import GROUND, Body, Joint, Mechanism, Mimic
from catena.model.pose import Pose
from zoo import arm, certificate_set, pendulum, random_tree

MECHANISMS = certificate_set()
STATES = 100


def states(machine, count=STATES, seed=3):
    """q, v, tau with one row per state."""
    rng = np.random.default_rng(seed)
    return machine.sample(rng, count), *rng.standard_normal((2, count, machine.nv))


def each(f, *rows, p=()):
    """A traced function (t, ..., p) on rows of states."""
    given = [
        np.zeros((1, len(rows[0]))),
        *(np.asarray(x).T for x in rows),
        np.tile(np.reshape(p, (-1, 1)), len(rows[0])),
    ]
    return np.array(f(*given)).T


def worst(m, count=STATES, **choice):
    """The largest difference from the recursive kernels, relative to the largest acceleration of
    its state.
    """
    machine = compile(m)
    e = variational(m, **choice)
    q, v, tau = states(machine, count)
    found = each(e.acceleration, q, v, tau, p=list(m.parameters.values()))
    expected = machine.forward_dynamics(q, v, tau)
    return (np.abs(found - expected).max(axis=1) / np.abs(expected).max(axis=1)).max()


# --- agreement
@pytest.mark.parametrize(
    "frames, potential", [("body", "ground"), ("ground", "ground"), ("body", "body")]
)
@pytest.mark.parametrize("name", MECHANISMS)
def test_agrees_with_the_recursive_kernels(name, frames, potential):
    assert worst(MECHANISMS[name], frames=frames, potential=potential) < 1e-9


@pytest.mark.parametrize("name", ["arm3", "free_base", "ball_chain", "screws"])
def test_agrees_with_kane_and_lagrange(name):
    m = MECHANISMS[name]
    q, v, tau = states(compile(m))
    found = each(variational(m).acceleration, q, v, tau)
    for other in (kane, lagrange):
        np.testing.assert_allclose(
            each(other(m).acceleration, q, v, tau),
            found,
            rtol=1e-9,
            atol=1e-9 * np.abs(found).max(),
        )


@pytest.mark.parametrize("home", ["body0", "body1", "body2", GROUND])
@pytest.mark.parametrize("name", ["gimbals", "screws", "sliding_chain", "general"])
def test_any_frame_will_do(name, home):
    """All vectors of all bodies in one body's axes, even one that comes later in the chain."""
    m = MECHANISMS[name]
    chosen = {b.name: home for b in m.bodies}
    assert worst(m, 20, frames=chosen, potential=chosen) < 1e-9


SPEEDS = {
    "arm3": [
        ("joint1", "joint2", "link3.wz"),
        ("link2.wy", "joint2", "link3.wz"),
        ("link3.wx", "link3.wz", "link2.wz"),
    ],
    "triple_pendulum": [("rod1.wy", "rod2.wy", "rod3.wy")],
    "free_base": [
        (
            *(f"body0.{x}" for x in ("vx", "vy", "vz", "wx", "wy", "wz")),
            "revolute1",
            "revolute2",
            "revolute3",
        )
    ],
    "gimbals": [
        ("body0.wx", "body0.wy", "body0.wz", "universal1.first", "universal1.second", "revolute2")
    ],
    "sliding_chain": [("body2.vx", "revolute1", "prismatic2")],
}


@pytest.mark.parametrize("name, speeds", [(name, s) for name, many in SPEEDS.items() for s in many])
@pytest.mark.parametrize("frames", ["body", "ground"])
def test_any_speeds_will_do(name, speeds, frames):
    m = MECHANISMS[name]
    assert worst(m, speeds=speeds, frames=frames) < 1e-9
    machine = compile(m)
    e = variational(m, speeds=speeds, frames=frames)
    assert e.state_names[machine.nq :] == speeds
    q, v, tau = (x[0] for x in states(machine, 1))
    x = e.encode(q, v, [])
    np.testing.assert_allclose(np.array(e.decode(x, [])[1]).ravel(), v, rtol=1e-9, atol=1e-9)
    #  the state's own rate: q' = N v, and u' by going a little along the motion found
    rate = np.array(e.derivative(0.0, x, tau, [])).ravel()
    a = machine.forward_dynamics(q, v, tau)
    step = 1e-5
    np.testing.assert_allclose(
        rate[: machine.nq], machine.coordinate_rate(q, v), rtol=1e-9, atol=1e-9
    )
    ahead, back = (
        np.array(e.encode(machine.move(q, s * v + s * abs(s) / 2 * a), v + s * a, [])).ravel()
        for s in (step, -step)
    )
    np.testing.assert_allclose(
        rate[machine.nq :], (ahead - back)[machine.nq :] / (2 * step), rtol=1e-5, atol=1e-5
    )


def test_energies():
    """(25) and (26), against the kernels' own."""
    for name, m in MECHANISMS.items():
        machine = compile(m)
        e = variational(m, frames="ground" if name == "screws" else "body")
        q, v, _ = states(machine, 5)
        for k in range(5):
            found = np.array(e.extra["energy"](q[k], v[k], [])).ravel()
            np.testing.assert_allclose(found, np.ravel(machine.energy(q[k], v[k])), rtol=1e-9)


def test_rotors_followers_parameters_and_loads():
    m, l = sympy.symbols("m l")
    finger = {"com": (0.1, 0.02, 0.0), "inertia": (0.01, 0.02, 0.02)}
    bodies = [
        Body("hand", m, (l / 2, 0, 0), (0.1, 0.2, 0.3)),
        Body("left", 0.4, **finger),
        Body("right", 0.5, **finger),
    ]
    place = Pose(position=(l, 0.1, 0))
    joints = [
        Joint("wrist", "revolute", GROUND, "hand", axis=(0, 1, 0), armature=0.7),
        Joint(
            "screw",
            "helical",
            "hand",
            "left",
            Pose.turn("x", 0.4, position=(l, 0, 0)),
            pitch=0.05,
            armature=0.1,
        ),
        Joint(
            "follow",
            "revolute",
            "hand",
            "right",
            place,
            axis=(1, 0, 0),
            mimic=Mimic("screw", -1.5, 0.2),
        ),
    ]
    loads = (
        Spring("cord", GROUND, "right", stiffness=30.0, length=0.2, damping=0.3),
        Force(
            "push", "left", force=("1", "sin(q_wrist)", "0"), torque=("0", "0.3", "1"), axes="body"
        ),
        JointSpring("coil", "wrist", 3.0, 0.1, 0.2),
    )
    for values in ({"m": 2.0, "l": 0.4}, {"m": 0.7, "l": 1.3}):
        gripper = Mechanism("gripper", bodies, joints, parameters=values, loads=loads).validate()
        for choice in ({}, {"frames": "ground"}, {"speeds": ("left.wz", "wrist")}):
            assert worst(gripper, 20, **choice) < 1e-9


# --- dependent speeds (2), (20)
def disc() -> Mechanism:
    base = Joint("base", "free", GROUND, "disc")
    body = Body("disc", 2.0, (0, 0, 0), (0.1, 0.2, 0.1))
    return Mechanism("disc", (body,), (base,), nonholonomic=(Rolling("rolls", "disc", 0.5),))


ROWS = {
    "disc": disc(),
    "skate": MECHANISMS["free_base"].with_(nonholonomic=(KnifeEdge("edge", "body2", (0, 1, 0)),)),
    "gear": (
        MECHANISMS["arm3"].with_(
            nonholonomic=(SpeedRow("gear", "v_joint3 - 0.3*q_joint1*v_joint2 - 0.5*q_joint2"),)
        )
    ),
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("frames", ["body", "ground"])
def test_rows_leave_fewer_equations(name, frames):
    m = ROWS[name]
    machine = compile(m)
    e = variational(m, frames=frames)
    left = machine.nv - {"disc": 3, "skate": 1, "gear": 1}[name]
    assert e.counts.largest_matrix == left and e.counts.first_order == machine.nq + machine.nv
    for q, v, tau in zip(*states(machine, 20)):
        _, rate, _, A = machine.constraint_rows(q, v)
        v = v - np.linalg.lstsq(A, rate, rcond=None)[0]  # speeds that obey the rows
        expected = machine.forward_dynamics(q, v, tau)
        found = np.array(e.acceleration(0.0, q, v, tau, [])).ravel()
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * np.abs(expected).max())


# --- cost
def test_the_equations_of_a_spatial_arm_stay_small():
    assert variational(arm(3)).counts.operations < 500


def test_the_choice_of_frames_and_speeds_changes_the_count():
    """The source's point: vectors left in their own frames, and speeds that suit them, make shorter
    equations.
    """
    m = arm(3)
    cost = lambda **choice: operations(variational(m, **choice).derivative)  # noqa: E731
    assert cost() < 0.7 * cost(frames="ground")
    assert cost(speeds=("joint1", "joint2", "link3.wz")) < cost()
    assert cost() < cost(potential="body")
    links = tuple(f"rod{k}.wy" for k in (1, 2, 3))
    assert (
        variational(pendulum(3), speeds=links).counts.operations
        < variational(pendulum(3)).counts.operations
    )


# --- for people
def test_equations_can_be_read():
    text = variational(pendulum(1)).text()
    assert "pin1" in text and "sin" in text


# --- bad input
@pytest.mark.parametrize(
    "choice, error, message",
    [
        (
            {"frames": "bodies"},
            FormulationError,
            "frames='bodies'; it is 'body' .*'ground', or {body: frame}",
        ),
        ({"potential": 3}, FormulationError, "potential=3"),
        ({"frames": {"link9": "ground"}}, UnknownNameError, "no body 'link9'.*link1"),
        (
            {"frames": {"link1": "link33"}},
            UnknownNameError,
            "no body 'link33'.*Did you mean 'link3'",
        ),
        (
            {"speeds": ("joint1", "joint2")},
            FormulationError,
            "has 3 speeds, and as many .*; found joint1, joint2",
        ),
        ({"speeds": ("joint1", "joint2", "link3.wq")}, UnknownNameError, "no speed 'link3.wq'"),
        (
            {"speeds": ("joint1", "link2.wx", "link2.wy")},
            FormulationError,
            "do not determine the motion.*follow from each other",
        ),
    ],
)
def test_choices_that_are_none(choice, error, message):
    with pytest.raises(error, match=message):
        variational(arm(3), **choice)


def test_mechanisms_that_cannot_be_treated():
    still = Mechanism(
        "post", (Body("b", 1.0, (0, 0, 0), (1, 1, 1)),), (Joint("j", "fixed", GROUND, "b"),)
    )
    with pytest.raises(FormulationError, match="'post' has no motion to derive"):
        derive(still, by="variational")
    m = arm(2)
    light = m.with_(bodies=(m.bodies[0], Body.massless("link2")))
    with pytest.raises(SingularError, match=r"no body resists 'joint2'; give body 'link2' mass"):
        variational(light)
    twice = tuple(SpeedRow(name, "v_joint1 - 0.3*v_joint2") for name in ("one", "two"))
    with pytest.raises(
        SingularError, match="only 1 of the 2 nonholonomic rows of 'arm2' are independent"
    ):
        variational(arm(2).with_(nonholonomic=twice))


def test_a_body_fixed_to_the_ground_has_no_speed():
    tree = random_tree(1, ["fixed", "revolute"])
    with pytest.raises(FormulationError, match="body 'body0' is fixed to the ground"):
        variational(tree, speeds=("body0.wx",))
    assert worst(tree, 10) < 1e-9
