"""Fits to trajectories: what was put in comes out, as well as its standard deviation says; what the
motion cannot tell is named.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import catena
from catena.cli import app
from catena.errors import StudyError

T = np.linspace(0.0, 2.0, 101)


def log(mechanism, noise=0.0, seed=0, times=T, **options):
    """Coordinates of a run, with noise (rad, m)."""
    run = catena.simulate(mechanism, until=times[-1], output=times, **options)
    q = np.asarray(run.q) + noise * np.random.default_rng(seed).standard_normal(
        np.asarray(run.q).shape
    )
    return {"time": times, **{f"q {n}": q[:, k] for k, n in enumerate(mechanism.coordinate_names)}}


def with_(mechanism, **values):
    return mechanism.with_(parameters={**mechanism.parameters, **values})


def test_without_noise_the_parameters_come_back():
    m = catena.load("double_pendulum")
    found = catena.fit(m, log(with_(m, m2=1.3, l1=0.9), q=[1.0, 0.5]), "m2,l1,v0", trajectory=True)
    assert [e.value for e in found.estimates] == pytest.approx([1.3, 0.9, 0.0, 0.0], abs=1e-7)
    assert dict(found.mechanism.parameters) == pytest.approx(
        {"m1": 1.0, "m2": 1.3, "l1": 0.9, "l2": 1.0}, abs=1e-7
    )
    assert found.result.ledger.outcome == "the end was reached" and found.share < 1e-8


def test_with_noise_their_deviations_say_how_well():
    m = catena.load("double_pendulum")
    off = []
    for seed in range(5):
        found = catena.fit(
            m, log(with_(m, m2=1.3, l1=0.9), 0.01, seed, q=[1.0, 0.5]), "m2,l1", trajectory=True
        )
        off += [
            (found["m2"].value - 1.3) / found["m2"].sigma,
            (found["l1"].value - 0.9) / found["l1"].sigma,
        ]
        assert found.residual == pytest.approx([0.01, 0.01], rel=0.3)
    # of standard normal numbers
    assert np.abs(off).max() < 4.0 and 0.5 < np.sqrt(np.mean(np.square(off))) < 1.6


def test_what_the_motion_cannot_tell_is_named():
    """Without forces only ratios of masses are in the motion."""
    m = catena.load("double_pendulum")
    found = catena.fit(
        m, log(with_(m, m2=1.3), 0.003, q=[1.0, 0.5]), ["m1", "m2", "l1"], trajectory=True
    )
    assert found.estimates[0].name.startswith("m1 - 0.76") and found.estimates[
        0
    ].value == pytest.approx(0.0, abs=1e-8)
    assert any("m2 is identified only together with others" in note for note in found.notes)
    with pytest.raises(StudyError, match="the data determine none of m:"):
        catena.fit(
            catena.load("pendulum"), log(catena.load("pendulum"), q=[0.5]), "m", trajectory=True
        )


def test_a_chaotic_swing_from_far_values():
    """One run from the start would be lost after a few seconds; segments stay near the data."""
    m = catena.load("double_pendulum")
    times = np.linspace(0.0, 6.0, 241)
    found = catena.fit(
        m, log(with_(m, m2=1.5, l2=0.7), 0.01, times=times, q=[2.0, 1.5]), "m2,l2", trajectory=True
    )
    for name, true in (("m2", 1.5), ("l2", 0.7)):
        assert abs(found[name].value - true) < 4.0 * found[name].sigma < 0.02


def test_numbers_of_joints_known_forces_and_a_file(tmp_path):
    slide = catena.Joint("slide", "prismatic", "ground", "block", axis=(1, 0, 0), damping=0.4)
    m = catena.Mechanism("block", [catena.Body("block", 2.0, (0, 0, 0), (1, 1, 1))], [slide])
    forces = np.where(np.arange(100) % 20 < 10, 3.0, -2.0)[:, None]
    run = catena.simulate(m, until=2.0, output=T, forces=forces)
    table = pd.DataFrame(
        {"time": T, "v slide": np.asarray(run.v)[:, 0], "tau slide": np.append(forces[:, 0], 0.0)}
    )
    table.to_csv(tmp_path / "log.csv", index=False)
    guess = m.with_(
        joints=[catena.Joint("slide", "prismatic", "ground", "block", axis=(1, 0, 0), damping=0.1)],
        bodies=[catena.Body("block", 1.0, (0, 0, 0), (1, 1, 1))],
    )
    found = catena.fit(
        guess, tmp_path / "log.csv", ["body.block.mass", "joint.slide.damping"], trajectory=True
    )
    assert [e.value for e in found.estimates] == pytest.approx([2.0, 0.4], rel=1e-7)
    catena.save(guess, tmp_path / "block.toml")
    said = CliRunner().invoke(
        app,
        [
            "fit",
            str(tmp_path / "block.toml"),
            "--data",
            str(tmp_path / "log.csv"),
            "--unknown",
            "body.block.mass,joint.slide.damping",
            "--trajectory",
        ],
    )
    assert (
        said.exit_code == 0
        and "body.block.mass" in said.output
        and "left of the motion" in said.output
    )


def test_a_closed_loop_is_fitted_on_its_loops():
    """The length of a crank, from its angle alone."""
    m = catena.load("slider_crank")
    times = np.linspace(0, 0.5, 26)
    crank = m.coordinate_names[0]
    run = catena.simulate(with_(m, r=0.31), {crank: 0.5}, {crank: 4.0}, until=0.5, output=times)
    found = catena.fit(
        m, {"time": times, f"q {crank}": np.asarray(run.q)[:, 0]}, "r", trajectory=True, segments=3
    )
    assert found["r"].value == pytest.approx(0.31, rel=1e-6)


def test_bad_logs_are_told_at_once():
    m = catena.load("double_pendulum")
    data = log(m, q=[1.0, 0.5])
    with pytest.raises(
        StudyError,
        match=(
            r"(?s)column 'q theta1' has no finite number in row 7.*column 'q theta3'.*Did you mean"
            r" 'theta2"
        ),
    ):
        catena.fit(
            m,
            {**data, "q theta3": T, "q theta1": np.where(np.arange(101) == 5, np.nan, T)},
            "m2",
            trajectory=True,
        )
    with pytest.raises(StudyError, match="no column 'q NAME' or 'v NAME'"):
        catena.fit(m, {"time": T}, "m2", trajectory=True)
    with pytest.raises(StudyError, match="no parameter 'm3'"):
        catena.fit(m, data, "m3", trajectory=True)
    with pytest.raises(StudyError, match="belong to fits of a trajectory"):
        catena.fit(m, data, "m2", segments=3)
