"""Questions of closed mechanisms for many states at once: the answers are those of one state at a
time.
"""

from __future__ import annotations

import numpy as np
import pytest

from catena.analysis.assembly import assemble
from catena.analysis.kinematic_drive import kinematics
from catena.errors import ClosureError, QuestionError, StateError
from catena.formats import load
from catena.machine.machine import compile


def scattered(machine, count: int, size: float) -> tuple[np.ndarray, np.ndarray]:
    """Starts around the assembled place, and speeds that tear the loops."""
    rng = np.random.default_rng(3)
    q, _ = assemble(machine)
    return machine.move(
        np.tile(q, (count, 1)), size * rng.standard_normal((count, machine.nv))
    ), rng.standard_normal((count, machine.nv))


@pytest.mark.parametrize("name", ["four_bar", "bricard", "slider_crank"])
def test_many_starts_are_assembled_as_one_by_one(name: str) -> None:
    machine = compile(load(name))
    q, v = scattered(machine, 6, 0.4)
    found, speeds = assemble(machine, q.reshape(2, 3, -1), v.reshape(2, 3, -1))
    assert found.shape == (2, 3, machine.nq) and speeds.shape == (2, 3, machine.nv)
    for k in range(6):
        one, speed = assemble(machine, q[k], v[k])
        assert found.reshape(6, -1)[k] == pytest.approx(one, abs=1e-8)
        assert speeds.reshape(6, -1)[k] == pytest.approx(speed, abs=1e-7)
    error, rate, _, _ = machine.constraint_rows(found, speeds)
    assert np.abs(error).max() < 1e-9 and np.abs(rate).max() < 1e-9


def test_coordinates_that_are_fixed_stay_in_every_row() -> None:
    m = load("four_bar")
    machine = compile(m)
    name = m.joints[0].name
    q, _ = assemble(machine)
    starts = np.tile(q, (5, 1))
    starts[:, 0] += np.linspace(-0.3, 0.3, 5)
    found, _ = assemble(machine, starts, fixed=[name])
    assert np.array_equal(found[:, 0], starts[:, 0])
    assert np.abs(machine.constraint_rows(found, np.zeros((5, machine.nv)))[0]).max() < 1e-9


def test_lengths_that_differ_from_row_to_row_and_one_that_cannot_close() -> None:
    """A slider-crank with rods of several lengths; one shorter than the crank cannot be closed
    where the crank stands across.
    """
    m = load("slider_crank")
    machine = compile(m)
    crank = m.joints[0].name
    q, _ = assemble(machine)
    values = m.parameters["l"] * np.array([1.0, 1.05, 0.95])
    found, v = assemble(machine, q, parameters={"l": values})
    error = machine.constraint_rows(found, v, {"l": values})[0]
    assert found.shape == (3, machine.nq) and np.abs(error).max() < 1e-9
    assert found[0] == pytest.approx(q, abs=1e-9)
    across = np.where(np.arange(machine.nq) == 0, np.pi / 2, q)
    with pytest.raises(ClosureError, match="1 of 3 rows") as open_:
        assemble(machine, across, fixed=[crank], parameters={"l": [1.0, 0.1, 0.9]})
    assert list(open_.value.failed) == [1]


def test_rows_that_stay_open_are_named_and_the_others_kept() -> None:
    m = load("four_bar")
    machine = compile(m)
    q, _ = assemble(machine)
    starts = np.tile(q, (4, 1))
    starts[2] += [1.0, 1.5, -2.0]
    with pytest.raises(
        ClosureError, match=r"1 of 4 rows cannot be assembled: row 2: loop .* stays open by"
    ) as open_:
        assemble(machine, starts, fixed=[j.name for j in m.moving])
    error = open_.value
    assert (
        list(error.failed) == [2]
        and np.isnan(error.q[2]).all()
        and error.q[[0, 1, 3]] == pytest.approx(starts[[0, 1, 3]])
    )
    with pytest.raises(StateError, match="is not a finite number"):
        assemble(machine, np.full((2, machine.nq), np.nan))


@pytest.mark.parametrize("name", ["four_bar", "slider_crank"])
def test_a_turn_in_lanes_is_the_one_that_is_followed_instant_by_instant(name: str) -> None:
    machine = compile(load(name))
    q, _ = assemble(machine)
    crank = machine.coordinate_names[0]
    angles = q[0] + np.linspace(0, 2 * np.pi, 100)
    speeds = 2.0 + np.sin(angles)
    turn = kinematics(machine, {crank: (angles, speeds, 0.5)}, q)
    guess = q
    for k in range(100):
        one = kinematics(machine, {crank: (angles[k], speeds[k], 0.5)}, guess)
        guess = one.q
        for mine, other in zip(turn, one):
            assert mine[k] == pytest.approx(other, abs=1e-8)


def test_a_step_across_two_assemblies_is_followed_by_the_neighbour() -> None:
    """Instants so far apart, and back and forth, that a line between them leads nowhere."""
    machine = compile(load("four_bar"))
    q, _ = assemble(machine)
    rng = np.random.default_rng(2)
    angles = q[0] + rng.uniform(-0.6, 0.6, 40)
    turn = kinematics(machine, {machine.coordinate_names[0]: angles}, q)
    guess = q
    for k, angle in enumerate(angles):
        guess = kinematics(machine, {machine.coordinate_names[0]: angle}, guess).q
        assert turn.q[k] == pytest.approx(guess, abs=1e-8)


def test_what_is_left_free_is_named_for_arrays_too() -> None:
    machine = compile(load("two_link_arm"))
    with pytest.raises(QuestionError, match="1 degree.s. of freedom are left free"):
        kinematics(machine, {"shoulder": np.linspace(0, 1, 20)})
