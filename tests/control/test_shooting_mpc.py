"""Predictive control by multiple shooting: near the target it is the discrete LQR, limits hold, and
plans become motions.
"""

import numpy as np
import pytest

import catena
from catena.control import shooting_mpc
from catena.control.riccati import discrete_riccati
from catena.errors import QuestionError, StateError

pytest.importorskip("proxsuite")


def cart(**options):
    machine = catena.compile(catena.load("cart_pole"))
    given = {"horizon": 1.0, "intervals": 25, "actuated": ["x"], **options}
    return machine, shooting_mpc(machine, [0.0, 0.0], 1.0, 0.1, **given)


def test_for_small_deviations_it_is_the_discrete_regulator():
    _, mpc = cart()
    x = np.zeros((1, 4))
    _, A, B = mpc._steps(x, np.zeros((1, 1)))
    K, P = discrete_riccati("test", A[0], B[0], np.eye(4), 0.1 * np.eye(1), np.zeros((4, 1)))
    _, mpc = cart(final=P)
    start = np.array([1e-4, -2e-4, 3e-4, 1e-4])
    plan, _ = mpc.improve(start[:2], start[2:], (np.zeros((26, 4)), np.zeros((25, 1))))
    assert plan[1][0] == pytest.approx(-K @ start, rel=1e-3)


def test_derivatives_by_differences():
    _, mpc = cart()
    rng = np.random.default_rng(0)
    x, u = rng.standard_normal((1, 4)), rng.standard_normal((1, 1))
    _, A, B = mpc._steps(x, u)
    for k in range(4):
        d = np.zeros((1, 4))
        d[0, k] = 1e-6
        slope = (mpc._steps(x + d, u)[0] - mpc._steps(x - d, u)[0]) / 2e-6
        assert np.allclose(A[0][:, k], slope[0], atol=1e-7)
    slope = (mpc._steps(x, u + 1e-6)[0] - mpc._steps(x, u - 1e-6)[0]) / 2e-6
    assert np.allclose(B[0][:, 0], slope[0], atol=1e-7)


def test_plans_converge_to_motions_within_limits():
    _, mpc = cart(limits=8.0, state_limits={"x": (-0.2, 0.2)})
    q, v = np.array([0.0, 0.15]), np.zeros(2)
    plan, gaps = mpc.start(q, v), []
    for _ in range(12):
        plan, gap = mpc.improve(q, v, plan)
        gaps.append(gap)
    assert gaps[-1] < 1e-5 < gaps[0]
    assert abs(plan[1]).max() <= 8.0 + 1e-6 and abs(plan[0][:, 0]).max() <= 0.2 + 1e-6


def test_it_balances_in_a_simulation():
    machine, mpc = cart(limits=20.0, final=100.0)
    run = catena.simulate(machine, q=[0.0, 0.5], until=3.0, control=mpc.controller())
    assert abs(run.data["q"].values[-1, 1]) < 0.02
    assert abs(run.data["tau"].values).max() <= 20.0 + 1e-6


def test_what_cannot_be_treated_is_refused():
    with pytest.raises(QuestionError, match="closed loops"):
        shooting_mpc(
            catena.load("four_bar"),
            [0.0] * 3,
            1.0,
            1.0,
            horizon=1.0,
            intervals=5,
            actuated=["crank"],
        )
    with pytest.raises(StateError, match="intervals"):
        cart(intervals=0)
    with pytest.raises(StateError, match="state_limits of 'y'"):
        cart(state_limits={"y": (0.0, 1.0)})
