"""Rollouts: forces per run and per step; rows written where the result shows them; runs that do not
depend on their neighbours.
"""

from __future__ import annotations

import numpy as np
import pytest

from catena.analysis.assembly import assemble
from catena.errors import CatenaError, SimulationError
from catena.formats import load
from catena.machine.machine import compile
from catena.simulation import control, run, simulate
from catena.simulation.output import result_memory

# runs: not a whole number of registers
RUNS = 6
STEPS = 8
UNTIL = 0.5
rng = np.random.default_rng(3)
ARM = compile(load("two_link_arm"), threads=1)
Q = 0.3 * rng.standard_normal((RUNS, 2))
FORCES = 5 * rng.standard_normal((RUNS, STEPS, 2))


def alone(k: int, forces: np.ndarray, **options: object) -> np.ndarray:
    """Run k by itself, one simulation per piece of the forces, from the end of the one before: its
    last row of states.
    """
    q = Q[k]
    v = np.zeros(2)
    span = UNTIL / len(forces)
    for n, tau in enumerate(forces):
        r = simulate(
            ARM, q=q, v=v, start=n * span, until=(n + 1) * span, control=tau, output=span, **options
        )
        q = r.data["q"].values[-1]
        v = r.data["v"].values[-1]
    return np.concatenate([q, v])


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "gauss4", "dop853"])
def test_forces_per_run_and_step(integrator: str) -> None:
    step = {} if integrator == "dop853" else {"step": UNTIL / STEPS / 4}
    r = simulate(
        ARM, q=Q, until=UNTIL, forces=FORCES, integrator=integrator, output=UNTIL / 16, **step
    )
    found = np.concatenate([r.data["q"].values[:, -1], r.data["v"].values[:, -1]], axis=-1)
    wanted = np.stack([alone(k, FORCES[k], integrator=integrator, **step) for k in range(RUNS)])
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-8)
    # at the end of each piece, what was held in it
    np.testing.assert_array_equal(r.data["input"].values[:, 2::2], FORCES)
    if integrator == "dop853":
        # the work of the forces is counted
        assert np.abs(r.data["energy_error"].values).max() < 1e-7


@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_shapes_of_forces(integrator: str) -> None:
    def last(forces: np.ndarray) -> np.ndarray:
        run = simulate(
            ARM,
            q=Q,
            until=UNTIL,
            forces=forces,
            integrator=integrator,
            output=UNTIL / STEPS,
            step=UNTIL / STEPS / 5,
        )
        return run.data["state"].values[:, -1]

    every = last(np.broadcast_to(FORCES[0], FORCES.shape))
    np.testing.assert_array_equal(last(FORCES[0]), every)  # (step, nv)
    constant = last(np.repeat(FORCES[:, :1], STEPS, axis=1))
    np.testing.assert_allclose(last(FORCES[:, 0]), constant, rtol=1e-8, atol=1e-8)  # (run, nv)


def test_a_run_does_not_depend_on_its_neighbours() -> None:
    options = {"until": UNTIL, "integrator": "rk4", "output": UNTIL / STEPS}
    many = (
        simulate(ARM, q=np.repeat(Q, 4, axis=0), forces=np.repeat(FORCES, 4, axis=0), **options)
        .data["state"]
        .values
    )
    few = simulate(ARM, q=Q, forces=FORCES, **options).data["state"].values
    np.testing.assert_array_equal(many[::4], few)


