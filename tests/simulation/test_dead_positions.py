"""A prescribed motion that a loop cannot follow ends the run at the dead position, and names it."""

from __future__ import annotations

import re

import numpy as np
import pytest

import catena
import closed
from catena.errors import SimulationError
from catena.model.loads import Drive
from catena.simulation import simulate, trajectories
from catena.simulation.runners import dead_positions, diagnostics

LENGTHS = (1.0, 1.2, 1.5, 1.8)  # of crank, coupler, rocker, ground: the crank cannot turn round
# coupler and rocker are in line, (1.2 + 1.5)^2 = 1 + 1.8^2 - 2 1.8 cos A
DEAD = float(np.arccos((1 + 1.8**2 - 2.7**2) / (2 * 1.8)))


def driven() -> tuple:
    m = closed.four_bar(lengths=LENGTHS)
    q, _ = catena.assemble(m, q=[1.88, -0.3, -0.93])
    names = catena.compile(m).coordinate_names
    start = float(q[names.index("A")])
    return m, q, start, trajectories.uniform({"A": 2.0}, offset={"A": start})


def place(said: str) -> tuple[float, float]:
    """The time (s) and the crank's angle (rad) that a sentence names."""
    t, A = re.search(r"t = ([\d.]+) s.* A = ([\d.]+)", said).groups()
    return float(t), float(A)


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"tolerance": 1e-7},  # as the studio has it
        {"tolerance": 1e-4},
        {"integrator": "rk4", "step": 1e-3},
        {"integrator": "radau"},
        {"tolerance": 1e-7, "output": 0.5},  # rows that do not see it
    ],
    ids=str,
)
@pytest.mark.parametrize("runs", [1, 3])
def test_a_crank_that_cannot_turn_stops_at_its_dead_position(how: dict, runs: int) -> None:
    m, q, start, motion = driven()
    q = q if runs == 1 else np.tile(q, (runs, 1))
    with pytest.raises(SimulationError, match="the loop that 'C' closes is") as stopped:
        simulate(m, q, until=5.0, motion=motion, **{"output": 0.05, **how})
    t, A = place(str(stopped.value))
    assert pytest.approx(DEAD, abs=1e-4) == A
    assert pytest.approx((DEAD - start) / 2.0, abs=1e-4) == t
    run = stopped.value.result
    assert run.data["time"].values[-1] < t and run.ledger.opening < 1e-3
    assert "'B' would have to move infinitely fast" in str(stopped.value)


def test_a_crank_that_turns_is_not_stopped() -> None:
    """Grashof's: shortest and longest are less than the others."""
    m = closed.four_bar(lengths=(1.0, 2.0, 1.8, 2.2))
    q, _ = catena.assemble(m)
    names = catena.compile(m).coordinate_names
    start = float(q[names.index("A")])
    motion = trajectories.uniform({"A": 6.0}, offset={"A": start})
    run = simulate(m, q, until=5.0, motion=motion)
    assert run.ledger.opening < 1e-9 and not run.ledger.laboured
    assert run.q.values[-1, names.index("A")] == pytest.approx(start + 30.0, rel=1e-12)


@pytest.mark.parametrize("runs", [1, 3])
def test_looking_for_torn_loops_costs_little(monkeypatch, runs: int) -> None:
    """A look costs as much as some fifty steps, so that there may be one in a thousand of them."""
    looks = []
    look = dead_positions.openings
    monkeypatch.setattr(dead_positions, "openings", lambda *a: looks.append(1) or look(*a))
    m = closed.four_bar(lengths=(1.0, 2.0, 1.8, 2.2))
    q, _ = catena.assemble(m)
    start = float(q[catena.compile(m).coordinate_names.index("A")])
    motion = trajectories.uniform({"A": 6.0}, offset={"A": start})
    q = q if runs == 1 else np.tile(q, (runs, 1))
    run = simulate(m, q, until=60.0, motion=motion, output=1.0)
    assert run.ledger.steps > 3000 and len(looks) <= 1 + run.ledger.steps / 1000


@pytest.mark.parametrize("kept", ["memory", "file"])
def test_a_run_of_very_many_steps_says_so_and_where(monkeypatch, tmp_path, kept: str) -> None:
    """A linkage that all but folds flat at A = pi: the steps are short there. What is very many is
    lowered for this test, and so are the slices that are compared.
    """
    monkeypatch.setattr(diagnostics, "MANY_STEPS", 100)
    monkeypatch.setattr(dead_positions, "WATCHED_STEPS", 20)
    m = closed.four_bar(lengths=(1.0, 1.2, 1.6 + 1e-6, 1.8))
    q, _ = catena.assemble(m, q=[1.88, -0.3, -0.93])
    start = float(q[catena.compile(m).coordinate_names.index("A")])
    motion = trajectories.uniform({"A": 2.0}, offset={"A": start})
    out = {"out": tmp_path / "run.nc"} if kept == "file" else {}
    run = simulate(m, q, until=4.0, motion=motion, output=0.05, **out)
    t = float(
        re.search(r"it took \d+ steps, the shortest near t = ([\d.]+) s", run.ledger.verdict)[1]
    )
    assert pytest.approx((np.pi - start) / 2.0, abs=0.01) == t
    assert "the loop that 'C' closes is close to a dead position at A = 3.1" in run.ledger.verdict


@pytest.mark.parametrize("tolerance", [1e-7, 1e-9])
def test_a_drive_that_is_a_constraint_stops_there_too(tolerance: float) -> None:
    _, q, start, _ = driven()
    m = closed.four_bar(lengths=LENGTHS, constraints=(Drive("motor", "A", f"{start!r} + 2*t"),))
    q, v = catena.assemble(m, q, [0.0, 2.0, 0.0])
    with pytest.raises(SimulationError, match="the loop that 'C' closes is") as stopped:
        simulate(m, q, v, until=5.0, output=0.05, tolerance=tolerance)
    t, A = place(str(stopped.value))
    assert pytest.approx(DEAD, abs=1e-4) == A
    assert pytest.approx((DEAD - start) / 2.0, abs=1e-3) == t
