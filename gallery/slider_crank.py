"""The slider-crank, driven and set free, against closed forms."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from catena.analysis.actuation import inverse_dynamics
from catena.analysis.kinematic_drive import DrivenMotion, kinematics
from catena.formats import load
from catena.machine.machine import Machine, compile
from catena.machine.reactions import reactions
from catena.results.result import Result
from catena.simulation import simulate
from catena.simulation.scenario import read

from .drawing import over_time, panels, row
from .page import Example, Page, Picture, number

R, L = 0.3, 1.0  # m
SPEED = 6.0  # rad/s
G = 9.81
CRANK = {"mass": 1.0, "centre": 0.1, "inertia": 0.02}
ROD = {"mass": 0.8, "centre": 0.4, "inertia": 0.07}
PISTON = 0.5  # kg


def run() -> Page:
    """Kinematic mode, the torque of a steady turn, dynamic mode."""
    m = load("slider_crank")
    machine = compile(m)
    turn = np.linspace(0, 2 * np.pi, 73)
    driven = kinematics(machine, {"shaft": (turn, SPEED, 0.0)}, guess=[0.0, 0.0, R + L])
    torque = np.array(
        [inverse_dynamics(machine, q, v, a, ["shaft"]).tau for q, v, a in zip(*driven)]
    )
    wall = reactions(machine, driven.q, driven.v, driven.a, torque, axes="world")["cylinder"][:, 4]
    case = read("slider_crank", tolerance=1e-10)
    free = simulate(case.mechanism, **case.arguments)
    other = simulate(case.mechanism, **case.arguments, by="lagrange")
    x, v, a = piston(turn)
    basis = "closed form: x = r cos s + sqrt(l^2 - r^2 sin^2 s) and its derivatives"
    found = [
        number(
            "piston a quarter turn on: place, speed, acceleration",
            [y[18, 2] for y in driven],
            reference=(x[18], v[18], a[18]),
            unit="m, m/s, m/s2",
            basis=basis,
        ),
        *(
            number(
                f"largest difference of the piston's {word} over a turn",
                np.abs(mine[:, 2] - exact).max(),
                reference=0.0,
                unit=unit,
            )
            for word, mine, exact, unit in zip(
                ("place", "speed", "acceleration"), driven, (x, v, a), ("m", "m/s", "m/s2")
            )
        ),
        number(
            "torque of the steady turn a quarter on",
            torque[18, 0],
            reference=by_virtual_work(turn)[18],
            unit="N m",
            basis="virtual work by hand",
        ),
        number(
            "largest difference of the torque over a turn",
            np.abs(torque[:, 0] - by_virtual_work(turn)).max(),
            reference=0.0,
            unit="N m",
        ),
        number(
            "coordinates at 2 s, set free",
            free.data["q"].values[-1],
            reference=other.data["q"].values[-1],
            within=1e-7,
            unit="rad, m",
            basis="Lagrange's equations with multipliers",
        ),
        number(
            "largest change of energy",
            np.abs(free.energy.values - free.energy.values[0]).max(),
            reference=0.0,
            within=1e-7,
            unit="J",
        ),
    ]
    return Page(
        tuple(found),
        pictures(machine, turn, driven, torque[:, 0], wall, free),
        text=(
            "Kinematic mode drives the shaft at 6 rad/s and finds the rest; inverse dynamics with"
            " one motor finds its torque. Set free with that speed, the mechanism keeps its energy."
        ),
    )


def piston(s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Place, speed and acceleration of the piston at crank angles s, turning at SPEED."""
    root = np.sqrt(L**2 - (R * np.sin(s)) ** 2)
    up = R**2 * np.sin(s) * np.cos(s)
    first = -R * np.sin(s) - up / root
    second = -R * np.cos(s) - R**2 * np.cos(2 * s) / root - up**2 / root**3
    return R * np.cos(s) + root, SPEED * first, SPEED**2 * second


def by_virtual_work(s: np.ndarray) -> np.ndarray:
    """tau = d/ds of the potential energy, and each inertia times its acceleration and its rate of
    motion with s.
    """
    b, db, ddb = _rod_angle(s)
    c = ROD["centre"]

    def place(k):
        return np.stack(
            [[-R * np.sin(s), R * np.cos(s)], [-R * np.cos(s), -R * np.sin(s)]][k]
        )  # of the crank pin, by s

    first = place(0) + c * np.stack([-np.sin(b) * db, np.cos(b) * db])
    second = place(1) + c * np.stack(
        [-np.cos(b) * db**2 - np.sin(b) * ddb, -np.sin(b) * db**2 + np.cos(b) * ddb]
    )
    _, v, a = piston(s)
    inertial = (
        ROD["mass"] * (first * second).sum(axis=0)
        + ROD["inertia"] * db * ddb
        + PISTON * (v / SPEED) * (a / SPEED**2)
    )
    weight = CRANK["mass"] * G * CRANK["centre"] * np.cos(s) + ROD["mass"] * G * first[1]
    return SPEED**2 * inertial + weight


def _rod_angle(s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rod's angle from x, and its derivatives by s: l sin b = -r sin s."""
    b = -np.arcsin(R / L * np.sin(s))
    db = -R * np.cos(s) / (L * np.cos(b))
    return b, db, (R * np.sin(s) + L * np.sin(b) * db**2) / (L * np.cos(b))


def pictures(
    machine: Machine,
    turn: np.ndarray,
    driven: DrivenMotion,
    torque: np.ndarray,
    wall: np.ndarray,
    free: Result,
) -> tuple[Picture, ...]:
    """The mechanism, the torque, the free motion."""

    def draw(ax: Axes) -> None:
        row(ax, machine.mechanism, driven.q[0:72:6])

    degrees = np.degrees(turn)
    return (
        Picture(panels(1, draw, height=2.6), "Twelve places over a turn, pale to dark."),
        Picture(
            over_time(
                degrees,
                [
                    ("piston: speed (m/s)", {"": driven.v[:, 2]}),
                    ("acceleration (m/s²)", {"": driven.a[:, 2]}),
                    ("torque of the shaft (N·m)", {"": torque}),
                    ("force on the wall (N)", {"": wall}),
                ],
                1.5,
                "turn of the crank (degrees)",
            ),
            "Over a turn at 6 rad/s.",
        ),
        Picture(
            over_time(
                free.time,
                [
                    ("speed of the shaft (rad/s)", {"": free.data["v"].values[:, 0]}),
                    (
                        "energy (J)",
                        {
                            "kinetic": free.data["kinetic"].values,
                            "potential": free.data["potential"].values,
                            "total": free.energy.values,
                        },
                    ),
                ],
            ),
            "Set free at 6 rad/s.",
        ),
    )


EXAMPLE = Example(
    "Slider-crank",
    "S. Baysec and S. Kapucu, 1996, on closed mechanisms; a textbook mechanism.",
    "A closed mechanism with a slide: kinematic mode, torque of a steady turn, dynamic mode, all"
    " against closed forms.",
    ("slider_crank",),
    run,
)
