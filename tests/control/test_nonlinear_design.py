"""Operational-space control, extended Kalman filters and gain schedules, by closed forms and by the
linear designs that they contain.
"""

import numpy as np
import pytest

import catena
from catena.control import (
    FrameTask,
    OperationalSpace,
    extended_kalman,
    gain_schedule,
    kalman,
    lqr,
)
from catena.errors import QuestionError, StateError
from robots import machine_of as robot


def test_the_error_of_a_frame_is_that_of_a_damped_oscillator():
    """e'' + kd e' + kp e = 0 with kd = 2 w, kp = w^2: e = e0 (1 + w t) exp(-w t)."""
    machine = robot("ur5")
    q = np.array([0.1, -1.2, 1.3, -0.4, 0.5, 0.2])
    frame = "wrist_3_link"
    goal = machine.pose(q, frame)
    away = np.array([0.03, -0.04, 0.05])
    goal[:3, 3] += away
    w = 6.0
    law = OperationalSpace(FrameTask(frame), goal, w**2, 2 * w)
    run = catena.simulate(machine, q=q, until=0.6, control=law, output=0.1, friction="smooth")
    t = run.time[:, None]
    left = goal[:3, 3] - machine.pose(run.data["q"].values, frame)[:, :3, 3]
    assert np.allclose(left, away * (1 + w * t) * np.exp(-w * t), atol=1e-6)


def test_the_null_space_goes_to_its_posture_without_moving_the_frame():
    machine = robot("panda")
    q = machine.neutral()
    q[:7] = [0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8]
    frame = list(machine.mechanism.ordered)[6].child
    rest = q.copy()
    rest[0] += 0.4
    law = OperationalSpace(
        FrameTask(frame, orientation=0.0), machine.pose(q, frame), 100, 20, posture=rest
    )
    run = catena.simulate(machine, q=q, until=1.0, control=law, output=0.5, friction="smooth")
    end = run.data["q"].values[-1]
    assert np.allclose(machine.pose(end, frame)[:3, 3], machine.pose(q, frame)[:3, 3], atol=1e-5)
    assert abs(end[0] - q[0]) > 0.05


def test_an_extended_filter_at_rest_is_the_linear_one():
    mechanism = catena.load("cart_pole")
    system = catena.linearize(mechanism, [0.0, 0.0], outputs=["x", "theta"])
    T = 1e-3
    fixed = kalman(system, {"v['x']": 0.1, "v['theta']": 0.1}, 1e-4, sample=T)
    filter = extended_kalman(
        mechanism, ["x", "theta"], {"v['x']": 0.1, "v['theta']": 0.1}, 1e-4, sample=T
    )
    x, P = np.zeros(4), fixed.P
    corrected = np.array(filter.correct(x, np.zeros(2), P, np.array([0.01, 0.0]))[0]).ravel()
    assert np.allclose(corrected, fixed.L @ [0.01, 0.0], rtol=1e-9)
    _, P = filter.predict(x, np.zeros(2), filter.correct(x, np.zeros(2), P, np.zeros(2))[1])
    assert np.allclose(np.array(P), fixed.P, rtol=1e-4, atol=1e-4 * abs(fixed.P).max())


def test_an_extended_filter_follows_a_large_swing():
    """A double pendulum with noisy encoders: the error is consistent with its covariance."""
    mechanism = catena.load("double_pendulum")
    machine = catena.compile(mechanism)
    run = catena.simulate(machine, q=[1.5, 0.5], until=2.0, output=0.005)
    rng = np.random.default_rng(0)
    names = list(machine.coordinate_names)
    y = run.data["q"].values[1:] + 1e-3 * rng.standard_normal((400, 2))
    filter = extended_kalman(machine, names, 1e-6, 1e-6, sample=0.005)
    x, P = filter.run([1.4, 0.6, 0.0, 0.0], 0.1 * np.eye(4), np.zeros((400, 2)), y)
    truth = np.hstack([run.data["q"].values[1:], run.data["v"].values[1:]])
    error = (x - truth)[100:]
    normalised = np.einsum("ti,tij,tj->t", error, np.linalg.inv(P[100:]), error).mean()
    assert 1.0 < normalised < 10.0  # its mean is 4 for a consistent filter
    assert abs(error[:, :2]).max() < 5e-3


def test_a_schedule_is_its_designs_at_their_places():
    mechanism = catena.load("pendulum")
    machine = catena.compile(mechanism)
    angles = [0.5, 1.0, 1.5]
    systems = [
        catena.linearize(machine, [s], tau=catena.analysis.static_torques(machine, [s]).tau)
        for s in angles
    ]
    design = lambda s: lqr(s, {"v['pivot']": 1.0, "pivot": 1.0}, 1.0)  # noqa: E731
    law = gain_schedule(machine, "pivot", systems, design)
    run = catena.simulate(machine, q=[1.0], v=[0.3], until=1e-6, control=law)
    expected = design(systems[1]).forces(machine, [1.0], [0.3])
    assert run.data["tau"].values[0] == pytest.approx(expected, rel=1e-9)
    with pytest.raises(StateError, match="increases"):
        gain_schedule(machine, "pivot", systems[::-1], design)


def test_what_cannot_be_treated_is_refused_by_name():
    with pytest.raises(QuestionError, match="closed loops"):
        extended_kalman(catena.load("four_bar"), ["crank"], 1.0, 1.0, sample=0.01)
    with pytest.raises(StateError, match="pose"):
        OperationalSpace(FrameTask("tip"), np.eye(3), 1.0, 1.0)
    planar = OperationalSpace(FrameTask("tip"), np.eye(4), 1.0, 1.0)
    with pytest.raises(StateError, match="can move in 3 of the 6|can move in 2 of the 6"):
        catena.simulate(catena.load("two_link_arm"), until=0.1, control=planar)
    loop = OperationalSpace(FrameTask("crank"), np.eye(4), 1.0, 1.0)
    with pytest.raises(StateError, match="whole_body"):
        catena.simulate(catena.load("four_bar"), until=0.1, control=loop)
