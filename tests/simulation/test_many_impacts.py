"""The default tolerance through dozens of impacts: each motion is small relative to the one before,
and the instants of all later impacts depend on it.

A block that rocks from edge to edge keeps 1 - 3/2 sin^2(alpha) of its rate in each impact
[Housner1963]; between two impacts it is a pendulum upside down, whose time is a quadrature.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from catena import Body, Contact, Frame, Joint, Mechanism, Pose, simulate

ORIGIN = (0.0, 0.0, 0.0)
G = 9.81
B, H, MASS = 0.1, 0.4, 5.0  # half width, half height (m), kg
ALPHA = np.arctan2(B, H)
R = np.hypot(B, H)
RATE_SQUARED = 3.0 * G / (4.0 * R)  # of the pendulum about an edge, 1/s^2


def block() -> Mechanism:
    bodies = (
        Body("a", 0, ORIGIN, ORIGIN),
        Body("b", 0, ORIGIN, ORIGIN),
        Body("block", MASS, ORIGIN, (MASS * R**2 / 3.0,) * 3),
    )
    joints = (
        Joint("x", "prismatic", "ground", "a", axis=(1, 0, 0)),
        Joint("z", "prismatic", "a", "b", axis=(0, 0, 1)),
        Joint("turn", "revolute", "b", "block", axis=(0, 1, 0)),
    )
    frames = (
        Frame("left", "block", Pose(position=(-B, 0, -H))),
        Frame("right", "block", Pose(position=(B, 0, -H))),
    )
    contact = Contact((("left", "right"), "ground"), 1.0, 0.0)
    return Mechanism("block", bodies, joints, frames, contacts=(contact,))


def fall(energy: float) -> float:
    """From rest to the impact, s, where `energy` is the difference of the cosines of the diagonal's
    angle from the vertical, at rest and at the impact.
    """
    most = brentq(
        lambda x: 2.0 * np.sin(ALPHA - x / 2.0) * np.sin(x / 2.0) - energy, 0.0, ALPHA, xtol=1e-18
    )
    rest = ALPHA - most

    def slowness(s: float) -> float:  # with the angle rest + s^2
        y = s * s / 2.0
        ratio = np.sin(y) / y if y > 0.0 else 1.0
        return 2.0 / np.sqrt(2.0 * RATE_SQUARED * np.sin(rest + y) * ratio)

    return quad(slowness, 0.0, np.sqrt(most), epsabs=0.0, epsrel=1e-13)[0]


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_sixty_impacts_of_a_rocking_block_at_the_default_tolerance(share: float) -> None:
    tilt = share * ALPHA
    energy = 2.0 * np.sin(ALPHA - tilt / 2.0) * np.sin(tilt / 2.0)
    times, rates = [0.0], []
    for k in range(60):
        times.append(times[-1] + fall(energy) * (2.0 if k else 1.0))
        rates.append(np.sqrt(2.0 * RATE_SQUARED * energy))
        energy *= (1.0 - 1.5 * np.sin(ALPHA) ** 2) ** 2
    start = [B - R * np.sin(ALPHA - tilt), R * np.cos(ALPHA - tilt), tilt]
    run = simulate(block(), start, None, times[-1] * 1.0001, output=[times[-1]])
    hits, first = np.unique(run.impact_time.values, return_index=True)
    assert hits[:60] == pytest.approx(times[1:], rel=1e-9)
    assert run.data["approach"].values[first[:60]] / (2.0 * B) == pytest.approx(rates, rel=1e-9)


def test_a_step_that_goes_far_beyond_its_event_is_taken_again() -> None:
    """A pendulum falls through an angle at which it is to be stopped: the speed there is that of
    its energy, though steps are as long as the tolerance allows.
    """
    from catena import events

    pendulum = Mechanism(
        "pendulum",
        (Body("rod", 1.0, (0, 0, -1.0), (0.1, 0.1, 0.1)),),
        (Joint("pin", "revolute", "ground", "rod", axis=(0, 1, 0)),),
    )
    for angle in np.linspace(0.1, 1.4, 27):
        ends = events.When(when=f"q_pin - {float(angle)!r}", end=True)
        run = simulate(pendulum, [1.5], [0.0], 5.0, output=5.0, events=[ends], tolerance=1e-6)
        wanted = np.sqrt(2.0 * G * (np.cos(angle) - np.cos(1.5)) / 1.1)
        assert run.q.values[-1, 0] == pytest.approx(angle, abs=1e-12)
        assert abs(run.v.values[-1, 0]) == pytest.approx(wanted, rel=1e-6)
