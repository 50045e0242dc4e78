"""Kinematics without masses: linkages whose whole motion is prescribed need no inertia.

      B----------C          a four-bar of massless links; A turns at a constant speed
     /            \
    A              D
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from typer.testing import CliRunner

import catena
from catena import Body, Joint, Mechanism, Pose, analysis, compile, simulate
from catena.cli import app
from catena.errors import MechanismWarning, QuestionError, SingularError
from catena.model.loads import Drive
from catena.simulation import trajectories

TURN = {"axis": (0, 0, 1)}
GUESS = [1.0, -0.6, 1.6]
SPEED = 6.0


def linkage(length: float = 1.0, bodies: tuple[Body, ...] | None = None, **more) -> Mechanism:
    bodies = bodies or tuple(Body.massless(n) for n in ("crank", "rod", "rocker"))
    at = lambda x: Pose(position=(x * length, 0, 0))  # noqa: E731
    joints = (
        Joint("A", "revolute", "ground", "crank", **TURN),
        Joint("B", "revolute", "crank", "rod", at(0.1), **TURN),
        Joint("D", "revolute", "ground", "rocker", at(0.3), **TURN),
    )
    loop = Joint("C", "revolute", "rod", "rocker", at(0.3), offset=at(0.2), **TURN)
    return Mechanism("linkage", bodies, joints, loops=(loop,), gravity=(0, -9.81, 0), **more)


def driven(m: Mechanism, how: str, **more):
    """A run in which A turns at SPEED: prescribed by the run, or by a constraint."""
    q, _ = catena.assemble(m, GUESS, fixed=["A"])
    if how == "motion":
        motion = trajectories.uniform({"A": SPEED}, offset={"A": 1.0})
        return simulate(m, q, until=1.0, motion=motion, **more)
    drive = Drive("motor", coordinate="A", motion=f"1 + {SPEED}*t")
    m = m.with_(constraints=(drive,))
    v = catena.assemble(m, q, [SPEED, 0, 0])[1]
    return simulate(m, q, v, until=1.0, **more)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("length", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("how", ["motion", "drive"])
def test_a_linkage_without_masses_moves_as_it_is_told(how, length):
    """Against the kinematic drive, which knows no mass at all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", catena.errors.MechanismWarning)
        m = linkage(length)
        run = driven(m, how)
        turned = (1.0 + SPEED * run.time, SPEED + 0 * run.time, 0 * run.time)
        wanted = analysis.kinematics(m, {"A": turned}, run.data["q"].values[0])
    for name, x in zip("qva", wanted):
        np.testing.assert_allclose(run.data[name].values, x, rtol=0, atol=1e-9 * np.abs(x).max())
    force = run.data["tau"].values if how == "motion" else run.drive_forces().values
    assert np.abs(force).max() < 1e-12 * length**2 and not run.ledger.doubts()


@pytest.mark.parametrize("how", ["motion", "drive"])
def test_a_massless_rod_carries_what_a_light_one_does(how):
    """The limit of a rod whose mass goes to zero: forces and accelerations are those of none."""
    found = []
    for mass in (0.0, 1e-9):
        rod = Body("rod", mass, (0.15, 0, 0), tuple(mass * x for x in (1e-3, 0.01, 0.01)))
        heavy = [Body(n, 1.0, (0.05, 0, 0), (0.01, 0.01, 0.01)) for n in ("crank", "rocker")]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", catena.errors.MechanismWarning)
            run = driven(linkage(1.0, (heavy[0], rod, heavy[1])), how, tolerance=1e-11)
        force = run.data["tau"].values[:, 0] if how == "motion" else run.drive_forces().values[:, 0]
        found.append(np.concatenate([force, run.data["a"].values.ravel()]))
    np.testing.assert_allclose(*found, rtol=0, atol=1e-6 * np.abs(found[1]).max())


