"""Controllers with known answers: linear loops in closed form, error dynamics, saturation, samples,
batches, bad input.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.linalg import expm

from catena.errors import SimulationError, StateError, UnknownNameError
from catena.machine.machine import compile
from catena.model.loads import JointSpring
from catena.model.mechanism import GROUND, Body, Joint, Mechanism
from catena.simulation import control as C
from catena.simulation import simulate
from catena.simulation import trajectories as T
from catena.simulation.trajectories import piecewise
from closed import high_stiffness, high_stiffness_state
from zoo import arm, pendulum, random_tree

M, K, D = 2.0, 30.0, 0.8


def slider(**joint: object) -> Mechanism:
    """A mass of 2 kg on a horizontal rail, a spring of 30 N/m and a damper of 0.8 N s/m to the
    ground.

    |-/\\/\\-[ M ]--> x
    """
    rail = Joint("rail", "prismatic", GROUND, "mass", axis=(1, 0, 0), damping=D, **joint)  # type: ignore[arg-type]
    return Mechanism(
        "slider",
        (Body("mass", M, (0, 0, 0), (1, 1, 1)),),
        (rail,),
        loads=(JointSpring("spring", "rail", K, 0.0),),
    )


def linear(A: np.ndarray, b: np.ndarray, t: np.ndarray) -> np.ndarray:
    """x' = A x + b from zero, (times, n)."""
    n = len(A)
    wide = np.zeros((n + 1, n + 1))
    wide[:n, :n], wide[:n, n] = A, b
    return np.array([expm(wide * x)[:n, n] for x in t])


# --- closed forms
@pytest.mark.parametrize("kp, ki, kd", [(50.0, 0.0, 3.0), (50.0, 40.0, 3.0), (0.0, 20.0, 8.0)])
def test_pid_on_a_mass_and_spring(kp: float, ki: float, kd: float) -> None:
    """M x'' + (D + kd) x' + (K + kp) x = kp r + ki z, z' = r - x: of second order without ki, of
    third with it.
    """
    r = 0.4
    result = simulate(
        slider(), until=3.0, output=0.1, control=C.PID(kp, ki, kd, {"rail": r}), tolerance=1e-11
    )
    A = np.array([[0, 1, 0], [-(K + kp) / M, -(D + kd) / M, ki / M], [-1, 0, 0]])
    known = linear(A, np.array([0, kp * r / M, r]), result.time)
    assert np.abs(result.q.values[:, 0] - known[:, 0]).max() < 1e-9
    assert np.abs(result.v.values[:, 0] - known[:, 1]).max() < 1e-9
    tau = kp * (r - known[:, 0]) + ki * known[:, 2] - kd * known[:, 1]
    assert np.abs(result.tau.values[:, 0] - tau).max() < 1e-8
    assert result.ledger.energy_balance < 1e-9


def test_integral_takes_away_the_rest() -> None:
    result = simulate(slider(), until=20.0, output=1.0, control=C.PID(50.0, 40.0, 10.0, 0.4))
    assert abs(result.q.values[-1, 0] - 0.4) < 1e-3
    assert result.data["state_name"].values[2] == "integral of rail"
    # the integral carries the spring
    assert abs(result.state.values[-1, 2] * 40.0 - K * 0.4) < 0.05


def test_an_integral_to_start_from() -> None:
    """The integral that carries the spring where the slider stands: it stays there; a wrong one is
    refused.
    """
    still = simulate(
        slider(),
        [0.4],
        until=1.0,
        output=0.5,
        control=C.PID(50.0, 40.0, 10.0, 0.4, integral={"rail": K * 0.4 / 40.0}),
    )
    assert np.abs(still.q.values[:, 0] - 0.4).max() < 1e-9 and still.state.values[
        0, 2
    ] == pytest.approx(K * 0.4 / 40.0)
    with pytest.raises(StateError, match="integral = nan; it is a finite number"):
        C.PID(1.0, 1.0, 1.0, 0.4, integral=np.nan)
    with pytest.raises(UnknownNameError, match="no coordinate 'rial'"):
        simulate(slider(), until=1.0, control=C.PID(1.0, 1.0, 1.0, 0.4, integral={"rial": 1.0}))


