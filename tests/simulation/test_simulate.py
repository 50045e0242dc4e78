"""Simulation as a whole: [Baysec1996] through every formulation, known motions, conservation,
batches, controllers, bad input.
"""

from __future__ import annotations

import inspect
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sympy

import catena.examples
import zoo
from catena.equations.formulations import ALL_FORMULATIONS, derive
from catena.errors import CatenaError, SimulationError, SingularError, StateError, UnknownNameError
from catena.formats import load
from catena.machine.machine import Machine
from catena.model.beams import Beam
from catena.model.loads import KnifeEdge, Rolling
from catena.model.mechanism import GROUND, Body, Joint, Mechanism
from catena.model.pose import Pose
from catena.simulation import simulate
from catena.simulation.events import Stop, When
from catena.simulation.events.event_plan import plan_events
from catena.simulation.planning.plan import system_of

MOTIONS = Path(__file__).parents[1] / "reference" / "motions"
EXACT = [name for name in ALL_FORMULATIONS if name != "penalty"]


def reference(name: str) -> dict:
    return json.loads((MOTIONS / name).read_text())


@pytest.fixture(scope="module")
def triple() -> Mechanism:
    return load(Path(catena.examples.__path__[0]) / "triple_pendulum.toml")


# --- [Baysec1996]
@pytest.mark.parametrize("by", EXACT)
def test_seed_001_triple_pendulum(by: str, triple: Mechanism) -> None:
    """Five seconds at default settings: 1e-7 rad is asked for, and an energy drift below 1e-9 of
    the largest kinetic energy.
    """
    known = np.load(MOTIONS / "baysec1996_triple_pendulum.npz")
    run = simulate(triple, until=5.0, by=by, output=0.01)
    assert np.abs(np.cumsum(run.q.values, axis=1) - known["theta"]).max() < 2e-9
    assert np.abs(np.cumsum(run.v.values, axis=1) - known["omega"]).max() < 2e-8
    assert np.abs(np.cumsum(run.a.values, axis=1) - known["alpha"]).max() < 1e-6
    assert np.abs(run.kinetic.values - known["T_link"].sum(axis=1)).max() < 1e-7
    drift = np.ptp(run.energy.values) / run.kinetic.values.max()
    assert drift < 1e-9 and run.ledger.relative_energy_balance < 1e-9


def test_seed_001_by_penalty_has_the_error_it_states(triple: Mechanism) -> None:
    """[Baysec1996] eq. 66-77: what springs instead of pins do to the motion falls as 1 / beta."""
    m = triple.with_(parameters={**triple.parameters, "I1": 0.1, "I2": 0.1, "I3": 0.1})
    exact = simulate(m, until=2.0, output=0.05)
    errors = {}
    for beta in (1e6, 1e7):
        run = simulate(m, until=2.0, output=0.05, by="penalty", tolerance=1e-8, beta=beta)
        errors[beta] = np.abs(run.q.values - exact.q.values).max()
        assert errors[beta] < 20 * derive(m, "penalty", beta=beta).error
    assert errors[1e6] / errors[1e7] == pytest.approx(10.0, rel=0.05)


# --- known motions
def test_a_free_body_flips_at_the_exact_times() -> None:
    """Dzhanibekov: spun about its middle axis; the middle component of the angular velocity passes
    zero every half period.
    """
    known = reference("rigid.json")["dzhanibekov"]
    m = Mechanism(
        "wing nut",
        (Body("nut", 1.0, (0, 0, 0), tuple(known["I"])),),
        (Joint("base", "free", GROUND, "nut"),),
        gravity=(0, 0, 0),
    )
    machine = Machine(m)
    start = [0.0, 0.0, 0.0, *known["w0_body"]]
    watch = [When(when=f"{sign}v_base_wy", name="flip") for sign in ("", "-")]
    run = simulate(
        machine, v=start, until=known["t"][-1], output=known["t"][1:], tolerance=1e-10, events=watch
    )
    flips = run.data["event_time"].values
    assert (
        flips == pytest.approx(known["zero_crossings_w2"][: len(flips)], abs=1e-6)
        and len(flips) >= 2
    )
    assert np.abs(run.v.values[:, 3:] - known["omega_body"]).max() < 1e-6
    assert np.abs(run.q.values[:, 3:] - known["quat_wxyz"]).max() < 1e-6
    assert np.ptp(run.kinetic.values) < 1e-9 and run.ledger.quaternion < 1e-14


