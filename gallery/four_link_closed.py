"""Four links with a pinned tip: [Merwe1995] section 5.5, the worked numbers and the ten seconds of
figures 5.4 to 5.11.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from catena.analysis.mobility import mobility
from catena.formats import load
from catena.machine.machine import Machine, compile
from catena.machine.reactions import reactions
from catena.model.mechanism import Mechanism
from catena.results.plots import plot
from catena.results.result import Result
from catena.simulation import simulate
from catena.simulation.terms.stabilisation import Corrective

from .drawing import over_time
from .page import Example, Number, Page, Picture, misprints, number

STATIC = "Pinocchio, and a recursion of our own, independent of catena"
MOTION = "two formulations of our own, independent of catena, agreeing to 4e-13"
END = (1.5634173304, -2.9961163363, 1.3861199809, -1.6153857099)  # rad, at 10 s
PEAK, PEAK_TIME = 228.84950109, 1.30  # N, s
# N/m, N s/m: the corrective force of section 5.5.5
STIFFNESS = 60.0
DAMPING = 40.0
STEP = 0.001  # s


def run() -> Page:
    """The first instant by hand, then ten seconds in two ways."""
    m = load("four_link_closed")
    machine = compile(m)
    exact = motion()
    crude = simulate(
        m,
        until=10.0,
        output=0.02,
        integrator="semi_implicit",
        step=STEP,
        stabilise=Corrective(STIFFNESS, DAMPING),
    )
    force = tip_force(exact)
    return Page(
        (
            *worked(m, machine),
            *two_terms(m, exact),
            *history(exact, force),
            *drift(machine, exact, crude),
        ),
        pictures(m, machine, exact, crude, force),
        text=(
            "The tip is pinned by five rows, of which two are independent: a planar chain cannot"
            " leave its plane anyway. The source finds the forces of redundant rows by elimination"
            " and leaves the free ones zero; here such components are reported as not determined."
        ),
    )


@cache
def motion() -> Result:
    """Ten seconds from rest, accurately."""
    return simulate(load("four_link_closed"), until=10.0, output=0.02, tolerance=1e-11)


def worked(m: Mechanism, machine: Machine) -> list[Number]:
    """Equations (5.85) to (5.133)."""
    zero = np.zeros(4)
    open_chain = compile(m.with_(loops=()))
    H = open_chain.mass_matrix(zero)
    J = open_chain.jacobian(zero, "tip")
    qdd_open = open_chain.forward_dynamics(zero, zero, zero)
    xdd_open = open_chain.frame_acceleration(zero, zero, qdd_open, "tip")
    Lambda_inverse = J @ np.linalg.solve(H, J.T)
    qdd = machine.forward_dynamics(zero, zero, zero)
    on_link = reactions(machine, zero, zero, qdd)["pin"]
    pushed = np.linalg.solve(J[[3, 5]] @ np.linalg.solve(H, J[[3, 5]].T), xdd_open[[3, 5]])
    moves = mobility(machine)
    return [
        number(
            "rows, independent rows, degrees of freedom",
            (moves.rows, moves.rank, moves.degrees_of_freedom),
            printed="5 2 2",
            where="(5.119), (5.125)",
        ),
        number(
            "bias forces",
            open_chain.bias(zero, zero),
            printed="-30 -30 -5 -5",
            where="(5.85)",
            unit="N m",
            reference=(-30, -30, -5, -5),
            basis=STATIC,
        ),
        number(
            "joint-space inertia, first row",
            H[0],
            printed="26.35 8.35 5.4 0.95",
            where="(5.104)",
            unit="kg m2",
        ),
        number(
            "joint-space inertia, last row",
            H[3],
            printed="0.95 0.95 0.45 0.45",
            where="(5.104)",
            unit="kg m2",
        ),
        number(
            "inverse operational inertia, entries 2,2 4,4 6,6 2,6",
            Lambda_inverse[[1, 3, 5, 1], [1, 3, 5, 5]],
            printed="2.8739003 0.6901961 2.228739 -2.28739",
            where="(5.111)",
        ),
        number(
            "open-chain joint accelerations",
            qdd_open,
            printed="0 10.2639296 -10.2639296 -0.2932551",
            where="(5.114)",
            unit="rad/s2",
            reference=(0, 10.26392961876833, -10.26392961876833, -0.29325513196481),
            basis=STATIC,
        ),
        number(
            "open-chain acceleration of the tip, turning and z",
            xdd_open[[1, 5]],
            printed="-0.2932551 -9.9706745",
            where="(5.117)",
            unit="rad/s2, m/s2",
        ),
        number(
            "contact force on the surroundings, z",
            -on_link[5],
            printed="-4.4736842",
            where="(5.131)",
            unit="N",
            reference=-4.473684210526317,
            basis=STATIC,
        ),
        number("the same by (5.28)", pushed, printed="0 -4.4736842", where="(5.129)", unit="N"),
        number(
            "closed-chain joint accelerations",
            qdd,
            printed="0 10.5263158 -10.5263158 -10.5263158",
            where="(5.133)",
            unit="rad/s2",
            reference=(0, 10.526315789473685, -10.526315789473687, -10.526315789473685),
            basis=STATIC,
        ),
    ]


def tip_terms(m: Mechanism, exact: Result) -> tuple[np.ndarray, np.ndarray]:
    """The two terms of (5.52), J q'' and J' q', (time, 6) each, along the run. q'' is that of the
    open chain under the friction of its joints.
    """
    chain = compile(m.with_(loops=()))
    q, v, tau = (exact.data[name].values for name in ("q", "v", "tau"))
    a = chain.forward_dynamics(q, v, tau)
    whole = chain.frame_acceleration(q, v, a, "tip")
    return np.einsum("tij,tj->ti", chain.jacobian(q, "tip"), a), whole - np.einsum(
        "tij,tj->ti", chain.jacobian(q, "tip"), a
    )


def two_terms(m: Mechanism, exact: Result) -> list[Number]:
    """Figure 5.1: the term with the Jacobian's rate is of the order of the other one."""
    chain = compile(m.with_(loops=()))
    first, second = (np.linalg.norm(x[:, 3:], axis=1) for x in tip_terms(m, exact))
    q, v = exact.data["q"].values, exact.data["v"].values
    h = 1e-6  # s: differences of the Jacobian along the motion
    rate = (chain.jacobian(q + h * v, "tip") - chain.jacobian(q - h * v, "tip")) / (2 * h)
    differenced = np.linalg.norm(np.einsum("tij,tj->ti", rate, v)[:, 3:], axis=1)
    return [
        number(
            "largest J' q' of the tip",
            second.max(),
            where="(figure 5.1)",
            reference=float(differenced.max()),
            within=1e-6,
            unit="m/s2",
            basis="differences of the Jacobian",
        ),
        number(
            "mean of J' q' over mean of J q''",
            second.mean() / first.mean(),
            printed="1",
            where='("of the same order", text)',
            last=1.0,
        ),
    ]


