"""LQR, TVLQR, Kalman filters, LQG and pole placement: against closed forms, python-control, and
the cost of simulated runs.
"""

from dataclasses import replace

import numpy as np
import pytest

import catena
from catena.control import floquet, kalman, lqg, lqr, place, tvlqr
from catena.errors import QuestionError, StateError

TEN_DIGITS = {"rtol": 1e-10, "atol": 1e-12}


def slider(mass=1.0):
    """A mass on a rail without gravity: the double integrator.

    =====[ m ]====> s
    """
    body = catena.Body("block", mass, com=(0, 0, 0), inertia=(1.0, 1.0, 1.0))
    joint = catena.Joint("s", "prismatic", "ground", "block", axis=(1, 0, 0))
    return catena.Mechanism("slider", [body], [joint], gravity=(0, 0, 0))


def cart(outputs=("x", "theta")):
    mechanism = catena.load("cart_pole")
    system = catena.linearize(mechanism, [0.0, 0.0], actuated=["x"], outputs=outputs)
    return mechanism, system


def test_lqr_of_the_double_integrator():
    """Q = 1, R = 1: K = [1, sqrt(3)], P = [[sqrt(3), 1], [1, sqrt(3)]]."""
    regulator = lqr(catena.linearize(slider(), [0.0]), 1.0, 1.0)
    root = np.sqrt(3.0)
    assert np.allclose(regulator.K, [[1.0, root]], **TEN_DIGITS)
    assert np.allclose(regulator.P, [[root, 1.0], [1.0, root]], **TEN_DIGITS)


def test_kalman_filter_of_the_double_integrator():
    """A random force of density w and a position measured with density r: with s = sqrt(w / r),
    L = [sqrt(2 s), s].
    """
    system = catena.linearize(slider(), [0.0], outputs=["s"])
    w, r = 3.0, 0.02
    found = kalman(system, {"v['s']": w}, r)
    s = np.sqrt(w / r)
    assert np.allclose(found.L.ravel(), [np.sqrt(2 * s), s], **TEN_DIGITS)


def test_lqr_against_python_control():
    control = pytest.importorskip("control")
    rng = np.random.default_rng(1)
    machine = catena.compile(catena.load("triple_pendulum"))
    q = machine.sample(rng)
    system = catena.linearize(machine, q, tau=catena.analysis.static_torques(machine, q).tau)
    weight = rng.standard_normal((len(system.states),) * 2)
    Q, R = weight @ weight.T, np.diag(rng.uniform(0.1, 2.0, len(system.inputs)))
    mine = lqr(system, Q, R)
    K, P, _ = control.lqr(system.A, system.B, Q, R)
    poles = np.linalg.eigvals(system.A - system.B @ K)  # python-control gives single precision
    assert np.allclose(mine.K, K, rtol=1e-10, atol=1e-10 * np.abs(K).max())
    assert np.allclose(mine.P, P, rtol=1e-10, atol=1e-10 * np.abs(P).max())
    assert np.allclose(np.sort_complex(mine.poles), np.sort_complex(poles), rtol=1e-8)


def test_the_riccati_residual_of_an_arm_with_a_light_wrist():
    """B has entries from 0.1 to 1000 here; the residual is relative to the terms of the
    equation.
    """
    machine = catena.compile(catena.load("stanford_arm"))
    q = machine.sample(np.random.default_rng(1))
    system = catena.linearize(machine, q, tau=catena.analysis.static_torques(machine, q).tau)
    found = lqr(system, 1.0, 1.0)
    PA, gain = found.P @ system.A, found.K.T @ found.K
    residual = PA + PA.T - gain + np.eye(len(PA))
    assert abs(residual).max() < 1e-10 * max(abs(PA).max(), abs(gain).max())


def test_sampled_lqr_against_python_control():
    control = pytest.importorskip("control")
    _, system = cart()
    T, Q, R = 0.02, np.diag([1.0, 2.0, 0.1, 0.3]), np.array([[0.5]])
    mine = lqr(system, Q, R, sample=T)
    # the cost of one sample, by quadrature
    nodes, weights = np.polynomial.legendre.leggauss(12)
    whole = np.zeros((5, 5))
    from scipy.linalg import expm

    both = np.zeros((5, 5))
    both[:4, :4], both[:4, 4:] = system.A, system.B
    for x, w in zip(nodes, weights):
        F = expm(0.5 * T * (1 + x) * both)
        whole += 0.5 * T * w * F.T @ np.block([[Q, np.zeros((4, 1))], [np.zeros((1, 4)), R]]) @ F
    F = expm(T * both)
    K, _, _ = control.dlqr(F[:4, :4], F[:4, 4:], whole[:4, :4], whole[4:, 4:], whole[:4, 4:])
    assert np.allclose(mine.K, K, rtol=1e-9)


