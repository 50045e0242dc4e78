"""Some motions and some forces: every mixture gives back the state it was taken from; the two
manipulator problems of [Passerello1972].
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from catena.analysis.assembly import assemble
from catena.analysis.hybrid_dynamics import hybrid_dynamics
from catena.errors import QuestionError, StateError, UnknownNameError
from catena.machine.machine import compile
from closed import cut_four_bar, slider_crank, spatial_four_bar, stewart
from manipulator import manipulator
from zoo import random_tree

PASSERELLO = json.loads(
    (Path(__file__).parents[1] / "reference" / "passerello1972_manipulator_arms.json").read_text()
)
TREE = random_tree(31, ["free", "ball", "revolute", "universal", "helical"])


@pytest.mark.parametrize("seed", range(6))
def test_any_mixture_on_a_tree_gives_back_the_state(seed):
    machine = compile(TREE)
    rng = np.random.default_rng(seed)
    q = machine.sample(rng)
    v = rng.normal(size=machine.nv)
    tau = rng.normal(size=machine.nv)
    a = machine.forward_dynamics(q, v, tau)
    driven = rng.random(machine.nv) < 0.5
    names = machine.speed_names
    motion = {names[k]: a[k] for k in np.flatnonzero(driven)}
    force = {names[k]: tau[k] for k in np.flatnonzero(~driven)}
    found_tau, found_a = hybrid_dynamics(machine, q, v, motion, force)
    np.testing.assert_allclose(found_a, a, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found_tau, tau, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("make", "driven"),
    [
        (cut_four_bar, ["A"]),
        (slider_crank, ["cylinder"]),
        (spatial_four_bar, []),
        (stewart, ["leg1", "leg4", "base.vx"]),
    ],
)
def test_any_mixture_on_a_loop_gives_back_the_state(make, driven):
    machine = compile(make())
    rng = np.random.default_rng(7)
    q, v = assemble(
        machine,
        machine.move(machine.neutral(), 0.3 * rng.normal(size=machine.nv)),
        rng.normal(size=machine.nv),
    )
    tau = rng.normal(size=machine.nv)
    a = machine.forward_dynamics(q, v, tau)
    names = machine.speed_names
    motion = {name: a[names.index(name)] for name in driven}
    force = {name: tau[k] for k, name in enumerate(names) if name not in driven}
    found_tau, found_a = hybrid_dynamics(machine, q, v, motion, force)
    np.testing.assert_allclose(found_a, a, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found_tau, tau, rtol=1e-8, atol=1e-8)


def test_a_joint_of_several_freedoms_is_driven_as_one():
    machine = compile(TREE)
    rng = np.random.default_rng(8)
    q = machine.sample(rng)
    v = rng.normal(size=machine.nv)
    tau, a = hybrid_dynamics(machine, q, v, motion={"ball1": (1.0, 2.0, 3.0)})
    np.testing.assert_allclose(a[6:9], [1, 2, 3])
    assert (np.delete(tau, [6, 7, 8]) == 0).all()
    np.testing.assert_allclose(machine.inverse_dynamics(q, v, a), tau, atol=1e-9)


def test_hybrid_says_what_is_wrong():
    machine = compile(cut_four_bar())
    q, v = assemble(machine, [0.3, 0.5, 0.2], [0, 1.0, 0])
    a = machine.forward_dynamics(q, v, np.zeros(3))
    with pytest.raises(
        QuestionError,
        match=r"the accelerations given for 'A', 'B' loop 'C' does not stay closed.* at most 1 "
        "independent coordinates",
    ):
        hybrid_dynamics(machine, q, v, motion={"A": 1.0, "B": 1.0})
    with pytest.raises(QuestionError, match="the forces in 'A', 'B' are not determined"):
        hybrid_dynamics(machine, q, v, motion={"A": a[1], "B": a[2]})
    with pytest.raises(QuestionError, match="'A' has both a motion and a force"):
        hybrid_dynamics(machine, q, v, motion={"A": 1.0}, force={"A": 1.0})
    with pytest.raises(UnknownNameError, match="no coordinate 'E' in mechanism 'four_bar'"):
        hybrid_dynamics(machine, q, v, motion={"E": 1.0})
    with pytest.raises(StateError, match=r"'A' is given \[1, 2\]; it takes 1 finite number"):
        hybrid_dynamics(machine, q, v, motion={"A": [1, 2]})
    locked = compile(manipulator())
    at_start = locked.neutral()
    at_start[7:] = np.radians([90, 0, 0, 0, 0, -90, 0, 90])
    with pytest.raises(QuestionError, match=r"has no inertia along 'left\.rx', 'left\.rz'"):
        hybrid_dynamics(locked, at_start, np.zeros(14))


# --- [Passerello1972]
def arms(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The arms' angles, speeds and accelerations by the cycloidal law (5.1), T = 1 s."""
    start = np.radians(PASSERELLO["start_deg"])
    end = np.radians(PASSERELLO["end_deg"])
    w = 2 * math.pi
    part = t - math.sin(w * t) / w, 1 - math.cos(w * t), w * math.sin(w * t)
    return start + (end - start) * part[0], (end - start) * part[1], (end - start) * part[2]


