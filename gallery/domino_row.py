"""A row of dominoes: impacts without rebound that pass on, then contacts that slide along each
other.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from catena.results.result import Result
from catena.simulation import simulate
from catena.simulation.scenario import read

from .drawing import over_time
from .page import Example, Page, Picture, number

H, D, G, W0 = 0.2, 0.06, 9.81, 3.0  # m, m, m/s2, rad/s


def run() -> Page:
    """Until the last one has been struck."""
    result = motion()
    angle = np.arcsin(D / H)
    before = np.sqrt(W0**2 + 3 * G / H * (1 - np.cos(angle)))
    struck = result.data["impact_time"].values
    first = int(np.argmax(struck > 0.0))
    lever = H * np.cos(angle)
    inertia = 0.05 * H**2 / 3
    found = (
        number(
            "speed at which the first meets the second",
            result.approach.values[first],
            reference=lever * before,
            unit="m/s",
            within=1e-9,
            basis="energy of the first: w^2 = w0^2 + 3 g/H (1 - cos a)",
        ),
        number(
            "impulse between them",
            result.impulse.values[first, 0],
            reference=inertia * before / 2 / lever,
            unit="N s",
            within=1e-9,
            basis="the same lever about both hinges: each goes on with w/2",
        ),
        number(
            "energy lost in all impacts, compared with the balance",
            result.ledger.contact.dissipated,
            reference=lost(result),
            unit="J",
            within=1e-9,
            basis="energy at the start less energy at the end",
        ),
        number(
            "dominoes struck",
            len(set(result.data["impact_contact"].values.tolist())),
            reference=4,
            basis="all but the first",
        ),
    )
    return Page(
        found,
        pictures(result),
        text=(
            "Each domino turns about its foot; its top touches the face of the next, a half-space"
            " that moves with it. After the impact the two stay in touch and slide along each other"
            " without friction, and the wave runs faster as more of them lean."
        ),
    )


def lost(result: Result) -> float:
    """J: energy of the start less that of the end."""
    E = result.energy.values
    return float(E[0] - E[-1])


@cache
def motion() -> Result:
    """The file's scenario."""
    case = read("domino_row", tolerance=1e-11)
    return simulate(case.mechanism, **case.arguments)


def pictures(result: Result) -> tuple[Picture, ...]:
    """Angles and speeds; forces."""
    t = result.time
    names = [f"domino {k + 1}" for k in range(5)]
    q = np.degrees(result.q.values)
    v = result.v.values
    return (
        Picture(
            over_time(
                t,
                [
                    ("lean (degrees)", dict(zip(names, q.T))),
                    ("angular velocity (rad/s)", dict(zip(names, v.T))),
                ],
                2.2,
                marks=np.unique(result.data["impact_time"].values).tolist(),
            ),
            "Lean and spin of the five; dotted: impacts.",
        ),
        Picture(result.plot("contacts"), "Forces between neighbours."),
    )


EXAMPLE = Example(
    "Domino row",
    "Closed forms of a thin rod on a hinge; the case is ours.",
    "Impacts that pass along a chain of bodies, and contacts that slide on moving faces.",
    ("domino_row",),
    run,
)
