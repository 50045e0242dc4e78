"""Runs in which more points touch at one instant than are enumerated."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import catena
from catena.machine.machine import Machine
from catena.model.mechanism import GROUND, Body, Contact, Frame, Joint, Mechanism
from catena.model.pose import Pose

LEGS = 16


@cache
def table() -> Machine:
    """On sixteen smooth legs in a circle, its centre of mass off the middle."""
    places = [(np.cos(2 * np.pi * k / LEGS), np.sin(2 * np.pi * k / LEGS), 0.0) for k in range(LEGS)]
    feet = tuple(Frame(f"leg {k}", "table", Pose(position=place)) for k, place in enumerate(places))
    return catena.compile(Mechanism("table", (Body("table", 10.0, (0.1, 0.05, 0.3), (1, 1, 1)),), (Joint("free", "free", GROUND, "table"),), feet,
                                    contacts=(Contact((tuple(f.name for f in feet), "ground"), 0.0, 0.3),)))  # fmt: skip


def test_it_rests() -> None:
    """Nothing holds it along the ground, and nothing moves it there."""
    run = catena.simulate(table(), q=[0, 0, 0, 1, 0, 0, 0], until=10.0, output=10.0)
    assert run.q.values[-1] == pytest.approx([0, 0, 0, 1, 0, 0, 0], abs=1e-20) and np.isnan(run.contacts.normal_force.values[-1]).all()
    assert run.contacts.force.values[-1, 0] == pytest.approx([0, 0, 98.1]) and run.contacts.pressure_centre.values[-1, 0, :2] == pytest.approx([0.1, 0.05])


def test_it_lands_flat_and_its_bounces_accumulate() -> None:
    """Above its centre of mass alone it would bounce as a ball does: 16 points give the same blow together, off the middle by their shares."""
    run = catena.simulate(table(), q=[0, 0, 0.05, 1, 0, 0, 0], v=[0.4, 0, 0, 0, 0, 0], until=1.0, output=1.0)
    kept, fall = run.ledger.contact, np.sqrt(2 * 0.05 / 9.81)
    assert run.impact_time.values[0] == pytest.approx(fall, rel=1e-10) and len(set(run.impact_time.values[:LEGS].tolist())) == 1
    assert kept.accumulations == LEGS and kept.gain == 0.0 and kept.dissipated == pytest.approx(10 * 9.81 * 0.05, rel=1e-9)
    closed = [t for t, what in zip(run.data["event_time"].values, run.event.values) if "closes" in what]
    assert closed == pytest.approx([fall * (1 + 2 * 0.3 / 0.7)] * LEGS, rel=1e-9) and run.q.values[-1, :3] == pytest.approx([0.4, 0, 0], abs=1e-9)
