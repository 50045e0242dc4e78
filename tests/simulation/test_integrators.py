"""Integrators: the slope of the log error is the declared order; laws that the symplectic ones
keep; stiff springs; lanes.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.integrate import DOP853, RK45

import closed
import zoo
from catena.analysis.assembly import assemble
from catena.analysis.statics import equilibrium
from catena.errors import SimulationError
from catena.machine.machine import Machine
from catena.model.loads import JointSpring
from catena.model.mechanism import Body, Joint, Mechanism
from catena.simulation import ALL_INTEGRATORS, simulate
from catena.simulation.integrators.engine import Engine
from catena.simulation.integrators.methods import method
from catena.simulation.system.first_order import System

START = np.array([0.5, -0.2])
RATE = np.array([0.3, 0.4])
# numbers of steps to the end, where the error is neither the start's nor rounding; powers of two
# meet it exactly
LADDERS = {
    "auto": (4, 8, 16),
    "semi_implicit": (512, 1024, 2048),
    "euler": (2048, 4096, 8192),
    "rk4": (32, 64, 128),
    "dopri5": (32, 64, 128),
    "dop853": (4, 8, 16),
    "midpoint": (64, 128, 256),
    "gauss4": (32, 64, 128),
    "rodas6p": (16, 32, 64),
    "radau": (32, 64, 128),
}


def pendulum_case() -> tuple[Mechanism, np.ndarray, np.ndarray, float]:
    return zoo.pendulum(2), np.array([1.0, 0.5]), np.array([1.0, -1.0]), 0.375


def quaternion_case() -> tuple[Mechanism, np.ndarray, np.ndarray, float]:
    m = zoo.random_tree(5, ["ball", "revolute"])
    return m, Machine(m).neutral(), 0.5 * np.arange(1.0, 5.0), 0.5


def closed_case() -> tuple[Mechanism, np.ndarray, np.ndarray, float]:
    """A spatial loop with a ball joint in it; its one motion, the fastest of its speeds 1. The
    motor's angle is given, however assembly searches.
    """
    m = closed.spatial_four_bar()
    q = assemble(m, np.concatenate([[-0.2025], Machine(m).neutral()[1:]]), fixed=["motor"])[0]
    v = consistent_speed(Machine(m), q)
    return m, q, v / np.abs(v).max(), 0.25


def consistent_speed(machine: Machine, q: np.ndarray) -> np.ndarray:
    """The part of (1, ..., 1) that the loops allow."""
    A = machine.constraint_rows(q, np.zeros(machine.nv))[3]
    ones = np.ones(machine.nv)
    return ones - np.linalg.pinv(A, rcond=1e-10) @ (A @ ones)


CASES = {"pendulum": pendulum_case, "quaternion": quaternion_case, "closed": closed_case}


@pytest.fixture(scope="module")
def double() -> System:
    return System(zoo.pendulum(2))


@pytest.fixture(scope="module", params=CASES)
def problem(request) -> tuple[System, np.ndarray, float, np.ndarray]:
    """A system, its state at the start, the end (s) and the exact state there."""
    m, q, v, end = CASES[request.param]()
    system = System(m)
    x = state(system, q, v)
    engine = Engine(
        system,
        method("dop853"),
        x,
        np.zeros(0),
        tolerance=1e-14,
        step=1e-3,
        most=10**6,
        largest=1e-3,
    )
    engine.run(0.0, end, np.array([end]))
    return system, x, end, engine.x[: system.nx]


def state(system: System, q=START, v=RATE) -> np.ndarray:
    return system.start(q, v, np.zeros(0))[:, None]


def ladder(problem: tuple[System, np.ndarray, float, np.ndarray], name: str, steps: int) -> float:
    """The error at the end of so many equal steps; an error that a step may make is no reason to
    shorten it.
    """
    system, x, end, exact = problem
    engine = Engine(
        system,
        method(name),
        x,
        np.zeros(0),
        tolerance=0.1,
        step=end / steps,
        most=10**6,
        largest=end / steps,
    )
    engine.rtol, engine.atol = 10.0, np.full(system.size, 10.0)
    engine.run(0.0, end, np.array([end]))
    assert engine.tally.accepted == steps
    return float(np.abs(engine.x[: system.nx] - exact).max())


# --- orders
def test_every_integrator_has_a_ladder() -> None:
    assert set(LADDERS) == set(ALL_INTEGRATORS)


@pytest.mark.parametrize("name", LADDERS)
def test_order_is_the_declared_one(name: str, problem) -> None:
    """On a plane, in space with a quaternion, and in a closed loop onto which every step is
    projected.
    """
    errors = [ladder(problem, name, n) for n in LADDERS[name]]
    slope = -np.polyfit(np.log(LADDERS[name]), np.log(errors), 1)[0]
    assert abs(slope - method(name).order) < 0.3, (name, slope, errors)


@pytest.mark.parametrize("name", ["dopri5", "dop853", "rodas6p"])
def test_order_of_dense_output(name: str, double: System) -> None:
    """Within one step from an exact start: the interpolant of order d is wrong by h^(d + 1)."""
    sizes = np.array([0.06, 0.042, 0.03])
    errors = []
    for h in sizes:
        places = np.array([0.25, 0.5, 0.8]) * h
        engine = Engine(
            double,
            method(name),
            state(double),
            np.zeros(0),
            tolerance=0.1,
            step=h,
            most=10,
            largest=h,
        )
        engine.rtol, engine.atol = 10.0, np.full(double.size, 10.0)
        fine = Engine(
            double,
            method("dop853"),
            state(double),
            np.zeros(0),
            tolerance=1e-14,
            step=1e-3,
            most=10**6,
            largest=1e-2,
        )
        true = np.concatenate(
            [fine.run(a, b, np.array([b])).rows for a, b in zip([0.0, *places], places)]
        )
        errors.append(np.abs(engine.run(0.0, h, places).rows - true)[:, :4].max())
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert abs(slope - method(name).dense - 1) < 0.8, errors


@pytest.mark.parametrize("name", ["dopri5", "dop853", "rodas6p", "radau"])
def test_adaptive_runs_meet_the_tolerance_as_a_whole(name: str) -> None:
    machine = Machine(zoo.pendulum(2))
    fine = simulate(machine, START, RATE, 2.0, tolerance=1e-13)
    for tolerance in (1e-5, 1e-7, 1e-9)[: 2 if name == "radau" else 3]:
        run = simulate(machine, START, RATE, 2.0, integrator=name, tolerance=tolerance)
        assert np.abs(run.q.values - fine.q.values).max() < tolerance * np.abs(fine.q.values).max()


# --- symplectic
@pytest.mark.parametrize("name", ["midpoint", "gauss4"])
def test_energy_stays_bounded_over_a_hundred_thousand_steps(name: str) -> None:
    """Hamilton's variables are canonical: the energy oscillates, and where rk4 loses some each turn
    it does not drift.
    """
    start = {"q": [0.25, -0.1], "v": [0.0, 0.2], "until": 2000.0, "step": 0.02, "output": 2.0}
    error = {}
    for how in (name, "rk4"):
        run = simulate(zoo.pendulum(2), **start, by="hamilton", integrator=how)
        error[how] = (run.energy - run.energy[0]).values
        assert run.ledger.steps == 100_000
    e = error[name]
    bound = np.abs(e[:200]).max()
    assert np.abs(e).max() < 1.5 * bound
    assert abs(e[-400:].mean() - e[:400].mean()) < 0.1 * bound  # no drift
    if name == "gauss4":
        assert np.abs(e).max() < 1e-2 * np.abs(error["rk4"]).max()


@pytest.mark.parametrize("name", ["midpoint", "gauss4"])
@pytest.mark.parametrize("by", ["hamilton", "recursive"])
def test_reversibility(name: str, by: str) -> None:
    """Forth, the speeds turned round, and back: the start is met again, to rounding and not to the
    method's error.
    """
    machine = Machine(zoo.pendulum(3))
    q = np.array([0.5, 0.2, -0.3])
    v = np.array([0.1, -0.6, 0.4])
    way = {"until": 4.0, "by": by, "integrator": name, "step": 0.01, "output": 1.0}
    there = simulate(machine, q, v, **way)
    back = simulate(machine, there.q.values[-1], -there.v.values[-1], **way)
    error = np.abs(back.q.values[-1] - q).max() + np.abs(back.v.values[-1] + v).max()
    assert error < 1e-10
    assert error < 1e-3 * np.abs(there.energy - there.energy[0]).max()


@pytest.mark.parametrize("name", ["midpoint", "gauss4"])
def test_gauss_methods_keep_quaternions_unit_without_help(name: str) -> None:
    machine = Machine(zoo.random_tree(5, ["ball", "revolute", "ball"]))
    run = simulate(machine, v=0.3 * np.arange(1.0, 8.0), until=20.0, integrator=name, step=0.01)
    assert run.ledger.quaternion < 1e-12


@pytest.mark.parametrize("name", ["midpoint", "gauss4"])
def test_stages_are_solved_beside_the_motion_however_small(name: str) -> None:
    """Small oscillations are linear: a trillionth of the amplitude is a trillionth of the
    motion.
    """
    machine = Machine(zoo.pendulum(2))
    way = {"until": 1.0, "integrator": name, "step": 0.01}
    small, tiny = (simulate(machine, [a, -a], **way).q.values[-1] / a for a in (1e-7, 1e-19))
    assert np.abs(tiny - small).max() < 1e-13 * np.abs(small).max()


@pytest.mark.parametrize("name", ["midpoint", "gauss4"])
def test_stages_at_rest_under_load_are_solved_in_a_few_rounds(name: str) -> None:
    """Forces that cancel leave noise, which fixed-point rounds cannot make smaller."""
    p = zoo.pendulum(2)
    held = p.with_(loads=tuple(JointSpring(f"spring{k}", f"pin{k}", 30.0, 0.7) for k in (1, 2)))
    machine = Machine(held)
    q = equilibrium(machine, [0.3, 0.3])
    run = simulate(machine, q, until=1.0, integrator=name, step=0.01)
    assert np.abs(run.q.values - q).max() < 1e-13
    assert run.ledger.evaluations < 12 * 2 * run.ledger.steps


@pytest.mark.parametrize("name", ["midpoint", "gauss4"])
def test_implicit_runs_do_not_depend_on_their_neighbours(name: str) -> None:
    machine = Machine(zoo.pendulum(2))
    q = np.array([[0.1 * k, 10.0**-k] for k in range(12)])
    way = {"until": 0.5, "integrator": name, "step": 0.01, "output": 0.5}
    together = simulate(machine, q, **way).q.values
    for k in range(12):
        assert np.array_equal(together[k], simulate(machine, q[k], **way).q.values)


def test_implicit_stages_that_do_not_converge_say_so() -> None:
    with pytest.raises(
        SimulationError, match=r"implicit stages did not converge at t = .*; the step is 0\.5 s"
    ):
        simulate(stiff(1e6), [0.1, 0.0], until=5.0, integrator="midpoint", step=0.5, output=0.5)


# --- stiff
def stiff(k: float) -> Mechanism:
    """A pendulum on a stiff spring with a damper: what is fast is gone after a millisecond, what is
    slow takes seconds.

    ground --[k, d]-- o
                       \\ rod
    """
    p = zoo.pendulum(2)
    return p.with_(loads=(JointSpring("spring", "pin1", k, 0.0, damping=0.05 * k),)) if k else p


def test_radau_takes_a_stiff_damper_in_few_steps() -> None:
    m = stiff(5e6)
    start = {"q": [0.3, 0.5], "until": 2.0, "tolerance": 1e-7}
    slow = simulate(m, **start, integrator="dop853")
    fast = simulate(m, **start, integrator="radau")
    assert slow.ledger.steps > 50 * fast.ledger.steps
    assert np.abs(slow.q.values - fast.q.values).max() < 1e-6
    assert fast.ledger.relative_energy_balance < 1e-5


def test_radau_keeps_loops_closed_and_quaternions_unit() -> None:
    machine = Machine(zoo.random_tree(5, ["ball", "revolute"]))
    start = {"v": 0.5 * np.arange(1.0, 5.0), "until": 1.0, "tolerance": 1e-7}
    run = simulate(machine, **start, integrator="radau")
    other = simulate(machine, **start)
    assert run.ledger.quaternion < 1e-14
    assert np.abs(run.q.values - other.q.values).max() < 1e-6


# --- lanes
@pytest.mark.parametrize("name", [n for n in ALL_INTEGRATORS if not method(n).chooses_steps])
def test_lanes_agree_with_single_runs_to_the_last_digits(name: str) -> None:
    machine = Machine(zoo.arm(3))
    rng = np.random.default_rng(3)
    q, v = 0.3 * rng.standard_normal((2, 5, 3))
    together = simulate(machine, q, v, 0.2, integrator=name, step=0.005)
    for k in range(5):
        alone = simulate(machine, q[k], v[k], 0.2, integrator=name, step=0.005)
        assert np.abs(together.q.values[k] - alone.q.values).max() < 1e-13
        assert np.abs(together.v.values[k] - alone.v.values).max() < 1e-12


@pytest.mark.parametrize("name", [n for n in ALL_INTEGRATORS if method(n).chooses_steps])
def test_adaptive_lanes_agree_with_single_runs_to_the_tolerance(name: str) -> None:
    """Lanes share their steps, those of the lane that needs the shortest; so they differ by what a
    step may err.
    """
    machine = Machine(zoo.arm(3))
    rng = np.random.default_rng(4)
    q, v = rng.standard_normal((2, 9, 3))
    together = simulate(machine, q, v, 0.5, integrator=name, tolerance=1e-8, threads=2)
    assert together.data.sizes["run"] == 9
    for k in range(0, 9, 4):
        alone = simulate(machine, q[k], v[k], 0.5, integrator=name, tolerance=1e-8)
        assert (
            np.abs(together.q.values[k] - alone.q.values).max()
            < 2e-8 * np.abs(alone.v.values).max()
        )


def test_alike_lanes_stay_alike() -> None:
    machine = Machine(zoo.arm(3))
    q = np.tile([0.3, -0.7, 1.1], (5, 1))
    run = simulate(machine, q, until=1.0)
    assert np.ptp(run.state.values, axis=0).max() == 0.0


# --- bad input
def test_fixed_steps_need_equal_output_times() -> None:
    with pytest.raises(SimulationError, match=r"equally spaced; these are 0\.1 to 0\.4 s apart"):
        simulate(
            zoo.pendulum(1), until=1.0, integrator="rk4", step=0.01, output=[0.1, 0.2, 0.6, 1.0]
        )


def test_fixed_steps_meet_an_end_between_rows() -> None:
    run = simulate(
        zoo.pendulum(1), [0.4], until=1.0, integrator="rk4", step=0.01, output=[0.25, 0.5, 0.75]
    )
    assert run.time.tolist() == [0.0, 0.25, 0.5, 0.75]
    fine = simulate(zoo.pendulum(1), [0.4], until=1.0, output=[0.25, 0.5, 0.75])
    assert np.abs(run.q.values - fine.q.values).max() < 1e-7


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"integrator": "dop54"}, "no integrator 'dop54'.*Did you mean"),
        ({"step": -1.0, "integrator": "rk4"}, "step = -1.0 s"),
        ({"tolerance": 1e-20}, "tolerance = 1e-20; it lies between"),
        ({"until": -1.0}, "a run goes from start to a later until"),
        ({"output": 3.0}, "output = 3.0 s; it is a spacing"),
        ({"output": [0.5, 0.2]}, "output times are a list that rises"),
    ],
)
def test_bad_numbers_are_told(asked: dict, said: str) -> None:
    with pytest.raises(SimulationError, match=said):
        simulate(zoo.pendulum(1), **{"until": 1.0, **asked})


def test_a_step_that_is_too_long_ends_in_a_sentence_and_keeps_what_there_is() -> None:
    with pytest.raises(
        SimulationError, match=r"infinite or not a number at t = .*halve it, or take an adaptive"
    ) as caught:
        simulate(stiff(1e8), [0.1, 0.0], until=10.0, integrator="rk4", step=0.1, output=0.1)
    partial = caught.value.result
    assert not partial.complete and 1 <= partial.data.sizes["time"] < 101
    assert np.isfinite(partial.q.values).all()


def test_a_stiff_spring_is_named_when_steps_run_out() -> None:
    with pytest.raises(
        SimulationError, match=r"200 steps were allowed: a stiff spring.*integrator='rodas6p'"
    ) as caught:
        simulate(stiff(1e8), [0.1, 0.0], until=10.0, integrator="dop853", most_steps=200)
    assert not caught.value.result.complete


def test_a_step_that_goes_to_zero_names_time_and_reason() -> None:
    """A force that grows as 1 / q pulls the sledge into a point that it reaches in a finite
    time.
    """
    from catena.model.loads import JointForce

    rail = Joint("x", "prismatic", "ground", "sledge", axis=(1, 0, 0))
    m = Mechanism(
        "trap",
        (Body("sledge", 1.0, (0, 0, 0), (1, 1, 1)),),
        (rail,),
        loads=(JointForce("pull", "x", "-1 / q_x^3"),),
    )
    with pytest.raises(
        SimulationError,
        match=r"the step went to zero at t = (1|0.9999\d*) s, at x = .*force is likely",
    ) as caught:
        simulate(m, [1.0], until=2.0)
    assert 0.9 < caught.value.result.time[-1] <= 1.0


def test_a_method_is_data() -> None:
    for name in ALL_INTEGRATORS:
        m = method(name)
        assert dataclasses.is_dataclass(m) and m.name == name
        if m.kind in ("adaptive", "fixed", "implicit"):
            assert (
                abs(m.B.sum() - 1) < 1e-14
                and np.abs(m.A[: m.stages].sum(1) - m.C[: m.stages]).max() < 1e-13
            )


@pytest.mark.parametrize(("name", "peer"), [("dopri5", RK45), ("dop853", DOP853)])
def test_tableaux_are_those_of_scipy(name: str, peer: type) -> None:
    """Stages, error and dense output, against a step that SciPy takes."""
    m, h = method(name), 0.25
    solver = peer(
        lambda t, x: np.array([x[1], -np.sin(x[0]) + t]),
        0.0,
        [0.3, -0.2],
        1.0,
        rtol=1e3,
        atol=1e3,
        first_step=h,
    )
    x = solver.y
    solver.step()
    K = np.zeros((len(m.A), 2))
    for i in range(len(m.A)):
        K[i] = solver.fun(m.C[i] * h, x + h * m.A[i, :i] @ K[:i])
    np.testing.assert_allclose(x + h * m.B @ K[: m.stages], solver.y, rtol=1e-14)
    theta = np.linspace(0.1, 0.9, 5)
    dense = x + h * (theta[:, None] ** np.arange(1, m.P.shape[1] + 1) @ m.P.T) @ K
    np.testing.assert_allclose(dense, solver.dense_output()(theta * h).T, rtol=1e-13)
    errors = m.E if len(m.E) == 1 else m.E[::-1]
    for own, theirs in zip(errors, [peer.E] if len(errors) == 1 else [peer.E3, peer.E5]):
        np.testing.assert_array_equal(own, theirs)
