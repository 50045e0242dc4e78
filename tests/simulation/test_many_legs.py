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
    places = [
        (np.cos(2 * np.pi * k / LEGS), np.sin(2 * np.pi * k / LEGS), 0.0) for k in range(LEGS)
    ]
    feet = tuple(Frame(f"leg {k}", "table", Pose(position=place)) for k, place in enumerate(places))
    return catena.compile(
        Mechanism(
            "table",
            (Body("table", 10.0, (0.1, 0.05, 0.3), (1, 1, 1)),),
            (Joint("free", "free", GROUND, "table"),),
            feet,
            contacts=(Contact((tuple(f.name for f in feet), "ground"), 0.0, 0.3),),
        )
    )


def test_it_rests() -> None:
    """Nothing holds it along the ground, and nothing moves it there."""
    run = catena.simulate(table(), q=[0, 0, 0, 1, 0, 0, 0], until=10.0, output=10.0)
    assert (
        run.q.values[-1] == pytest.approx([0, 0, 0, 1, 0, 0, 0], abs=1e-20)
        and np.isnan(run.contacts.normal_force.values[-1]).all()
    )
    assert run.contacts.force.values[-1, 0] == pytest.approx(
        [0, 0, 98.1]
    ) and run.contacts.pressure_centre.values[-1, 0, :2] == pytest.approx([0.1, 0.05])


def test_it_lands_flat_and_its_bounces_accumulate() -> None:
    """Above its centre of mass alone it would bounce as a ball does: 16 points give the same blow
    together, off the middle by their shares.
    """
    run = catena.simulate(
        table(), q=[0, 0, 0.05, 1, 0, 0, 0], v=[0.4, 0, 0, 0, 0, 0], until=1.0, output=1.0
    )
    kept = run.ledger.contact
    fall = np.sqrt(2 * 0.05 / 9.81)
    assert (
        run.impact_time.values[0] == pytest.approx(fall, rel=1e-10)
        and len(set(run.impact_time.values[:LEGS].tolist())) == 1
    )
    assert (
        kept.accumulations == LEGS
        and kept.gain == 0.0
        and kept.dissipated == pytest.approx(10 * 9.81 * 0.05, rel=1e-9)
    )
    closed = [
        t for t, what in zip(run.data["event_time"].values, run.event.values) if "closes" in what
    ]
    assert closed == pytest.approx([fall * (1 + 2 * 0.3 / 0.7)] * LEGS, rel=1e-9) and run.q.values[
        -1, :3
    ] == pytest.approx([0.4, 0, 0], abs=1e-9)


def stack(boxes: int, size: float = 0.1) -> Mechanism:
    """Boxes one on the other, each on four smooth corners, not quite above each other."""
    places = [(x * size / 2, y * size / 2, 0.0) for x, y in ((1, 1), (-1, 1), (-1, -1), (1, -1))]
    bodies = tuple(
        Body(f"box {i}", 1.0 + 0.1 * i, (0, 0, size / 2), (1 / 600,) * 3) for i in range(boxes)
    )
    corners = [
        tuple(
            Frame(f"corner {i}{k}", f"box {i}", Pose(position=place))
            for k, place in enumerate(places)
        )
        for i in range(boxes)
    ]
    tops = tuple(Frame(f"top {i}", f"box {i}", Pose(position=(0, 0, size))) for i in range(boxes))
    contacts = tuple(
        Contact((tuple(c.name for c in own), f"top {i - 1}" if i else "ground"), 0.0, 0.0)
        for i, own in enumerate(corners)
    )
    joints = tuple(Joint(f"free {i}", "free", GROUND, b.name) for i, b in enumerate(bodies))
    return Mechanism(
        "stack", bodies, joints, (*tops, *(c for own in corners for c in own)), contacts=contacts
    )


def test_a_stack_falls_as_one_and_stands() -> None:
    """Twelve corners; those between the boxes touch without a force while they fall, which is no
    event, and what is left are weights.
    """
    q = np.concatenate(
        [[0.01 * i * (-1) ** i, 0.005 * i, 0.1 * i + 0.05, 1, 0, 0, 0] for i in range(3)]
    )
    run = catena.simulate(stack(3), q=q, until=0.3, output=0.3)
    assert run.contacts.force.values[-1][:, 2] == pytest.approx(9.81 * np.array([3.3, 2.3, 1.2]))
    assert (
        len(run.event) == 8 + 12 + 4
        and run.ledger.contact.impacts == 1
        and run.ledger.contact.gain == 0.0
    )
    assert run.ledger.contact.dissipated == pytest.approx(
        3.3 * 9.81 * 0.05, rel=1e-9
    ) and run.q.values[-1, 2::7] == pytest.approx([0, 0.1, 0.2], abs=1e-12)
