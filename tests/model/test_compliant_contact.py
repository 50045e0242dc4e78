"""Compliant contact: Hertz's closed forms, Hunt and Crossley's restitution, friction's limits,
action and reaction.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import beta

import catena
from catena.errors import MechanismError
from catena.model.loads import CompliantContact

M, K, R = 0.7, 1e5, 0.1


def ball(**contact):
    return catena.Mechanism(
        "ball",
        [catena.Body("ball", M, (0, 0, 0), (0.4 * M * R * R,) * 3)],
        [catena.Joint("free", "free", "ground", "ball")],
        gravity=(0, 0, 0),
        loads=[CompliantContact("c", "ball", "ground", K, radius=R, **contact)],
    )


def bounced(v, **contact):
    q = np.array([0, 0, R, 1, 0, 0, 0])
    return catena.simulate(
        ball(**contact), q=q, v=[0, 0, -v, 0, 0, 0], until=0.1, largest_step=1e-4, tolerance=1e-11
    )


def test_a_ball_presses_as_deep_and_as_long_as_hertz_says():
    """1/2 m v^2 = 2/5 k d^(5/2); the time in contact is a beta function of that."""
    v = 0.8
    depth = (1.25 * M * v * v / K) ** 0.4
    time = 2 * depth / v * 0.4 * beta(0.4, 0.5)
    found = bounced(v)
    height = found.data["q"].values[:, 2] - R
    t = found.time
    assert -height.min() == pytest.approx(depth, rel=1e-3)
    assert np.ptp(t[height < 0]) == pytest.approx(time, rel=0.05)
    assert found.data["v"].values[-1, 2] == pytest.approx(v, rel=1e-8)


@pytest.mark.parametrize("c", [0.02, 0.1])
def test_it_loses_what_hunt_and_crossley_say(c):
    """Where e = 1 - c v holds: for small c v."""
    v = 0.1
    e = bounced(v, damping=c).data["v"].values[-1, 2] / v
    assert e == pytest.approx(1 - c * v, abs=2 * (c * v) ** 2)


def test_friction_turns_a_slide_into_rolling():
    """A ball that slides on a table under its weight rolls at 5/7 of its speed, whatever the
    friction.
    """
    m = ball(friction=0.3, damping=20.0, slip_speed=1e-4).with_(gravity=(0, 0, -9.81))
    sunk = (M * 9.81 / K) ** (2 / 3)
    found = catena.simulate(
        m, q=[0, 0, R - sunk, 1, 0, 0, 0], v=[1, 0, 0, 0, 0, 0], until=0.5, tolerance=1e-9
    )
    v = found.data["v"].values[-1]
    assert v[0] == pytest.approx(5 / 7, rel=2e-3) and v[4] == pytest.approx(v[0] / R, rel=2e-2)


def test_two_bodies_keep_their_momentum():
    plate = catena.Body("plate", 2.0, (0, 0, 0), (0.3, 0.4, 0.5))
    m = ball(friction=0.5).with_(
        bodies=(*ball().bodies, plate),
        joints=(*ball().joints, catena.Joint("other", "free", "ground", "plate")),
        loads=[CompliantContact("c", "ball", "plate", K, radius=R, friction=0.5)],
    )
    machine = catena.compile(m)
    q = np.array([0.05, 0.02, R - 1e-3, 1, 0, 0, 0, 0, 0, 0, math.cos(0.1), math.sin(0.1), 0, 0])
    v = np.random.default_rng(0).normal(size=12)
    a = machine.forward_dynamics(q, v, np.zeros(12))
    assert abs(a).max() > 1.0
    np.testing.assert_allclose(M * a[:3] + 2.0 * a[6:9], 0, atol=1e-9)


def test_a_contact_with_itself_is_refused():
    with pytest.raises(MechanismError, match="itself"):
        ball().with_(loads=[CompliantContact("c", "ball", "ball", 1.0)]).validate()