def feedback(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return -20.0 * q - np.sin(t) * v


feedback.sample = 0.05


@pytest.mark.parametrize(
    "how", ["plain", "sampled in Python", "sampled in lanes", "forces in pieces", "loops"]
)
def test_adaptive_runs_do_not_depend_on_their_neighbours_or_threads(how: str) -> None:
    if how == "loops":
        machine = compile(load("four_bar"), threads=1)
        q, v = (np.repeat(x[None], 11, axis=0) for x in assemble(machine, v=np.ones(machine.nv)))
        v = v * np.linspace(0.1, 9.0, 11)[:, None]
    else:
        machine = ARM
        q = rng.uniform(-2, 2, (11, 2))
        v = rng.uniform(-3, 3, (11, 2)) * np.geomspace(0.01, 10, 11)[:, None]
    given = np.repeat(FORCES, 2, axis=0)[:11]
    options = {
        "sampled in Python": {"control": feedback},
        "sampled in lanes": {"control": control.PD(30.0, 2.0, target=0.2, sample=0.1)},
    }.get(how, {})

    def states(which: np.ndarray, **more: object) -> np.ndarray:
        own = {"forces": given[which]} if how == "forces in pieces" else options
        return (
            simulate(machine, q=q[which], v=v[which], until=UNTIL, output=0.1, **own, **more)
            .data["state"]
            .values
        )

    every = np.arange(11)
    mixed = np.array([10, 3, 3, 0, 7, 1, 9, 2, 4, 6, 5, 8, 10])
    together = states(every)
    np.testing.assert_array_equal(states(mixed), together[mixed])
    np.testing.assert_array_equal(states(every, threads=2), together)


def test_a_batch_that_takes_too_many_steps_says_where_one_of_it_is() -> None:
    with pytest.raises(
        SimulationError, match="largest number of steps was taken at t = .*30 steps were allowed"
    ) as caught:
        simulate(
            ARM,
            q=Q,
            v=np.geomspace(0.01, 10.0, RUNS)[:, None] * np.ones(2),
            until=5.0,
            output=0.01,
            most_steps=30,
        )
    assert 0.0 < caught.value.result.data["time"].values[-1] < 5.0


def test_rows_stand_where_the_drivers_wrote_them() -> None:
    r = simulate(
        ARM, q=np.repeat(Q, 4, axis=0), until=UNTIL, integrator="rk4", step=0.01, output=0.05
    )
    assert not r.data["state"].values.flags.owndata
    np.testing.assert_array_equal(r.data["state"].values[:, 0, :2], np.repeat(Q, 4, axis=0))


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
@pytest.mark.parametrize("forced", [False, True])
def test_one_call_for_all_groups_gives_the_bits_of_the_runner(
    monkeypatch: pytest.MonkeyPatch, integrator: str, forced: bool
) -> None:
    # groups, the last of them not full
    many = np.repeat(Q, 5, axis=0) + np.linspace(0.0, 0.1, 5 * RUNS)[:, None]
    options = {
        "until": UNTIL,
        "integrator": integrator,
        "step": UNTIL / STEPS / 3,
        "output": UNTIL / STEPS,
    }
    options |= (
        {"forces": np.repeat(FORCES, 5, axis=0)} if forced else {"control": np.array([1.0, -2.0])}
    )
    shown = [simulate(ARM, q=many, threads=threads, **options) for threads in (1, 2, 3)]
    monkeypatch.setattr(run, "rollout_of", lambda plan: None)
    wanted = simulate(ARM, q=many, **options)
    for found in shown:
        for name in ("state", "input", "a", "work"):
            np.testing.assert_array_equal(found.data[name].values, wanted.data[name].values)
        assert (found.ledger.steps, found.ledger.evaluations, found.ledger.step) == (
            wanted.ledger.steps,
            wanted.ledger.evaluations,
            wanted.ledger.step,
        )


def test_a_run_that_cannot_go_on_says_so_and_leaves_what_was_computed() -> None:
    q = np.zeros((20, 2))
    v = np.zeros((20, 2))
    v[13] = 1e6
    with pytest.raises(
        SimulationError,
        match="infinite or not a number at t = .*the step of 0.05 s may be too long",
    ) as caught:
        simulate(ARM, q=q, v=v, until=UNTIL, integrator="rk4", step=0.05, output=0.05)
    assert caught.value.result.data["state"].shape[0] == 20


def test_the_memory_of_a_result_is_used_again_only_when_it_is_gone() -> None:
    shape = (1024, 1024)
    first = result_memory.empty(shape)
    first[:] = 1.0
    row = first[3, :5].reshape(5, 1)
    at = first.ctypes.data
    assert first.shape == shape and first.flags.c_contiguous and first.flags.writeable
    del first
    second = result_memory.empty(shape)
    second[:] = 2.0
    assert second.ctypes.data != at
    np.testing.assert_array_equal(row, 1.0)  # a view keeps it
    del row
    third = result_memory.empty((1000, 1024))
    assert third.ctypes.data == at
    assert result_memory.empty((3, 4)).shape == (3, 4)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"forces": FORCES[:, :, :1]}, r"shape \(6, 8, 1\).*\(run, step, 2\), of 6 runs"),
        ({"forces": FORCES[:4]}, r"shape \(4, 8, 2\)"),
        ({"forces": FORCES * np.nan}, "finite"),
        ({"forces": FORCES, "control": np.zeros(2)}, "both control and forces"),
        (
            {"forces": FORCES, "integrator": "rk4", "step": 0.05, "output": 0.05},
            r"forces change every 0\.0625 s.*steps of 0\.05 s",
        ),
    ],
)
def test_forces_that_cannot_be(options: dict, words: str) -> None:
    with pytest.raises(CatenaError, match=words):
        simulate(ARM, q=Q, until=UNTIL, **options)