def test_a_double_pendulum() -> None:
    known = reference("rigid.json")["double_pendulum"]
    bodies = (Body("upper", 1.0, (0, 0, -1), (0, 0, 0)), Body("lower", 1.0, (0, 0, -1), (0, 0, 0)))
    joints = (
        Joint("a", "revolute", GROUND, "upper", axis=(0, -1, 0)),
        Joint("b", "revolute", "upper", "lower", Pose(position=(0, 0, -1)), axis=(0, -1, 0)),
    )
    t = np.array(known["t"])
    run = simulate(
        Mechanism("double", bodies, joints),
        [np.pi / 2, 0.0],
        until=t[-1],
        output=t[1:],
        tolerance=1e-11,
    )
    assert (
        np.abs(np.cumsum(run.q.values, axis=1) - np.array(known["y"])[:, :2])[t <= 5].max() < 1e-8
    )


def test_chaplygins_sleigh() -> None:
    """A skate with its mass ahead of it: the speed along the skate grows as tanh, the turning falls
    as sech.
    """
    known = reference("nonholonomic_disc_sleigh.json")["chaplygin_sleigh"]
    p = known["params"]
    m = Mechanism(
        "sleigh",
        (Body("sleigh", p["m"], (p["a"], 0, 0), (0.3, 0.3, p["I_com"])),),
        (Joint("base", "planar", GROUND, "sleigh"),),
        gravity=(0, 0, 0),
        nonholonomic=(KnifeEdge("skate", "sleigh", (0, 1, 0)),),
    )
    machine = Machine(m)
    x, y, turn = (
        next(k for k, n in enumerate(machine.coordinate_names) if n.endswith(end))
        for end in ("x", "y", "angle")
    )
    v = np.zeros(3)
    v[x], v[turn] = known["u0"], known["w0"]
    run = simulate(machine, v=v, until=known["t"][-1], output=known["t"][1:])
    assert np.abs(run.v.values[:, turn] - known["w"]).max() < 1e-8
    assert np.abs(run.q.values[:, [x, y]] - np.stack([known["x"], known["y"]], axis=1)).max() < 1e-7
    assert run.ledger.relative_energy_balance < 1e-9


def test_a_rolling_disc() -> None:
    known = reference("nonholonomic_disc_sleigh.json")["rolling_disc"]
    p = known["params"]
    m = Mechanism(
        "disc",
        (Body("disc", p["m"], (0, 0, 0), tuple(p["I"])),),
        (Joint("base", "free", GROUND, "disc"),),
        nonholonomic=(Rolling("roll", "disc", p["R"]),),
    )
    machine = Machine(m)
    q = np.array([*known["com0"], *known["quat_wxyz"][0]])
    spin = np.array(known["omega0_body"])
    A = machine.constraint_rows(q, np.zeros(6))[3]
    v = np.concatenate([-np.linalg.solve(A[:, :3], A[:, 3:] @ spin), spin])
    t = np.array(known["t"])
    run = simulate(machine, q, v, t[-1], output=t[1:], tolerance=1e-10)
    assert np.abs(run.v.values[:, 3:] - known["omega_body"]).max() < 1e-6
    assert np.abs(run.q.values[:, :3] - known["com"]).max() < 1e-7
    assert run.ledger.relative_energy_balance < 1e-8


# --- laws
@pytest.mark.parametrize(
    "name", ["planar_tree", "ball_chain", "free_base", "gimbals", "every_joint"]
)
def test_energy_is_conserved(name: str) -> None:
    machine = Machine(zoo.certificate_set()[name])
    rng = np.random.default_rng(1)
    run = simulate(machine, v=0.3 * rng.standard_normal(machine.nv), until=1.5)
    assert run.ledger.relative_energy_balance < 1e-9 and run.ledger.quaternion < 1e-13