def test_tracks_a_sine() -> None:
    """With kp and kd on the error the response to r = a sin(w t) is the known transfer function;
    after 20 s only it is left.
    """
    kp, kd, a, w = 200.0, 20.0, 0.3, 4.0
    result = simulate(
        slider(),
        until=22.0,
        output=0.1,
        control=C.PD(kp, kd, T.sine({"rail": a}, w), gravity=False),
        tolerance=1e-11,
    )
    G = (kp + kd * 1j * w) / (K + kp + (D + kd) * 1j * w - M * w**2)
    late = result.time > 20
    assert (
        np.abs(result.q.values[late, 0] - (a * G * np.exp(1j * w * result.time[late])).imag).max()
        < 1e-8
    )


# --- limits
@pytest.mark.parametrize(
    "limits, mechanism",
    [
        (5.0, slider()),
        ({"rail": 5.0}, slider()),
        ("effort", slider(effort=5.0)),
        ({"rail": (-5.0, 5.0)}, slider()),
    ],
)
def test_saturation(limits: object, mechanism: Mechanism) -> None:
    hard = simulate(mechanism, until=2.0, output=0.01, control=C.PID(400.0, 0.0, 5.0, 0.4, limits))
    assert hard.tau.values.max() == 5.0 and hard.tau.values.min() >= -5.0
    assert hard.ledger.energy_balance < 1e-8
    soft = simulate(
        mechanism, until=2.0, output=0.01, control=C.PID(400.0, 0.0, 5.0, 0.4, limits, smooth=True)
    )
    assert 4.99 < soft.tau.values.max() <= 5.0
    # as long as it is saturated
    known = simulate(mechanism, until=0.1, output=0.01, control=np.array([5.0]))
    assert np.abs(hard.q.values[: len(known.time)] - known.q.values).max() < 1e-9


def test_one_sided_limit() -> None:
    result = simulate(
        slider(),
        until=1.0,
        output=0.01,
        control=C.PID(400.0, 0.0, 5.0, T.sine({"rail": 0.4}, 9.0), {"rail": (0.0, 50.0)}),
    )
    assert result.tau.values.min() == 0.0 and 10 < result.tau.values.max() <= 50.0


def test_anti_windup() -> None:
    """A step that saturates: without it the integral grows meanwhile, and the mass overshoots by
    far.
    """

    def run(anti_windup: bool | float):
        control = C.PID(60.0, 60.0, 15.0, 0.5, limits=18.0, anti_windup=anti_windup)
        return simulate(slider(), until=12.0, output=0.02, control=control)

    off = run(False)
    on = run(True)
    slow = run(5.0)
    over = [r.q.values.max() - 0.5 for r in (off, on, slow)]
    assert over[1] < 0.25 * over[0] and over[1] < over[2] < over[0]
    for r in (off, on, slow):
        assert abs(r.q.values[-1, 0] - 0.5) < 2e-2 and r.ledger.energy_balance < 1e-7
    free = simulate(slider(), until=3.0, control=C.PID(60.0, 60.0, 15.0, 0.5))
    same = simulate(slider(), until=3.0, control=C.PID(60.0, 60.0, 15.0, 0.5, limits=1e9))
    # and does nothing while nothing saturates
    assert np.abs(free.q.values - same.q.values).max() < 1e-12


# --- with the model
def motion(machine, seconds: float = 1.0) -> T.Trajectory:
    rng = np.random.default_rng(4)
    start, end = rng.uniform(-1, 1, (2, machine.nq))
    return T.quintic(
        [0, seconds], {n: [a, b] for n, a, b in zip(machine.coordinate_names, start, end)}
    )


def damped(mechanism: Mechanism) -> Mechanism:
    from dataclasses import replace

    return mechanism.with_(joints=tuple(replace(j, damping=0.3) for j in mechanism.joints))


