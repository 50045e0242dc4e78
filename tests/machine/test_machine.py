"""A machine as a value: batches of any size and layout, copies, and a mechanism in which nothing
moves.
"""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import catena
import zoo
from catena import Body, Frame, Joint, Mechanism, Pose
from catena.errors import FormulationError, StateError


def test_a_batch_of_three_over_threads_is_a_batch_like_any():
    n = 700
    rod = {"mass": 1.0, "com": (0.05, 0, 0), "inertia": (0.01, 0.01, 0.01)}
    at = Pose.turn("x", 0.3, position=(0.1, 0, 0))
    joints = [
        Joint(f"j{i}", "revolute", f"b{i - 1}" if i else "ground", f"b{i}", at) for i in range(n)
    ]
    frames = [Frame("tip", f"b{n - 1}", Pose(position=(0.1, 0.2, 0.3)))]
    chain = Mechanism("chain", [Body(f"b{i}", **rod) for i in range(n)], joints, frames)
    two, one = (catena.compile(chain, threads=k, life="generic") for k in (2, 1))
    q = 0.1 * np.random.default_rng(0).standard_normal((3, n))
    np.testing.assert_array_equal(two.pose(q, "tip"), one.pose(q, "tip"))
    push = {("tip", "world"): np.ones(6)}
    np.testing.assert_array_equal(
        two.inverse_dynamics(q, q, q, push), one.inverse_dynamics(q, q, q, push)
    )


@pytest.mark.parametrize("life", ["auto", "generic", "lanes"])
def test_batches_of_no_state_keep_their_shape(life):
    machine = catena.compile(zoo.follower(), life=life)
    q = np.zeros((0, machine.nq))
    v = np.zeros((2, 0, machine.nv))
    assert machine.inverse_dynamics(q, v, v).shape == (2, 0, machine.nv)
    assert machine.inverse_dynamics(q, v, v, {"c": np.zeros((0, 6))}).shape == (2, 0, machine.nv)
    assert machine.mass_matrix(q).shape == (0, machine.nv, machine.nv)
    assert machine.pose(q, "c").shape == (0, 4, 4)
    assert machine.reactions(q, v, v)["wrist"].shape == (2, 0, 6)
    assert machine.gravity(machine.neutral(), parameters={}).shape == (machine.nv,)


def test_a_state_with_strides_goes_through_the_lanes():
    machine = catena.compile(zoo.follower(), life="lanes")
    q = machine.sample(np.random.default_rng(0), 5)
    np.testing.assert_allclose(machine.gravity(np.asfortranarray(q)[2]), machine.gravity(q)[2])


def test_a_machine_survives_copying_and_pickling(tmp_path):
    machine = catena.compile(zoo.follower())
    q = machine.sample(np.random.default_rng(0))
    wanted = machine.gravity(q)
    twin = copy.deepcopy(machine)
    assert twin._router.generic.structure is not machine._router.generic.structure
    np.testing.assert_allclose(twin.gravity(q), wanted)
    (tmp_path / "machine").write_bytes(pickle.dumps(machine))
    np.save(tmp_path / "q.npy", q)
    code = (
        "import pickle, numpy; print(list(pickle.load(open('machine',"
        " 'rb')).gravity(numpy.load('q.npy')).round(9).tolist()))"
    )
    there = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert there.stdout.strip() == str(wanted.round(9).tolist())


@pytest.mark.parametrize("life", ["auto", "generic", "lanes"])
def test_a_mechanism_that_cannot_move_answers_what_it_can(life):
    machine = catena.compile(zoo.still(), life=life)
    q = np.zeros((3, 0))
    v = np.zeros((3, 0))
    assert machine.mass_matrix(q).shape == (3, 0, 0)
    assert machine.jacobian(q, "b").shape == (3, 6, 0)
    assert machine.pose(q, "b").shape == (3, 4, 4)
    assert machine.energy(q, v)[0].shape == (3,)
    weight = 9.81 * sum(b.mass for b in zoo.still().bodies)
    np.testing.assert_allclose(
        np.linalg.norm(machine.reactions(q, v, v)["foot"][:, 3:], axis=-1), weight
    )
    for ask in (machine.momentum, lambda q, v: machine.forward_dynamics_derivatives(q, v, v)):
        with pytest.raises(StateError, match="nothing of mechanism 'still' moves"):
            ask(q, v)
    for ask in (catena.check, catena.compare):
        with pytest.raises(FormulationError, match="'still' has no motion"):
            ask(zoo.still())


@pytest.mark.parametrize(
    "limits", [(-0.2, 0.1), (3.0, 3.5), (-np.inf, -2.0), (1.0, np.inf), (-1e6, 1e6)]
)
def test_a_sample_lies_within_the_limits_of_joints(limits):
    lower, upper = limits
    m = catena.load("two_link_arm")
    first, *rest = m.joints
    machine, unlimited = (
        catena.compile(m.with_(joints=(replace(first, lower=low, upper=high), *rest)))
        for low, high in (limits, (-np.inf, np.inf))
    )
    q = machine.sample(np.random.default_rng(0), 1000)[:, 0]
    assert (q >= lower).all() and (q <= upper).all()
    free = unlimited.sample(np.random.default_rng(0), 1000)[:, 0]
    inside = (free > lower) & (free < upper)
    np.testing.assert_allclose(
        q[inside], free[inside], rtol=1e-14
    )  # what lies within stays as it is
    catena.simulate(machine, q=machine.sample(np.random.default_rng(1)), until=0.01)
