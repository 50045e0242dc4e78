"""Predictive control by rollouts: the rollouts are those of simulate, plans get better, and random
numbers do not depend on threads.
"""

import numpy as np
import pytest

import catena
from catena.control import sampling_mpc
from catena.errors import QuestionError, StateError


def cost(q, v, u):
    return (1.0 - np.cos(q[..., 1])).sum(axis=1) + 0.1 * (q[..., 0] ** 2).sum(axis=1)


def cart(threads=1, **options):
    machine = catena.compile(catena.load("cart_pole"), threads=threads)
    given = {"horizon": 0.6, "intervals": 12, "samples": 64, "actuated": ["x"], "sigma": 4.0}
    return sampling_mpc(machine, cost, **{**given, "limits": 15.0, **options})


def test_rollouts_are_those_of_simulate():
    mpc = cart(step=0.01)
    u = np.random.default_rng(1).standard_normal((5, 12, 1))
    q, v = np.array([0.1, 0.4]), np.array([0.2, -0.3])
    found, _ = mpc.rollout(q, v, u)
    forces = np.zeros((5, 12, 2))
    forces[..., 0] = u[..., 0]
    runs = catena.simulate(
        mpc.machine,
        q=np.tile(q, (5, 1)),
        v=np.tile(v, (5, 1)),
        until=0.6,
        forces=forces,
        output=0.05,
        tolerance=1e-11,
    )
    assert np.allclose(found, runs.data["q"].values, atol=1e-6)


@pytest.mark.parametrize("method", ["mppi", "cem"])
def test_a_plan_becomes_better(method):
    mpc = cart(method=method, temperature=0.1, elite=0.1)
    q, v = np.array([0.0, 0.3]), np.zeros(2)
    worth = lambda plan: cost(*mpc.rollout(q, v, plan[None]), plan[None])[0]  # noqa: E731
    plan = mpc.start()
    values = [worth(plan)]
    for k in range(10):
        plan = mpc.improve(q, v, plan, k)
        values.append(worth(plan))
    assert values[-1] < 0.5 * values[0]
    assert abs(plan).max() <= 15.0


def test_plans_do_not_depend_on_threads():
    q, v = np.array([0.0, 0.3]), np.zeros(2)
    one, two = (cart(threads=n).improve(q, v, cart().start()) for n in (1, 2))
    assert np.array_equal(one, two)


def test_wrong_arguments_are_refused_by_name():
    with pytest.raises(StateError, match="horizon"):
        cart(horizon=0.0)
    with pytest.raises(StateError, match="sigma"):
        cart(sigma=[1.0, 2.0, 3.0])
    with pytest.raises(QuestionError, match="mpii"):
        cart(method="mpii")
    machine = catena.load("cart_pole")
    bad = sampling_mpc(
        machine, lambda q, v, u: 0.0, horizon=0.1, intervals=2, actuated=["x"], sigma=1.0
    )
    with pytest.raises(QuestionError, match="one number for each"):
        bad.improve([0.0, 0.0], [0.0, 0.0], bad.start())
