"""Contacts without friction and without rebound that go over from one feature of a smooth shape to
another: the run gets past the border.
"""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena import Body, Contact, Joint, Mechanism, Shape
from catena.errors import SimulationError
from drops import SIZES


def two(first: str, second: str) -> Mechanism:
    """Two free bodies above the ground, that may touch it and each other."""
    bodies = tuple(
        Body(
            name,
            mass,
            (0, 0, 0),
            (0.03, 0.025, 0.02),
            shapes=(Shape(kind, SIZES[kind], collides=True),),
        )
        for name, kind, mass in (("lower", first, 1.0), ("upper", second, 1.3))
    )
    pairs = [("lower", "ground"), ("upper", "ground"), ("upper", "lower")]
    return Mechanism(
        "two",
        bodies,
        tuple(Joint(f"{b.name} free", "free", "ground", b.name) for b in bodies),
        contacts=tuple(Contact(pair, 0.0, 0.0) for pair in pairs),
    )


def falling(seed: int) -> tuple[list[float], list[float]]:
    """One above the other, each turned and turning."""
    rng = np.random.default_rng(seed)
    q: list[float] = []
    v: list[float] = []
    for z in (0.4, 1.05):
        turn = rng.standard_normal(4)
        turn /= np.linalg.norm(turn)
        q += [*(0.15 * rng.uniform(-1, 1, 2)), z, *turn]
        v += [*rng.uniform(-0.5, 0.5, 3), *rng.uniform(-3, 3, 3)]
    return q, v


@pytest.mark.parametrize("seed", [52, 76])
def test_a_sphere_goes_from_the_side_of_a_cylinder_over_its_rim(seed: int) -> None:
    """The curvature of the gap jumps there, and with it the force: it opens."""
    q, v = falling(seed)
    run = catena.simulate(two("cylinder", "sphere"), q, v, 1.0, output=[0.0, 1.0])
    assert run.ledger.energy_balance < 1e-8
    assert run.ledger.contact.penetration < 1e-9
    assert len(run.event) < 30


def test_a_capsules_end_goes_over_the_rim_of_a_flat_end_in_few_steps() -> None:
    q, v = falling(23)
    run = catena.simulate(two("cylinder", "capsule"), q, v, 1.0, output=[0.0, 1.0])
    assert run.ledger.energy_balance < 1e-8
    assert run.ledger.contact.penetration < 1e-9
    assert run.ledger.steps < 5000


def test_a_capsule_that_comes_to_lie_across_a_flat_end_is_refused_by_name() -> None:
    """Its normal comes to the axis slowly: found at once, and not approached for ever."""
    q, v = falling(28)
    with pytest.raises(
        SimulationError, match=r"'upper' and the cylinder of 'lower' touch .*flat end"
    ):
        catena.simulate(two("cylinder", "capsule"), q, v, 1.0, output=[0.0, 1.0])