def test_momentum_is_conserved_in_free_flight() -> None:
    machine = Machine(
        zoo.random_tree(6, ["free", "revolute", "ball", "prismatic"], gravity=(0, 0, 0))
    )
    run = simulate(machine, v=0.4 * np.arange(machine.nv), until=2.0)
    momentum = run.momentum()
    for p in (momentum["linear"].values, momentum["angular"].values):
        assert np.ptp(p, axis=0).max() < 1e-9 * np.abs(p).max()


@pytest.mark.parametrize("by", EXACT)
def test_formulations_agree_in_time(by: str) -> None:
    machine = Machine(zoo.certificate_set()["gimbals"])
    v = np.linspace(-0.5, 0.5, machine.nv)
    run, other = (simulate(machine, v=v, until=0.5, by=b) for b in (by, "recursive"))
    assert np.abs(np.sin(run.q.values - other.q.values)).max() < 1e-8
    assert np.abs(run.v.values - other.v.values).max() < 1e-7


def test_damping_takes_the_energy_it_says() -> None:
    m = zoo.pendulum(1)
    j = m.joints[0]
    damped = m.with_(
        joints=(Joint(j.name, j.kind, j.parent, j.child, j.placement, axis=j.axis, damping=0.3),)
    )
    run = simulate(damped, [1.0], until=10.0, output=0.002)
    lost = np.trapezoid(0.3 * run.v.values[:, 0] ** 2, run.time)
    assert run.work.values[-1] == pytest.approx(-lost, rel=1e-6)
    assert run.ledger.relative_energy_balance < 1e-9


# --- batches
def test_parameters_of_a_batch(triple: Mechanism) -> None:
    """Thousands of parameter sets at once; here five lengths, each as if alone."""
    lengths = np.linspace(0.8, 1.2, 5)
    run = simulate(triple, until=1.0, parameters={"l2": lengths})
    assert run.data.sizes["run"] == 5
    for k in (0, 3):
        alone = simulate(triple, until=1.0, parameters={"l2": lengths[k]})
        assert np.abs(run.q.values[k] - alone.q.values).max() < 5e-9
        assert run.kinetic.values[k] == pytest.approx(alone.kinetic.values, abs=1e-7)
    assert np.abs(run.data["parameters"].sel(parameter="l2").values - lengths).max() == 0.0


def test_a_batch_keeps_its_leading_shape_as_runs() -> None:
    q = np.zeros((2, 3, 2))
    q[..., 0] = np.arange(6).reshape(2, 3) / 10
    run = simulate(zoo.pendulum(2), q, until=0.2)
    assert run.data.sizes["run"] == 6 and run.q.values[5, 0, 0] == 0.5


def test_systems_are_kept_for_the_next_run() -> None:
    machine = Machine(zoo.pendulum(2))
    first = simulate(machine, [0.3, 0.1], until=1.0)
    again = simulate(machine, [0.3, 0.1], until=1.0)
    assert np.array_equal(first.state.values, again.state.values)
    from catena.simulation.terms.switched_constraints import SwitchedConstraints

    options = {"law": None, "friction": "smooth", "stabilise": "project"}
    assert system_of(machine, "recursive", **options, holding=SwitchedConstraints()) is system_of(
        machine, "recursive", **options, holding=SwitchedConstraints()
    )

    def held(*events: object) -> object:
        return system_of(
            machine,
            "recursive",
            **options,
            holding=plan_events(machine, events, "check", "smooth").holding,
        )

    # the tapes do not know how it bounces
    assert held(Stop("pin1", 0.5, upper=1.0)) is held(Stop("pin1", 0.7, upper=1.0))
    assert held(Stop("pin1", 0.5, upper=1.0)) is not held(Stop("pin1", 0.5, upper=2.0))
    assert (
        held(When("low", when="q_pin1"))
        is held(When("low", when="q_pin1"))
        is not held(When("low", when="q_pin2"))
    )
    assert held(When("low", when=lambda t: t.q[0])) is not held(When("low", when=lambda t: t.q[1]))