def test_computed_torque_tracks_a_quintic() -> None:
    machine = compile(damped(arm(6)))
    path = motion(machine)
    q, v, _ = path(0.0)
    result = simulate(
        machine,
        q,
        v,
        until=1.2,
        output=0.05,
        control=C.ComputedTorque(path, 100.0, 20.0),
        tolerance=1e-10,
    )
    wanted = path(result.time)
    assert (
        np.abs(result.q.values - wanted[0]).max() < 1e-8
        and np.abs(result.v.values - wanted[1]).max() < 1e-8
    )
    known = machine.inverse_dynamics(*wanted) + 0.3 * wanted[1]
    assert np.abs(result.tau.values - known).max() < 1e-6
    assert result.ledger.energy_balance < 1e-8


def test_computed_torque_errors_die_out_as_designed() -> None:
    """e'' + 2 w e' + w^2 e = 0, whatever the arm does: e(t) = e0 (1 + w t) exp(-w t)."""
    machine = compile(arm(3))
    path, w = motion(machine), 6.0
    e0 = np.array([0.2, -0.1, 0.3])
    result = simulate(
        machine,
        path(0.0)[0] - e0,
        until=1.0,
        output=0.05,
        control=C.ComputedTorque(path, w**2, 2 * w),
        tolerance=1e-11,
    )
    error = path(result.time)[0] - result.q.values
    t = result.time[:, None]
    assert np.abs(error - e0 * (1 + w * t) * np.exp(-w * t)).max() < 1e-9


def test_computed_torque_of_some_coordinates() -> None:
    """Only the cart has a motor; the pendulum swings, the cart tracks all the same."""
    machine = compile(pendulum(2, slider=True))
    path = T.quintic([0, 1], {"rail": [0.0, 0.7]})
    result = simulate(
        machine,
        [0, 0.3, -0.2],
        until=1.5,
        output=0.05,
        control=C.ComputedTorque(path, 25.0, 10.0),
        tolerance=1e-10,
    )
    assert np.abs(result.q.values[:, 0] - path(result.time)[0][:, 0]).max() < 1e-9
    assert np.all(result.tau.values[:, 1:] == 0.0) and np.ptp(result.q.values[:, 1]) > 0.1
    assert result.ledger.energy_balance < 1e-8


@pytest.mark.parametrize("name", ["arm6", "tree"])
def test_gravity_compensation_holds_still(name: str) -> None:
    machine = compile(
        arm(6) if name == "arm6" else random_tree(9, ["general", "revolute", "planar"])
    )
    q = np.random.default_rng(1).uniform(-1, 1, machine.nq)
    target = dict(zip(machine.coordinate_names, q))
    result = simulate(machine, q, until=2.0, control=C.PD(50.0, 10.0, target))
    assert np.abs(result.q.values - q).max() < 1e-9
    assert np.allclose(result.tau.values, machine.gravity(q), atol=1e-7)
    loose = simulate(machine, q, until=0.2, control=C.PD(50.0, 10.0, target, gravity=False))
    assert np.abs(loose.q.values - q).max() > 1e-3


def test_seed_004_pid_holds_the_platform() -> None:
    """[Merwe1995] section 8.2.2: gains 800, 1000, 50 on slides and second knee turns; it falls at
    first, then comes back.

    Once it is back the forces hold the platform still, as the integral finds them.
    """
    machine = compile(high_stiffness())
    q = high_stiffness_state()
    names = [n for k in (1, 2, 3) for n in (f"hip{k}.Dx", f"knee{k}.Rz")]
    target = {n: q[machine.coordinate_names.index(n)] for n in names}
    result = simulate(
        machine,
        q,
        until=6.0,
        output=0.05,
        control=C.PID(800.0, 1000.0, 50.0, target),
        tolerance=1e-8,
    )
    height = machine.pose(result.q.values, "platform")[:, 1, 3]
    assert -0.1 < height.min() < -0.01 and 0 < result.time[height.argmin()] < 1.0
    assert abs(height[-1] - height[0]) < 0.03 * abs(height.min() - height[0])
    # "it takes some time for the integrated error to grow"
    assert np.all(np.diff(height[result.time > 2.0]) > -1e-9)
    slides = result.tau.values[:, [machine.speed_names.index(f"hip{k}.Dx") for k in (1, 2, 3)]]
    assert np.ptp(slides, axis=1).max() < 1e-4  # by symmetry
    assert result.ledger.closure < 1e-8 and result.ledger.energy_balance < 1e-6