def test_seed_003_second_problem_holds_the_base():
    """All is driven: the base stands still, the arms move; the forces on the base and in the arms
    are the reference's.
    """
    machine = compile(manipulator())
    for k in (1, 5, 10, 15, 19):
        angle, rate, acceleration = arms(PASSERELLO["t"][k])
        q, v = machine.neutral(), np.zeros(14)
        q[7:], v[6:] = angle, rate
        motion = dict(zip(machine.speed_names, [0.0] * 6 + list(acceleration)))
        tau, _ = hybrid_dynamics(machine, q, v, motion)
        np.testing.assert_allclose(
            tau[:6], PASSERELLO["holding_wrench_base_fixed"][k], rtol=1e-9, atol=1e-6
        )
        np.testing.assert_allclose(
            tau[6:], PASSERELLO["joint_torques_base_fixed"][k], rtol=1e-9, atol=1e-6
        )


def test_seed_003_first_problem_lets_the_base_float():
    """The arms are driven, the base is free of forces: where it goes, by Runge and Kutta over
    hybrid dynamics.
    """
    machine = compile(manipulator())
    arm_names = machine.speed_names[6:]

    def rate(t, x):
        q, v = np.zeros(15), np.zeros(14)
        angle, speed, acceleration = arms(t)
        q[:7], q[7:] = x[:7], angle
        q[3:7] /= np.linalg.norm(q[3:7])
        v[:6], v[6:] = x[7:], speed
        _, a = hybrid_dynamics(machine, q, v, motion=dict(zip(arm_names, acceleration)))
        return np.concatenate([machine.coordinate_rate(q, v)[:7], a[:6]])

    x = np.array([0.0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    h = 0.005
    every = 10
    for k in range(100):
        t = k * h
        k1 = rate(t, x)
        k2 = rate(t + h / 2, x + h / 2 * k1)
        k3 = rate(t + h / 2, x + h / 2 * k2)
        k4 = rate(t + h, x + h * k3)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        if (k + 1) % every == 0:
            w, i, j, l = x[3:7] / np.linalg.norm(x[3:7])
            R = np.array(
                [
                    [1 - 2 * (j * j + l * l), 2 * (i * j - w * l), 2 * (i * l + w * j)],
                    [2 * (i * j + w * l), 1 - 2 * (i * i + l * l), 2 * (j * l - w * i)],
                    [2 * (i * l - w * j), 2 * (j * l + w * i), 1 - 2 * (i * i + j * j)],
                ]
            )
            # about x, y, z
            angles = [
                math.atan2(-R[1, 2], R[2, 2]),
                math.asin(R[0, 2]),
                math.atan2(-R[0, 1], R[0, 0]),
            ]
            wanted = PASSERELLO["base_pose_free"][(k + 1) // every]
            np.testing.assert_allclose([*x[:3], *angles], wanted, atol=2e-7)
