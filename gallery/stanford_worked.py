"""The worked example of inverse dynamics in [Merwe1995], section 4.5: every number of it."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from catena.formats import load
from catena.machine.machine import Machine, compile
from catena.results.plots.style import COLOURS, INK, legend

from .drawing import panels, poses
from .page import Example, Number, Page, Picture, misprints, number

LINKS = ("link1", "link2", "link3", "link4")
SPEEDS = np.array([1.5, 0.0, 0.4, 1.0, 3.0])  # (4.43)
# of links 1 to 4: velocity and acceleration (4.50-4.53), resultant (4.57-4.54) and joint force
# (4.61-4.58)
PRINTED = {
    "velocity": (
        "0 1.5 0 0 0 0",
        "0 1.5 0 0.175 0 0",
        "0 1.5 1 0.175 0 -1.2",
        "3 1.5 1 0.175 0.2 -1.5",
    ),
    "acceleration": (
        "0 0 0 0 9.81 0",
        "0 0 0 0 9.81 -0.8625",
        "1.5 0 0 -1.8 9.81 -0.8625",
        "1.5 3 -4.5 -2.45 9.81 -0.8625",
    ),
    "resultant": (
        "1.4679 0 0 0 19.62 0.315",
        "0 0.5175 5.886 -1.35 19.62 -1.725",
        "0.003 0.0828 0.94176 -1.752 7.848 -0.69",
        "0.0015 0.0245625 0.24075 -1.30625 4.905 -0.43125",
    ),
    "force": (
        "4.905225 2.26935 20.456035 -4.40825 51.993 -2.53125",
        "0.0045 1.6081125 18.25191 -4.40825 32.373 -2.84625",
        "0.0045 0.1936125 2.16351 -3.05825 12.753 -1.12125",
        "0.0015 0.0245625 0.24075 -1.30625 4.905 -0.43125",
    ),
}
WHERE = {
    "velocity": ("(4.50)", "(4.51)", "(4.52)", "(4.53)"),
    "acceleration": ("(4.50)", "(4.51)", "(4.52)", "(4.53)"),
    "resultant": ("(4.57)", "(4.56)", "(4.55)", "(4.54)"),
    "force": ("(4.61)", "(4.60)", "(4.59)", "(4.58)"),
}
BASIS = "Pinocchio, and a recursion of our own, independent of catena"
# speeds, accelerations
GENERAL = np.array([0.7, -1.1, 0.4, 1.0, 3.0]), np.array([0.3, -0.2, 0.5, 0.1, -0.4])
RIGHT = (
    1.6246775,
    16.305713,
    -1.397,
    1.930593,
    -0.00047,
)  # joint forces there; (4.28) gives 17.943393 and 2.125073 for entries 2, 4


def run() -> Page:
    """Velocities, accelerations, forces and joint forces at q = 0."""
    m = load("stanford_arm")
    machine = compile(m)
    q, still = np.zeros(5), np.zeros(5)
    tau = machine.inverse_dynamics(q, SPEEDS, still)
    weight = machine.gravity(q)
    found = [
        number(
            "joint forces",
            tau,
            printed="2.26935 18.25191 -4.40825 2.16351 0.0015",
            where="(4.62)",
            unit="N m, N",
            reference=(2.26935, 18.25191, -4.40825, 2.16351, 0.0015),
            basis=BASIS,
        ),
        number(
            "of these, to hold the weight",
            weight,
            reference=(0, 18.25641, 0, 2.16801, 0),
            unit="N m, N",
            basis=BASIS,
        ),
        *links(machine, q),
        number(
            "joint forces at a state where (4.28) fails",
            machine.inverse_dynamics(q, *GENERAL),
            reference=RIGHT,
            unit="N m, N",
            basis=BASIS,
        ),
    ]
    return Page(
        tuple(found),
        (
            Picture(poses(m, q[None]), "The arm at q = 0: all frames are parallel."),
            Picture(
                panels(1, lambda ax: parts(ax, machine.speed_names, tau, weight)),
                "The five joint forces (N m, N) and what they are made of. The third, 2.16351 N m"
                " in joint 3, is nearly all weight.",
            ),
        ),
        text=(
            "Constant joint speeds (1.5, 0, 0.4, 1, 3), no joint accelerations. Spatial vectors"
            " have the angular part first, in the link's own axes at its origin; accelerations"
            " include 9.81 m/s2 upwards in place of the weight.\n\n```python\narm ="
            ' catena.compile(catena.load("stanford_arm"))\ntau = arm.inverse_dynamics([0] * 5,'
            " [1.5, 0, 0.4, 1, 3], [0] * 5)\n```"
        ),
    )


def links(machine: Machine, q: np.ndarray) -> list[Number]:
    """The spatial vectors of every link."""
    still, found = np.zeros(5), []
    up = np.array([0, 0, 0, 0, 9.81, 0])  # all axes are parallel here
    force = machine.reactions(q, SPEEDS, still)
    vectors = {
        "velocity": [machine.frame_velocity(q, SPEEDS, link, "body") for link in LINKS],
        "acceleration": [
            machine.frame_acceleration(q, SPEEDS, still, link, "body") + up for link in LINKS
        ],
        "force": list(force.values()),
    }
    vectors["resultant"] = [
        f - beyond for f, beyond in zip(vectors["force"], carried(machine, q, vectors["force"]))
    ]
    words = {
        "velocity": ("velocity of", "rad/s, m/s"),
        "acceleration": ("acceleration of", "rad/s2, m/s2"),
        "resultant": ("resultant force on", "N m, N"),
        "force": ("force of the joint on", "N m, N"),
    }
    for key, (what, unit) in words.items():
        for k, link in enumerate(LINKS):
            found.append(
                number(
                    f"{what} {link}",
                    vectors[key][k],
                    printed=PRINTED[key][k],
                    where=WHERE[key][k],
                    unit=unit,
                )
            )
    return found


def carried(machine: Machine, q: np.ndarray, forces: list[np.ndarray]) -> list[np.ndarray]:
    """What each link passes on to the next, about its own origin; the last passes on nothing. All
    axes are parallel.
    """
    at = [machine.pose(q, link)[:3, 3] for link in LINKS]
    moved = [
        np.concatenate([f[:3] + np.cross(b - a, f[3:]), f[3:]])
        for f, a, b in zip(forces[1:], at, at[1:])
    ]
    return [*moved, np.zeros(6)]


def parts(ax: Axes, names: tuple[str, ...], tau: np.ndarray, weight: np.ndarray) -> None:
    """Bars: the weight's part and the motion's."""
    place = np.arange(len(names))
    ax.bar(place - 0.2, weight, 0.38, label="weight", color=COLOURS[0])
    ax.bar(place + 0.2, tau - weight, 0.38, label="motion", color=COLOURS[1])
    for k, x in enumerate(tau):
        ax.annotate(
            f"{x:.5g}",
            (k, max(weight[k], x - weight[k], 0.0)),
            (0, 3),
            textcoords="offset points",
            ha="center",
            fontsize=8,
        )
    ax.axhline(0, color=INK, linewidth=0.7)
    ax.set_xticks(place, names)
    ax.set_ylabel("joint force (N·m, N)")
    ax.margins(y=0.12)
    legend(ax)


EXAMPLE = Example(
    "Stanford arm: the worked example",
    "C. van der Merwe, An Analytical Consideration of Multi Body Dynamics as applied to Robotic"
    " Structures, 1995: section 4.5, eq. 4.33-4.62.",
    "Inverse dynamics of an arm with a joint that turns and slides at once: velocities,"
    " accelerations and forces of every link, to all digits.",
    ("stanford_arm",),
    run,
    misprints(
        [
            (
                "(4.13), (4.19), (4.28)",
                "accelerations without 2 omega_rel x u and without the rate of the joint's axes",
                "both terms, for a joint that turns and slides at once or has two rotations",
                (
                    "at the last state of the table the formula gives 17.943393 and 2.125073 in"
                    " place of 16.305713 and 1.930593; in section 4.5 itself joint 2 does not turn"
                ),
            ),
            (
                "(4.19), (4.28)",
                "a_(i-1) phi_i q_i''",
                "a plus between them",
                "typography",
            ),
            (
                "(4.38), (5.78)",
                "m s~ in the lower left block",
                "its transpose",
                "a spatial inertia is symmetric; (4.39) and (5.79) have it right",
            ),
            (
                "text after (4.61)",
                "tau_3 and tau_4 are due solely to bias angular accelerations",
                "the weight gives 2.16801 of tau_3's 2.16351 N m",
                "gravity alone, in the table above",
            ),
        ]
    ),
    commands=("catena info stanford_arm", "catena check stanford_arm"),
)
