"""Six degrees of freedom, in place of example two of [Quinn1991]: a PUMA 560 along a line, with the
moments in its joints.
"""

from __future__ import annotations

import numpy as np

from catena.equations.formulations import derive
from catena.formats import load
from catena.machine.machine import Machine, compile
from catena.results.result import Result
from catena.simulation import simulate
from catena.simulation.control import Forces
from catena.simulation.trajectories import Trajectory, line, spline
from gallery.routes import chain

from .drawing import over_time, poses
from .page import Example, Number, Page, Picture, number

Array = np.ndarray
START = np.array([0.2, -1.0, 2.4, 0.3, 0.8, -0.2])
WAY = np.array([-0.2, 0.3, -0.2])  # m
UNTIL, STEPS = 1.0, (0.04, 0.02)  # s
GRAVITY = 9.8  # m/s2, of the constants below


def run() -> Page:
    """Inverse kinematics, torques, moments in the joints, and forwards again."""
    m = load("spatial_six_dof")
    machine = compile(m)
    begin = machine.pose(START, "tool")[:3, 3]
    path = line(
        machine,
        "tool",
        begin + WAY,
        times=(0.0, UNTIL),
        law="cycloid",
        guess=START,
        upright=True,
        tolerance=1e-8,
    )
    t = np.linspace(0, UNTIL, 81)
    q, v, a = path(t)
    tau = machine.inverse_dynamics(q, v, a)
    runs = {
        h: simulate(
            m,
            q=q[0],
            v=v[0],
            until=UNTIL,
            output=UNTIL / 25,
            control=tabled(machine, path, h),
            integrator="rk4",
            step=h,
        )
        for h in STEPS
    }
    off = {h: off_path(machine, r, path) for h, r in runs.items()}
    bearing = moments(machine, q, v, a)
    return Page(
        numbers(machine, q, v, a, tau, bearing, off, begin),
        pictures(machine, t, q, tau, bearing, runs, off),
        text=(
            "The tool goes straight over 0.41 m in one second by the law (5.1) of Passerello and"
            " Huston, keeping its orientation. Of the three components of the moment in each joint"
            " one is the motor's; the other two are constraint moments, which M = G' tau gives"
            " along the way and which load the bearings."
        ),
    )


def numbers(
    machine: Machine,
    q: Array,
    v: Array,
    a: Array,
    tau: Array,
    bearing: Array,
    off: dict[float, Array],
    begin: Array,
) -> tuple[Number, ...]:
    """The weight of the arm against the constants of the paper; torques and moments by other
    routes.
    """
    half = len(q) // 2
    c = chain(machine.mechanism, q[half], v[half], "tool")
    sibling = derive(machine.mechanism, "boltzmann_hamel")
    assert sibling.reactions is not None
    w = np.array(sibling.reactions(0.0, q[half], v[half], tau[half], []))[:, :3]
    return (
        *published(machine),
        number(
            "tool at 1 s",
            machine.pose(q[-1], "tool")[:3, 3],
            reference=begin + WAY,
            within=1e-8,
            unit="m",
            basis="the line",
        ),
        number(
            "torques at 0.5 s",
            tau[half],
            reference=c.H @ a[half] + c.bias,
            unit="N m",
            basis="H a + bias by the structurally recursive method of [Merwe1995]",
        ),
        number(
            "moments in joint 2 at 0.5 s",
            bearing[half, 1],
            reference=w[1],
            unit="N m",
            basis="M = G' tau, the Boltzmann-Hamel formulation",
        ),
        number(
            "moments in joint 4 at 0.5 s",
            bearing[half, 3],
            reference=w[3],
            unit="N m",
            basis="M = G' tau, the Boltzmann-Hamel formulation",
        ),
        *(
            number(
                f"largest deviation of the tool, step {h:g} s",
                off[h].max(),
                reference=0.0,
                within=limit,
                unit="m",
            )
            for h, limit in zip(STEPS, (1e-4, 5e-6))
        ),
    )


