"""Three legs and a platform: [Merwe1995] chapter 8, the checks of section 8.2.1 and the runs of
figures 8.3 to 8.5.
"""

from __future__ import annotations

import numpy as np

from catena.analysis.assembly import assemble
from catena.analysis.inverse_kinematics import inverse_kinematics
from catena.analysis.statics import static_torques
from catena.formats import load
from catena.machine.machine import Machine, compile
from catena.machine.reactions import reactions
from catena.model.mechanism import Mechanism
from catena.results.result import Result
from catena.simulation import simulate
from catena.simulation.control import PID
from catena.simulation.trajectories.piecewise import Trajectory, pieces

from .drawing import over_time, poses
from .page import Example, Number, Page, Picture, misprints, number

TILT = 1.1669367
LEG = lambda azimuth: [azimuth, -TILT, 0.0, 0.0, TILT]  # noqa: E731
DEFAULT = np.array([*LEG(-np.pi / 6), *LEG(-5 * np.pi / 6), *LEG(np.pi / 2)])
SLIDES = ("hip1.Dx", "hip2.Dx", "hip3.Dx")
KNEES = ("knee1.Rz", "knee2.Rz", "knee3.Rz")
KP, KI, KD = 800.0, 1000.0, 50.0  # (8.4) to (8.6)
UP, MOVE, UNTIL = 0.25, 8.0, 14.0  # m, s, s
ROUNDED = 2  # decimals of commands that are not accurately enough specified
BASIS = "18 constraint equations of our own, independent of catena, and a closed form"


def run() -> Page:
    """The static checks, then holding and lifting, with six controlled joints and with three."""
    m = load("high_stiffness_low_mass")
    machine = compile(m)
    q, _ = assemble(machine, DEFAULT)
    X = machine.pose(q, "platform")
    X[1, 3] += UP
    above = inverse_kinematics(machine, "platform", X, guess=q)
    six, three = (controlled(m, machine, q, above, names) for names in ((*SLIDES, *KNEES), SLIDES))
    six_names = (*SLIDES, *KNEES)
    at = [machine.coordinate_names.index(n) for n in six_names]
    rough = above.copy()
    rough[at] = np.round(above[at], ROUNDED)
    loose = controlled(m, machine, q, rough, six_names)
    return Page(
        (
            *checks(machine, q),
            *lifted(machine, q, above, three),
            *diverging(machine, above, rough, six, loose),
        ),
        pictures(m, machine, q, above, six, three, loose),
        text=(
            "The support is taken away at t = 0 with the controllers' integrals at zero (figure"
            f" 8.3); at {MOVE:g} s, when it hangs still, the controllers are commanded to lift the"
            f" platform by {UP} m (figures 8.4 and 8.5). One run shows both. The source sees"
            " control forces that might diverge, and suspects its commands. That is so: six"
            " commands for three freedoms belong to one place of the platform, or contradict each"
            " other. What remains of a contradiction has no part along the freedoms; the"
            " loops hold it, the integral of each controller grows by it for ever, and the"
            " forces with it, at KI times the contradiction. Commands rounded to two"
            " decimals show it."
        ),
    )


def controlled(
    m: Mechanism, machine: Machine, low: np.ndarray, high: np.ndarray, names: tuple[str, ...]
) -> Result:
    """Hold at the default place, then step to the place above."""
    target = step(
        names,
        *(np.array([q[machine.coordinate_names.index(n)] for n in names]) for q in (low, high)),
    )
    return simulate(
        m, q=low, until=UNTIL, output=0.02, control=PID(KP, KI, KD, target), tolerance=1e-8
    )


def step(names: tuple[str, ...], before: np.ndarray, after: np.ndarray) -> Trajectory:
    """A command that jumps at MOVE."""
    return pieces(names, np.array([MOVE]), np.zeros(2), np.stack([before, after])[:, :, None])


