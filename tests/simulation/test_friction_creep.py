"""Dry friction that is smoothed lets joints creep: the ledger measures it and names the joint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from catena import simulate
from catena.model.loads import JointSpring
from catena.model.mechanism import GROUND, Body, Joint, Mechanism
from catena.model.motions import SMOOTH

SLOPE, LIMIT = np.radians(20.0), 5.0


def block(friction: float = LIMIT, gravity: float = 9.81, loads: tuple[Any, ...] = ()) -> Mechanism:
    """A block of 1 kg on a slope, down which its joint slides."""
    down = (float(np.cos(SLOPE)), 0.0, float(-np.sin(SLOPE)))
    joints = (Joint("slide", "prismatic", GROUND, "block", axis=down, friction=friction),)
    return Mechanism(
        "block",
        (Body("block", 1.0, (0, 0, 0), (1, 1, 1)),),
        joints,
        gravity=(0, 0, -gravity),
        loads=loads,
    )


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"integrator": "radau"},
        {"integrator": "rk4", "step": 1e-4, "output": 0.1},
        {"output": 10.0},
    ],
)
def test_the_creep_of_a_load_below_the_limit_is_measured(more: dict[str, Any]) -> None:
    """It creeps at SMOOTH atanh(load / limit), for ever."""
    run = simulate(block(), until=10.0, **more)
    wanted = 10.0 * SMOOTH * np.arctanh(9.81 * np.sin(SLOPE) / LIMIT)
    assert run.q.values[-1, 0] == pytest.approx(wanted, rel=0.03)
    assert (
        "'slide' creeps by 0.008" in run.ledger.verdict
        and "friction='stick' does" in run.ledger.verdict
        and run.ledger.met is None
    )


def test_friction_that_sticks_does_not_creep() -> None:
    run = simulate(block(), until=10.0, friction="stick")
    assert run.q.values[-1, 0] == 0.0 and run.ledger.verdict == "" and run.ledger.steps < 100


def test_a_file_and_a_batch_say_the_same(tmp_path: Path) -> None:
    said = simulate(block(), until=10.0).ledger.creeping
    assert simulate(block(), until=10.0, out=tmp_path / "run.nc").ledger.creeping == said
    assert simulate(block(), v=[[0.0], [1.0]], until=10.0).ledger.creeping.startswith(
        "'slide' creeps by 0.008"
    )


def test_joints_that_slide_or_turn_round_call_for_no_word() -> None:
    assert simulate(block(friction=2.0), until=3.0).ledger.creeping == ""
    swinging = block(
        friction=0.05, gravity=0.0, loads=(JointSpring("spring", "slide", 100.0, 0.0),)
    )
    assert simulate(swinging, q=[0.5], until=3.0, output=0.01).ledger.creeping == ""
    assert simulate(block(gravity=0.0), until=10.0).ledger.creeping == ""  # nothing pulls
    locked = simulate(block(), until=1.0, motion={"slide": "locked"})
    assert locked.ledger.creeping == ""