# --- controllers
def test_constant_forces() -> None:
    """A weightless rod under a constant torque: q = tau t^2 / (2 M)."""
    machine = Machine(zoo.pendulum(1).with_(gravity=(0, 0, 0)))
    run = simulate(machine, until=2.0, control=[0.5])
    M = machine.mass_matrix([0.0])[0, 0]
    assert run.q.values[:, 0] == pytest.approx(0.25 / M * run.time**2, abs=1e-10)
    assert run.tau.values == pytest.approx(0.5) and run.ledger.relative_energy_balance < 1e-12


@pytest.mark.parametrize("integrator", ["dop853", "rk4", "radau"])
def test_a_python_controller_is_sampled_and_held(integrator: str) -> None:
    asked: list[float] = []

    def control(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        asked.append(t)
        return np.array([np.floor(10 * t + 0.5)])

    control.sample = 0.1  # type: ignore[attr-defined]
    machine = Machine(zoo.pendulum(1).with_(gravity=(0, 0, 0)))
    run = simulate(
        machine, until=1.0, control=control, integrator=integrator, step=0.01, output=0.05
    )
    assert asked == pytest.approx(0.1 * np.arange(10))
    M = machine.mass_matrix([0.0])[0, 0]
    assert run.v.values[-1, 0] == pytest.approx(0.1 * np.arange(10).sum() / M, abs=1e-8)
    assert run.tau.values[:, 0] == pytest.approx([0, *np.repeat(np.arange(10), 2)])


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda t, q, v: np.array([np.nan]), r"returned nan for 'pin1' at t = 0 s"),
        (lambda t, q, v: np.zeros(3), r"returned shape \(3,\) at t = 0 s; it returns \(1,\)"),
    ],
)
def test_a_controller_that_answers_wrongly_is_told(answer, said: str) -> None:
    answer.sample = 0.01
    with pytest.raises(SimulationError, match=said):
        simulate(zoo.pendulum(1), until=1.0, control=answer)


def test_a_controller_without_a_sample_time_is_told() -> None:
    with pytest.raises(SimulationError, match=r"needs a sample time: set control.sample = 0.001"):
        simulate(zoo.pendulum(1), until=1.0, control=lambda t, q, v: np.zeros(1))
    with pytest.raises(SimulationError, match=r"constant joint forces are 1 finite numbers"):
        simulate(zoo.pendulum(1), until=1.0, control=[1.0, 2.0])


# --- the call
def test_verify_says_whether_the_accuracy_was_met(triple: Mechanism) -> None:
    run = simulate(triple, until=2.0, verify=True)
    assert (
        run.ledger.verified < 1e-9
        and run.ledger.met
        and run.ledger.verdict.startswith("accuracy met: ")
    )
    held = (
        run.ledger.judged(0.99e-8, 1.0),
        run.ledger.judged(1.01e-8, 1.0),
        run.ledger.judged(1.9e-8, 2.0),
    )
    # ten times the tolerance, beside the largest coordinate
    assert [x.met for x in held] == [True, False, True]
    assert (
        "0.01 of the largest coordinate: a motion this small needs a smaller tolerance"
        in run.ledger.judged(1e-9, 1e-7).verdict
    )


def test_start_and_rows() -> None:
    m = zoo.pendulum(1)
    run = simulate(m, [1.0], until=3.0, start=1.0, output=[1.0, 1.5, 2.25])
    assert run.time.tolist() == [1.0, 1.5, 2.25]
    assert len(simulate(m, [1.0], until=1.0).time) == 201
    reached: list[float] = []
    simulate(m, [1.0], until=1.0, progress=reached.append)
    assert reached[-1] == 1.0


def test_a_run_of_many_rows_goes_in_stretches() -> None:
    run = simulate(zoo.pendulum(1), [1.0], until=10.0, output=0.001)
    assert run.data.sizes["time"] == 10001 and np.isfinite(run.state.values).all()
    assert run.ledger.relative_energy_balance < 1e-9


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ({"by": "lagrang"}, CatenaError, "no formulation 'lagrang'.*Did you mean 'lagrange'"),
        ({"q": [0.0, 0.0]}, StateError, r"q has shape \(2,\); its last size is 1"),
        ({"v": [np.nan]}, StateError, "v of 'pin1' is not a finite number"),
        ({"q": np.zeros((0, 1))}, StateError, "nothing to run"),
        ({"parameters": {"mass": 1.0}}, UnknownNameError, "no parameter 'mass'"),
    ],
)
def test_bad_questions_are_told(asked: dict, error: type, said: str) -> None:
    with pytest.raises(error, match=said):
        simulate(zoo.pendulum(1), **{"until": 1.0, **asked})


