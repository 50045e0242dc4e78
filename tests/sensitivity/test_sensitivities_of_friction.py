"""Sensitivities of runs in which many joints stick and slip, against central differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import catena
from catena.errors import StudyError
from catena.simulation import simulate
from catena.simulation import trajectories as T

from ..simulation.test_friction_of_many_joints import rough
from ..simulation.test_prescribed import shaken

UNTIL, EPS = 0.3, 1e-6


def differences(run, columns: int) -> np.ndarray:
    """Central differences of the last state, by the changes (columns,) of what `run` takes."""
    found = []
    for k in range(columns):
        ends = []
        for sign in (1.0, -1.0):
            change = np.zeros(columns)
            change[k] = sign * EPS
            last = run(change)
            ends.append(np.concatenate([last.q.values[-1], last.v.values[-1]]))
        found.append((ends[0] - ends[1]) / (2 * EPS))
    return np.array(found).T


@pytest.mark.parametrize("way", ["forward", "adjoint"])
def test_many_joints_stick_and_slip(way: str) -> None:
    m = rough(3, 8)
    v = np.random.default_rng(3).normal(size=8)
    found = catena.sensitivities(
        m, with_respect_to=["v0"], v=v, until=UNTIL, tolerance=1e-12, way=way
    )
    words = " ".join(text for _, text in found.events)
    assert "sticks" in words
    wanted = differences(
        lambda dv: simulate(m, v=v + dv, until=UNTIL, output=UNTIL, tolerance=1e-13), 8
    )
    assert np.abs(found.derivatives - wanted).max() < 1e-7


@pytest.mark.parametrize("way", ["forward", "adjoint"])
def test_friction_itself_is_a_parameter_and_joints_break_loose(way: str) -> None:
    """The pendulum on a support that is shaken sticks and slips; its limit of friction and its
    start vary.
    """
    m = shaken((1, 0, 0))
    slide, pin = m.joints
    m = m.with_(joints=(slide, replace(pin, friction=(sp.Symbol("F"),))), parameters={"F": 3.2})
    motion = {"slide": T.sine({"slide": 0.1}, 9.0)}
    options = {"until": 0.8, "motion": motion}
    found = catena.sensitivities(
        m, with_respect_to=["F"], q=[0, 0.3], tolerance=1e-12, way=way, **options
    )
    words = " ".join(text for _, text in found.events)
    assert "slips" in words and "sticks" in words
    wanted = differences(
        lambda dF: simulate(
            m, [0, 0.3], parameters=[3.2 + dF[0]], output=0.8, tolerance=1e-13, **options
        ),
        1,
    )
    assert np.abs(found.derivatives - wanted).max() < 1e-6


def test_time_stepping_has_no_exact_derivative() -> None:
    with pytest.raises(StudyError, match="moreau_jean. is not differentiated"):
        catena.sensitivities(
            rough(1, 2), with_respect_to=["v0"], contact="time_stepping", step=1e-3, until=0.1
        )
