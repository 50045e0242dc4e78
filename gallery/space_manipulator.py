"""A hull with two arms in weightlessness: [Passerello1972] chapter V, the three problems of figures
11 to 17.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.spatial.transform import Rotation

from catena.analysis.impulse import impulse
from catena.formats import load
from catena.machine.machine import Machine, compile
from catena.model.mechanism import Mechanism
from catena.results.result import Result
from catena.simulation import simulate
from catena.simulation.trajectories import Trajectory, cycloid

from .drawing import over_time, poses
from .page import Example, Number, Page, Picture, misprints, number

INCH = 0.0254
SLUG = 14.593902937206365
POUND_SECOND = 4.4482216152605
ARMS = (
    "right shoulder.rx",
    "right shoulder.ry",
    "right shoulder.rz",
    "right elbow",
    "left shoulder.rx",
    "left shoulder.ry",
    "left shoulder.rz",
    "left elbow",
)  # x7 to x14
START = np.radians([90, 0, 0, 0, 0, -90, 0, 90])
# Both arms in one pose, halfway between their starts: the plates coincide, and the angles have
# turned the least. The pose of figure 11 is not in the text.
END = np.radians([45, -45, 0, 45, 45, -45, 0, 45])
PRINTED = (
    "112",
    "0.0",
    "-1.99e-5",
    "-5.74e-6",
    "1.99",
    "1.11e-5",
    "6.25e-6",
    "3.51",
    "1.99",
    "-4.39",
    "3.02",
    "-1.99",
    "3.02",
    "3.33",
)
FIGURE_17 = (
    112.038952443211,
    0,
    0,
    0,
    1.990261889197,
    0,
    0,
    3.510908547572,
    1.990261889197,
    -4.386608601008,
    0,
    -1.990261889197,
    0,
    3.333492802858,
)
BASIS = "Pinocchio, and Newton-Euler equations of free bodies, independent of catena"
MOTION = "Pinocchio: its momentum matrix, integrated by SciPy, and its inverse dynamics"
DRIFT = {  # at t (s): place of the hull (in), its angles about x, y, z (rad)
    0.5: (
        -1.1438748314378264,
        -1.31192437279145,
        1.2476451557974504,
        0.1469056360252649,
        -0.11989434576352331,
        0.06685541482957696,
    ),
    1.0: (
        -1.607784801786398,
        -1.9151417280006489,
        1.736576655293385,
        0.19245732759862738,
        -0.15529642732078508,
        0.0956311478174734,
    ),
}
HOLD = {  # at t (s): force (slug in/s2) and moment (slug in2/s2) that hold the hull
    0.25: (
        140.80298062371912,
        70.40149031185958,
        -409.46335602426325,
        -10241.019144837392,
        4803.895140875915,
        -3644.2836965472325,
    ),
    0.5: (
        -116.05733629599821,
        -58.028668147999014,
        309.26777933499875,
        7975.337432353434,
        -3365.8699925407354,
        3597.5701852191587,
    ),
}


def run() -> Page:
    """The hull drifts; the hull is held; the hull is struck."""
    m = load("space_manipulator")
    machine = compile(m)
    motion = arms()
    q = machine.neutral()
    free = drift()
    q[7:] = START
    t = np.linspace(0, 1, 101)
    hold = held(machine, motion, t)
    found = (
        *struck(machine, q),
        *coincidence(free),
        *drifted(free),
        *holding(machine, motion),
        *kept(free),
    )
    return Page(
        found,
        pictures(m, machine, q, free, t, hold),
        text=(
            "Three problems. First the arms move as (5.1) says and bring the two plates into"
            " coincidence, and the free hull drifts and turns. Both shoulders of figure 10 are one"
            " point, so that plates with one centre and one plane belong to lower arms on one line:"
            " the arms end in the same pose. Of all such poses ours, halfway between the arms'"
            " starts, is the one with the least sum of squared turns, which a search from sixty"
            " random poses does not improve. Then the hull is held, and the forces and moments for"
            " that are found. Last the resting system is struck at the hull by 100 lb s along"
            " x; all joints are loose. The file is in slugs and inches; numbers here are in the"
            " source's units."
        ),
    )


def arms() -> Trajectory:
    """(5.1): from the start to the end in a second."""
    return cycloid([0.0, 1.0], dict(zip(ARMS, np.stack([START, END], axis=1))))


@cache
def drift() -> Result:
    """The free hull while the arms move."""
    return simulate(
        load("space_manipulator"), until=1.0, output=0.01, motion=arms(), tolerance=1e-11
    )


def struck(machine: Machine, q: np.ndarray) -> list[Number]:
    """Figure 17: increments of the speeds; x11 and x13 modulo the direction that moves nothing."""
    dv = impulse(machine, q, at="hull", linear=(100 * POUND_SECOND, 0, 0)).dv.copy()
    dv[:3] /= INCH
    sure = [k for k in range(14) if k not in (2, 3, 5, 6, 10, 12)]
    noise, locked = [2, 3, 5, 6], [10, 12]
    every = np.array(FIGURE_17)
    return [
        number(
            "increments of x1 x2 x5 x8 x9 x10 x12 x14",
            dv[sure],
            printed=" ".join(PRINTED[k] for k in sure),
            where="(figure 17)",
            reference=every[sure],
            unit="in/s, rad/s",
            basis=BASIS,
        ),
        number(
            "increments of x3 x4 x6 x7",
            dv[noise],
            printed=" ".join(PRINTED[k] for k in noise),
            where="(figure 17)",
            reference=every[noise],
            unit="in/s, rad/s",
            wrong=True,
            basis="zero: the print is rounding of its time",
        ),
        number(
            "increments of x11 x13",
            dv[locked],
            printed=" ".join(PRINTED[k] for k in locked),
            where="(figure 17)",
            reference=every[locked],
            unit="rad/s",
            wrong=True,
            basis="modulo (1, 1), along which nothing moves: gimbal lock at x12 = -90 degrees",
        ),
    ]


def place(q: np.ndarray) -> np.ndarray:
    """(..., 6): x1 to x6 of the source: place of the hull in inches, angles about x, y, z."""
    turn = Rotation.from_quat(q[..., 3:7], scalar_first=True).as_euler("XYZ")
    return np.concatenate([q[..., :3] / INCH, turn], axis=-1)


def coincidence(free: Result) -> list[Number]:
    """How far the plates are from coincidence at the start, and at the end of the simulated run:
    the distance of their centres and the angle between their planes.
    """
    ends = free.data["q"].values[[0, -1]]
    right, left = (free.machine.pose(ends, f"{side} disk") for side in ("right", "left"))
    apart = np.linalg.norm(right[:, :3, 3] - left[:, :3, 3], axis=1) / INCH
    across = np.linalg.norm(np.cross(right[:, :3, 2], left[:, :3, 2]), axis=1)
    # the right arm is straight along y, the left one has its elbow 36 in along x
    start = float(np.linalg.norm([36.0, -72.0, -36.0]))
    return [
        number(
            "distance of the plates at the start",
            apart[0],
            reference=start,
            unit="in",
            basis="the pose of figure 17, by hand",
        ),
        number(
            "distance of the plates at the end",
            apart[1],
            reference=0.0,
            unit="in",
            basis="the plates coincide",
        ),
        number(
            "sine of the angle between the plates at the end",
            across[1],
            reference=0.0,
            basis="the plates coincide",
        ),
    ]


def drifted(free: Result) -> list[Number]:
    """Figures 12 and 13, at two instants."""
    rows = {t: int(np.searchsorted(free.time, t - 1e-9)) for t in DRIFT}
    return [
        number(
            f"hull at {t:g} s: x y z, angles",
            place(free.data["q"].values[rows[t]]),
            reference=DRIFT[t],
            unit="in, rad",
            basis=MOTION,
        )
        for t in DRIFT
    ]


def held(machine: Machine, motion: Trajectory, t: np.ndarray) -> np.ndarray:
    """(time, 6): force in slug in/s2, moment in slug in2/s2, that hold the hull while the arms
    move.
    """
    tau = machine.inverse_dynamics(*motion.along(machine, t))[..., :6]
    return tau / (SLUG * INCH * np.array([1, 1, 1, INCH, INCH, INCH]))


def holding(machine: Machine, motion: Trajectory) -> list[Number]:
    """Figures 14 and 15, at two instants."""
    return [
        number(
            f"holding force and moment at {t:g} s",
            held(machine, motion, np.array(t)),
            reference=HOLD[t],
            unit="slug in/s2, slug in2/s2",
            within=1e-9,
            basis=MOTION,
        )
        for t in HOLD
    ]


def kept(free: Result) -> list[Number]:
    """Momentum stays zero."""
    momentum = free.momentum()
    size = max(float(np.abs(momentum[name]).max()) for name in ("linear", "angular"))
    return [
        number(
            "largest momentum while the hull drifts",
            size,
            reference=0.0,
            unit="kg m/s, kg m2/s",
            basis="nothing acts from outside",
        )
    ]


def pictures(
    m: Mechanism, machine: Machine, q: np.ndarray, free: Result, t: np.ndarray, hold: np.ndarray
) -> tuple[Picture, ...]:
    """Figures 11 to 15."""
    x = place(free.data["q"].values)
    in_pounds = hold / 12  # 1 lb = 12 slug in/s2
    axes = lambda values, k: {axis: values[:, k + j] for j, axis in enumerate("xyz")}  # noqa: E731
    return (
        Picture(
            poses(m, free.data["q"].values[::20], azimuth=-50),
            "Figure 11: the arms bring the plates together (pale to dark) and the hull answers.",
        ),
        Picture(
            over_time(
                free.time, [("displacement (in)", axes(x, 0)), ("rotation (rad)", axes(x, 3))]
            ),
            "Figures 12 and 13: the hull drifts and turns.",
        ),
        Picture(
            over_time(
                t, [("force (lb)", axes(in_pounds, 0)), ("moment (lb in)", axes(in_pounds, 3))]
            ),
            "Figures 14 and 15: what holds the hull.",
        ),
    )


EXAMPLE = Example(
    "Space manipulator",
    "C. E. Passerello and R. L. Huston, An Analysis of General Chain Systems, NASA N72-30352, 1972:"
    " chapter V, figures 8-17.",
    "A free-flying base: prescribed arms and a drifting hull, a held hull and its forces, an"
    " impulse; slugs and inches.",
    ("space_manipulator",),
    run,
    misprints(
        [
            (
                "figure 17, starting angles",
                "x8 = x10 = x11 = 90 degrees",
                "x7 = +90, x12 = -90, x14 = +90 degrees",
                (
                    "the printed increments come out with these; the print interchanges the arms"
                    " and loses a sign"
                ),
            ),
            (
                "figure 17, x11 and x13",
                "3.02",
                "any two equal numbers",
                "at x12 = -90 degrees the mass matrix is singular along (1, 1): rounding",
            ),
            (
                "(1.16)",
                "first row 1 1 0",
                "1 0 0",
                "a rotation about x leaves x alone",
            ),
            (
                "(3.27)",
                "F_rj x_j'' on the left",
                "A_rj x_j''",
                "(3.28) defines it, (3.30) uses it",
            ),
            (
                "(3.29)",
                "f_r with a sign that the scan has lost, and omega_isn omega_iml",
                "a minus before the bracket, and omega_isn omega_ijl",
                "(3.26) moved to the right side of (3.27)",
            ),
            (
                "(4.4)",
                "I_r = I_r^ext + I_r^ext",
                "I_r^ext + I_r^int",
                "(4.5) and (4.6) define the two",
            ),
            (
                "figure 10",
                "I3's second dyad n22 n22",
                "n32 n32",
                "it is body 3",
            ),
        ]
    ),
    departures=(
        (
            "The pose at the end of figure 11 is not in the text; ours is (45, -45, 0, 45) degrees"
            " of both arms."
        ),
        "The disks are included in the impulse problem; figure 17 comes out with them.",
    ),
)
