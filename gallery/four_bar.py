"""The four-bar linkage, driven and set free, and two four-bars that pass singular places: benchmark
A02.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from catena.analysis.actuation import inverse_dynamics
from catena.analysis.kinematic_drive import DrivenMotion, kinematics
from catena.analysis.mobility import mobility
from catena.formats import load
from catena.machine.machine import Machine, compile
from catena.model.mechanism import Mechanism
from catena.results.plots import plot
from catena.results.result import Result
from catena.simulation import simulate
from catena.simulation.scenario import read

from .drawing import over_time, panels, row
from .page import Example, Number, Page, Picture, number

CRANK, COUPLER, ROCKER, SPAN = 0.10, 0.30, 0.25, 0.28  # m
SPEED = 10.0  # rad/s
TOP = {  # at t (s): x, y, vx, vy of the point B0 of benchmark A02, two four-bars
    2.0: (0.05781579576801155, 0.9983272678634555, 1.0172601366204366, -0.058912248713445775),
    5.0: (-0.8113104610051085, -0.5846155453489741, -3.5691173971931986, 4.953105171313331),
    10.0: (0.3284581115408162, 0.9445185381786007, 1.423051470206946, -0.49486884548704496),
}


def run() -> Page:
    """Kinematic mode, dynamic mode, and the benchmark."""
    m = load("four_bar")
    machine = compile(m)
    turn = np.linspace(np.pi / 2, np.pi / 2 + 2 * np.pi, 91)
    driven = kinematics(machine, {"motor pin": (turn, SPEED, 0.0)}, guess=read("four_bar").q)
    torque = np.array(
        [inverse_dynamics(machine, q, v, a, ["motor pin"]).tau[0] for q, v, a in zip(*driven)]
    )
    free = released(2.0)
    windows = benchmark()
    return Page(
        (
            *counted(m, machine, driven.q[0]),
            *closed_form(machine, turn, driven, torque),
            *swung(free),
            *passed(windows),
        ),
        pictures(machine, turn, driven, torque, free, windows),
        text=(
            "Kinematic mode: the crank turns at 10 rad/s, the rest follows without any mass."
            " Dynamic mode: let go with the crank upright. The second mechanism lies flat twice in"
            " every turn, where its rows lose rank and it could leave the parallel motion;"
            " projection keeps it on its way."
        ),
    )


@cache
def benchmark() -> Result:
    """The ten seconds of benchmark A02."""
    case = read("two_four_bars", tolerance=1e-11)
    return simulate(case.mechanism, **case.arguments)


def released(until: float, **options: Any) -> Result:
    """Let go from rest with the crank upright."""
    case = read("four_bar", until=until, tolerance=1e-10)
    return simulate(case.mechanism, **{**case.arguments, **options})


def counted(m: Mechanism, machine: Machine, q: np.ndarray) -> list[Number]:
    """Degrees of freedom with the loop open and closed."""
    opened = mobility(compile(m.with_(loops=())), q).degrees_of_freedom
    return [
        number(
            "degrees of freedom, open and closed",
            (opened, mobility(machine, q).degrees_of_freedom),
            printed="3 1",
            where="(Baysec and Kapucu, text)",
        )
    ]


def closed_form(
    machine: Machine, turn: np.ndarray, driven: DrivenMotion, torque: np.ndarray
) -> list[Number]:
    """Places, speeds and accelerations from circles that meet; the torque from virtual work."""
    far, speed, acceleration = rocker_pin(turn)
    q, v, a = driven
    mine = machine.pose(q, "rocker")[:, :2, 3]
    v_mine = machine.frame_velocity(q, v, "rocker")[:, 3:5]
    a_mine = machine.frame_acceleration(q, v, a, "rocker")[:, 3:5]
    kinetic = machine.energy(q, v)
    power = np.gradient(sum(kinetic), turn / SPEED, edge_order=2)
    basis = "closed form: two circles that meet, differentiated by hand"
    return [
        number("far pin after 88 degrees", mine[22], reference=far[22], unit="m", basis=basis),
        number(
            "largest difference in places over a turn",
            np.abs(mine - far).max(),
            reference=0.0,
            unit="m",
        ),
        number(
            "largest difference in velocities",
            np.abs(v_mine - speed).max(),
            reference=0.0,
            unit="m/s",
        ),
        number(
            "largest difference in accelerations",
            np.abs(a_mine - acceleration).max(),
            reference=0.0,
            within=1e-7,
            unit="m/s2",
        ),
        number(
            "largest torque times speed compared with the change of energy",
            np.abs(torque * SPEED - power)[2:-2].max() / np.abs(power).max(),
            reference=0.0,
            within=2e-2,
            basis="energy, differentiated over 4 degrees",
        ),
    ]


def rocker_pin(turn: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(n, 2) each: where the far pin is, its velocity and acceleration, when the crank turns at
    SPEED.

    C lies on circles about B (coupler) and D (rocker):  (C - B).(C' - B') = 0,
            (C - D).C' = 0, and once more.
    """
    B = CRANK * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    v_B = SPEED * np.stack([-B[:, 1], B[:, 0]], axis=1)
    a_B = -(SPEED**2) * B
    D = np.array([SPAN, 0.0])
    d = D - B
    size = np.linalg.norm(d, axis=1)
    along = (COUPLER**2 - ROCKER**2 + size**2) / (2 * size)
    across = np.sqrt(COUPLER**2 - along**2)
    e = d / size[:, None]
    C = B + along[:, None] * e + across[:, None] * np.stack([-e[:, 1], e[:, 0]], axis=1)
    A = np.stack([C - B, C - D], axis=1)
    dot = lambda x, y: np.sum(x * y, axis=1)  # noqa: E731
    v_C = np.linalg.solve(A, np.stack([dot(C - B, v_B), 0 * size], axis=1)[..., None])[..., 0]
    right = np.stack([dot(C - B, a_B) - dot(v_C - v_B, v_C - v_B), -dot(v_C, v_C)], axis=1)
    return C, v_C, np.linalg.solve(A, right[..., None])[..., 0]