def test_what_rows_leave_free_without_inertia_is_refused_by_name():
    """A massless rod hangs from the crank: nothing decides how it swings."""
    bodies = (*(Body.massless(n) for n in ("crank", "rod", "rocker")), Body.massless("flag"))
    m = linkage(1.0, bodies)
    m = m.with_(joints=(*m.joints, Joint("F", "revolute", "rocker", "flag", **TURN)))
    q, _ = catena.assemble(m, [*GUESS, 0.0], fixed=["A"])
    motion = trajectories.uniform({"A": SPEED}, offset={"A": 1.0})
    with pytest.raises(SingularError, match="'F' of mechanism 'linkage' moves no inertia"):
        simulate(m, q, until=0.1, motion=motion)


DOORS = {
    "forward_dynamics": lambda m, q, v: m.forward_dynamics(q, v, 0 * v),
    "forward_dynamics of a batch": lambda m, q, v: m.forward_dynamics([q, q], [v, v], 0 * v),
    "forward_dynamics_derivatives": lambda m, q, v: m.forward_dynamics_derivatives(q, v, 0 * v),
    "multipliers": lambda m, q, v: m.multipliers(q, v, 0 * v),
    "hybrid_dynamics": lambda m, q, v: catena.hybrid_dynamics(m, q, v),
    "impulse": lambda m, q, v: catena.impulse(m, q, v, joint={"A": 1.0}),
    "operational_space": lambda m, q, v: catena.operational_space(m, q, frame="rocker"),
    "linearize": lambda m, q, v: catena.linearize(m, q, v),
    "modes": lambda m, q, v: catena.modes(m, q),
    "modes of a batch": lambda m, q, v: catena.modes(m, np.array([q, q])),
    "simulate": lambda m, q, v: simulate(m.mechanism, q, v, 1.0),
    "simulate, a batch": lambda m, q, v: simulate(m.mechanism, [q, q], [v, v], 1.0),
    "simulate, equal steps": lambda m, q, v: simulate(
        m.mechanism, q, v, 1.0, integrator="rk4", step=0.01
    ),
    "check": lambda m, q, v: catena.check(m.mechanism, states=2),
}


@pytest.mark.filterwarnings("ignore::catena.errors.MechanismWarning")
@pytest.mark.parametrize("name", DOORS)
def test_no_force_answers_for_a_linkage_without_masses(name):
    machine = catena.compile(linkage())
    q, v = catena.assemble(machine, GUESS, [SPEED, 0, 0], fixed=["A"])
    with pytest.raises((SingularError, QuestionError), match="'[ABD]'.* inertia|inertia .*'[ABD]'"):
        DOORS[name](machine, q, v)


@pytest.mark.filterwarnings("ignore::catena.errors.MechanismWarning")
def test_its_drive_is_that_of_the_run():
    """Rows determine the speeds that move no inertia: with a prescribed crank nothing is open."""
    run = driven(linkage(), "motion")
    q, v, a = (run.data[x].values[0] for x in "qva")
    force, found = catena.hybrid_dynamics(compile(linkage()), q, v, {"A": 0.0})
    np.testing.assert_allclose(found, a, atol=1e-9 * np.abs(a).max())
    assert np.abs(force).max() < 1e-12


def test_from_a_file(tmp_path):
    path = tmp_path / "linkage.toml"
    catena.save(linkage(), path)
    lines = [
        "[scenario]",
        "until = 0.1",
        "initial = { near = { A = 1.0, B = -0.6, D = 1.6 } }",
        'motion = { kind = "uniform", offset = { A = 1.0 }, speed = { A = 6.0 } }',
    ]
    path.write_text(path.read_text() + "\n".join(["", *lines, ""]))
    with pytest.warns(MechanismWarning, match="have no mass and no inertia"):
        said = CliRunner().invoke(app, ["run", str(path), "--out", str(tmp_path / "out")])
    assert said.exit_code == 0 and "NOT to be trusted" not in said.output
    run = catena.load_result(tmp_path / "out" / "results.nc")
    np.testing.assert_allclose(run.data["q"].values[-1, 0], 1.6, atol=1e-12)
