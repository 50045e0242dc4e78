"""Linearisation and modes of many states at once: those of one state at a time, which come from another tape."""

from __future__ import annotations

import numpy as np
import pytest

import zoo
from catena.analysis.linearization import linearize
from catena.analysis.vibration import modes
from catena.errors import QuestionError
from catena.formats import load
from catena.machine.machine import compile


@pytest.mark.parametrize("kinds", [("revolute", "prismatic", "ball"), ("helical", "universal", "free")])
def test_a_batch_is_linearised_as_state_by_state(kinds: tuple[str, ...]) -> None:
    machine = compile(zoo.random_tree(5, kinds))
    rng = np.random.default_rng(1)
    q, v, tau = machine.sample(rng, 2, 3), rng.standard_normal((2, 3, machine.nv)), rng.standard_normal(machine.nv)
    found = linearize(machine, q, v, tau, actuated=[machine.mechanism.moving[0].name])
    assert found.A.shape == (2, 3, 2 * machine.nv, 2 * machine.nv)
    for i in np.ndindex(2, 3):
        one = linearize(machine, q[i], v[i], tau, actuated=[machine.mechanism.moving[0].name])
        assert found.A[i] == pytest.approx(one.A, rel=1e-9, abs=1e-9 * np.abs(one.A).max())
        assert found.B[i] == pytest.approx(one.B, rel=1e-9, abs=1e-9 * np.abs(one.B).max())
        assert np.abs(found.poles[i]) == pytest.approx(np.abs(one.poles), rel=1e-6, abs=1e-6 * np.abs(one.poles).max())


def test_modes_of_many_rests() -> None:
    machine = compile(load("two_link_arm"))
    rng = np.random.default_rng(0)
    q = np.concatenate([[[-np.pi / 2, 0.0]], rng.uniform(-1, 1, (4, 2))])
    tau = machine.gravity(q)
    found = modes(machine, q, tau)
    M = machine.mass_matrix(q)
    assert np.einsum("nik,nij,njl->nkl", found.shapes, M, found.shapes) == pytest.approx(np.tile(np.eye(2), (5, 1, 1)), abs=1e-12)
    for k in range(5):
        one = modes(machine, q[k], tau[k])
        assert found.squares[k] == pytest.approx(one.squares, rel=1e-9) and found.losses[k] == pytest.approx(one.losses, rel=1e-9)
        assert np.abs(found.shapes[k]) == pytest.approx(np.abs(one.shapes), rel=1e-8)


def test_what_a_batch_cannot_answer_is_said() -> None:
    closed, arm = compile(load("four_bar")), compile(load("two_link_arm"))
    with pytest.raises(QuestionError, match="has loops or speed rows: take one state at a time"):
        linearize(closed, np.zeros((2, 3)))
    with pytest.raises(QuestionError, match="has loops or speed rows: take one state at a time"):
        modes(closed, np.zeros((2, 3)))
    with pytest.raises(QuestionError, match="does not rest in row 1: 'shoulder' needs"):
        modes(arm, np.array([[-np.pi / 2, 0.0], [0.0, 0.0]]))