def test_a_joint_without_inertia_is_named() -> None:
    bodies = (Body("rod", 1.0, (0, 0, 0), (0.1, 0.1, 0.1)), Body.massless("flag"))
    joints = (Joint("pin", "revolute", GROUND, "rod"), Joint("pole", "revolute", "rod", "flag"))
    m = Mechanism("bad", bodies, joints)
    with pytest.raises(
        SingularError, match=r"'pole' cannot be accelerated by a finite force.*body 'flag'"
    ):
        simulate(m, v=[1.0, 0.0])


def test_a_mechanism_that_cannot_move_is_told() -> None:
    m = Mechanism(
        "wall",
        (Body("block", 1.0, (0, 0, 0), (1, 1, 1)),),
        (Joint("weld", "fixed", GROUND, "block"),),
    )
    with pytest.raises(SimulationError, match="'wall' has no joint that moves"):
        simulate(m)


def test_losses_stand_in_the_result() -> None:
    """What damping, friction and what holds do along the speeds: tau + losses is all that acts at
    the joints.
    """
    m = zoo.pendulum(1)
    j = m.joints[0]
    damped = m.with_(
        joints=(Joint(j.name, j.kind, j.parent, j.child, j.placement, axis=j.axis, damping=0.3),)
    )
    run = simulate(damped, [1.0], until=1.0)
    assert run.losses.values == pytest.approx(-0.3 * run.v.values)
    assert "losses" not in simulate(m, [1.0], until=1.0).data


# --- what is asked
@pytest.mark.parametrize(
    ("name", "near"),
    [("untill", "until"), ("tol", "control"), ("toleranc", "tolerance"), ("betta", "")],
)
def test_an_option_that_is_not_there_is_told(name: str, near: str, triple: Mechanism) -> None:
    with pytest.raises(
        SimulationError, match=rf"no option '{name}' in simulate\(by='recursive'\)"
    ) as error:
        simulate(triple, **{name: 3})
    assert not near or near in str(error.value)
    with pytest.raises(SimulationError, match=r"no option 'betta' .* Did you mean 'beta'\?"):
        simulate(triple, by="penalty", betta=3.0)


def test_the_signature_says_what_simulate_takes() -> None:
    names = inspect.signature(catena.simulate).parameters
    assert {
        "mechanism",
        "q",
        "v",
        "until",
        "control",
        "by",
        "tolerance",
        "output",
        "out",
        "resume",
        "motion",
    } <= set(names)


def test_a_machines_own_settings_are_honoured(triple: Mechanism) -> None:
    kane = simulate(catena.compile(triple, by="kane", threads=1), until=0.1)
    assert (
        kane.ledger.formulation == "kane"
        and simulate(triple, until=0.1).ledger.formulation == "recursive"
    )
    assert (
        simulate(catena.compile(triple, by="kane"), until=0.1, by="recursive").ledger.formulation
        == "recursive"
    )
    soft = derive(
        triple.with_(parameters={**triple.parameters, "I1": 0.1, "I2": 0.1, "I3": 0.1}),
        "penalty",
        beta=1e5,
    )
    plan = system_of(
        catena.compile(soft),
        "penalty",
        soft,
        holding=plan_events(Machine(triple), (), "check", "smooth").holding,
    )
    assert plan.equations is soft
    (second,) = (j for j in triple.joints if j.name == "pin2")
    right = 1.5708 - np.pi / 2  # what a right angle printed with four decimals leaves
    c, s = np.cos(right), np.sin(right)
    tilt = replace(second.placement, rotation=((c, -s, 0), (s, c, 0), (0, 0, 1)))
    tilted = triple.with_(
        joints=tuple(replace(j, placement=tilt) if j is second else j for j in triple.joints)
    )
    rough, exact = (
        simulate(catena.compile(tilted, snap=snap), until=0.1).q.values[-1] for snap in (1e-3, 0.0)
    )
    straight = simulate(triple, until=0.1).q.values[-1]
    assert np.abs(rough - straight).max() == 0 and np.abs(exact - straight).max() > 1e-9


