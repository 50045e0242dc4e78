"""Bodies that travel by more than they are thick in one time step do not pass through each other
unseen.
"""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena import Body, Contact, Joint, Mechanism, Shape
from catena.collision.thickness import thickness

R = 0.01
STEP = 1e-3
OPTIONS = {"contact": "time_stepping", "step": STEP, "output": STEP, "threads": 1}


def thrown(wall: Shape, shape: Shape, restitution: float) -> Mechanism:
    """A free body and a wall of the ground across x, without gravity."""
    return Mechanism(
        "wall",
        (Body("ball", 1.0, (0, 0, 0), (4e-5,) * 3, shapes=(shape,)),),
        (Joint("free", "free", "ground", "ball"),),
        gravity=(0, 0, 0),
        ground=(wall,),
        contacts=(Contact(("ball", "ground"), 0.3, restitution),),
    )


@pytest.mark.parametrize(
    ("wall", "shape"),
    [
        (Shape("box", (0.002, 5, 5), collides=True), Shape("sphere", (R,), collides=True)),
        (Shape("box", (0.002, 5, 5), collides=True), Shape("box", (R, R, R), collides=True)),
        (Shape("sphere", (0.03,), collides=True), Shape("sphere", (R,), collides=True)),
    ],
)
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_fast_body_does_not_pass_a_thin_wall(wall, shape, restitution):
    speed = 200.0  # it moves by twenty of its radii in a step
    starts = -2.0 - np.linspace(0.0, speed * STEP, 13)
    q = np.zeros((13, 7))
    q[:, 0], q[:, 3] = starts, 1.0
    v = np.zeros((13, 6))
    v[:, 0] = speed
    m = thrown(wall, shape, restitution)
    run = catena.simulate(m, q=q, v=v, until=0.03, **OPTIONS)
    assert (run.q.values[:, -1, 0] < 0.0).all()
    assert np.abs(run.v.values[:, -1, 0] + restitution * speed).max() < 1e-9
    if wall.kind == "box":
        assert run.ledger.contact.ahead > 0 and "smaller step" in run.ledger.verdict


def test_slow_bodies_are_not_stopped_ahead():
    wall = Shape("box", (0.002, 5, 5), collides=True)
    m = thrown(wall, Shape("sphere", (R,), collides=True), 0.5)
    q, v = [-0.5, 0, 0, 1, 0, 0, 0], [5.0, 0, 0, 0, 0, 0]
    run = catena.simulate(m, q=q, v=v, until=0.2, **OPTIONS)
    assert run.ledger.contact.ahead == 0
    assert run.q.values[:, 0].max() < -R - 0.001 + 1e-9


def test_a_body_that_an_impact_has_stopped_stays_where_it_is():
    """Where nothing moves and nothing pushes, the impulse of the last step must not act again."""
    m = thrown(Shape("plane", collides=True), Shape("sphere", (R,), collides=True), 0.0)
    q, v = [0, 0, 0.05, 1, 0, 0, 0], [0, 0, -10.0, 0, 0, 0]
    run = catena.simulate(m, q=q, v=v, until=0.02, **OPTIONS)
    assert np.abs(run.v.values[-1]).max() == 0.0
    assert abs(run.q.values[-1, 2] - R) < 1e-12


def test_thickness():
    assert thickness(Shape("capsule", (0.1, 3.0)), {}) == 0.2
    assert thickness(Shape("cylinder", (1.0, 0.3)), {}) == 0.3
    assert thickness(Shape("plane"), {}) == np.inf