def published(machine: Machine) -> tuple[Number, ...]:
    """Gravity constants of Armstrong, Khatib and Burdick: tau_2 = g1 C2 + g2 S23 + g3 S2 + g4 C23 +
    g5 (S23 C5 + C23 C4 S5).
    """

    def held(joint: int, **angles: float) -> float:
        q = np.zeros(6)
        for name, x in angles.items():
            q[int(name[1]) - 1] = x
        return float(machine.gravity(q)[joint]) * GRAVITY / 9.81

    right = np.pi / 2
    g5 = held(4, q5=right)
    g4 = held(2)
    g2 = held(2, q3=right) - g5
    g1 = held(1) - g4
    g3 = held(1, q2=right) - g2 - g5
    words = (
        "elbow and upper arm, g1",
        "forearm, g2",
        "upper arm, g3",
        "forearm's offset, g4",
        "wrist, g5",
    )
    return tuple(
        number(
            f"gravity constant of the {what}",
            x,
            printed=text,
            unit="N m",
            where="(Armstrong et al.)",
            last=1.0,
        )
        for what, x, text in zip(
            words, (g1, g2, g3, g4, g5), ("-37.2", "-8.44", "1.02", "0.249", "-0.0282")
        )
    )


def moments(machine: Machine, q: Array, v: Array, a: Array) -> Array:
    """(time, joint, 3): the moment in each joint about its child's origin, in the child's axes; z
    is the motor's.
    """
    return np.stack(list(machine.reactions(q, v, a).values()), axis=1)[..., :3]


def tabled(machine: Machine, path: Trajectory, h: float) -> Forces:
    """The torques as a controller that knows them every h seconds, and splines in between."""
    t = np.linspace(0, UNTIL, round(UNTIL / h) + 1)
    return Forces(
        spline(t, dict(zip(machine.speed_names, machine.inverse_dynamics(*path(t)).T)), ends="free")
    )


def off_path(machine: Machine, result: Result, path: Trajectory) -> np.ndarray:
    """How far the tool is from where it should be (m)."""
    is_, should = (
        machine.pose(q, "tool")[:, :3, 3] for q in (result.data["q"].values, path(result.time)[0])
    )
    return np.linalg.norm(is_ - should, axis=1)


def pictures(
    machine: Machine,
    t: Array,
    q: Array,
    tau: Array,
    bearing: Array,
    runs: dict[float, Result],
    off: dict[float, Array],
) -> tuple[Picture, ...]:
    """The arm, torques, constraint moments, deviations."""
    across = {f"joint{k + 1}": np.hypot(bearing[:, k, 0], bearing[:, k, 1]) for k in range(6)}
    names = machine.speed_names
    return (
        Picture(
            poses(machine.mechanism, q[::10], azimuth=-70.0),
            "The arm from the start (pale) to the end (dark) of the line.",
        ),
        Picture(
            over_time(
                t,
                [
                    ("torque (N·m)", {n: tau[:, k] for k, n in enumerate(names[:3])}),
                    ("torque (N·m)", {n: tau[:, k + 3] for k, n in enumerate(names[3:])}),
                ],
            ),
            "The torques of the motors.",
        ),
        Picture(
            over_time(t, [("constraint moment (N·m)", across)], 2.6),
            "The size of the moment across each joint's axis, which its bearings carry.",
        ),
        Picture(
            over_time(
                runs[STEPS[0]].time,
                [("deviation (m)", {f"step {h:g} s": off[h] for h in STEPS})],
                2.2,
            ),
            "How far the tool strays when the torques are all that is known, with two step sizes.",
        ),
    )


EXAMPLE = Example(
    "Six degrees of freedom: a PUMA 560",
    "R. D. Quinn and R. Y. K. Chang, Dynamics of Open-Chained Systems of Rigid Bodies, 1989/1991:"
    " section 5, example two, whose data are not in the scan; inertias of B. Armstrong, O. Khatib"
    " and J. Burdick, The Explicit Dynamic Model and Inertial Parameters of the PUMA 560 Arm, ICRA"
    " 1986.",
    "A spatial line with fixed orientation, the torques for it, the constraint moments in the"
    " joints, a simulation from the torques.",
    ("spatial_six_dof",),
    run,
    departures=(
        (
            "The arm, the line and the step sizes are ours: the source's example two breaks off in"
            " the scan."
        ),
        (
            "Link 1's inertia about its axis is booked as armature of joint 1, as nothing else of"
            " it was measured."
        ),
    ),
)
