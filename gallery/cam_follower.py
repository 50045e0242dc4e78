"""A cam whose follower leaves it: lift-off, flight and landing, by closed forms."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.optimize import brentq

from catena.formats import load
from catena.results.result import Result
from catena.simulation import simulate

from .drawing import over_time
from .page import Example, Page, Picture, number

# kg, N/m, N, m, rad/s, m/s2
M = 0.2
K = 200.0
F = 2.0
E = 0.01
W = 60.0
G = 9.81


def run() -> Page:
    """One turn of the cam."""
    result = motion()
    off = np.arcsin((M * G + F) / (M * E * W**2 - K * E)) / W
    rest = -(F + M * G) / K
    own = np.sqrt(K / M)
    y0 = E * np.sin(W * off)
    v0 = E * W * np.cos(W * off)

    def flight(t: float) -> float:
        return rest + (y0 - rest) * np.cos(own * (t - off)) + v0 / own * np.sin(own * (t - off))

    lands = brentq(lambda t: flight(t) - E * np.sin(W * t), off + 1e-2, off + 0.1, xtol=1e-15)
    h = 1e-7
    speed = E * W * np.cos(W * lands) - (flight(lands + h) - flight(lands - h)) / (2 * h)
    opens = next(
        t
        for t, what in zip(result.data["event_time"].values, result.event.values)
        if "opens" in what
    )
    later = np.flatnonzero(result.data["impact_time"].values > off)[0]
    found = (
        number(
            "it lifts off",
            opens,
            reference=off,
            unit="s",
            within=1e-8,
            basis="N = 0: sin(w t) = (m g + F)/(m e w^2 - k e)",
        ),
        number(
            "it comes back",
            result.data["impact_time"].values[later],
            reference=lands,
            unit="s",
            within=1e-7,
            basis="the flight of a mass on its spring",
        ),
        number(
            "speed of the blow",
            result.approach.values[later],
            reference=speed,
            unit="m/s",
            within=1e-5,
            basis="the same",
        ),
    )
    return Page(
        found,
        pictures(result),
        text=(
            "The follower rests on the eccentric as long as spring and weight can accelerate it"
            " downwards as fast as the cam falls away. The flywheel on the shaft keeps the speed to"
            " a few parts in a million."
        ),
    )


@cache
def motion() -> Result:
    """Two turns."""
    return simulate(
        load("cam_follower"), v={"shaft": W, "lift": E * W}, until=0.2, output=5e-4, tolerance=1e-11
    )


def pictures(result: Result) -> tuple[Picture, ...]:
    """Lift compared with the cam's, and the force."""
    t, q = result.time, result.q.values
    force = result.contacts.normal_force.values[:, 0]
    lines = [
        ("lift (mm)", {"follower": 1e3 * q[:, 1], "cam": 1e3 * E * np.sin(q[:, 0])}),
        ("force on the cam (N)", {"": np.where(force > 0, force, 0.0)}),
    ]
    return (
        Picture(
            over_time(t, lines, 2.2, marks=result.data["impact_time"].values.tolist()),
            "The follower leaves the cam near the top and comes back with a blow (dotted).",
        ),
        Picture(
            result.plot("contacts"), "The force between cam and follower, and when they touch."
        ),
    )


EXAMPLE = Example(
    "Cam with a follower that lifts off",
    "Closed forms of a mass on a spring; the case is ours.",
    "A contact that opens under its own dynamics: the speed limit of a cam.",
    ("cam_follower",),
    run,
)