def test_kalman_filter_against_python_control():
    control = pytest.importorskip("control")
    _, system = cart()
    W, V = np.diag([1e-3, 2e-3, 0.4, 0.5]), np.diag([1e-4, 3e-4])
    mine = kalman(system, W, V)
    L, P, _ = control.lqe(system.A, np.eye(4), system.C, W, V)
    assert np.allclose(mine.L, L, rtol=1e-10, atol=1e-10 * np.abs(L).max())
    assert np.allclose(mine.P, P, rtol=1e-10, atol=1e-10 * np.abs(P).max())


def test_sampled_kalman_filter_is_the_limit_of_its_recursion():
    from scipy.linalg import expm

    from catena.control.riccati import noise_of_sample

    _, system = cart()
    T, V = 0.01, 1e-4 * np.eye(2)
    found = kalman(system, 1.0, V, sample=T)
    A, W, P = expm(T * system.A), noise_of_sample(system.A, np.eye(4), T), np.eye(4)
    for _ in range(3000):
        L = P @ system.C.T @ np.linalg.inv(system.C @ P @ system.C.T + V)
        P = A @ (P - L @ system.C @ P) @ A.T + W
    assert np.allclose(found.L, L, rtol=1e-9)


def test_the_cost_of_a_run_is_that_of_the_design():
    """For small deviations the integral of x' Q x + u' R u along a run is x0' P x0."""
    mechanism, system = cart()
    regulator = lqr(system, 1.0, 0.1)
    start = 1e-4 * np.array([1.0, -0.7])
    run = catena.simulate(mechanism, q=start, until=25.0, control=regulator, output=0.01)
    x = np.hstack([run.data["q"].values, run.data["v"].values])
    u = run.data["tau"].values[:, 0]
    from scipy.integrate import simpson

    cost = simpson((x**2).sum(axis=1) + 0.1 * u**2, x=run.time)
    x0 = np.array([*start, 0.0, 0.0])
    assert cost == pytest.approx(x0 @ regulator.P @ x0, rel=1e-5)


def test_lqg_in_a_batch_equals_single_runs():
    mechanism, system = cart()
    for sample in (None, 0.01):
        control = lqg(
            lqr(system, 1.0, 0.1, sample=sample), kalman(system, 1.0, 1e-3, sample=sample)
        )
        starts = np.array([[0.0, 0.1], [0.1, -0.05], [0.2, 0.0]])
        many = catena.simulate(mechanism, q=starts, until=1.0, control=control)
        one = catena.simulate(mechanism, q=starts[1], until=1.0, control=control)
        assert np.allclose(many.data["q"].values[1], one.data["q"].values, atol=1e-7)


def test_lqg_reads_an_accelerometer():
    mechanism, system = cart(("x", "theta", "a['x']"))
    assert abs(system.D).max() > 0.5
    control = lqg(lqr(system, 1.0, 0.1), kalman(system, 1.0, [1e-4, 1e-4, 1e-2]))
    run = catena.simulate(mechanism, q=[0.0, 0.05], until=12.0, control=control)
    assert abs(run.data["q"].values[-1]).max() < 1e-3


def test_poles_are_placed_once_and_repeatedly():
    _, system = cart()
    for wanted in ([-2, -3, -4, -5], [-1 + 2j, -1 - 2j, -3 + 1j, -3 - 1j]):
        found = place(system, wanted).poles
        assert np.allclose(np.sort_complex(found), np.sort_complex(np.array(wanted, complex)))
    four = place(system, [-3.0] * 4).K  # (s + 3)^4, an eigenvalue of four is not determined
    coefficients = np.poly(system.A - system.B @ four)
    assert np.allclose(coefficients, np.poly([-3.0] * 4), rtol=1e-9)


def test_tvlqr_at_rest_is_lqr():
    """Along a rest the backward equation converges to the algebraic one; with its final weight the
    gain is constant from the start.
    """
    machine = catena.compile(catena.load("cart_pole"))
    system = catena.linearize(machine, [0.0, 0.0], actuated=["x"])
    steady = lqr(system, 1.0, 0.1)
    t = np.linspace(0.0, 2.0, 41)
    rest = (t, np.zeros((41, 2)), np.zeros((41, 2)), np.zeros((41, 2)))
    found = tvlqr(machine, rest, 1.0, 0.1, final=steady.P, actuated=["x"])
    assert np.allclose(found.K, steady.K, rtol=1e-10)
    held = lqr(system, 1.0, 0.1, sample=0.02)
    found = tvlqr(machine, rest, 1.0, 0.1, final=held.P, actuated=["x"], sample=0.02)
    assert np.allclose(found.K, held.K, rtol=1e-9)


