"""The Stanford arm closes a tap: [Merwe1995] section 4.6, figures 4.2 to 4.6."""

from __future__ import annotations

import numpy as np

from catena.formats import load
from catena.machine.machine import Machine, compile
from catena.model.mechanism import Mechanism
from catena.simulation.trajectories import Trajectory, cubic
from gallery.routes import chain

from .drawing import over_time, poses
from .page import Example, Number, Page, Picture, number

Array = np.ndarray
# N m; m: the arm's plane to the side of the axis, the tap from it, wrist above the tap
TURN, SIDE, REACH, DOWN = 5.0, 0.15, 0.5, 0.25
AXIS = np.sqrt(REACH**2 - SIDE**2)  # of the tap from the base's axis, in the arm's plane
# from the shoulder to joint 3
LENGTH = np.hypot(AXIS, DOWN)
LIFT = -np.arctan2(DOWN, AXIS)
WORK = np.array([np.arctan2(AXIS, SIDE) - np.pi, LIFT, LENGTH - 0.8, -np.pi / 2 - LIFT, np.pi / 2])
NAMES = ("joint1", "joint2.Rz", "joint2.Dx", "joint3", "joint4")
G = 9.81


def run() -> Page:
    """The joint forces over the 1.5 s of the task."""
    m = load("stanford_valve")
    machine, path = compile(m), task()
    # just before and just after the load begins
    t = np.sort(np.append(np.linspace(0, 1.5, 300), [1.0 - 1e-12, 1.0 + 1e-12]))
    q, v, a = path(t)
    tau = np.array([machine.inverse_dynamics(*row[:3], t=row[3]) for row in zip(q, v, a, t)])
    return Page(
        numbers(machine, t, q, v, a, tau),
        pictures(m, t, q, v, a, tau),
        text=(
            "Three places (start, tap, tap turned) and cubic polynomials between them make the"
            " motion; inverse dynamics makes the forces. The moving centre of mass of link 2,"
            " (4.63), comes by itself: only l - cg = 0.5 m enters, and 0.8 - 0.5 = 0.3 m is the"
            " centre of table 4.2."
        ),
    )


def task() -> Trajectory:
    """From rest to the tap in 1 s, then half a turn in 0.5 s."""
    turned = WORK + np.array([0, 0, 0, 0, np.pi])
    return cubic([0.0, 1.0, 1.5], dict(zip(NAMES, np.stack([np.zeros(5), WORK, turned], axis=1))))


def numbers(
    machine: Machine, t: Array, q: Array, v: Array, a: Array, tau: Array
) -> tuple[Number, ...]:
    """The place on the tap, the forces there by hand, and the whole history by another route."""
    on = int(np.searchsorted(t, 1.0))  # the first instant on the tap
    X = machine.pose(WORK, "tip")
    # kg m: links 2, 3 and 4 relative to the shoulder
    lever = 2.0 * (0.3 + WORK[2]) * np.cos(LIFT) + 1.3 * AXIS
    # N m: the gripper's own inertia at the start of a cubic over half a turn
    spin = 0.001 * 6 * np.pi / 0.5**2
    by_hand = (-TURN - spin, G * lever, G * 3.3 * np.sin(LIFT), 0.0, TURN + spin)
    arm = load("stanford_arm")
    other = np.array([_by_chain(arm, *row) for row in zip(t, q, v, a)])
    hand = "by hand: levers and weights"
    return (
        number(
            "place of the gripper on the tap",
            X[:3, 3],
            reference=(0, 0, 0.5),
            unit="m",
            basis="the task",
        ),
        number("its axis there", X[:3, 0], reference=(0, -1, 0), basis="the task"),
        number(
            "joint forces as the turning begins",
            tau[on],
            reference=by_hand,
            unit="N m, N",
            basis=hand,
        ),
        number(
            "largest sizes of the joint forces",
            np.abs(tau).max(axis=0),
            reference=np.abs(other).max(axis=0),
            unit="N m, N",
            basis=(
                "H a + bias - J' f by the structurally recursive method, eq. 5.6 and 5.46, at every"
                " instant"
            ),
        ),
        number(
            "largest difference from there at 302 instants",
            np.abs(tau - other).max(),
            reference=0.0,
            unit="N m, N",
        ),
    )


def _by_chain(arm: Mechanism, t: float, q: Array, v: Array, a: Array) -> Array:
    c = chain(arm, q, v, "tip")
    axis = c.pose[:3, 0]
    wrench = np.concatenate([-TURN * axis, np.zeros(3)]) if t >= 1.0 else np.zeros(6)
    return c.H @ a + c.bias - c.J.T @ wrench


def split(x: Array, unit: tuple[str, str]) -> list[tuple[str, dict[str, Array]]]:
    """Two panels: what turns and what slides."""
    turns = {NAMES[k]: x[:, k] for k in (0, 1, 3, 4)}
    slides = {NAMES[2]: x[:, 2]}
    return [(f"joints ({unit[0]})", turns), (f"slide ({unit[1]})", slides)]


def pictures(
    m: Mechanism, t: Array, q: Array, v: Array, a: Array, tau: Array
) -> tuple[Picture, ...]:
    """Figures 4.2 to 4.6, and the arm."""
    exerted = np.where(t >= 1.0, TURN, 0.0)
    rows = np.searchsorted(t, np.linspace(0, 1.0, 9))
    return (
        Picture(poses(m, q[rows]), "From the start (pale) to the tap (dark), every 0.125 s."),
        Picture(
            over_time(t, split(tau, ("N·m", "N")), marks=[1.0]),
            "Figure 4.6: the joint forces. At 1 s the gripper begins to turn the tap.",
        ),
        Picture(over_time(t, split(q, ("rad", "m")), marks=[1.0]), "Figure 4.2: joint positions."),
        Picture(
            over_time(t, split(v, ("rad/s", "m/s")), marks=[1.0]), "Figure 4.3: joint velocities."
        ),
        Picture(
            over_time(t, split(a, ("rad/s²", "m/s²")), marks=[1.0]),
            "Figure 4.4: joint accelerations, with a jump where one cubic follows the other.",
        ),
        Picture(
            over_time(t, [("torque on the tap (N·m)", {"gripper": exerted})], 1.8),
            "Figure 4.5: what the gripper exerts.",
        ),
    )


EXAMPLE = Example(
    "Stanford arm: closing a tap",
    "C. van der Merwe, An Analytical Consideration of Multi Body Dynamics as applied to Robotic"
    " Structures, 1995: section 4.6, figures 4.2-4.6.",
    "A task as cubic trajectories, a load that begins on the way, and the joint forces that it"
    " takes.",
    ("stanford_valve",),
    run,
    departures=(
        (
            "The figures have no numbers that could be read; the joint angles on the tap are those"
            " that its place allows (the arm could also reach it from the other side)."
        ),
        "Clockwise is taken as seen from above: about the gripper's own x axis, which points down.",
    ),
)