def checks(machine: Machine, q: np.ndarray) -> list[Number]:
    """Section 8.2.1: no joint forces; joint forces of static equilibrium."""
    zero = np.zeros(machine.nv)
    a = machine.forward_dynamics(q, zero, zero)
    force = reactions(machine, q, zero, a, zero, axes="world")
    down = machine.frame_acceleration(q, zero, a, "platform")[4]
    printed = np.tile([0, 6.3164555, -41.113563, 0, 0.25], 3)
    held = static_torques(machine, q, SLIDES).tau
    return [
        number(
            "acceleration of the platform without joint forces, y",
            down,
            printed="-10.0286429",
            where="(text)",
            unit="m/s2",
            last=1.0,
            reference=-10.028642928677979,
            within=1e-7,
            basis=BASIS,
        ),
        number(
            "joint accelerations of leg 1",
            a[:5],
            printed="0 -3.6239142 9.2218498 0 3.6239142",
            where="(8.7)",
            unit="rad/s2, m/s2",
            last=3.0,
            reference=(0, -3.6239139473, 9.2218499162, 0, 3.6239139473),
            within=1e-6,
            basis=BASIS,
        ),
        number(
            "joint accelerations of legs 2 and 3 compared with those of leg 1",
            np.abs(a[5:].reshape(2, 5) - a[:5]).max(),
            reference=0.0,
            unit="rad/s2, m/s2",
        ),
        number(
            "force of each leg on the platform, y",
            [force[f"weld{k}"][4] for k in (1, 2, 3)],
            printed="-0.0477382 -0.0477382 -0.0477382",
            where="(text)",
            unit="N",
            reference=(-0.0477382145,) * 3,
            within=1e-7,
            basis=BASIS,
        ),
        number(
            "largest acceleration under the printed static forces",
            np.abs(machine.forward_dynamics(q, zero, printed)).max(),
            reference=0.0,
            within=1e-5,
            unit="rad/s2, m/s2",
            basis="(8.8), whose digits allow 5e-7",
        ),
        number(
            "slide forces that hold it alone",
            held[[2, 7, 12]],
            reference=(-43.49750055684828,) * 3,
            within=1e-6,
            unit="N",
            basis=BASIS,
        ),
    ]


def lifted(machine: Machine, q: np.ndarray, above: np.ndarray, three: Result) -> list[Number]:
    """Where the run with three controlled joints ends, and what it takes to stay there."""
    held = static_torques(machine, above, SLIDES).tau
    below = static_torques(machine, q, SLIDES).tau
    tau = three.data["tau"].values[:, [2, 7, 12]]
    before = int(np.searchsorted(three.time, MOVE - 1e-9)) - 1
    y = machine.pose(three.data["q"].values[-1], "platform")[1, 3]
    return [
        number(
            "height of the platform at the end, figure 8.5",
            y - machine.pose(q, "platform")[1, 3],
            reference=UP,
            within=1e-3,
            unit="m",
            basis="the command",
        ),
        number(
            "slide forces just before the move",
            tau[before],
            reference=below[[2, 7, 12]],
            within=1e-3,
            unit="N",
            basis="statics",
        ),
        number(
            "slide forces at the end",
            tau[-1],
            reference=held[[2, 7, 12]],
            within=1e-2,
            unit="N",
            basis="statics",
        ),
        number(
            "largest opening of the loops",
            float(np.abs(three.data["closure"].values).max()),
            reference=0.0,
            within=1e-12,
            unit="m, 1",
        ),
    ]


def diverging(
    machine: Machine, above: np.ndarray, rough: np.ndarray, six: Result, loose: Result
) -> list[Number]:
    """Section 8.2.2: how fast the control forces grow with rounded commands, and with exact ones.

    The part of the contradiction d along the freedoms, J pinv(J) d, moves the platform; the rest
    stays as an error e, and an integral force grows at KI e.
    """
    at = [machine.coordinate_names.index(n) for n in (*SLIDES, *KNEES)]
    A = machine.constraint_rows(above, np.zeros(machine.nv))[-1]
    _, sizes, directions = np.linalg.svd(A)
    freedoms = directions[int((sizes > 1e-9 * sizes[0]).sum()) :].T
    J = freedoms[at]
    d = (rough - above)[at]
    return [
        number(
            "rates of the control forces with commands rounded to two decimals",
            force_rates(loose, at),
            reference=KI * (d - J @ np.linalg.pinv(J) @ d),
            within=1e-2,
            unit="N/s, N m/s",
            basis="KI times the part of the rounding that the loops do not allow",
        ),
        number(
            "largest rate of the control forces with commands of one place",
            float(np.abs(force_rates(six, at)).max()),
            reference=0.0,
            within=0.05,
            unit="N/s, N m/s",
            basis="nothing contradicts",
        ),
    ]