def history(exact: Result, force: np.ndarray) -> list[Number]:
    """The end of the ten seconds, and the peak of the tip force."""
    size = np.abs(force[:, 1])
    top = int(size.argmax())
    return [
        number(
            "joint angles at 10 s",
            exact.data["q"].values[-1],
            reference=END,
            unit="rad",
            basis=MOTION,
        ),
        number(
            "peak of the tip force, z",
            size[top],
            printed="230",
            where='("in the order of", text)',
            last=5.0,
            reference=PEAK,
            within=1e-5,
            unit="N",
            basis=MOTION,
        ),
        number("when", exact.time[top], reference=PEAK_TIME, within=1e-9, unit="s", basis=MOTION),
        number(
            "largest opening of the loop, projected",
            float(np.abs(exact.data["closure"].values).max()),
            reference=0.0,
            within=1e-12,
            unit="m",
        ),
    ]


def drift(machine: Machine, exact: Result, crude: Result) -> list[Number]:
    """What the corrective force leaves of the tip's error, with first-order steps of a
    millisecond.
    """
    off = distance(machine, crude)
    return [
        number(
            "largest distance of the tip with the corrective force",
            off.max(),
            reference=0.0,
            within=0.05,
            unit="m",
            basis="the pin; a first-order step of 1 ms leaves centimetres",
        )
    ]


def tip_force(result: Result) -> np.ndarray:
    """(time, 2): what the tip does to its surroundings along x and z, N; along y it is not
    determined.
    """
    pin = result.multipliers()
    return -pin.sel(row=["pin: displacement x", "pin: displacement z"]).values


def distance(machine: Machine, result: Result) -> np.ndarray:
    """Of the tip from the pin, m."""
    return np.linalg.norm(
        machine.pose(result.data["q"].values, "tip")[:, :3, 3] - (2, 0, 3), axis=1
    )


