"""The automatic choice of the integrator: stiff systems are noticed, and run by rodas6p to the
accuracy asked for; others keep every bit of dop853.

The second route to the numbers of a stiff run is the explicit method at a tighter tolerance, which
takes the tens of thousands of short steps that the choice avoids.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

import catena
import closed
import zoo
from catena.errors import SimulationError
from catena.model.loads import CoordinateSpring, JointForce, JointSpring, Spring
from catena.model.mechanism import Body, Joint, Mechanism
from catena.simulation import simulate
from catena.simulation.integrators.lane_stiffness import NEEDED
from catena.simulation.integrators.methods import method
from catena.simulation.integrators.stiffness import (
    FIRST_SPAN,
    Costs,
    Stiffness,
    Switch,
    methods_sentence,
    new_watch,
)


# --- systems
@dataclass(frozen=True)
class Case:
    """A mechanism, its start, its end (s), and other options of the run."""

    mechanism: Mechanism
    q: Any
    v: Any = None
    until: float = 0.5
    options: dict[str, Any] = field(default_factory=dict)

    def run(self, **more: Any) -> Any:
        return simulate(self.mechanism, self.q, self.v, self.until, **self.options | more)


def sprung(k: float, damping: float, rest: float = 0.0) -> Mechanism:
    """A double pendulum with a stiff spring and damper in its first joint."""
    return zoo.pendulum(2).with_(loads=(JointSpring("spring", "pin1", k, rest, damping),))


def wheel(force: str, inertia: float = 1.0, **joint: Any) -> Mechanism:
    """A wheel about a vertical axis, with a torque that is a text."""
    return Mechanism(
        "wheel",
        (Body("wheel", 1.0, (0, 0, 0), (inertia, inertia, inertia)),),
        (Joint("axle", "revolute", "ground", "wheel", axis=(0, 0, 1), **joint),),
        loads=(JointForce("torque", "axle", force),),
    ).validate()


def van_der_pol(mu: float) -> Mechanism:
    """q'' = mu (1 - q^2) v - q: slow along a curve, then a jump, again and again."""
    return wheel(f"{mu}*(1 - q_axle**2)*v_axle - q_axle")


def damped(m: Mechanism, damping: float) -> Mechanism:
    return m.with_(joints=tuple(replace(j, damping=damping) for j in m.joints))


def four_bar_case(k: float) -> Case:
    m = closed.four_bar()
    q = catena.assemble(m, np.array([0.9, 0.0, 0.0, 0.0])[: catena.compile(m).nq])[0]
    name = catena.compile(m).coordinate_names[0]
    return Case(m.with_(loads=(JointSpring("stiff", name, k, float(q[0]) + 0.1, k),)), q)


def servo(kp: float, kd: float, n: int = 4, **more: Any) -> Case:
    m = zoo.arm(n)
    names = catena.compile(m).coordinate_names
    law = catena.control.PD(kp, kd, dict.fromkeys(names, 0.3), **more)
    return Case(m, 0.1 * np.arange(n), None, 0.4, {"control": law})


CASES = {
    "damper": Case(sprung(1e4, 5e4), [0.3, 0.5]),
    "spring": Case(sprung(1e7, 1e5), [0.0, 0.5]),
    "spring and cart": Case(
        zoo.pendulum(2, slider=True).with_(loads=(JointSpring("rail", "rail", 1e6, 0.1, 3e4),)),
        [0.1, 0.4, -0.3],
    ),
    "frame spring": Case(
        zoo.pendulum(2, slider=True).with_(loads=(Spring("tie", "ground", "cart", 1e6, 0.2, 3e4),)),
        [0.25, 0.4, -0.3],
    ),
    "sum of coordinates": Case(
        zoo.pendulum(3).with_(
            loads=(CoordinateSpring("sum", ("pin1", "pin2"), (1.0, -1.0), 3e4, 0.1, 3e3),)
        ),
        [0.4, 0.1, -0.3],
    ),
    "joint damping": Case(damped(zoo.arm(5), 300.0), np.linspace(0.1, 0.9, 5)),
    "van der Pol": Case(van_der_pol(300.0), [1.5], [0.0], 400.0),
    "van der Pol, jumps": Case(van_der_pol(30.0), [2.0], [0.0], 80.0),
    "smooth friction": Case(
        wheel("0.7*sin(3*t)", friction=1.0), [0.0], [0.5], 2.0, {"friction": "smooth"}
    ),
    "tanh brake": Case(
        wheel("-40*tanh(200*(v_axle - cos(t)))"), [0.0], [1.0], 5.0, {"tolerance": 1e-8}
    ),
    "quaternion": Case(
        damped(zoo.random_tree(5, ["ball", "revolute"]), 5000.0), None, 0.5 * np.arange(1.0, 5.0)
    ),
    "loop": four_bar_case(1e5),
    "servo": servo(1e5, 1e4),
    "sampled servo": Case(
        damped(zoo.arm(3), 2000.0),
        [0.1, 0.5, -0.3],
        options={"control": catena.control.PD(50.0, 5.0, {"joint1": 0.4}, sample=0.02)},
    ),
    "fast damper in a linear servo": servo(1e3, 1e3, 2),
}


@pytest.mark.parametrize("name", CASES)
def test_stiff_runs_meet_the_tolerance(name: str) -> None:
    """Relative to a run of dop853 at a hundredth of the tolerance, and in far fewer steps."""
    case = CASES[name]
    tolerance = case.options.get("tolerance", 1e-9)
    run = case.run()
    fine = case.run(integrator="dop853", tolerance=1e-2 * tolerance)
    moved = np.abs(fine.q.values - fine.q.values[0]).max(axis=0)
    error = np.abs(run.q.values - fine.q.values).max(axis=0)
    assert (error < tolerance * (moved + min(1.0, moved.max()))).all(), error
    assert run.ledger.integrator.startswith("dop853, rodas6p from t = ")
    assert run.ledger.steps < 0.7 * fine.ledger.steps
    # rows of van der Pol see little of the energy that its jumps move
    assert run.ledger.imbalance < 1e-5


def test_stiff_springs_of_any_stiffness_run_in_few_steps() -> None:
    """From a quarter of a millisecond to a nanosecond: the steps are those of the motion."""
    steps = [
        Case(sprung(k, 1e-2 * k), [0.0, 0.5], until=2.0).run().ledger.steps
        for k in (1e6, 1e8, 1e10, 1e12)
    ]
    assert max(steps) < 400


def test_what_is_not_stiff_keeps_every_bit() -> None:
    for m, q, v in (
        (zoo.pendulum(2), [0.5, -0.2], [0.3, 0.4]),
        (sprung(3e3, 0.0), [0.1, 0.4], None),  # a vibration that is resolved
        (zoo.arm(6), np.linspace(0.1, 0.9, 6), np.ones(6)),
    ):
        auto, plain = (simulate(m, q, v, 3.0, integrator=name) for name in ("auto", "dop853"))
        assert np.array_equal(auto.data.q.values, plain.data.q.values)
        assert np.array_equal(auto.data.v.values, plain.data.v.values)
        for name in ("integrator", "steps", "rejected", "evaluations"):
            assert getattr(auto.ledger, name) == getattr(plain.ledger, name)


# --- with everything else
def test_a_stiff_run_in_a_batch_has_the_bits_that_it_has_alone() -> None:
    """Some of the runs are stiff: the stiffness is a parameter."""
    p = zoo.pendulum(2)
    m = replace(p, parameters={"k": 1e3}).with_(
        loads=(JointForce("spring", "pin1", "-k*(q_pin1 + 0.1*v_pin1)"),)
    )
    k = np.array([1e2, 1e5, 1e3, 1e7, 1e4, 3e6, 1e3, 1e2, 1e6, 1e5, 1.0])
    q = np.stack([0.01 * np.arange(11), np.linspace(-0.5, 0.5, 11)], axis=1)
    together = simulate(m, q, until=1.0, parameters={"k": k})
    assert "rodas6p in stiff runs, first from t = " in together.ledger.integrator
    stiff = 0
    for run in range(11):
        alone = simulate(m, q[run], until=1.0, parameters={"k": k[run]})
        assert np.array_equal(together.data.q.values[run], alone.data.q.values)
        assert np.array_equal(together.data.v.values[run], alone.data.v.values)
        stiff += "rodas6p" in alone.ledger.integrator
    assert 4 <= stiff <= 8


def stopped(k: float) -> Mechanism:
    """A stiffly damped cart whose pendulum meets its stops."""
    m = zoo.pendulum(1, slider=True)
    rail, pin = m.joints
    joints = rail, replace(pin, lower=-0.1, upper=0.1)
    return m.with_(joints=joints, loads=(JointSpring("rail", "rail", k, 0.0, 0.1 * k),))


def test_events_of_a_stiff_run() -> None:
    """Stops with restitution: the instants and the motion are those of the explicit method."""
    case = Case(stopped(1e6), [0.0, 0.05], [0.0, 3.0], 2.0, {"limits": "stop", "restitution": 0.9})
    run, fine = case.run(), case.run(integrator="dop853", tolerance=1e-11)
    assert "rodas6p" in run.ledger.integrator and "rodas6p" not in fine.ledger.integrator
    assert len(run.data.event_time) == len(fine.data.event_time) > 3
    assert np.abs(run.data.event_time.values - fine.data.event_time.values).max() < 1e-7
    assert np.abs(run.data.q.values - fine.data.q.values).max() < 1e-7
    batch = simulate(case.mechanism, [case.q] * 3, [case.v] * 3, 2.0, **case.options)
    for k in range(3):
        assert np.abs(batch.data.q.values[k] - run.data.q.values).max() < 1e-10


def test_a_stiff_run_is_resumed_to_the_bit(tmp_path) -> None:
    case = CASES["van der Pol, jumps"]
    options = {"output": 0.02}

    def stop(t: float) -> None:
        if t > 30.0:
            raise KeyboardInterrupt

    whole = case.run(**options, out=tmp_path / "whole.nc")
    with pytest.raises(KeyboardInterrupt):
        case.run(**options, out=tmp_path / "cut.nc", progress=stop)
    resumed = case.run(**options, out=tmp_path / "cut.nc", resume=True)
    assert np.array_equal(whole.data.q.values, resumed.data.q.values)
    assert whole.ledger.integrator == resumed.ledger.integrator
    assert whole.ledger.integrator.count("rodas6p") > 1


def test_the_progress_of_a_stiff_run_is_told() -> None:
    told: list[float] = []
    CASES["van der Pol"].run(progress=told.append, output=0.01)
    assert len(told) > 5 and np.all(np.diff(told) >= 0.0) and told[-1] == 400.0


def test_steps_that_run_out_say_what_was_tried() -> None:
    with pytest.raises(SimulationError) as raised:
        Case(sprung(1e7, 1e5), [0.0, 0.5], until=10.0).run(most_steps=150)
    said = str(raised.value)
    assert "150 steps were allowed, by dop853, rodas6p from t = " in said
    assert "its fastest part changes within" in said and "raise most_steps" in said


# --- the choice
def test_the_choice_is_made_by_cost() -> None:
    """Of two methods of which the implicit one costs ten times as much for a step."""
    choice = Stiffness("explicit", "implicit", Costs(1.0, 10.0))
    watch = new_watch(1, method("auto"))[0]
    found, h = choice.look(watch, 2.0, 1e-3, lambda: np.diag([-5e3, -1.0]))
    assert found is not None and found[:2] == (2.0, "implicit") and h == 1e-3
    # longer steps, but not ten times as long: back to steps of 0.5 / 5 ms
    found, h = choice.look(watch, 2.0 + FIRST_SPAN * 2e-3, 2e-3, lambda: np.diag([-5e3, -1.0]))
    assert found is not None and found.method == "explicit" and h == 0.5e-3
    choice.look(watch, 3.0, 1e-3, lambda: np.diag([-5e3, -1.0]))
    found, h = choice.look(watch, 3.0 + FIRST_SPAN * 2e-2, 2e-2, lambda: np.diag([-5e3, -1.0]))
    assert found is None and h == 2e-2


def test_what_looks_stiff_and_is_not_is_looked_at_ever_less() -> None:
    choice = Stiffness("explicit", "implicit", Costs(1.0, 10.0))
    watch = new_watch(1, method("auto"))[0]
    needed = watch[NEEDED]
    found, h = choice.look(watch, 0.0, 1e-3, lambda: np.diag([-1.0, -2.0]))
    assert found is None and h == 1e-3 and watch[NEEDED] > needed


def test_the_sentence_tells_a_few_changes_one_by_one() -> None:
    auto = method("auto")
    changes = [Switch(0.1 * k, ("rodas6p", "dop853")[k % 2], "why") for k in range(5)]
    assert methods_sentence(auto, []) == "dop853"
    assert methods_sentence(method("rk4"), []) == "rk4"
    assert methods_sentence(auto, changes[:1]) == "dop853, rodas6p from t = 0 s (why)"
    assert methods_sentence(auto, changes).endswith("(why), and 2 more changes")


def test_rodas6p_is_stable_wherever_the_system_is() -> None:
    """|R(z)| of x' = lambda x, z = h lambda: at most one on the imaginary axis, and zero at minus
    infinity.
    """
    m = method("rodas6p")

    def factor(z: complex) -> complex:
        k = np.zeros(len(m.A), complex)
        for i in range(1, m.stages):
            k[i] = (z * (1.0 + m.A[i] @ k) + m.couplings[i] @ k) / (1.0 / m.gamma - z)
        return complex(1.0 + m.B @ k[: m.stages])

    assert abs(factor(-0.3) - np.exp(-0.3)) < 1e-8
    assert max(abs(factor(1j * w)) for w in np.logspace(-3, 6, 2000)) < 1.0 + 1e-12
    assert abs(factor(-1e9)) < 1e-6
