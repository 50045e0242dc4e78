"""Linearisation, modes and mobility of many states at once: those of one state at a time, which
come from another tape.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import zoo
from catena.analysis.assembly import assemble
from catena.analysis.linearization import linearize
from catena.analysis.mobility import mobility
from catena.analysis.vibration import modes
from catena.errors import QuestionError
from catena.formats import load
from catena.machine.machine import Machine, compile
from catena.model.loads import JointSpring, Spring
from catena.model.spanning_tree import cut
from closed import bricard, four_bar, spatial_four_bar


@pytest.mark.parametrize(
    "kinds", [("revolute", "prismatic", "ball"), ("helical", "universal", "free")]
)
def test_a_batch_is_linearised_as_state_by_state(kinds: tuple[str, ...]) -> None:
    machine = compile(zoo.random_tree(5, kinds))
    rng = np.random.default_rng(1)
    q = machine.sample(rng, 2, 3)
    v = rng.standard_normal((2, 3, machine.nv))
    tau = rng.standard_normal(machine.nv)
    found = linearize(machine, q, v, tau, actuated=[machine.mechanism.moving[0].name])
    assert found.A.shape == (2, 3, 2 * machine.nv, 2 * machine.nv)
    for i in np.ndindex(2, 3):
        one = linearize(machine, q[i], v[i], tau, actuated=[machine.mechanism.moving[0].name])
        assert found.A[i] == pytest.approx(one.A, rel=1e-9, abs=1e-9 * np.abs(one.A).max())
        assert found.B[i] == pytest.approx(one.B, rel=1e-9, abs=1e-9 * np.abs(one.B).max())
        assert np.abs(found.poles[i]) == pytest.approx(
            np.abs(one.poles), rel=1e-6, abs=1e-6 * np.abs(one.poles).max()
        )


def test_modes_of_many_rests() -> None:
    machine = compile(load("two_link_arm"))
    rng = np.random.default_rng(0)
    q = np.concatenate([[[-np.pi / 2, 0.0]], rng.uniform(-1, 1, (4, 2))])
    tau = machine.gravity(q)
    found = modes(machine, q, tau)
    M = machine.mass_matrix(q)
    assert np.einsum("nik,nij,njl->nkl", found.shapes, M, found.shapes) == pytest.approx(
        np.tile(np.eye(2), (5, 1, 1)), abs=1e-12
    )
    for k in range(5):
        one = modes(machine, q[k], tau[k])
        assert found.squares[k] == pytest.approx(one.squares, rel=1e-9) and found.losses[
            k
        ] == pytest.approx(one.losses, rel=1e-9)
        assert np.abs(found.shapes[k]) == pytest.approx(np.abs(one.shapes), rel=1e-8)


CLOSED = {
    "four-bar": lambda: cut(four_bar()),
    "spatial four-bar": spatial_four_bar,
    "Bricard": bricard,
    "rolling disc": lambda: load("rolling_disc"),
}


def closed_states(machine: Machine, count: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """States around a place where the loops close, on them."""
    rng, (q, _) = np.random.default_rng(2), assemble(machine)
    near = machine.move(np.tile(q, (count, 1)), 0.1 * rng.standard_normal((count, machine.nv)))
    return assemble(machine, near, rng.standard_normal((count, machine.nv)))


@pytest.mark.parametrize("name", CLOSED)
def test_a_batch_with_rows_is_linearised_as_state_by_state(name: str) -> None:
    machine = compile(CLOSED[name]())
    (q, v), tau = closed_states(machine), np.random.default_rng(5).standard_normal((5, machine.nv))
    found = linearize(machine, q, v, tau)
    for k in range(5):
        one = linearize(machine, q[k], v[k], tau[k], coordinates=found.coordinates)
        assert (found.coordinates, found.inputs) == (one.coordinates, one.inputs)
        assert found.others[k] == pytest.approx(
            one.others, rel=1e-12, abs=1e-12 * np.abs(one.others).max()
        )
        if found.speeds == one.speeds:
            assert found.A[k] == pytest.approx(one.A, rel=1e-11, abs=1e-12 * np.abs(one.A).max())
            assert found.B[k] == pytest.approx(one.B, rel=1e-11, abs=1e-12 * np.abs(one.B).max())
        # the same poles
        assert np.poly(found.A[k]) == pytest.approx(
            np.poly(one.A), rel=1e-9, abs=1e-9 * np.abs(np.poly(one.A)).max()
        )
    again = linearize(
        machine,
        q.reshape(5, 1, -1),
        v.reshape(5, 1, -1),
        tau.reshape(5, 1, -1),
        actuated=machine.speed_names[:1],
    )
    np.testing.assert_array_equal(again.A[:, 0], found.A)
    np.testing.assert_array_equal(again.B[:, 0], found.B[..., :1])


def test_coordinates_of_an_open_batch_may_be_named() -> None:
    machine = compile(load("two_link_arm"))
    q, v = np.random.default_rng(1).standard_normal((2, 3, 2))
    found, one = (
        linearize(machine, *state, coordinates=["elbow", "shoulder"])
        for state in ((q, v), (q[2], v[2]))
    )
    assert found.coordinates == one.coordinates and found.A[2] == pytest.approx(one.A, rel=1e-9)


@pytest.mark.parametrize(
    "name", ["four-bar", "spatial four-bar", "with a spring", "with a spring between bodies"]
)
def test_modes_of_many_rests_with_loops(name: str) -> None:
    """Any place is a rest under the forces of its weight and springs."""
    loads = {
        "with a spring": JointSpring("s", "A", 30.0, 0.2, 0.5),
        "with a spring between bodies": Spring("s", "crank", "rocker", 40.0, 0.3, 0.7),
    }
    machine = compile(cut(four_bar(loads=(loads[name],))) if name in loads else CLOSED[name]())
    q, _ = closed_states(machine, 4)
    tau = machine.bias(q, np.zeros((4, machine.nv)))
    found = modes(machine, q, tau)
    d = found.squares.shape[1]
    M = np.einsum("nik,nij,njl->nkl", found.shapes, machine.mass_matrix(q), found.shapes)
    assert pytest.approx(np.tile(np.eye(d), (4, 1, 1)), abs=1e-12) == M
    for k in range(4):
        one = modes(machine, q[k], tau[k])
        size = np.abs(one.squares).max()
        assert found.squares[k] == pytest.approx(one.squares, rel=1e-10, abs=1e-12 * size)
        assert found.losses[k] == pytest.approx(one.losses, rel=1e-9, abs=1e-12 * np.sqrt(size))
        assert np.abs(found.shapes[k]) == pytest.approx(
            np.abs(one.shapes), rel=1e-9, abs=1e-9 * np.abs(one.shapes).max()
        )


@pytest.mark.parametrize("name", ["four-bar", "spatial four-bar", "Bricard", "rolling disc", "arm"])
def test_mobility_of_many_places(name: str) -> None:
    machine = compile(load("two_link_arm") if name == "arm" else CLOSED[name]())
    q = closed_states(machine)[0].reshape(5, 1, -1)
    motor = machine.speed_names[:1]
    found = mobility(machine, q, actuated=motor)
    assert found.degrees_of_freedom.shape == (5, 1) and len(found) == 5
    for k in range(5):
        one = mobility(machine, q[k, 0], actuated=motor)
        mine = found[k, 0]
        assert replace(mine, condition=one.condition) == one and str(mine) == str(one)
        assert mine.condition == pytest.approx(one.condition, rel=1e-11)


@pytest.mark.parametrize("unit", [1e-6, 1e-2, 1e6])
def test_places_of_different_rank_in_one_batch(unit: float) -> None:
    """A parallelogram that lies flat has a freedom more; it is asked between others, in several
    units of length, and from open guesses.
    """
    machine = compile(cut(four_bar(lengths=(unit, 2 * unit, unit, 2 * unit))))
    flat = np.zeros(3)
    crank = machine.joint_names.index("A")
    upright, _ = assemble(machine, 1.2 * np.eye(3)[crank], fixed=["A"])
    found = mobility(machine, np.array([upright, flat, upright + 0.01 * np.eye(3)[crank], flat]))
    assert found.degrees_of_freedom.tolist() == [1, 2, 1, 2] and found.singular.tolist() == [
        False,
        True,
        False,
        True,
    ]
    assert np.abs(machine.constraint_rows(found.q, np.zeros((4, 3)))[0]).max() < 1e-9 * max(
        unit, 1.0
    )
    assert "1 degree of freedom at 2, 2 degrees of freedom at 2; singular at 2" in str(found)
    for k in (0, 1):
        assert str(found[k]) == str(mobility(machine, found.q[k]))
    with pytest.raises(
        QuestionError,
        match=(
            "has 1 degrees of freedom in row 0 of this batch and 2 in row 1, where its loops are"
            " singular"
        ),
    ):
        linearize(machine, found.q[:2])
    with pytest.raises(QuestionError, match="modes: .* and 2 in row 1"):
        modes(machine, found.q[:2])


def test_what_a_batch_cannot_answer_is_said() -> None:
    arm = compile(load("two_link_arm"))
    disc = compile(load("rolling_disc"))
    with pytest.raises(
        QuestionError, match="is not in equilibrium in row 1: .* along 'shoulder' are not"
    ):
        modes(arm, np.array([[-np.pi / 2, 0.0], [0.0, 0.0]]))
    with pytest.raises(QuestionError, match="has speed rows, for which vibration modes"):
        modes(disc, np.tile(disc.neutral(), (2, 1)))
    with pytest.raises(
        QuestionError,
        match="'shoulder' are not independent coordinates for the 2 degrees of freedom",
    ):
        linearize(arm, np.zeros((2, 2)), coordinates=["shoulder"])