def test_tvlqr_satisfies_its_differential_equation_to_order_four():
    """S against an integration by SciPy of the Riccati equation along a swing."""
    from scipy.integrate import solve_ivp

    machine = catena.compile(catena.load("pendulum"))
    swing = lambda n: catena.simulate(machine, q=[2.0], until=1.0, output=1.0 / n)  # noqa: E731
    fine = swing(4000)
    from scipy.interpolate import CubicHermiteSpline

    data = fine.data
    q = CubicHermiteSpline(fine.time, data["q"].values[:, 0], data["v"].values[:, 0])

    def rate(t, s):
        S = s.reshape(2, 2)
        A, B = catena.linearize(machine, [q(t)], [0.0])
        return -(A.T @ S + S @ A - S @ B @ B.T @ S + np.eye(2)).ravel()

    exact = solve_ivp(rate, (1.0, 0.0), np.eye(2).ravel(), rtol=1e-11, atol=1e-12).y[:, -1]
    errors = []
    for n in (10, 20, 40):
        S = tvlqr(machine, swing(n), 1.0, 1.0, actuated=["pivot"]).S[0]
        errors.append(abs(S.ravel() - exact).max())
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert errors[-1] < 1e-5 and (slopes > 3.5).all()


def test_tvlqr_holds_a_motion_that_falls_over_without_it():
    mechanism = catena.load("cart_pole")
    pushed = catena.simulate(
        mechanism,
        q=[0.0, 0.3],
        until=1.0,
        control=lqr(catena.linearize(mechanism, [0.0, 0.0], actuated=["x"]), 1.0, 0.1),
        output=0.005,
    )
    follow = tvlqr(mechanism, pushed, 10.0, 0.1, actuated=["x"])
    end = lambda run: run.data["q"].values[-1]  # noqa: E731
    near = {"q": [0.0, 0.4], "until": 1.0, "output": 0.005}
    again = catena.simulate(mechanism, control=follow, **near)
    alone = catena.simulate(mechanism, forces=pushed.data["tau"].values[:-1], **near)
    assert abs(end(again) - end(pushed))[1] < 0.02 < 1.0 < abs(end(alone) - end(pushed))[1]
    exact = catena.simulate(mechanism, q=[0.0, 0.3], until=1.0, control=follow, output=0.005)
    assert abs(end(exact) - end(pushed)).max() < 1e-4


def test_floquet_multipliers_of_a_damped_pendulum_by_the_exponential():
    from scipy.linalg import expm

    machine = catena.compile(catena.load("cart_pole"))
    t = np.linspace(0.0, 0.4, 9)
    none = np.zeros((9, 2))
    found = floquet(machine, (t, none, none, none))
    A, _ = catena.linearize(machine, [0.0, 0.0])
    assert np.allclose(found.monodromy, expm(0.4 * A), rtol=1e-12)


def test_what_is_no_equilibrium_is_refused():
    with pytest.raises(QuestionError, match="not an equilibrium: the acceleration of 'x'"):
        lqr(catena.linearize(catena.load("cart_pole"), [0.0, 0.4], actuated=["x"]), 1.0, 1.0)


def test_what_cannot_be_reached_is_named():
    floating = replace(catena.load("cart_pole"), gravity=(0.0, 0.0, 0.0))
    lost = catena.linearize(floating, [0.0, 0.0], actuated=["theta"])
    with pytest.raises(QuestionError, match="'x'.* cannot be reached by theta"):
        lqr(lost, 1.0, 1.0)
    with pytest.raises(QuestionError, match="no inputs"):
        lqr(catena.linearize(floating, [0.0, 0.0], actuated=[]), 1.0, 1.0)


def test_wrong_weights_are_refused_by_name():
    _, system = cart()
    with pytest.raises(catena.CatenaError, match="thetta"):
        lqr(system, {"thetta": 1.0}, 1.0)
    with pytest.raises(StateError, match="positive definite"):
        lqr(system, 1.0, 0.0)
    with pytest.raises(StateError, match="shape"):
        lqr(system, [1.0, 2.0], 1.0)
    with pytest.raises(StateError, match="sample times"):
        lqg(lqr(system, 1.0, 1.0, sample=0.01), kalman(system, 1.0, 1.0))
