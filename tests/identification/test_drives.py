"""Drives: friction laws, gains and inertial parameters of synthetic logs are found again, and logs
that were not used are predicted; on a real UR10e where its logs are there.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import catena
import synthetic_logs as logs
from catena.errors import CatenaError, StudyError
from catena.identification import FRICTION_LAWS, condition, fit_drives, read_log
from catena.identification.drives import FrictionLaw
from catena.identification.drives.coloured_noise import autoregression, coloured, whitened
from catena.identification.drives.friction_laws import JointMotion, bristle
from catena.identification.drives.joint_columns import Term, drives, grams
from catena.identification.drives.normal_equations import solve

REAL = next(
    (p / "shared/data/ur10e" for p in Path(__file__).parents if (p / "shared/data/ur10e").is_dir()),
    None,
)


@pytest.fixture(scope="module")
def arm():
    return logs.arm()


def joint_motion(t, q):
    v = np.gradient(q, t)
    return JointMotion(t, q, v, np.gradient(v, t), 0 * t, q)


def simulated(machine, law, shape, size, seed, gains=(1.0, 1.0)):
    """A log whose friction has one more law of that size."""
    t, q, v, a = logs.motion(seed)
    load = machine.inverse_dynamics(q, v, a)
    effort = load + logs.VISCOUS * v + logs.COULOMB * np.tanh(v / 0.01)
    for k in range(2):
        own = JointMotion(t, q[:, k], v[:, k], a[:, k], load[:, k], q[:, k])
        columns = FRICTION_LAWS[law].columns(own, shape)
        effort[:, k] += size * np.sum(columns, axis=0)
    rng = np.random.default_rng(seed)
    effort = (effort + 0.02 * rng.standard_normal(effort.shape)) * gains
    log = {"time": t}
    kind = "tau" if gains == (1.0, 1.0) else "current"
    for k, n in enumerate(logs.JOINTS):
        log |= {f"q {n}": q[:, k], f"v {n}": v[:, k], f"{kind} {n}": effort[:, k]}
    return log


LAWS = {
    "asymmetric": ((), 0.8),
    "stribeck": ((0.1,), 1.5),
    "power": ((2.0,), 0.6),
    "load": ((), 0.1),
    "lugre": ((2e-2,), 1.5),
    "load_lugre": ((4e-3,), 0.2),
    "drift": ((30.0,), 2.0),
    "ripple": ((101.0,), 0.5),
}


@pytest.mark.parametrize("law", LAWS)
def test_a_law_is_chosen_and_predicts_a_log_not_used(arm, law):
    shape, size = LAWS[law]
    fitted = [simulated(arm, law, shape, size, seed) for seed in (1, 2)]
    held = simulated(arm, law, shape, size, 3)
    found = fit_drives(arm, fitted, validate=[held], laws=[*LAWS, "coulomb", "creep"])
    assert all(law in {t.law for t in of} for of in found.model.terms), found.model.terms
    basic = found.basic.error(condition(read_log(arm, held)))
    assert (found.errors[-1].error < 0.75 * basic).all() and found.errors[-1].held_out
    assert (found.cross_validated < found.basic_cross_validated).all()


def test_all_laws_are_in_a_test():
    required = {"offset", "viscous", "coulomb", "rotor", "creep"}
    assert set(FRICTION_LAWS) - required == set(LAWS)


def test_gains_are_found_up_to_a_common_scale(arm):
    """The ratio of two gains follows from parameters that both joints share."""
    fitted = [simulated(arm, "load", (), 0.0, seed, gains=(0.1, 0.25)) for seed in (1, 2)]
    found = fit_drives(arm, fitted, laws=())
    e = {x.name: x for x in found.estimates}
    one, two = e["gain of shoulder"], e["gain of elbow"]
    deviation = max(one.sigma / one.value, two.sigma / two.value)
    assert 0 < deviation < 0.05
    assert abs(np.log(two.value / one.value / 2.5)) < 4 * deviation
    assert "common scale" in found.sentences()[0] and found.free_gains


def test_estimates_hold_within_their_intervals(arm):
    """With autoregressive noise; plain least squares has the same intervals as it has errors."""
    inside = []
    for seed in range(8):
        t, q, v, a = logs.motion(seed)
        tau = arm.inverse_dynamics(q, v, a) + logs.VISCOUS * v + logs.COULOMB * np.tanh(v / 0.01)
        rng = np.random.default_rng(seed)
        noise = coloured(0.1 * rng.standard_normal(tau.shape), np.array([0.9]))
        log = {"time": t}
        for k, n in enumerate(logs.JOINTS):
            log |= {f"q {n}": q[:, k], f"v {n}": v[:, k], f"tau {n}": (tau + noise)[:, k]}
        found = fit_drives(arm, log, laws=(), cutoff=20.0)
        true = {}
        for n, c, d in zip(logs.JOINTS, logs.COULOMB, logs.VISCOUS):
            true |= {f"viscous of {n}": d, f"coulomb (0.01) of {n}": c, f"offset of {n}": 0.0}
        away = [
            abs(e.value - true.get(e.name, e.before)) / e.sigma
            for e in found.estimates
            if not e.name.startswith("rotor")
        ]
        inside += [x < 1.96 for x in away]
        assert min(found.orders) >= 1
    assert 0.85 < np.mean(inside) <= 1.0


def test_gram_matrices_solve_the_same_problem_as_stacked_rows(arm):
    """The Schur complements give the least-squares solution of all rows together."""
    motion = condition(read_log(arm, logs.log(arm)))
    from catena.identification import base_parameters

    base = base_parameters(arm)
    log = drives(arm, motion, base.reduction.kept, np.eye(2))
    terms = (Term("offset"), Term("viscous"), Term("coulomb", (0.01,)))
    own = grams(log, [terms] * 2)
    variances = np.array([2.0, 0.5])
    found = solve(own, [[0, 1, 2]] * 2, np.ones(2), variances, rounds=1)
    rows, y = [], []
    for j in range(2):
        v = motion.v[:, j]
        F = np.stack([np.ones_like(v), v, np.tanh(v / 0.01)], axis=1)
        wide = np.zeros((len(v), base.rank + 6))
        wide[:, : base.rank] = log.regressor[:, j]
        wide[:, base.rank + 3 * j : base.rank + 3 * j + 3] = F
        rows.append(wide / np.sqrt(variances[j]))
        y.append(motion.effort[:, j] / np.sqrt(variances[j]))
    x = np.linalg.lstsq(np.concatenate(rows), np.concatenate(y), rcond=None)[0]
    assert np.allclose(found.theta, x[: base.rank], rtol=1e-4, atol=1e-5)
    assert np.allclose(np.concatenate(found.coefficients), x[base.rank :], rtol=1e-4, atol=1e-5)


def test_bristles_follow_dahls_model():
    """After a reversal z = 1 - 2 exp(-x / d) of Dahl's closed form; with creep z falls at rest."""
    t = np.linspace(0, 2, 2001)
    q = np.where(t < 1, t, 2 - t)
    z = bristle(joint_motion(t, q), 0.05)
    after = t > 1
    assert np.abs(z[after] - (-1 + 2 * np.exp(-(t[after] - 1) / 0.05))).max() < 1e-6
    still = joint_motion(t, np.minimum(t, 1))
    creep = bristle(still, 1e-3, 0.5)
    assert (
        abs(creep[-1] / creep[1000] - np.exp(-1 / 0.5)) < 1e-6 and bristle(still, 1e-3)[-1] > 0.999
    )