# --- samples
def test_sampled_pd_in_closed_form() -> None:
    """Zero-order hold: x(n + 1) = F x(n) + g u(n), exactly, with u from the state at the sample."""
    T_s, kp, kd, r = 0.02, 120.0, 12.0, 0.3
    result = simulate(
        slider(), until=1.0, output=T_s, control=C.PID(kp, 0.0, kd, r, sample=T_s), tolerance=1e-12
    )
    A = np.array([[0, 1], [-K / M, -D / M]])
    b = np.array([0, 1 / M])
    F = expm(A * T_s)
    g = linear(A, b, np.array([T_s]))[0]
    x, known = np.zeros(2), [np.zeros(2)]
    for _ in range(50):
        x = F @ x + g * (kp * (r - x[0]) - kd * x[1])
        known.append(x)
    assert np.abs(result.q.values[:, 0] - np.array(known)[:, 0]).max() < 1e-10
    assert result.tau.values[0, 0] == kp * r  # the first row has the first sample
    assert result.ledger.energy_balance < 1e-10


def test_sampled_integral_is_a_sum() -> None:
    T_s, ki = 0.05, 30.0
    result = simulate(
        slider(),
        until=1.0,
        output=T_s,
        control=C.PID(0.0, ki, 0.0, 0.2, sample=T_s),
        tolerance=1e-12,
    )
    errors = 0.2 - result.q.values[:-1, 0]
    sums = np.concatenate([[0.0], np.cumsum(T_s * errors)])
    held = result.tau.values[1:, 0]  # a row at a sample shows what was held until then
    assert np.abs(held - ki * sums[:-1]).max() < 1e-9


@pytest.mark.parametrize("law", ["pid", "computed torque"])
def test_sampled_converges_to_continuous(law: str) -> None:
    """The error of a hold goes with the sample time: order one."""
    machine = compile(arm(3))
    path = motion(machine)
    q = path(0.0)[0] + 0.1

    def end(sample: float | None) -> np.ndarray:
        if law == "pid":
            control = C.PID(40.0, 10.0, 4.0, path, gravity=True, sample=sample)
        else:
            control = C.ComputedTorque(path, 36.0, 12.0, sample=sample)
        return simulate(
            machine, q, until=0.8, output=0.8, control=control, tolerance=1e-10
        ).q.values[-1]

    continuous = end(None)
    errors = [np.abs(end(s) - continuous).max() for s in (0.008, 0.004, 0.002)]
    assert 1.8 < errors[0] / errors[1] < 2.2 and 1.8 < errors[1] / errors[2] < 2.2


@pytest.mark.parametrize("integrator", ["rk4", "dopri5", "semi_implicit", "gauss4"])
def test_samples_by_other_integrators(integrator: str) -> None:
    control = C.PID(120.0, 30.0, 12.0, 0.3, sample=0.013)  # rows and samples do not meet
    known = simulate(slider(), until=0.5, output=0.05, control=control, tolerance=1e-11)
    got = simulate(
        slider(),
        until=0.5,
        output=0.05,
        control=control,
        integrator=integrator,
        step=1e-4,
        tolerance=1e-10,
    )
    assert np.abs(got.q.values - known.q.values).max() < (
        2e-3 if integrator == "semi_implicit" else 1e-8
    )


def test_two_sample_times_side_by_side() -> None:
    fast = C.PD(100.0, 0.0, 0.3, gravity=False, sample=0.01)
    slow = C.PD(0.0, 9.0, 0.3, gravity=False, sample=0.025)
    both = simulate(slider(), until=1.0, output=0.05, control=fast + slow, tolerance=1e-10)
    clocks = [n for n in both.data["state_name"].values if n.startswith("next sample")]
    assert clocks == ["next sample, every 0.01 s", "next sample, every 0.025 s"]
    near = simulate(slider(), until=1.0, output=0.05, control=C.PD(100.0, 9.0, 0.3, gravity=False))
    assert 1e-4 < np.abs(both.q.values - near.q.values).max() < 0.05
    with pytest.raises(SimulationError, match="held once more"):
        simulate(slider(), until=1.0, control=C.Hold(fast, 0.1))


