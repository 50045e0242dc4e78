"""A can on a plane by time stepping: it stands, slides, tips and rolls on its rim; closed forms,
the event life, bits of a batch.
"""

from __future__ import annotations

import numpy as np
import pytest

from catena import Body, Contact, Joint, Mechanism, Shape, simulate

GROUND = "ground"
ORIGIN = (0.0, 0.0, 0.0)
g = 9.81
R, H, M = 0.03, 0.12, 0.3  # m, m, kg


def can(
    friction: float = 0.5, gravity=(0.0, 0.0, -g), unit: float = 1.0, mass: float = M
) -> Mechanism:
    r, h = unit * R, unit * H
    across = mass * (3 * r * r + h * h) / 12
    body = Body(
        "can",
        mass,
        ORIGIN,
        (across, across, 0.5 * mass * r * r),
        shapes=(Shape("cylinder", (r, h), collides=True),),
    )
    return Mechanism(
        "can",
        (body,),
        (Joint("free", "free", GROUND, "can"),),
        gravity=gravity,
        contacts=(Contact(("can", GROUND), friction, 0.0),),
    )


STANDING = np.array([0, 0, H / 2, 1, 0, 0, 0])


def stepped(m, *given, step=1e-3, **options):
    return simulate(m, *given, contact="time_stepping", step=step, **options)


def tilt(run) -> np.ndarray:
    """Of the axis, rad."""
    return 2 * np.arcsin(np.minimum(1.0, np.hypot(run.q.values[..., 4], run.q.values[..., 5])))


@pytest.mark.parametrize(("unit", "mass"), [(1.0, M), (1e-6, 1e-9), (1e6, 1e9)])
def test_a_can_stands_still(unit: float, mass: float) -> None:
    q = STANDING * [unit, unit, unit, 1, 1, 1, 1]
    run = stepped(can(gravity=(0, 0, -g * unit), unit=unit, mass=mass), q, until=10.0, output=5.0)
    assert (
        np.abs((run.q.values - q) / [unit, unit, unit, 1, 1, 1, 1]).max() < 1e-10
        and run.ledger.contact.unconverged == 0
    )
    assert run.contacts.force.values[-1, 0] / (mass * g * unit) == pytest.approx(
        [0, 0, 1], abs=1e-6
    )
    assert (
        list(run.contacts.contact.values[:2])
        == ["can rim 1-ground point 1", "can rim 1-ground point 2"]
        and len(run.contacts.contact) == 8
    )


def test_a_can_that_slides_stops_after_its_way() -> None:
    """v^2 / 2 mu g, in any direction."""
    exact = 0.29 / (2 * 0.2 * g)
    errors = []
    steps = (4e-3, 2e-3, 1e-3, 5e-4)
    for h in steps:
        run = stepped(can(0.2), STANDING, [0.5, 0.2, 0, 0, 0, 0], until=0.6, step=h, output=0.3)
        errors.append(abs(np.hypot(*run.q.values[-1, :2]) - exact))
        assert (
            run.q.values[-1, 1] / run.q.values[-1, 0] == pytest.approx(0.4, abs=1e-4)
            and np.abs(run.v.values[-1]).max() < 1e-9
        )
    assert (np.array(errors) < 1e-3 * np.array(steps)).all() and tilt(run).max() < 1e-6


@pytest.mark.parametrize("angle", [0.0, 0.3, np.pi / 4, 1.2])
def test_a_can_tips_where_it_is_pushed_more_than_its_weight_holds(angle: float) -> None:
    """m g R over half the height, in any direction: below that it stays within what a step gives,
    above it falls over to that side.
    """
    for part, falls in ((0.97, False), (1.03, True)):
        push = part * g * R / (H / 2) * np.array([np.cos(angle), np.sin(angle)])
        run = stepped(can(2.0, gravity=(*push, -g)), STANDING, until=0.6, output=0.1)
        assert run.ledger.contact.penetration < 1e-5
        if falls:
            assert tilt(run)[-1] > 1.0 and run.q.values[-1, :2] @ push > 0.9 * np.hypot(
                *run.q.values[-1, :2]
            ) * np.hypot(*push)
        else:
            assert tilt(run).max() < 1e-3 and np.abs(run.q.values[-1, :2]).max() < 1e-3 * R + 1e-4


def test_a_tilted_can_rolls_on_its_rim_as_by_events() -> None:
    m, lean = can(5.0), 0.5
    lowest = H / 2 * np.cos(lean) + R * np.sin(lean)
    q = np.array([0, 0, lowest, np.cos(lean / 2), np.sin(lean / 2), 0, 0])
    # the axis goes round the vertical, and the can rolls without slip about its lowest point
    turn = np.array([0, 0, 6.0])
    contact = np.array([0, R * np.cos(lean) - H / 2 * np.sin(lean), 0])
    down = np.array([[1, 0, 0], [0, np.cos(lean), -np.sin(lean)], [0, np.sin(lean), np.cos(lean)]])
    v = np.concatenate([-np.cross(turn, np.array([0, -contact[1], -lowest])), down.T @ turn])
    event = simulate(m, q, v, 0.1, output=0.1)
    errors = [
        np.abs(
            stepped(m, q, v, until=0.1, step=h, output=0.1).q.values[-1] - event.q.values[-1]
        ).max()
        for h in (2e-3, 1e-3, 5e-4)
    ]
    assert (
        np.abs(event.q.values[-1] - q).max() > 0.01
        and errors[2] < 5e-4
        and 0.3 < errors[1] / errors[0] < 0.7
        and 0.3 < errors[2] / errors[1] < 0.7
    )


def test_a_can_lies_down_and_rolls() -> None:
    """On its side it rolls down a slope with 2/3 g sin a, by the lowest points of both rims."""
    slope = 0.2
    m = can(0.6, gravity=(g * np.sin(slope), 0, -g * np.cos(slope)))
    run = stepped(m, [0, 0, R, np.sqrt(0.5), np.sqrt(0.5), 0, 0], until=0.5, output=0.5)
    assert (
        run.q.values[-1, 0] == pytest.approx(g * np.sin(slope) / 3 * 0.25, rel=5e-3)
        and abs(run.q.values[-1, 2] - R) < 1e-6
    )


def test_cans_know_nothing_of_each_other() -> None:
    rng = np.random.default_rng(0)
    q = np.tile(STANDING + [0, 0, 0.02, 0, 0, 0, 0], (16, 1))
    v = rng.normal(0, 1, (16, 6)) * [0.3, 0.3, 0.1, 3, 3, 10]
    m = can()
    together = stepped(m, q, v, until=0.4, output=0.2, threads=1)
    mixed = rng.permutation(16)
    assert np.array_equal(
        stepped(m, q[mixed], v[mixed], until=0.4, output=0.2, threads=2).state.values,
        together.state.values[mixed],
    )
    E = together.kinetic.values + together.potential.values
    assert (np.diff(E, axis=1) < 1e-3).all() and together.ledger.contact.cone < 1e-12