def test_a_start_by_names(triple: Mechanism) -> None:
    run = simulate(triple, q={"pin2": 0.3}, v={"pin1": 0.5, "pin3": -1}, until=0.01)
    assert run.q.values[0].tolist() == [0, 0.3, 0] and run.v.values[0].tolist() == [0.5, 0, -1]
    many = simulate(triple, q={"pin2": [0.1, 0.2]}, until=0.01)
    assert many.q.values[:, 0].tolist() == [[0, 0.1, 0], [0, 0.2, 0]]
    with pytest.raises(UnknownNameError, match=r"no coordinate 'pin9' .* Did you mean"):
        simulate(triple, q={"pin9": 1})
    with pytest.raises(StateError, match="q of 'pin1' is a str"):
        simulate(triple, q={"pin1": "up"})


def test_a_start_by_names_closes_loops() -> None:
    m = load("four_bar")
    run = simulate(m, q={"motor pin": 1.5}, v={"motor pin": 2.0}, until=0.01)
    assert run.q.values[0, 0] == pytest.approx(1.5, abs=1e-12) and run.v.values[
        0, 0
    ] == pytest.approx(2.0, abs=1e-12)
    assert run.ledger.closure < 1e-9


def test_too_many_rows_are_refused(triple: Mechanism) -> None:
    with pytest.raises(
        SimulationError, match=r"output = 1e-13 s makes 1e\+13 rows of 1 s; at most 1e\+08 are kept"
    ):
        simulate(triple, until=1.0, output=1e-13)


# --- what is trusted
def test_a_tighter_run_halves_the_steps_really_taken(triple: Mechanism, tmp_path: Path) -> None:
    """Steps longer than the rows are apart are cut to them; the second run must cut those again."""
    asked = {"until": 1.0, "output": 0.02, "integrator": "rk4", "step": 0.1, "verify": True}
    run = simulate(triple, **asked)
    written = simulate(triple, **asked, out=tmp_path / "r.nc")
    half = simulate(triple, **{**asked, "step": 0.01, "verify": False})
    difference = np.abs(half.q.values - run.q.values).max()
    assert (
        run.ledger.verified == pytest.approx(difference, rel=1e-9) == written.ledger.verified
        and not run.ledger.met
    )
    assert (
        run.ledger.step == pytest.approx(0.02)
        and "rk4, step 0.02 s" in str(run.ledger)
        and "tolerance" not in str(run.ledger)
    )


@pytest.mark.parametrize("tolerance", [1e-13, 1e-14])
def test_a_tolerance_at_rounding_is_verified_by_other_steps(
    tolerance: float, triple: Mechanism
) -> None:
    run = simulate(triple, until=1.0, tolerance=tolerance, verify=True)
    assert 0 < run.ledger.verified < 1e-11 and run.ledger.met is not None
    assert "tolerance 1e-1" in str(run.ledger) and run.ledger.step is None


def test_no_verdict_comes_from_the_same_run(triple: Mechanism) -> None:
    ledger = simulate(triple, until=0.1).ledger
    same = ledger.judged(0.0, 1.0, ledger.steps)
    assert same.met is None and same.verified is None and same.verdict.startswith("no verdict")
    assert ledger.judged(0.0, 1.0, ledger.steps + 5).met


@pytest.mark.parametrize("out", [None, "run.nc"])
def test_a_tighter_run_that_ends_early_verifies_nothing(
    out: str | None, triple: Mechanism, tmp_path: Path
) -> None:
    """Its rows up to there are those of the run, which says nothing about the rest."""
    asked = {"until": 1.0, "output": 1.0}
    once = simulate(triple, **asked).ledger
    most = once.steps + once.rejected + 2
    path = None if out is None else tmp_path / out
    found = simulate(triple, **asked, most_steps=most, verify=True, out=path).ledger
    assert found.met is False and found.verified is None
    assert "a tighter run did not reach the end" in found.verdict and "most_steps" in found.verdict