def test_start_at_another_time() -> None:
    control = C.PD(100.0, 9.0, T.sine({"rail": 0.2}, 3.0), gravity=False, sample=0.01)
    result = simulate(slider(), until=2.0, start=1.5, output=0.05, control=control)
    assert result.tau.values[0, 0] == pytest.approx(
        100.0 * 0.2 * np.sin(4.5) + 9.0 * 0.6 * np.cos(4.5)
    )


# --- knots
def test_fixed_steps_keep_their_order_over_knots() -> None:
    """A force with corners at times that no step meets: the run goes from knot to knot, and RK4
    stays of order four.
    """
    table = T.Trajectory(
        ("f",),
        np.array([0.3137, 0.7291]),
        np.zeros((3, 1)),
        np.array([[[2.0]], [[-3.0]], [[1.0]]]),
        np.zeros((3, 1, 3)),
    )
    control = C.Forces({"rail": table})

    def end(**how) -> float:
        return simulate(slider(), until=1.0, output=1.0, control=control, **how).q.values[-1, 0]

    A = np.array([[0, 1], [-K / M, -D / M]])
    b = np.array([0, 1 / M])
    x, before = np.zeros(2), 0.0
    for until, f in ((0.3137, 2.0), (0.7291, -3.0), (1.0, 1.0)):
        h, before = until - before, until
        x = expm(A * h) @ x + f * linear(A, b, np.array([h]))[0]
    assert abs(end(tolerance=1e-12) - x[0]) < 1e-12
    errors = [abs(end(integrator="rk4", step=h) - x[0]) for h in (0.04, 0.02, 0.01)]
    assert 11 < errors[0] / errors[1] < 23 and 11 < errors[1] / errors[2] < 23


