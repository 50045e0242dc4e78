"""Optimal motions against closed forms, and what is said where there is none."""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena.errors import FormatError, StudyError


def cart(effort=np.inf):
    """One mass on a rail: the double integrator."""
    slide = catena.Joint("x", "prismatic", "ground", "cart", axis=(1, 0, 0), effort=effort)
    return catena.Mechanism("cart", [catena.Body("cart", 1.0, (0, 0, 0), (1, 1, 1))], [slide])


@pytest.mark.parametrize("method", ["collocation", "shooting"])
def test_the_double_integrator_of_least_energy(method):
    o = catena.optimize(cart(), cost="torque squared", end={"q": {"x": 1.0}, "v": "rest"}, until=1.0, intervals=40, method=method)
    n, t = 40, (np.arange(40) + 0.5) / 40
    # u(t) = 6 - 12 t costs 12; the best of n constant forces costs 12 n^2/(n^2 - 1)
    assert o.cost == pytest.approx(12 * n**2 / (n**2 - 1), rel=1e-8)
    assert np.abs(o.forces[:, 0] - (6 - 12 * t) * n**2 / (n**2 - 1)).max() < 1e-6
    assert o.difference < 1e-9 and o.result.ledger is not None
    assert "forward simulation at a tolerance of 1e-11 differs by" in str(o)


def test_least_time_is_bang_bang():
    o = catena.optimize(cart(effort=1.0), cost="time", end={"q": {"x": 1.0}, "v": "rest"}, until=(0.5, 5.0), intervals=20)
    assert o.t[-1] == pytest.approx(2.0, abs=1e-6)  # 2 sqrt(d / a)
    assert np.abs(np.abs(o.forces) - 1.0).max() < 1e-4 and o.forces[0, 0] > 0 > o.forces[-1, 0]


def test_an_unknown_parameter_is_found():
    """The mass of least effort is the smallest that is allowed."""
    o = catena.optimize(cart(), end={"q": {"x": 1.0}, "v": "rest"}, design={"body.cart.mass": (0.5, 2.0)}, intervals=10)
    assert list(o.parameters.values()) == pytest.approx([0.5], abs=1e-6)


def test_the_swing_up_of_a_file():
    mechanism, asked = catena.studies.read_optimize("swing_up")
    o = catena.optimize(mechanism, **{**asked, "intervals": 40})
    assert asked["end"] == {"q": {"x": 1.0, "theta": 0.0}, "v": "rest"}
    assert np.abs(o.q[-1] - [1.0, 0.0]).max() < 1e-9 and np.abs(o.forces[:, 1]).max() == 0.0
    assert np.abs(o.forces).max() <= 20.0 + 1e-6 and o.difference < 1e-2


def test_what_cannot_be_is_said():
    end = {"q": {"x": 1.0}, "v": "rest"}
    with pytest.raises(StudyError, match=r"no motion of 'cart' was found.*equation of motion of '[qv].x' between t = .* At their limits are .*tau.x"):
        catena.optimize(cart(effort=1.0), end=end, until=1.0, intervals=10)
    with pytest.raises(StudyError, match="end: no coordinate 'y' in mechanism 'cart'"):
        catena.optimize(cart(), end={"q": {"y": 1.0}})
    with pytest.raises(StudyError, match=r"the end: q.x = 1 is beyond its limits, -0.5 to 0.5"):
        catena.optimize(cart(), end=end, bounds={"q.x": (-0.5, 0.5)})
    with pytest.raises(StudyError, match="no state or force 'q.z'"):
        catena.optimize(cart(), end=end, bounds={"q.z": (0, 1)})
    with pytest.raises(StudyError, match=r"cost \(time, torque squared, energy, or a text\) 'tau_y'.*no name 'tau_y'"):
        catena.optimize(cart(), end=end, cost="tau_y")
    with pytest.raises(StudyError, match="no method 'magic'; methods are: collocation, shooting"):
        catena.optimize(cart(), end=end, method="magic")
    with pytest.raises(StudyError, match="a duration, or a range of durations"):
        catena.optimize(cart(), end=end, until=-1.0)
    with pytest.raises(FormatError, match=r"it has no table \[optimize\]"):
        catena.studies.read_optimize("pendulum")