def test_whitening_inverts_colouring():
    a = np.array([0.5, 0.3])
    x = np.random.default_rng(0).standard_normal(500)
    back = whitened(coloured(x[::-1], a)[::-1], a)
    assert np.allclose(back, x[2:]) and np.allclose(autoregression([np.zeros(100)]), [])


def test_a_law_can_be_added_from_outside(arm):
    FRICTION_LAWS.register(
        FrictionLaw("cubic", "c v^3", "a toy", ("cubic",), lambda x, s: [x.v**3])
    )
    try:
        fitted = [simulated(arm, "cubic", (), 0.5, seed) for seed in (1, 2)]
        found = fit_drives(arm, fitted, laws=["cubic"])
        assert all("cubic" in {t.law for t in of} for of in found.model.terms)
    finally:
        del FRICTION_LAWS["cubic"]


def test_bad_arguments_are_refused_by_name(arm):
    with pytest.raises(StudyError, match="no log is given"):
        fit_drives(arm, [])
    with pytest.raises(StudyError, match="stribek"):
        fit_drives(arm, logs.log(arm), laws=["stribek"])
    with pytest.raises(StudyError, match="efforts in A and N m"):
        fit_drives(arm, [logs.log(arm), logs.log(arm, kind="current")])
    with pytest.raises(StudyError, match="a cutoff of 200 Hz"):
        fit_drives(arm, logs.log(arm), cutoff=200.0)


