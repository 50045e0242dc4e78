"""Loops are closed within the limits of joints where that is possible from a guess within them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import catena

# the branch of the four-bar nearest to this guess has a negative angle at the upper pin
GUESS = (0.5, 0.2, 0.2)


@pytest.fixture(scope="module")
def bounded():
    """The four-bar linkage whose coupler cannot fold below 0.1 rad."""
    m = catena.load("four_bar")
    joints = [replace(j, lower=0.1, upper=3.0) if j.name == "upper pin" else j for j in m.joints]
    return catena.compile(m.with_(joints=tuple(joints)))


def test_a_configuration_within_limits_is_preferred(bounded):
    free = catena.assemble(catena.load("four_bar"), GUESS)[0]
    assert free[1] < 0.0
    q, v = catena.assemble(bounded, GUESS, [1.0, 0.0, 0.0])
    assert 0.1 <= q[1] <= 3.0
    error, rate, _, _ = bounded.constraint_rows(q, v)
    assert np.abs(error).max() < 1e-12 and np.abs(rate).max() < 1e-12


def test_a_batch_finds_what_each_start_finds_alone(bounded):
    guesses = np.array([GUESS, (1.0, 0.2, 0.3), (0.5, 1.6, 1.7)])
    q, v = catena.assemble(bounded, guesses, np.ones((3, 3)))
    for k, guess in enumerate(guesses):
        alone = catena.assemble(bounded, guess, np.ones(3))
        np.testing.assert_allclose(q[k], alone[0], atol=1e-9)
        np.testing.assert_allclose(v[k], alone[1], atol=1e-8)


def test_a_guess_outside_its_limits_chooses_freely(bounded):
    guess = (-0.374, -0.411, 2.457)
    assert catena.assemble(bounded, guess)[0][1] < 0.0


def test_limits_that_no_closed_configuration_keeps_are_left(bounded):
    m = bounded.mechanism
    joints = [replace(j, lower=0.1, upper=0.11) if j.name == "far pin" else j for j in m.joints]
    machine = catena.compile(m.with_(joints=tuple(joints)))
    q, _ = catena.assemble(machine, (0.5, 0.2, 0.105))
    assert np.abs(machine.constraint_rows(q, np.zeros(3))[0]).max() < 1e-12


def test_a_run_without_a_start_begins_within_limits(bounded):
    run = catena.simulate(bounded, until=0.05)
    assert 0.1 <= run.data["q"].values[0, 1] <= 3.0
    arm = catena.load("two_link_arm")
    joints = tuple(replace(j, lower=-2.0, upper=-0.5) for j in arm.joints)
    run = catena.simulate(arm.with_(joints=joints), until=0.05)
    assert (run.data["q"].values[0] == -0.5).all()