@pytest.mark.parametrize("integrator", ["dop853", "rk4"])
def test_long_table_is_a_short_one(integrator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Followed as numbers in the state or traced whole, a trajectory is the same; also sampled and
    in a batch.
    """
    from catena.simulation.trajectories import trajectory_state

    t = np.linspace(0, 1, 12)
    swing = T.spline(t, {"a": 0.3 * np.sin(4 * t)}) | T.cycloid([0.2, 0.9], {"b": [0.0, 0.5]})
    path = piecewise.trajectory({"pin1": swing.of(["a"]), "pin2": swing.of(["b"])})
    for control in (C.PD(60.0, 6.0, path), C.PID(60.0, 10.0, 6.0, path, sample=0.017)):
        found = []
        for longest in (16, 1):
            monkeypatch.setattr(trajectory_state, "MAX_TRACED_PIECES", longest)
            q = [[0.1, 0.2], [0.0, -0.4], [0.3, 0.0]]
            found.append(
                simulate(
                    pendulum(2),
                    q,
                    until=1.2,
                    output=0.1,
                    control=control,
                    integrator=integrator,
                    step=0.005,
                )
            )
        assert found[1].data.sizes["state_name"] > found[0].data.sizes["state_name"] + 10
        assert np.abs(found[0].q.values - found[1].q.values).max() < 1e-9
        assert np.abs(found[0].tau.values - found[1].tau.values).max() < 1e-7


# --- combined
def test_sum_and_sequence() -> None:
    forces = C.Forces({"rail": T.sine({"f": 2.0}, 5.0)})
    pd = C.PD(40.0, 4.0, 0.2, gravity=False)
    both = simulate(slider(), until=1.0, output=0.1, control=forces + pd)
    e = 0.2 - both.q.values[:, 0]
    v = both.v.values[:, 0]
    assert np.allclose(
        both.tau.values[:, 0], 2.0 * np.sin(5.0 * both.time) + 40.0 * e - 4.0 * v, atol=1e-12
    )
    first = C.PID(0.0, 30.0, 0.0, 0.2)
    second = C.Forces({"rail": 1.5})
    turned = simulate(
        slider(), until=1.0, output=0.1, control=C.Sequence(((0.0, first), (0.45, second)))
    )
    alone = simulate(slider(), until=0.4, output=0.1, control=first)
    assert np.allclose(turned.q.values[:5], alone.q.values, atol=1e-8)
    assert np.all(turned.tau.values[5:, 0] == 1.5)
    integral = turned.state.values[5:, 2]
    assert np.ptp(integral) < 1e-7  # one that rests keeps its integral
    assert turned.ledger.energy_balance < 1e-6


def test_batch_in_lanes_is_single_runs() -> None:
    machine = compile(arm(3))
    path = motion(machine)
    q = path(0.0)[0] + np.random.default_rng(2).uniform(-0.2, 0.2, (6, 3))
    for control in (
        C.PID(40.0, 10.0, 4.0, path, limits=20.0, sample=0.01),
        C.ComputedTorque(path, 36.0, 12.0),
    ):
        many = simulate(machine, q, until=0.5, output=0.1, control=control, tolerance=1e-10)
        for k in (0, 3, 5):
            one = simulate(machine, q[k], until=0.5, output=0.1, control=control, tolerance=1e-10)
            assert np.abs(many.q.values[k] - one.q.values).max() < 1e-7


# --- Python functions
def law(t, q, v):
    return [-30.0 * np.sin(q[0]) - 3.0 * v[0] + 0.5 * t, -5.0 * q[1] - v[1]]


def test_traced_function() -> None:
    machine = compile(pendulum(2))
    q = [0.5, -0.3]
    result = simulate(machine, q, until=1.0, output=0.1, control=C.traced(law, machine))
    tau = np.array([law(t, *x) for t, *x in zip(result.time, result.q.values, result.v.values)])
    assert np.abs(result.tau.values - tau).max() < 1e-12 and result.ledger.energy_balance < 1e-8
    sampled = simulate(
        machine,
        q,
        until=1.0,
        output=0.1,
        control=C.traced(law, machine, sample=0.01),
        tolerance=1e-11,
    )
    law_of_python = lambda t, q, v: law(t, q, v)  # noqa: E731
    law_of_python.sample = 0.01  # type: ignore[attr-defined]
    python = simulate(machine, q, until=1.0, output=0.1, control=law_of_python, tolerance=1e-11)
    assert np.abs(sampled.q.values - python.q.values).max() < 1e-8


def test_traced_matrix_gains() -> None:
    machine = compile(pendulum(2))
    G = np.array([[30.0, 5.0], [5.0, 12.0]])
    result = simulate(
        machine,
        [0.5, -0.3],
        until=0.5,
        output=0.1,
        control=C.traced(lambda t, q, v: -G @ q - 2.0 * v, machine),
    )
    assert np.allclose(result.tau.values, -result.q.values @ G - 2.0 * result.v.values, atol=1e-12)


class Remembers:
    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, t, q, v):
        self.calls += 1
        return [self.calls * q[0], 0.0 * v[1]]


@pytest.mark.parametrize(
    "function, reason",
    [
        (lambda t, q, v: [1.0 if q[0] > 0 else -1.0, 0.0], "truth value"),
        (
            lambda t, q, v: [__import__("math").sin(q[0]), 0.0],
            "other values than called with numbers",
        ),
        (lambda t, q, v: np.clip(-9.0 * q, -1, 1), "truth value"),
        (lambda t, q, v: [0.0, 0.0, 0.0], "it returns 3 values; there are 2 speeds"),
        (Remembers(), "other values than called with numbers"),
    ],
)
def test_function_that_cannot_be_traced(function, reason: str) -> None:
    machine = compile(pendulum(2))
    with pytest.raises(SimulationError) as error:
        C.traced(function, machine)
    assert reason in str(error.value) and "sample=0.001" in str(error.value)
    with pytest.warns(UserWarning, match="it is called from Python every 0.01 s"):
        control = C.traced(function, machine, sample=0.01)
    assert control.sample == 0.01 and not hasattr(control, "law")


def test_fallback_runs() -> None:
    machine = compile(pendulum(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        control = C.traced(lambda t, q, v: np.clip(-9.0 * q - v, -1, 1), machine, sample=0.01)
    result = simulate(machine, [0.5, -0.3], until=0.5, output=0.1, control=control)
    assert np.abs(result.tau.values).max() <= 1.0 and result.ledger.energy_balance < 1e-8


@pytest.mark.parametrize(
    "answer, words",
    [([np.nan, 0.0], "returned nan for 'pin1' at t = 0 s"), ([1.0], "shape (1,) at t = 0 s")],
)
def test_python_controller_that_fails(answer: list, words: str) -> None:
    control = lambda t, q, v: answer  # noqa: E731
    control.sample = 0.01  # type: ignore[attr-defined]
    with pytest.raises(SimulationError) as error:
        simulate(pendulum(2), until=0.1, control=control)
    assert words in str(error.value)


# --- bad input
@pytest.mark.parametrize(
    "make, words",
    [
        (
            lambda: C.PID(-1.0, 0.0, 0.0, 0.0),
            "PID, kp = -1.0; a gain is a finite number, zero or above",
        ),
        (lambda: C.PID(1.0, {"rail": np.nan}, 0.0, 0.0), "PID, ki of 'rail' = nan"),
        (
            lambda: C.ComputedTorque(T.constant({"rail": 0}), 1.0, "much"),
            "ComputedTorque, kd = 'much'",
        ),
        (lambda: C.PID(1.0, 0.0, 0.0, 0.0, sample=0.0), "sample = 0.0; it is a time above zero"),
        (lambda: C.PID(1.0, 0.0, 0.0, 0.0, anti_windup=-2.0), "anti_windup = -2.0"),
        (lambda: C.Hold(C.PID(1.0, 0.0, 0.0, 0.0), None), "sample is None"),  # type: ignore[arg-type]
        (
            lambda: C.Sequence(((1.0, C.Forces({"rail": 1.0})), (0.5, C.Forces({"rail": 1.0})))),
            "begin rise",
        ),
    ],
)
def test_bad_controllers(make, words: str) -> None:
    with pytest.raises(StateError) as error:
        make()
    assert words in str(error.value)


@pytest.mark.parametrize(
    "control, kind, words",
    [
        (
            C.PID(1.0, 0.0, 0.0, {"rial": 0.0}),
            UnknownNameError,
            "no coordinate 'rial' in mechanism 'slider'; ",
        ),
        (C.PID({"rial": 1.0}, 0.0, 0.0, 0.0), UnknownNameError, "Did you mean 'rail'?"),
        (C.PID(1.0, 0.0, 0.0, 0.0, limits={"rial": 1.0}), UnknownNameError, "Did you mean 'rail'?"),
        (
            C.PID(1.0, 0.0, 0.0, 0.0, limits={"rail": -1.0}),
            StateError,
            "limits: 'rail' is given -1.0",
        ),
        (
            C.PID(1.0, 0.0, 0.0, 0.0, limits={"rail": (2.0, 1.0)}),
            StateError,
            "'rail' is given (2.0, 1.0)",
        ),
        (
            C.PID(1.0, 0.0, 0.0, 0.0, limits={"rail": "strong"}),
            StateError,
            "'rail' is given 'strong'",
        ),
        (C.PID(1.0, 0.0, 0.0, 0.0, limits="efort"), UnknownNameError, "Did you mean 'effort'?"),
        (C.PID(1.0, 0.0, 0.0, None), StateError, "a trajectory is a Trajectory or"),
        (
            C.ComputedTorque(T.constant({"rial": 0.0}), 1.0, 1.0),
            UnknownNameError,
            "Did you mean 'rail'?",
        ),
        (C.Forces({"rial": 0.0}), UnknownNameError, "Did you mean 'rail'?"),
    ],
)
def test_controllers_that_do_not_fit(control, kind: type, words: str) -> None:
    with pytest.raises(kind) as error:
        simulate(slider(), until=1.0, control=control)
    assert words in str(error.value)


def test_gain_for_what_is_not_controlled() -> None:
    with pytest.raises(
        UnknownNameError, match="no controlled coordinate 'pin1' in PID, whose kd names it"
    ):
        simulate(pendulum(2), until=1.0, control=C.PID(1.0, 0.0, {"pin1": 1.0}, {"pin2": 0.0}))