def pictures(
    m: Mechanism, machine: Machine, exact: Result, crude: Result, force: np.ndarray
) -> tuple[Picture, ...]:
    """Figures 5.1, and 5.4 to 5.11."""
    t = exact.time
    names = [f"joint {k}" for k in range(1, 5)]
    lines = lambda key: dict(zip(names, exact.data[key].values.T))  # noqa: E731
    two = {"x": force[:, 0], "z": force[:, 1]}
    terms = {
        name: np.linalg.norm(x[:, 3:], axis=1)
        for name, x in zip(("J q''", "J' q'"), tip_terms(m, exact))
    }
    off = {
        "with projection": distance(machine, exact),
        "corrective force": distance(machine, crude),
    }
    early = t <= 2.5
    pushed = {axis: -STIFFNESS * d - DAMPING * s for axis, d, s in _errors(machine, crude)}
    return (
        Picture(
            plot(exact, "cyclograph", until=1.2, every=0.1, title=""),
            "The first 1.2 s, every 0.1 s. Link 4 turns about the pin; the others follow.",
        ),
        Picture(
            over_time(t, [("acceleration of the tip (m/s²)", terms)], 2.4),
            "Figure 5.1: the magnitudes of the two terms of (5.52), of the open chain.",
        ),
        Picture(
            over_time(t, [("acceleration (rad/s²)", lines("a"))], 2.4),
            "Figure 5.4: joint accelerations.",
        ),
        Picture(
            over_time(t, [("speed (rad/s)", lines("v")), ("angle (rad)", lines("q"))]),
            "Figures 5.5 and 5.6: joint velocities and positions.",
        ),
        Picture(
            over_time(
                t[early],
                [
                    ("acceleration (rad/s²)", {n: x[early] for n, x in lines("a").items()}),
                    ("tip force (N)", {n: x[early] for n, x in two.items()}),
                ],
            ),
            "Figures 5.7 and 5.11: the first 2.5 s in detail.",
        ),
        Picture(
            over_time(t, [("tip force (N)", two)], 2.2),
            "Figure 5.10: what the tip does to the pin; the whole mechanism weighs 50 N.",
        ),
        Picture(
            over_time(t, [("corrective force (N)", pushed), ("distance (m)", off)]),
            "Figures 5.8 and 5.9: the corrective force, and the distance of the tip from the pin,"
            " for first-order steps of 1 ms with it and for projection after every step of an"
            " adaptive method.",
        ),
    )


def _errors(machine: Machine, result: Result) -> list[tuple[str, np.ndarray, np.ndarray]]:
    q = result.data["q"].values
    v = result.data["v"].values
    place = machine.pose(q, "tip")[:, :3, 3] - (2, 0, 3)
    speed = machine.frame_velocity(q, v, "tip")[:, 3:]
    return [(axis, place[:, k], speed[:, k]) for axis, k in (("x", 0), ("z", 2))]


EXAMPLE = Example(
    "Four links, tip pinned",
    "C. van der Merwe, An Analytical Consideration of Multi Body Dynamics as applied to Robotic"
    " Structures, 1995: section 5.5, figures 5.1-5.11.",
    "A closed chain with redundant rows: accelerations, contact force, ten seconds with friction,"
    " projection against the corrective force.",
    ("four_link_closed",),
    run,
    misprints(
        [
            (
                "(5.67)",
                "the rate of A is A' omega' A",
                "-omega~ A, with the relative angular velocity",
                (
                    "the derivative of a rotation; a tensor's formula does not hold for a"
                    " transformation"
                ),
            ),
            (
                "(5.89), (5.90)",
                "left sides 1X0, 1X0",
                "3X2, 4X3",
                "the third and fourth links' transformations",
            ),
            (
                "(5.108)",
                "H",
                "H^-1",
                "(5.107), and the numbers of (5.109)",
            ),
            (
                "(5.117), (5.131)",
                "five entries",
                "six: a zero is missing",
                "a spatial vector has six",
            ),
            (
                "5.5.5",
                "friction coefficient in Ns/rad",
                "N m s/rad",
                "dimension",
            ),
        ]
    ),
    departures=(
        (
            "The source integrates by explicit Euler steps of 1 ms; the run with its corrective"
            " force here uses semi-implicit Euler steps of 1 ms."
        ),
    ),
    commands=("catena run four_link_closed", "catena info four_link_closed"),
)
