"""Observers and recursive estimates, and loads at the last body."""

from __future__ import annotations

import numpy as np
import pytest

import catena
import synthetic_logs as logs
from catena.errors import StudyError
from catena.identification import external_forces, fit_drives, payload, recursive_estimate


@pytest.fixture(scope="module")
def arm():
    return logs.arm()


def test_the_observer_follows_an_external_force(arm):
    """dr/dt = K (tau_ext - r) in closed form, along a motion, for a force that sets in at 2 s."""
    t, q, v, a = logs.motion(rate=1000.0, duration=4.0)
    external = np.where(t[:, None] > 2.0, [5.0, -2.0], 0.0)
    tau = arm.inverse_dynamics(q, v, a) - external
    r = external_forces(arm, t, q, v, tau, gain=20.0)
    expected = external * (1 - np.exp(-20.0 * np.maximum(t - 2.0, 0.0)))[:, None]
    assert np.abs(r - expected).max() < 0.05


def test_the_observer_refuses_what_it_cannot_do(arm):
    t, q, v, _ = logs.motion(duration=0.1)
    with pytest.raises(StudyError, match="above zero"):
        external_forces(arm, t, q, v, 0 * v, gain=0.0)
    loop = catena.compile(catena.load("four_bar"))
    with pytest.raises(StudyError, match="loops or free rotations"):
        external_forces(loop, t, q, v, 0 * v)


def test_recursive_estimates_end_where_least_squares_does(arm):
    t, q, v, a = logs.motion(rate=50.0, duration=4.0)
    rng = np.random.default_rng(0)
    tau = arm.inverse_dynamics(q, v, a) + 0.7 * v + 0.1 * rng.standard_normal(v.shape)
    estimate = recursive_estimate(arm, 0.1, spread=30.0)
    start = estimate
    rows, y = [], []
    from catena.identification.recursive_estimation import _row

    for k in range(len(t)):
        estimate = estimate.update(q[k], v[k], a[k], tau[k])
        rows.append(_row(arm, start.kept, q[k], v[k], a[k]))
        y.append(tau[k])
    W = np.concatenate(rows) / 0.1
    prior = np.eye(len(start.values)) / 30.0
    A = np.concatenate([W, prior])
    b = np.concatenate([np.concatenate(y) / 0.1, prior @ start.values])
    assert np.allclose(estimate.values, np.linalg.lstsq(A, b, rcond=None)[0], rtol=1e-5, atol=1e-6)
    assert np.allclose(estimate.covariance, np.linalg.inv(A.T @ A), rtol=1e-4, atol=1e-8)
    with pytest.raises(StudyError, match="forgetting at most one"):
        recursive_estimate(arm, 0.1, forgetting=1.5)


def test_a_known_load_gives_the_scale_of_the_gains(arm):
    """Currents with gains of 0.2 and 0.3 A per N m, a file whose masses are 20 % too small, and a
    log with 1.5 kg at the end of the fore arm.
    """
    gains = np.array([0.2, 0.3])
    heavy = arm.mechanism
    tip = 0.4
    fore = next(b for b in heavy.bodies if b.name == "fore")
    com = float(catena.model.value_of(fore.com[0], heavy.parameters))
    m = float(catena.model.value_of(fore.mass, heavy.parameters))
    izz = float(catena.model.value_of(fore.inertia[5], heavy.parameters))
    total = m + 1.5
    centre = (m * com + 1.5 * tip) / total
    about = izz + m * (com - centre) ** 2 + 1.5 * (tip - centre) ** 2
    from dataclasses import replace

    other = replace(
        fore, mass=total, com=(centre, 0.0, 0.0), inertia=(about, 0, 0, about, 0, about)
    )
    loaded = catena.compile(
        heavy.with_(bodies=[other if b.name == "fore" else b for b in heavy.bodies])
    )

    def log(machine, seed):
        t, q, v, a = logs.motion(seed)
        tau = machine.inverse_dynamics(q, v, a) + logs.VISCOUS * v + np.tanh(v / 0.01)
        current = gains * (tau + 0.05 * np.random.default_rng(seed).standard_normal(tau.shape))
        columns = {"time": t}
        for k, n in enumerate(logs.JOINTS):
            columns |= {f"q {n}": q[:, k], f"v {n}": v[:, k], f"current {n}": current[:, k]}
        return columns

    light = arm.mechanism.with_(
        bodies=[
            replace(b, mass=0.8 * float(catena.model.value_of(b.mass, heavy.parameters)))
            for b in heavy.bodies
        ]
    )
    found = fit_drives(light, [log(arm, 1), log(arm, 2)], laws=())
    unknown = payload(found, log(loaded, 3))
    assert unknown.scale is None and "not determined" in unknown.sentence
    known = payload(found, log(loaded, 3), mass=1.5)
    assert np.allclose(known.model.gains, gains, rtol=0.02)
    assert abs(known.first_moment[0] * known.scale - 1.5 * tip) < 0.03
    with pytest.raises(StudyError, match="no body 'hand'"):
        payload(found, log(loaded, 3), body="hand")