def force_rates(run: Result, at: list[int]) -> np.ndarray:
    """The rates of joint forces over the last second of a run."""
    tau = run.data["tau"].values
    return (tau[-1] - tau[-51])[at] / (run.time[-1] - run.time[-51])


def pictures(
    m: Mechanism,
    machine: Machine,
    q: np.ndarray,
    above: np.ndarray,
    six: Result,
    three: Result,
    loose: Result,
) -> tuple[Picture, ...]:
    """Figures 8.3 to 8.5, and the mechanism."""
    height = lambda r: machine.pose(r.data["q"].values, "platform")[:, 1, 3]  # noqa: E731
    force = lambda r, k: r.data["tau"].values[:, k]  # noqa: E731
    early = six.time <= MOVE
    hold = over_time(
        six.time[early],
        [
            ("height of the platform (m)", {"": height(six)[early]}),
            ("slide force (N)", {"": force(six, 2)[early]}),
            ("knee torque (N·m)", {"": force(six, 4)[early]}),
        ],
        1.6,
    )
    late = lambda r: r.time >= MOVE - 0.5  # noqa: E731
    move = over_time(
        six.time[late(six)],
        [
            (
                "height of the platform (m)",
                {
                    "slides and knees (8.4)": height(six)[late(six)],
                    "slides only (8.5)": height(three)[late(three)],
                },
            ),
            (
                "slide force (N)",
                {
                    "slides and knees (8.4)": force(six, 2)[late(six)],
                    "slides only (8.5)": force(three, 2)[late(three)],
                    "slides and knees, rounded commands": force(loose, 2)[late(loose)],
                },
            ),
            (
                "knee torque (N·m)",
                {
                    "slides and knees (8.4)": force(six, 4)[late(six)],
                    "slides and knees, rounded commands": force(loose, 4)[late(loose)],
                },
            ),
        ],
        marks=[MOVE],
    )
    return (
        Picture(
            poses(m, np.stack([q, above]), azimuth=-55, elevation=18),
            "The mechanism in its default place (pale) and lifted by 0.25 m (dark): the legs slide"
            " through their hips.",
        ),
        Picture(
            hold,
            "Figure 8.3: the support is gone at t = 0; the platform falls until the controllers"
            " hold it, and their integrals bring it back.",
        ),
        Picture(
            move,
            "Figures 8.4 and 8.5: commanded to move 0.25 m up. With six controlled joints for three"
            " freedoms the forces come to rest where all six commands belong to one place of the"
            " platform, and grow for ever where the commands are rounded.",
        ),
    )


EXAMPLE = Example(
    "High stiffness, low mass: three legs, one platform",
    "C. van der Merwe, An Analytical Consideration of Multi Body Dynamics as applied to Robotic"
    " Structures, 1995: chapter 8, figures 8.1-8.5.",
    "A parallel mechanism with two loops of six rows each: static checks, PID control of its"
    " joints, a step command.",
    ("high_stiffness_low_mass",),
    run,
    misprints(
        [
            (
                "chapter 8",
                "no mass of the platform",
                "5 kg",
                "3 x 0.0477382 / 0.0286429 = 5.000 (section 8.2.1)",
            ),
            (
                "section 8.1.1",
                "spherical joints with two degrees of freedom",
                "universal joints: two rotations",
                "table 8.1",
            ),
            (
                "(8.8)",
                "a set of analytically determined joint forces",
                "one of infinitely many",
                (
                    "fifteen forces for three freedoms; the slides alone hold it too, with 43.4975"
                    " N each"
                ),
            ),
            (
                "figure 8.4, text",
                "the control forces might diverge",
                "they do with commands that contradict each other, and with no others",
                "the source suspects its commands itself; shown on this page",
            ),
        ]
    ),
    departures=(
        (
            "Azimuths of legs 2 and 3 (-150 and +90 degrees) follow from the points (8.1)-(8.3);"
            " only leg 1's is printed."
        ),
        (
            "The platform's inertia, 0.01 kg m2, is ours; nothing printed depends on it. The centre"
            " of mass of an upper leg moves with its slide; in the source it stays."
        ),
    ),
)
