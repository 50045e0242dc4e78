"""Example one of [Quinn1991]: a straight line of the tip, the torques for it, and a simulation from
these torques.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from catena.formats import load
from catena.machine.machine import Machine, compile
from catena.results.plots.style import legend, pen
from catena.results.result import Result
from catena.simulation import simulate
from catena.simulation.control import Forces
from catena.simulation.trajectories import Trajectory, line, spline

from .drawing import over_time, panels, row
from .page import Example, Page, Picture, misprints, number

FOOT = 0.305  # m, as the paper has it
# s, of the two simulations; the torques are known at these instants
STEPS = (np.pi / 20, np.pi / 40)
NAMES = ("shoulder", "elbow")
BASIS = "closed form, and Pinocchio"
Q0 = (-0.5474570385672402, 2.6657104039293764)
Q1 = (0.0, np.pi / 2)
TAU = {
    0.0: (0.35616178, -0.27701472),
    np.pi / 2: (0.05606731, 0.00934455),
    np.pi: (-0.48949755, 0.16316585),
}


def run() -> Page:
    """Inverse kinematics, inverse dynamics, then forwards again."""
    m = load("planar_two_link")
    machine = compile(m)
    path = way(machine)
    t = np.linspace(0, np.pi, 81)
    q, v, a = path(t)
    tau = machine.inverse_dynamics(q, v, a)
    runs = {
        h: simulate(
            m,
            q=q[0],
            v=v[0],
            until=np.pi,
            control=tabled(machine, path, h),
            integrator="rk4",
            step=h,
            output=np.pi / 20,
        )
        for h in STEPS
    }
    off = {h: off_path(machine, r) for h, r in runs.items()}
    found = [
        number("start, q(0)", q[0], reference=Q0, unit="rad", basis=BASIS),
        number("end, q(pi)", q[-1], reference=Q1, unit="rad", basis=BASIS),
        *(
            number(
                f"torques at {w}",
                machine.inverse_dynamics(*path(s)),
                reference=TAU[s],
                unit="N m",
                basis=BASIS,
            )
            for s, w in zip(TAU, ("0 s", "pi/2 s", "pi s"))
        ),
        number(
            "way of the tip",
            np.linalg.norm(tip(machine, q[-1]) - tip(machine, q[0])),
            reference=2 * FOOT * np.sqrt(2),
            unit="m",
            basis="the two points",
        ),
        *(
            number(
                f"largest deviation from the line, step pi/{round(np.pi / h)} s",
                off[h].max(),
                reference=0.0,
                within=limit,
                unit="m",
            )
            for h, limit in zip(STEPS, (1e-5, 5e-7))
        ),
    ]
    figures = (
        Picture(
            panels(2, lambda x, y: draw(machine, q, tau, t, x, y), height=3.4),
            "The arm along the line, and the torques that it takes.",
        ),
        Picture(
            over_time(
                runs[STEPS[0]].time,
                [("deviation (m)", {f"step pi/{round(np.pi / h)} s": off[h] for h in STEPS})],
                2.2,
            ),
            "The distance of the tip from its place on the line, simulated from the torques with"
            " two step sizes: half the step, less than a sixteenth of the deviation.",
        ),
        Picture(
            over_time(
                t,
                [
                    ("angle (rad)", dict(zip(NAMES, q.T))),
                    ("speed (rad/s)", dict(zip(NAMES, v.T))),
                    ("acceleration (rad/s²)", dict(zip(NAMES, a.T))),
                ],
                1.6,
            ),
            "What inverse kinematics finds.",
        ),
    )
    return Page(
        tuple(found),
        figures,
        text=(
            "The control problem first: where the joints must be, and with which torques. Then the"
            " simulation problem: these torques alone, and how far the tip strays."
        ),
    )


def way(machine: Machine) -> Trajectory:
    """The joints' trajectory for the tip's line."""
    start = (FOOT, FOOT, 0)
    to = (3 * FOOT, 3 * FOOT, 0)
    return line(
        machine,
        "tip",
        to,
        start=start,
        times=(0.0, np.pi),
        law="cosine",
        guess=(-0.5, 2.6),
        tolerance=1e-12,
    )


def tip(machine: Machine, q: np.ndarray) -> np.ndarray:
    """Where the tip is, (..., 3)."""
    return machine.pose(q, "tip")[..., :3, 3]


def tabled(machine: Machine, path: Trajectory, h: float) -> Forces:
    """The torques as a controller that knows them every h seconds, and splines in between."""
    t = np.linspace(0, np.pi, round(np.pi / h) + 1)
    return Forces(spline(t, dict(zip(NAMES, machine.inverse_dynamics(*path(t)).T)), ends="free"))


def off_path(machine: Machine, result: Result) -> np.ndarray:
    """How far the tip is from where it should be, at each row (m)."""
    wanted = FOOT + FOOT * (1 - np.cos(result.time))
    return np.linalg.norm(
        tip(machine, result.data["q"].values) - np.stack([wanted, wanted, 0 * wanted], axis=1),
        axis=1,
    )


def draw(
    machine: Machine, q: np.ndarray, tau: np.ndarray, t: np.ndarray, arm: Axes, torque: Axes
) -> None:
    """Stick figures with the tip's line, and the torques."""
    row(arm, machine.mechanism, q[::10])
    arm.plot(
        [FOOT, 3 * FOOT], [FOOT, 3 * FOOT], color="#D55E00", linewidth=2.4, alpha=0.7, zorder=1
    )
    for k, name in enumerate(NAMES):
        torque.plot(t, tau[:, k], label=name, **pen(k))
    torque.set(xlabel="time (s)", ylabel="torque (N·m)")
    legend(torque)


EXAMPLE = Example(
    "Planar arm along a straight line",
    "R. D. Quinn and R. Y. K. Chang, Dynamics of Open-Chained Systems of Rigid Bodies, 1989/1991:"
    " section 5, example one.",
    "Inverse kinematics of a line, the torques for it, and a simulation from these torques with two"
    " step sizes.",
    ("planar_two_link",),
    run,
    misprints(
        [
            (
                "example one",
                "the acceleration along the line is cos(t)",
                "cos(t) feet/s2 along each axis, x = y = 0.305 + 0.305 (1 - cos t) m",
                (
                    "an inference: cos(t) m/s2 along the line travels 2 m, not the 0.8627 m between"
                    " the two points; 0.305 m is one foot, and so read it fits exactly"
                ),
            ),
            (
                "(4)",
                "the tilde matrix",
                "its transpose is the usual one",
                "the cross product with it has the opposite sign",
            ),
            ("example two", "breaks off", "", "the scan ends before its data; see spatial_six_dof"),
        ]
    ),
    departures=(
        (
            "The scan ends where the step sizes of the simulation would stand; ours are pi/20 and"
            " pi/40 s with the fourth-order Runge-Kutta method."
        ),
        "Of the two elbows the one with q2 > 0 is taken. Without gravity: the plane is horizontal.",
    ),
)
