"""The registry of pairs of shapes: a pair that is registered from outside is measured, and touches
by events and by time stepping.

                 ____
      o ->      (    )     a ball meets a pillar, a round wall without ends
                 ----
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import catena
from catena.collision import CONTACT_PAIRS, ContactPair
from catena.collision.solids import Proximity, Solid
from catena.errors import MechanismError
from catena.model import SHAPE_KINDS, Shape
from catena.model.shapes import ShapeKind
from catena.model.shapes import register as register_shape
from catena.spatial import add, dot, scale, sqrt, sub

BALL, PILLAR, AWAY, SPEED = 0.1, 0.3, 1.0, 2.0


def ball_pillar(ball: Solid, pillar: Solid) -> Proximity:
    """Return the proximity of a sphere and an endless cylinder."""
    z = pillar.axis(2)
    r = sub(pillar.p, ball.p)
    across = sub(r, scale(dot(r, z), z))
    length = sqrt(dot(across, across))
    n = scale(1.0 / length, across)
    d = length - ball.size[0] - pillar.size[0]
    a = add(ball.p, scale(ball.size[0], n))
    return Proximity(d, a, add(a, scale(d, n)), n)


@pytest.fixture
def pillars() -> Iterator[None]:
    """A kind of shape and its pair with spheres, for one test."""
    register_shape(ShapeKind("pillar", ("radius",), hull=lambda size: np.zeros((1, 3)), ball=True))
    CONTACT_PAIRS.register(ContactPair(("sphere", "pillar"), ball_pillar))
    yield
    del SHAPE_KINDS["pillar"], CONTACT_PAIRS["sphere-pillar"]


def thrown(first: str = "sphere", size: tuple[float, ...] = (BALL,)) -> catena.Mechanism:
    """A body that slides along x towards a pillar."""
    return catena.Mechanism(
        "thrown",
        (
            catena.Body(
                "ball", 1.0, (0, 0, 0), (1, 1, 1), shapes=[Shape(first, size, collides=True)]
            ),
        ),
        (catena.Joint("slide", "prismatic", "ground", "ball", axis=(1, 0, 0)),),
        gravity=(0, 0, 0),
        ground=(Shape("pillar", (PILLAR,), (AWAY, 0.0, 0.0), collides=True),),
        contacts=(catena.Contact(("ball", "ground"), 0.0, 1.0, name="knock"),),
    )


@pytest.mark.usefixtures("pillars")
@pytest.mark.parametrize("how", ["events", "time_stepping"])
def test_a_pair_from_outside_touches(how: str) -> None:
    """The ball comes back with its speed from where it meets the pillar."""
    step = {"step": 1e-3} if how == "time_stepping" else {}
    found = catena.simulate(thrown(), q=[0.0], v=[SPEED], until=0.5, contact=how, **step)
    met = (AWAY - BALL - PILLAR) / SPEED
    assert float(found.v[-1, 0]) == pytest.approx(-SPEED, rel=1e-9)
    bound = 1e-9 if how == "events" else 2 * SPEED * 1e-3
    assert float(found.q[-1, 0]) == pytest.approx(SPEED * (2 * met - 0.5), abs=bound)


@pytest.mark.usefixtures("pillars")
def test_a_pair_from_outside_has_a_clearance() -> None:
    """The clearance is that of the pair's own distance."""
    found = catena.clearance(thrown(), [0.1], pairs=[("ball", "ground")])
    assert float(found.distance.min()) == pytest.approx(AWAY - 0.1 - BALL - PILLAR, rel=1e-12)


@pytest.mark.usefixtures("pillars")
def test_kinds_without_a_record_are_refused_by_name() -> None:
    """A box and a pillar have no record: the message names what a pillar is touched by."""
    with pytest.raises(MechanismError, match="a box of 'ball' and a pillar.*touched by sphere"):
        catena.simulate(thrown("box", (0.2, 0.2, 0.2)), q=[0.0], v=[SPEED], until=0.5)


def test_a_pair_is_registered_once() -> None:
    """A second record for the same kinds is refused."""
    with pytest.raises(MechanismError, match="sphere-box"):
        CONTACT_PAIRS.register(ContactPair(("sphere", "box")))