def swung(free: Result) -> list[Number]:
    """Dynamic mode by another formulation, and its energy."""
    other = released(2.0, by="newton_euler")
    return [
        number(
            "coordinates at 2 s, let go",
            free.data["q"].values[-1],
            reference=other.data["q"].values[-1],
            within=1e-6,
            unit="rad",
            basis="the Newton-Euler formulation, with the joints' forces as unknowns",
        ),
        number(
            "largest change of energy",
            np.abs(free.energy.values - free.energy.values[0]).max(),
            reference=0.0,
            unit="J",
        ),
    ]


def passed(windows: Result) -> list[Number]:
    """Benchmark A02 with N = 2."""
    machine, found = windows.machine, []
    for t, wanted in TOP.items():
        k = int(np.searchsorted(windows.time, t - 1e-9))
        q = windows.data["q"].values[k]
        v = windows.data["v"].values[k]
        mine = [*machine.pose(q, "top")[:2, 3], *machine.frame_velocity(q, v, "top")[3:5]]
        found.append(
            number(
                f"two four-bars, B0 at {t:g} s: x y vx vy",
                mine,
                reference=wanted,
                within=1e-6,
                unit="m, m/s",
                basis="exact, by Jacobi's elliptic functions",
            )
        )
    return [
        *found,
        number(
            "its largest change of energy",
            np.abs(windows.energy.values - windows.energy.values[0]).max(),
            reference=0.0,
            within=1e-7,
            unit="J",
            basis="the library asks for 0.1 J (low) and 0.001 J (high accuracy)",
        ),
    ]


def pictures(
    machine: Machine,
    turn: np.ndarray,
    driven: DrivenMotion,
    torque: np.ndarray,
    free: Result,
    windows: Result,
) -> tuple[Picture, ...]:
    """The coupler's curve, the driven motion, the free one, the benchmark."""
    path = machine.pose(driven.q, "marker")[:, :2, 3]
    far, _, _ = rocker_pin(turn)
    rocker = np.degrees(np.unwrap(np.arctan2(far[:, 1], far[:, 0] - SPAN)))

    def draw(ax: Axes, ay: Axes) -> None:
        row(ax, machine.mechanism, driven.q[0:90:10])
        ax.plot(*path.T, color="#D55E00", linewidth=1.6)
        ax.set_title("the coupler's curve")
        ay.plot(np.degrees(turn - turn[0]), rocker)
        ay.set(
            xlabel="turn of the crank (degrees)",
            ylabel="angle of the rocker (degrees)",
            title="kinematic mode",
        )

    energy = {"kinetic": free.data["kinetic"].values, "potential": free.data["potential"].values}
    return (
        Picture(
            panels(2, draw, height=3.3),
            "Left: nine places of the linkage and the path of a point of the coupler. Right: the"
            " rocker over a turn of the crank.",
        ),
        Picture(
            over_time(
                np.degrees(turn - turn[0]),
                [("torque of the motor (N·m)", {"": torque})],
                2.2,
                "turn of the crank (degrees)",
            ),
            "The torque that keeps the crank at 10 rad/s.",
        ),
        Picture(
            over_time(
                free.time,
                [
                    ("angle (rad)", dict(zip(machine.coordinate_names, free.data["q"].values.T))),
                    ("energy (J)", energy),
                ],
            ),
            "Dynamic mode: let go from rest.",
        ),
        Picture(
            plot(windows, "cyclograph", until=2.2, title=""),
            "Benchmark A02: the two four-bars turn over; flat on the ground line they are"
            " singular.",
        ),
    )


EXAMPLE = Example(
    "Four-bar linkages",
    "S. Baysec and S. Kapucu, 1996, on closed mechanisms; IFToMM library of computational benchmark"
    " problems, A02 (N four-bar mechanism).",
    "Kinematic and dynamic mode of a crank-rocker against closed forms; a mechanism that passes"
    " singular places.",
    ("four_bar", "two_four_bars"),
    run,
)
