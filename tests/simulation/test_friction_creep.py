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
    run = simulate(block(), until=10.0, friction="smooth", **more)
    wanted = 10.0 * SMOOTH * np.arctanh(9.81 * np.sin(SLOPE) / LIMIT)
    assert run.q.values[-1, 0] == pytest.approx(wanted, rel=0.03)
    assert (
        "'slide' creeps by 0.008" in run.ledger.verdict
        and "friction='stick' does" in run.ledger.verdict
        and run.ledger.met is None
    )


def test_friction_that_sticks_does_not_creep() -> None:
    run = simulate(block(), until=10.0)
    assert run.q.values[-1, 0] == 0.0 and run.ledger.verdict == "" and run.ledger.steps < 100


def test_a_file_and_a_batch_say_the_same(tmp_path: Path) -> None:
    smooth: dict[str, Any] = {"until": 10.0, "friction": "smooth"}
    said = simulate(block(), **smooth).ledger.creeping
    assert simulate(block(), out=tmp_path / "run.nc", **smooth).ledger.creeping == said
    many = simulate(block(), v=[[0.0], [1.0]], **smooth)
    assert many.ledger.creeping.startswith("'slide' creeps by 0.008")


def test_joints_that_slide_or_turn_round_call_for_no_word() -> None:
    smooth: dict[str, Any] = {"friction": "smooth"}
    assert simulate(block(friction=2.0), until=3.0, **smooth).ledger.creeping == ""
    swinging = block(
        friction=0.05, gravity=0.0, loads=(JointSpring("spring", "slide", 100.0, 0.0),)
    )
    assert simulate(swinging, q=[0.5], until=3.0, output=0.01, **smooth).ledger.creeping == ""
    # nothing pulls
    assert simulate(block(gravity=0.0), until=10.0, **smooth).ledger.creeping == ""
    locked = simulate(block(), until=1.0, motion={"slide": "locked"}, **smooth)
    assert locked.ledger.creeping == ""


def test_a_run_that_cannot_stick_smooths_and_says_so() -> None:
    steps = simulate(block(), until=1.0, integrator="rk4", step=1e-4)
    assert steps.ledger.friction == (
        "smoothed about zero speed, since rk4 takes equal steps and locates no events"
    )
    assert "dry friction" in str(steps.ledger)
    assert simulate(block(), until=1.0).ledger.friction == ""


def test_friction_of_a_prescribed_motion_is_exact() -> None:
    """The drive works against friction: its force is F sign(v) more."""
    run = simulate(block(gravity=0.0), until=3.0, motion={"slide": "0.1 * sin(2 * t)"})
    t = np.asarray(run.data["time"])
    moving = np.abs(np.cos(2.0 * t)) > 1e-9
    wanted = -0.4 * np.sin(2.0 * t) + LIMIT * np.sign(np.cos(2.0 * t))
    assert np.abs(np.asarray(run.data["tau"])[:, 0] - wanted)[moving].max() < 1e-9
    assert run.ledger.friction == ""
