"""Differential inverse kinematics: against an independent solver, within limits, with loops."""

import numpy as np
import pytest

import catena
from catena.control import ComTask, FrameTask, PostureTask, differential_ik, qp_solver
from catena.control.qp_solvers import QP, QP_SOLVERS
from catena.errors import StateError
from robots import machine_of as robot


def panda():
    machine = robot("panda")
    frame = list(machine.mechanism.ordered)[6].child
    q = np.zeros(machine.nq)
    q[:7] = [0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8]
    return machine, frame, q


def test_a_step_is_the_minimum_that_another_solver_finds():
    pytest.importorskip("quadprog")
    machine, frame, q = panda()
    tasks = [FrameTask(frame), PostureTask(1e-2)]
    ik = differential_ik(machine, tasks, dt=0.005, speed_limits=2.0, damping=1e-4)
    goal = machine.pose(q, frame)
    goal[:3, 3] += [0.1, 0.1, -0.1]
    y = ik.targets({frame: goal, "posture": q})
    rng = np.random.default_rng(0)
    many = q + 0.2 * rng.standard_normal((64, machine.nq))
    found = ik(many, y)
    solve = qp_solver("quadprog")
    none, no_rows = np.zeros(0), np.zeros((0, machine.nv))
    saturated = 0
    for x, v in zip(many, found):
        H, g, low, high = ik._values(x, y)
        other = solve(QP(H, g, no_rows, none, no_rows, none, none, low, high))
        assert np.allclose(v, other, atol=1e-7)
        assert np.allclose(v, ik(x, y), atol=1e-9)
        assert (v <= high + 1e-9).all() and (v >= low - 1e-9).all()
        saturated += bool((abs(v) > 1.999).any())
    assert saturated > 10


def test_it_arrives_and_stays_within_limits():
    machine, frame, q = panda()
    goal = machine.pose(q, frame)
    goal[:3, 3] += [0.1, 0.1, -0.1]
    ik = differential_ik(machine, [FrameTask(frame)], dt=0.005, speed_limits=2.0, gain=0.5)
    y = ik.targets({frame: goal})
    for _ in range(200):
        v = ik(q, y)
        assert abs(v).max() < 2.0 + 1e-9
        q = ik.integrate(q, v)
    assert np.allclose(machine.pose(q, frame), goal, atol=1e-6)


def test_a_loop_stays_closed():
    pytest.importorskip("piqp")
    machine = catena.compile(catena.load("four_bar"))
    q, _ = catena.assemble(machine, machine.neutral())
    crank = PostureTask(1.0, joints=(machine.joint_names[0],))
    ik = differential_ik(machine, [crank], dt=0.01, gain=0.2, limits=False)
    goal = q.copy()
    goal[0] += 0.3
    for _ in range(40):
        q = ik.integrate(q, ik(q, ik.targets({"posture": goal})))
    assert q[0] == pytest.approx(goal[0], abs=1e-3)
    assert abs(machine.constraint_rows(q, np.zeros(machine.nv))[0]).max() < 1e-6


def test_the_centre_of_mass_of_a_floating_robot_moves():
    machine = robot("solo12")
    q = machine.neutral()
    ik = differential_ik(machine, [ComTask(), PostureTask(1e-4)], dt=0.01, gain=0.5, limits=False)
    com = lambda q: machine.momentum(q, np.zeros(machine.nv))["com"]  # noqa: E731
    goal = com(q) + [0.0, 0.02, 0.03]
    y = ik.targets({"com": goal, "posture": q})
    for _ in range(40):
        q = ik.integrate(q, ik(q, y))
    assert np.allclose(com(q), goal, atol=2e-3)


@pytest.mark.parametrize("name", list(QP_SOLVERS))
def test_solvers_agree_on_a_random_programme(name):
    pytest.importorskip(QP_SOLVERS[name].package)
    rng = np.random.default_rng(5)
    n, e, m = 8, 2, 5
    L = rng.standard_normal((n, n))
    A, G = rng.standard_normal((e, n)), rng.standard_normal((m, n))
    p = QP(
        L @ L.T + np.eye(n),
        rng.standard_normal(n),
        A,
        rng.standard_normal(e),
        G,
        np.full(m, -np.inf),
        rng.uniform(0.0, 0.5, m),
        np.full(n, -0.8),
        np.full(n, np.inf),
    )
    x = qp_solver(name)(p)
    assert np.allclose(A @ x, p.b, atol=1e-7) and (G @ x <= p.high + 1e-7).all()
    # stationarity: the gradient is a combination of active rows with the right signs
    from scipy.optimize import nnls

    active = G[p.high - G @ x < 1e-6]
    lower = -np.eye(n)[x + 0.8 < 1e-6]
    rows = np.vstack([A, -A, active, lower])
    _, left = nnls(rows.T, -(p.P @ x + p.c))
    assert left < 1e-6


def test_wrong_arguments_are_refused_by_name():
    machine, frame, q = panda()
    ik = differential_ik(machine, [FrameTask(frame)], dt=0.01)
    with pytest.raises(StateError, match="targets are given for 'hand'"):
        ik.targets({"hand": np.eye(4)})
    with pytest.raises(StateError, match="shape"):
        ik(q[:3], ik.targets({frame: np.eye(4)}))
    with pytest.raises(StateError, match="damping"):
        differential_ik(machine, [FrameTask(frame)], dt=0.01, damping=0.0)
    with pytest.raises(StateError, match="zero or above"):
        FrameTask(frame, position=-1.0)
    with pytest.raises(catena.CatenaError, match="simplex"):
        qp_solver("simplex")
