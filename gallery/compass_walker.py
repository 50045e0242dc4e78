"""A compass walker down a slope: a gait that repeats itself, against an own program of one step,
[Goswami1998].
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.integrate import solve_ivp

from catena.results.result import Result
from catena.simulation import simulate
from catena.simulation.scenario import read

from .drawing import over_time
from .page import Example, Page, Picture, number

# m, m, m, kg, kg, m/s2, rad
LEG = 1.0
HALF = 0.5
FOOT = 0.02
LEG_MASS = 5.0
HIP = 10.0
G = 9.81
SLOPE = np.radians(3.0)
# after a landing: angles, rad, and speeds
GAIT = np.array([-0.27600849611871510, 0.27600849611871510, 1.0975495696275916, 0.3565529291141280])


def run() -> Page:
    """Two seconds: two landings and the start of a third step."""
    result = motion()
    times, after = step(GAIT)
    at = result.data["impact_time"].values
    landing = result.data["event_time"].values.searchsorted(at[0])
    found = (
        number(
            "duration of a step",
            np.diff([0.0, *at]),
            reference=[times] * len(at),
            unit="s",
            within=1e-8,
            basis="Lagrange's equations of the walker that rolls on one foot",
        ),
        number(
            "the own program's state after its step",
            after,
            reference=GAIT,
            unit="rad and rad/s",
            within=1e-9,
            basis="the gait repeats itself",
        ),
        number(
            "slip of the standing foot",
            np.nan_to_num(np.abs(result.contacts.slip.values[:landing])).max(),
            reference=0.0,
            unit="m/s",
            within=1e-10,
            basis="it rolls",
        ),
    )
    return Page(
        found,
        pictures(result),
        text=(
            "Two straight legs, a hip, and a slope of three degrees: what the slope gives in a step"
            " the landing takes. A leg without a knee is too long when it passes the other one; as"
            " in the laboratory, the ground is a row of tiles for each foot, and it passes between"
            " them."
        ),
    )


@cache
def motion() -> Result:
    """The file's scenario."""
    case = read("compass_walker", tolerance=1e-11)
    return simulate(case.mechanism, **case.arguments)


# --- an own program
def step(start: np.ndarray) -> tuple[float, np.ndarray]:
    """When the next foot lands, s, and the state after it with the legs' parts exchanged."""

    def height(t: float, y: np.ndarray) -> float:
        # before, the swinging foot passes between the tiles
        return LEG * (np.cos(y[0]) - np.cos(y[1])) if y[0] > 0.02 else 1.0

    # type: ignore[attr-defined]
    height.terminal = True
    height.direction = -1
    swing = solve_ivp(rates, (0.0, 2.0), start, "DOP853", events=height, rtol=1e-12, atol=1e-13)
    return float(swing.t[-1]), landed(swing.y[:, -1])


def rates(t: float, y: np.ndarray) -> np.ndarray:
    """Of the angles of the standing and the swinging leg, from the normal of the slope, and of
    their speeds: M a + h = 0.
    """
    J, bias = masses(y[:2], y[2:])
    weight = np.tile(G * np.array([np.sin(SLOPE), -np.cos(SLOPE)]), 3)
    m = np.repeat([HIP, LEG_MASS, LEG_MASS], 2)
    return np.concatenate(
        [y[2:], np.linalg.solve(J.T @ (m[:, None] * J), J.T @ (m * (weight - bias)))]
    )


def masses(angles: np.ndarray, speeds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """J (6, 2) and J' v (6,): of hip and both legs' masses, along the slope and its normal; the
    standing foot rolls on its radius.
    """
    (a, b), (w, u) = angles, speeds
    hip = np.array([[FOOT + LEG * np.cos(a), 0.0], [-LEG * np.sin(a), 0.0]])
    along = [np.array([[np.cos(x), -np.sin(x)]]).T * HALF for x in (a, b)]
    J = np.concatenate([hip, hip - along[0] * [1, 0], hip - along[1] * [0, 1]])
    pull = lambda x, s: np.array([np.sin(x), np.cos(x)]) * s * s  # noqa: E731
    top = -LEG * pull(a, w)
    return J, np.concatenate([top, top + HALF * pull(a, w), top + HALF * pull(b, u)])


def landed(y: np.ndarray) -> np.ndarray:
    """After a landing without rebound at the swinging foot, which sticks: four speeds, of the hip
    and the legs, and an impulse at the new foot.
    """
    a, b, w, u = y
    hip = masses(y[:2], y[2:])[0][:2] @ [w, u]
    mass = np.eye(2, 4)
    legs = [
        mass - HALF * np.outer([np.cos(x), -np.sin(x)], np.eye(4)[2 + k])
        for k, x in enumerate((a, b))
    ]
    M = HIP * mass.T @ mass + LEG_MASS * sum(P.T @ P for P in legs)
    # the velocity of the point that touches
    foot = mass - np.outer([LEG * np.cos(b) + FOOT, -LEG * np.sin(b)], np.eye(4)[3])
    before = np.array([*hip, w, u])
    impulse = np.linalg.solve(foot @ np.linalg.solve(M, foot.T), -foot @ before)
    after = before + np.linalg.solve(M, foot.T @ impulse)
    return np.array([b, a, after[3], after[2]])


def pictures(result: Result) -> tuple[Picture, ...]:
    """The legs' angles over time, and the forces of the feet."""
    t, q = result.time, result.q.values
    lines = [("angle from the normal (rad)", {"left leg": q[:, 2], "right leg": q[:, 2] + q[:, 3]})]
    return (
        Picture(
            over_time(t, lines, 2.5, marks=result.data["impact_time"].values.tolist()),
            "The legs; dotted: landings.",
        ),
        Picture(result.plot("contacts"), "Which foot stands, and with which force."),
    )


EXAMPLE = Example(
    "Compass walker",
    "A. Goswami, B. Thuilot, B. Espiau, A Study of the Passive Gait of a Compass-Like Biped Robot,"
    " The International Journal of Robotics Research 17 (1998) 1282-1301.",
    "A gait without motors: rolling feet, landings, lift-off, tiles of the ground.",
    ("compass_walker",),
    run,
)
