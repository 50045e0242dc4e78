"""Losses of joints that follow others: felt by the leader, by the ratio squared (damping) or its
magnitude (friction).
"""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena import Body, Joint, Mechanism, Mimic

RATIO, DAMPING, FRICTION = -3.0, 0.2, 0.05


def geared(**losses: float) -> Mechanism:
    """Two discs on one axis; the second turns at -3 times the speed of the first. Inertia at the
    leader: 0.5 + 9 0.1.
    """
    disc = {"mass": 1.0, "com": (0, 0, 0)}
    bodies = (
        Body("wheel", **disc, inertia=(0.5, 0, 0, 0.5, 0, 0.5)),
        Body("pinion", **disc, inertia=(0.1, 0, 0, 0.1, 0, 0.1)),
    )
    joints = (
        Joint("wheel", "revolute", "ground", "wheel"),
        Joint("pinion", "revolute", "ground", "pinion", mimic=Mimic("wheel", RATIO, 0.4), **losses),
    )
    return Mechanism("geared", bodies, joints, gravity=(0, 0, 0))


INERTIA = 0.5 + RATIO**2 * 0.1


def test_damping_of_a_follower_is_felt_by_its_ratio_squared():
    rate = RATIO**2 * DAMPING / INERTIA
    result = catena.simulate(geared(damping=DAMPING), v=[2.0], until=1.0, output=[1.0])
    assert float(result.v[-1, 0]) == pytest.approx(2.0 * np.exp(-rate), rel=1e-9)
    assert float(result.ledger.imbalance) < 1e-9
    assert catena.linearize(geared(damping=DAMPING), [0.0]).A[1, 1] == pytest.approx(
        -rate, rel=1e-12
    )


@pytest.mark.parametrize("friction", ["stick", "smooth"])
def test_dry_friction_of_a_follower_stops_the_leader(friction):
    stop = 2.0 * INERTIA / (abs(RATIO) * FRICTION)  # s, from 2 rad/s to rest
    result = catena.simulate(
        geared(friction=FRICTION), v=[2.0], until=0.5 * stop, output=[0.5 * stop], friction=friction
    )
    assert float(result.v[-1, 0]) == pytest.approx(1.0, rel=1e-9)


def test_a_ratio_may_be_a_parameter():
    import sympy

    made = geared(damping=DAMPING)
    joints = (
        made.joints[0],
        Joint(
            "pinion",
            "revolute",
            "ground",
            "pinion",
            mimic=Mimic("wheel", sympy.Symbol("n"), 0.4),
            damping=DAMPING,
            friction=FRICTION,
        ),
    )
    result = catena.simulate(
        made.with_(joints=joints, parameters={"n": RATIO}), v=[2.0], until=0.1, output=[0.1]
    )
    plain = catena.simulate(
        geared(damping=DAMPING, friction=FRICTION), v=[2.0], until=0.1, output=[0.1]
    )
    assert float(result.v[-1, 0]) == pytest.approx(float(plain.v[-1, 0]), rel=1e-12)