def test_report_and_command(arm, tmp_path, capsys):
    import pandas as pd

    from catena.cli import main

    for seed in (1, 2, 3):
        pd.DataFrame(logs.log(arm, seed)).to_csv(tmp_path / f"{seed}.csv", index=False)
    files = [str(tmp_path / f"{k}.csv") for k in (1, 2, 3)]
    with pytest.raises(SystemExit) as end:
        main(
            [
                "fit",
                "two_link_arm",
                *files[:1],
                "--validate",
                *files[1:],
                "--report",
                str(tmp_path / "out"),
            ]
        )
    shown = capsys.readouterr().out
    assert end.value.code in (0, None) and shown.count("held out") == 2
    page = (tmp_path / "out" / "index.html").read_text()
    for words in ("Prediction and measurement", "Spectra of the residuals", "not determine"):
        assert words in page
    fitted = catena.load(tmp_path / "out" / "fitted.toml")
    assert abs(fitted.joints[0].friction[0] - logs.COULOMB[0]) < 0.1
    with pytest.raises(SystemExit) as end:
        main(["fit", "two_link_arm", files[0], "--report", str(tmp_path / "out")])
    assert end.value.code == 2 and "exists already" in capsys.readouterr().err
    with pytest.raises(CatenaError, match="one or the other"):
        from catena.cli._fit_logs import fit_logs

        fit_logs(
            arm.mechanism, files, ([], None, None, None), forbidden=("x",), csv=False, force=False
        )


@pytest.mark.skipif(REAL is None, reason="the logs of the UR10e are not there")
def test_currents_of_a_real_ur10e_are_predicted():
    robot = catena.compile(catena.load(str(REAL / "ur10e.urdf")))
    files = [REAL / f"ur-20_{n}.csv" for n in ("02_12-50sec_12harm", "02_10-30sec_12harm")]
    held = REAL / "ur-20_01_31-unload.csv"
    found = fit_drives(robot, files, validate=[held])
    ratio = found.errors[-1].error / found.basic.error(found.errors[-1].motion)
    assert (ratio < 0.95).all() and (ratio[[1, 3, 4]] < 0.8).all()
    gains = found.model.gains  # the controller states 11.97 and 9.84 N m per ampere
    assert abs(gains[2] / gains[1] / (11.97 / 9.84) - 1) < 0.03
    ripples = [t.shape[0] for of in found.model.terms for t in of if t.law == "ripple"]
    assert all(min(abs(n - 101), abs(n - 202), abs(n - 404)) < 3 for n in ripples)


# --- drives that turn with several joints
FACTOR = 0.8  # of the second drive with the first joint


def coupled_log(machine, seed):
    """A log of an arm whose second drive turns at v2 + FACTOR v1, with friction at the drives."""
    t, q, v, a = logs.motion(seed)
    R = np.array([[1.0, 0.0], [FACTOR, 1.0]])
    V, A = v @ R.T, a @ R.T
    effort = machine.inverse_dynamics(q, v, a) @ np.linalg.inv(R)
    effort += [2.0, 1.5] * V + [1.0, 0.7] * np.tanh(V / 0.01) + [0.0, 0.3] * A
    effort += 0.01 * np.random.default_rng(seed).standard_normal(effort.shape)
    log = {"time": t}
    for k, n in enumerate(logs.JOINTS):
        log |= {f"q {n}": q[:, k], f"v {n}": v[:, k], f"tau {n}": effort[:, k]}
    return log


def test_drives_that_turn_with_several_joints(arm):
    first, second = logs.JOINTS
    bare = [replace(j, armature=(0.0,)) for j in arm.mechanism.joints]
    arm = catena.compile(arm.mechanism.with_(joints=bare))
    used, held = coupled_log(arm, 1), coupled_log(arm, 2)
    coupling = {second: {first: FACTOR}}
    found = fit_drives(arm, used, validate=[held], laws=(), coupling=coupling)
    rows = {(r["joint"], r["law"]): r["value"] for r in found.model.rows()}
    assert rows[second, "viscous"] == pytest.approx(1.5, abs=0.01)
    assert rows[second, "coulomb"] == pytest.approx(0.7, abs=0.01)
    assert rows[second, "rotor"] == pytest.approx(0.3, abs=0.01)
    alone = fit_drives(arm, used, validate=[held], laws=())
    assert found.errors[-1].error.max() < 0.3 * alone.errors[-1].error.max()
    assert any(second in s and "several joints" in s for s in found.sentences())
    again = found.model.predict(held)
    np.testing.assert_allclose(again.values, found.errors[-1].predicted)


@pytest.mark.parametrize(
    ("coupling", "words"),
    [
        ({"elbw": {logs.JOINTS[0]: 1.0}}, "no joint 'elbw'"),
        ({logs.JOINTS[1]: {logs.JOINTS[0]: np.nan}}, "a finite number"),
        (
            {logs.JOINTS[1]: {logs.JOINTS[0]: 1.0}, logs.JOINTS[0]: {logs.JOINTS[1]: 1.0}},
            "a drive of its own",
        ),
    ],
)
def test_couplings_that_are_refused(arm, coupling, words):
    with pytest.raises(StudyError, match=words):
        fit_drives(arm, coupled_log(arm, 1), coupling=coupling)