def test_losses_and_strain_are_those_of_the_runs_parameters(tmp_path: Path) -> None:
    """A damped arm that bends: joint damping and stiffness are parameters, given to the run."""
    k, d = sympy.symbols("k d")
    beam = Beam(length=1.0, rhoA=1.0, EI=(k, None), modes=1)
    m = Mechanism(
        "m",
        [Body("boom", flexible=beam)],
        [Joint("root", "revolute", GROUND, "boom", damping=d)],
        parameters={"k": 10.0, "d": 0.0},
    )
    given = {"k": 40.0, "d": 0.5}
    run = simulate(m, v=[1.0, 0.5], until=0.2, output=0.02, parameters=given)
    own = simulate(m.with_(parameters=given), v=[1.0, 0.5], until=0.2, output=0.02)
    np.testing.assert_allclose(run._acting, -0.5 * run.v.values * [1, 0], atol=1e-12)
    np.testing.assert_allclose(run.strain.values, own.strain.values, rtol=1e-9)
    written = simulate(
        m, v=[1.0, 0.5], until=0.2, output=0.02, parameters=given, out=tmp_path / "r.nc"
    )
    assert written.ledger.strain == run.ledger.strain > 0 and "strain energy" in str(written.ledger)
    assert (
        written.machine is not None and written.strain.values.tolist() == run.strain.values.tolist()
    )


def test_a_run_that_ends_with_its_last_row_has_it_once(triple: Mechanism, tmp_path: Path) -> None:
    end = When(at=0.1, name="enough", end=True)
    for more in ({}, {"out": tmp_path / "r.nc"}):
        run = simulate(triple, until=0.1, output=0.05, events=[end], **more)
        assert run.time.tolist() == [0.0, 0.05, 0.1] and run.ledger.outcome.startswith(
            "ended by 'enough'"
        )


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (
            {"until": "3"},
            "a run goes from start to a later until; found start = 0.0 s, until = 3 s",
        ),
        ({"output": [0.0, np.nan]}, "output times are a list that rises"),
        ({"output": ["0.1", "0.2"]}, "output is a list that is not an array of real numbers"),
        ({"output": "0.1"}, "output = 0.1 s; it is a spacing above zero"),
        ({"step": "0.1"}, "step = 0.1 s; it lies above zero"),
        ({"largest_step": "0.1"}, "largest_step = 0.1 s; it lies above zero"),
        ({"largest_step": np.nan}, "largest_step = nan s; it lies above zero"),
        ({"threads": 0}, "threads is 0; it is a whole number from 1 on"),
        ({"threads": 1.5}, "threads is 1.5; it is a whole number from 1 on"),
        ({"tol": 1e-9}, "no option 'tol'.*Did you mean 'tolerance'?"),
    ],
)
def test_options_that_are_no_numbers(option, message):
    with pytest.raises(catena.CatenaError, match=message):
        catena.simulate(catena.load("two_link_arm"), **{"until": 1.0, **option})


@pytest.mark.parametrize("mass", [1e-12, 1.0, 1e9])
def test_heavy_machines_on_springs_take_no_more_steps_than_light_ones(mass: float) -> None:
    """What rounding leaves of the power of springs, 1e-16 of terawatts, is no work that steps have
    to follow.
    """
    from catena import JointSpring

    slide = Joint("x", "prismatic", "ground", "b", axis=(1, 0, 0))
    heavy = Mechanism(
        "heavy",
        (Body("b", mass, (0, 0, 0), (mass,) * 3),),
        (slide,),
        gravity=(0, 0, 0),
        loads=(JointSpring("k", "x", stiffness=100.0 * mass, rest=0.0),),
    )
    run = simulate(heavy, [1.0], until=1.0, output=[1.0])
    assert run.ledger.steps < 60
    assert float(run.q[-1, 0]) == pytest.approx(np.cos(10.0), abs=1e-9)
