"""Fits: simulated logs with noise give back what they were made with, and bad data are refused by
name.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import catena
from catena.identification import GROUPS, MeasuredMotion, excitation, fit, pseudo_inertia
from catena.identification.unknowns import markdown

NAMES = ("shoulder", "elbow")


@pytest.fixture(scope="module")
def arm():
    return catena.compile(catena.load("two_link_arm"))


@pytest.fixture(scope="module")
def motion(arm):
    """A motion with forces of 1 % noise: the arm as it is, with Coulomb friction of 0.8 and 0.4 N m
    besides.
    """
    t = np.arange(0.0, 10.0, 0.01)
    way = excitation(arm, "inertial,friction", trials=20)
    q, v, a = way(t)
    clean = (
        arm.inverse_dynamics(q, v, a)
        + np.array([0.5, 0.3]) * v
        + np.array([0.8, 0.4]) * np.tanh(v / 1e-3)
    )
    return MeasuredMotion(t, q, v, a, clean)


def noisy(motion, seed=0, share=0.01):
    noise = (
        np.random.default_rng(seed).standard_normal(motion.tau.shape)
        * share
        * np.sqrt((motion.tau**2).mean(axis=0))
    )
    return MeasuredMotion(motion.t, motion.q, motion.v, motion.a, motion.tau + noise)


def log(motion):
    columns = {"time": motion.t} | {f"q {n}": motion.q[:, k] for k, n in enumerate(NAMES)}
    return pd.DataFrame(columns | {f"tau {n}": motion.tau[:, k] for k, n in enumerate(NAMES)})


TRUE = {
    "damping of shoulder": 0.5,
    "damping of elbow": 0.3,
    "friction of shoulder": 0.8,
    "friction of elbow": 0.4,
}


def test_estimates_are_within_three_deviations(arm, motion):
    """Each for itself within three deviations; all of a trial within the wider intervals that hold
    together.
    """
    away = []
    for seed in range(30):
        found = fit(arm, noisy(motion, seed), "inertial,friction")
        away.append([abs(e.value - TRUE.get(e.name, e.before)) / e.sigma for e in found.estimates])
    assert np.shape(away) == (30, 10) and np.mean(np.array(away) < 3) >= 0.97
    assert (
        1.5 * found.width > found.width_together > found.width
        and (np.max(away, axis=1) < found.width_together).sum() >= 26
    )


def test_a_log_is_filtered_and_differentiated(arm, motion, tmp_path):
    path = tmp_path / "swing.csv"
    log(noisy(motion)).to_csv(path, index=False)
    found = fit(arm, path, "masses,friction")
    assert any("Butterworth filter of order 4" in note for note in found.notes)
    for name, value in (TRUE | {"mass of upper": 6.0, "mass of fore": 4.0}).items():
        assert abs(found[name].value - value) < max(4 * found[name].sigma, 0.02 * value), name
    assert found.mechanism.joint("elbow").friction[0] == pytest.approx(
        found["friction of elbow"].value
    )


def test_named_parameters_by_exact_gradients(arm, motion):
    far = arm.at({"m2": 3.0, "l1": 0.6, "lc2": 0.25})
    found = fit(far, noisy(motion), "m2,l1,lc2,coulomb")
    for name, value in (("m2", 4.0), ("l1", 0.5), ("lc2", 0.2)):
        assert abs(found[name].value - value) < 5 * found[name].sigma
        assert found[name].before != value


def test_a_run_that_was_held_back_is_foretold(arm, motion):
    """A fit that begins far off, with 1 % noise, foretells the forces of another motion, which it
    has not seen, to 1 %; the file did not to 10 %.
    """
    far = arm.at({"m1": 4.0, "m2": 2.5})
    found = fit(far, noisy(motion), "masses,friction").mechanism
    t = np.linspace(0.0, 3.0, 200)
    q, v, a = (
        np.stack([f(t), f(0.7 * t + 1.0) * k], axis=-1)
        for f, k in ((np.sin, 1.0), (np.cos, 0.7), (lambda x: -np.sin(x), 0.49))
    )

    def forces(machine, damping, friction):
        return (
            machine.inverse_dynamics(q, v, a)
            + np.asarray(damping) * v
            + np.asarray(friction) * np.tanh(v / 1e-3)
        )

    true = forces(arm, [0.5, 0.3], [0.8, 0.4])
    foretold = forces(
        catena.compile(found),
        *([getattr(found.joint(n), key)[0] for n in NAMES] for key in ("damping", "friction")),
    )
    size = np.sqrt((true**2).mean(axis=0))
    assert (np.sqrt(((foretold - true) ** 2).mean(axis=0)) < 0.01 * size).all()
    assert (
        np.sqrt(((forces(far, [0.5, 0.3], [0.0, 0.0]) - true) ** 2).mean(axis=0)) > 0.1 * size
    ).all()


def test_loops_are_projected():
    machine = catena.compile(catena.load("four_bar"))
    t = np.linspace(0, 2, 60)
    crank = machine.coordinate_names[0]
    moved = catena.analysis.kinematics(
        machine,
        {crank: (1.0 + 2 * t, 2.0 + 0 * t, 0 * t)},
        catena.assemble(machine, machine.neutral())[0],
    )
    tau = np.array(
        [
            np.asarray(catena.analysis.inverse_dynamics(machine, q, v, a, actuated=[crank]))
            for q, v, a in zip(moved.q, moved.v, moved.a)
        ]
    )
    names = (
        GROUPS["masses"].columns(machine, MeasuredMotion(t, moved.q, moved.v, moved.a, tau)).names
    )
    found = fit(machine, MeasuredMotion(t, moved.q, moved.v, moved.a, tau), "masses")
    assert len(found.estimates) >= 1 and len(names) == 3
    for e in found.estimates:
        assert e.value == pytest.approx(e.before, rel=1e-6)


def test_inertias_that_a_body_can_have(arm, motion):
    pytest.importorskip(
        "clarabel", reason="Clarabel, which solves for consistent inertias, is not installed"
    )
    found = fit(arm, noisy(motion, share=0.3), "inertial,friction", consistent=True)
    assert np.linalg.eigvalsh(pseudo_inertia(found.inertias.theta)).min() > 0
    assert found.inertias.cost < 1.1 * found.inertias.free_cost
    assert found.mechanism.body("fore").mass == pytest.approx(found.inertias.theta[1, 0])


def test_what_rest_cannot_tell_is_named(arm):
    q = np.tile([0.3, 0.4], (50, 1))
    none = np.zeros((50, 2))
    tau = arm.inverse_dynamics(q, none, none)
    found = fit(arm, MeasuredMotion(np.arange(50) * 0.1, q, none, none, tau), "masses,damping")
    assert {"damping of shoulder", "damping of elbow"} <= set(found.not_determined)
    assert found["mass of fore"].value == pytest.approx(4.0)


def test_the_excitation_keeps_the_limits(arm):
    way = excitation(arm, "inertial", trials=10, ranges={"shoulder": (-1.0, 0.5)})
    q, v, a = way(np.linspace(0, way.period, 500))
    assert q[:, 0].min() > -1.0 and q[:, 0].max() < 0.5 and np.abs(v).max() < np.pi
    assert way.condition <= way.plain < 100
    assert np.allclose(np.gradient(v[:, 0], way.period / 499)[2:-2], a[2:-2, 0], atol=0.02)


FAULTS = {
    "no column 'time'": lambda d: d.rename(columns={"time": "clock"}),
    "no finite number in row 7": lambda d: d.assign(
        **{"q elbow": d["q elbow"].where(d.index != 5)}
    ),
    "Did you mean 'elbow'": lambda d: d.rename(columns={"tau elbow": "tau elbw"}),
    "there is no column 'q elbow'": lambda d: d.drop(columns="q elbow"),
    "it has 3 rows; a fit needs at least 10": lambda d: d.head(3),
    "times rise; row 4": lambda d: d.assign(time=d["time"].where(d.index != 2, 0.0)),
}


@pytest.mark.parametrize("message", FAULTS)
def test_bad_logs_are_refused_by_name(arm, motion, message):
    with pytest.raises(catena.CatenaError, match=message):
        fit(arm, FAULTS[message](log(motion)), "masses")


def test_bad_unknowns_are_refused_by_name(arm, motion):
    with pytest.raises(
        catena.CatenaError,
        match="no unknown 'masse'; unknowns are: inertial, masses.*Did you mean 'masses'",
    ):
        fit(arm, motion, "masse")
    with pytest.raises(catena.CatenaError, match="'masses' and 'inertial' are both unknown"):
        fit(arm, motion, "masses,inertial")
    with pytest.raises(catena.CatenaError, match="'damping of elbow'.* would be unknown twice"):
        fit(arm, motion, "friction,damping")
    with pytest.raises(catena.CatenaError, match="'inertial' is not among the unknowns"):
        fit(arm, motion, "masses", consistent=True)
    with pytest.raises(
        catena.CatenaError, match="a cutoff of 80 Hz: it is above zero and below 50 Hz"
    ):
        fit(arm, log(motion), "masses", cutoff=80)


def test_the_guide_shows_the_groups():
    from pathlib import Path

    assert markdown() in (Path(__file__).parents[2] / "docs" / "identification.md").read_text()


def test_the_command_reports_what_is_told(motion, tmp_path, capsys):
    from catena.cli import main

    log(noisy(motion)).to_csv(tmp_path / "swing.csv", index=False)
    with pytest.raises(SystemExit) as code:
        main(
            [
                "fit",
                "two_link_arm",
                "--data",
                str(tmp_path / "swing.csv"),
                "--unknown",
                "masses,friction",
                "--out",
                str(tmp_path / "fitted.toml"),
            ]
        )
    shown = capsys.readouterr().out
    assert not code.value.code and "mass of fore" in shown and "left of the forces" in shown
    assert catena.load(tmp_path / "fitted.toml").body("fore").mass == pytest.approx(4.0, rel=0.02)
