"""Two links carry a load: [Merwe1995] section 6.5, by its own method and by catena's."""

from __future__ import annotations

import numpy as np

from catena.analysis.statics import static_torques
from catena.formats import load
from catena.machine.machine import Machine, compile
from catena.machine.reactions import reactions
from catena.model.mechanism import Mechanism
from catena.results.plots import plot
from catena.simulation import simulate
from gallery.routes.reference import Carried, Supporting, reference_member

from .drawing import over_time
from .page import Example, Page, Picture, misprints, number

START = np.array([np.pi / 4, -np.pi / 4, np.pi / 4])  # link 1, the load on it, link 2
PIN = np.eye(6)[:, [0, 2, 3, 4, 5]]  # (6.81): everything but turning about y
BASIS = "Pinocchio, and a recursion of our own, independent of catena"


def run() -> Page:
    """The first instant, static equilibrium, and four seconds of swinging."""
    m = load("two_links_one_load")
    machine, still = compile(m), np.zeros(3)
    a = machine.forward_dynamics(START, still, still)
    a_r = machine.frame_acceleration(START, still, a, "load")
    theirs = by_reference_member(m, 0.0)
    hold = static_torques(machine, START, ["joint1", "joint2"])
    alone = compile(one_link(m, 1))
    qdd_open = alone.forward_dynamics(START[:1], np.zeros(1), np.zeros(1))
    carried = reactions(machine, START, still, a, np.zeros(3), axes="body")["carry2"]
    result = simulate(m, q=START, until=4.0, output=0.02, tolerance=1e-10)
    found = (
        number(
            "bias force of a link",
            alone.bias(START[:1], np.zeros(1)),
            printed="-5.3033009",
            where="(6.96)",
            unit="N m",
        ),
        number(
            "open-chain joint acceleration",
            qdd_open,
            printed="6.5271395",
            where="(6.98)",
            unit="rad/s2",
            reference=6.527139518645054,
            basis=BASIS,
        ),
        number(
            "acceleration of the load, x and z",
            a_r[[3, 5]],
            printed="-5.2427184 -5.2427184",
            where="(6.138)",
            unit="m/s2",
            reference=(-5.242718446601941, -5.242718446601942),
            basis=BASIS,
        ),
        number(
            "the same by the source's own method (6.30)",
            theirs.a_r[[3, 5]],
            printed="-5.2427184 -5.2427184",
            where="(6.138)",
            unit="m/s2",
        ),
        number(
            "joint accelerations of the links",
            a[[0, 2]],
            printed="4.9428824 4.9428824",
            where="(6.142)",
            unit="rad/s2",
            reference=(4.942882353925381,) * 2,
            basis=BASIS,
        ),
        number(
            "tip force of each link, z, by (6.139)",
            [f[5] for f in theirs.moving],
            printed="-0.8581393 -0.8581393",
            where="(6.140)",
            unit="N",
            reference=(-0.8581392975564898,) * 2,
            basis=BASIS,
        ),
        number(
            "moments for static equilibrium",
            hold.tau[[0, 2]],
            printed="-31.819805 -31.819805",
            where="(6.148)",
            unit="N m",
            reference=(-31.819805153394636,) * 2,
            basis=BASIS,
        ),
        number(
            "joint accelerations under these",
            machine.forward_dynamics(START, still, hold.tau),
            printed="0 0 0",
            where="(6.152)",
            unit="rad/s2",
        ),
        number(
            "open-chain joint acceleration under these",
            alone.forward_dynamics(START[:1], np.zeros(1), hold.tau[:1]),
            printed="-32.635698",
            where="(6.149)",
            unit="rad/s2",
        ),
        number(
            "period of small swings",
            period(machine)[0],
            reference=period(machine)[1],
            unit="s",
            within=1e-8,
            basis="by hand: both links turn by the same angle, the load does not turn",
        ),
    )
    force = result.reactions("world")
    sizes = {
        name: np.linalg.norm(force.sel(joint=name).values[:, [3, 5]], axis=1)
        for name in ("joint1", "carry1")
    }
    pictures = (
        Picture(
            plot(result, "cyclograph", until=1.9, title=""),
            "From 45 degrees to the other side; the load stays level.",
        ),
        Picture(
            over_time(
                result.time,
                [
                    (
                        "angle (rad)",
                        dict(zip(machine.coordinate_names[:2], result.data["q"].values.T)),
                    ),
                    ("force (N)", sizes),
                ],
            ),
            "Four seconds of the motion, and the forces in the pins of link 1 (in the plane; across"
            " it they are not determined). Link 2 does the same.",
        ),
    )
    text = (
        "The source says that its tip force is not the whole force in the joint: components that"
        f" move nothing are left out. The whole force of link 2 on the load is ({carried[3]:.6f},"
        f" {carried[5]:.6f}) N along the load's x and z axes."
    )
    return Page(found, pictures, text=text)


def one_link(m: Mechanism, k: int) -> Mechanism:
    """Chain k of the source: a link alone, with its tip named."""
    from catena.model.mechanism import Frame
    from catena.model.pose import Pose

    joint = m.joint(f"joint{k}")
    body = m.body(f"link{k}")
    tip = Frame("tip", body.name, Pose(position=(1.5, 0.0, 0.0)))
    return Mechanism(f"chain {k}", (body,), (joint,), (tip,), gravity=m.gravity)


def by_reference_member(m: Mechanism, tau: float) -> Carried:
    """The source's own way: the chains' inertias felt at the load, eq. 6.30."""
    X = compile(m).pose(START, "load")
    sides = [
        Supporting(
            one_link(m, k),
            "tip",
            START[:1],
            np.zeros(1),
            np.array([tau]),
            PIN,
            np.array([point, 0.0, 0.0]),
        )
        for k, point in ((1, -0.4), (2, 0.4))
    ]
    return reference_member(
        sides, 5.0, np.zeros(3), 0.5 * np.eye(3), X, np.zeros(6), np.array([0.0, 0.0, -10.0])
    )


def period(machine: Machine) -> tuple[float, float]:
    """Of small swings about the rest below: found, and by hand."""
    from catena.analysis.statics import equilibrium
    from catena.analysis.vibration import modes

    rest = equilibrium(machine, guess=[np.pi / 2 - 0.1, -np.pi / 2 + 0.1, np.pi / 2 - 0.1])
    inertia = 2 * 0.8125 + 5 * 1.5**2
    weight = 10 * (2 * 0.75 + 5 * 1.5)
    return float(2 * np.pi / modes(machine, rest).frequencies[0]), 2 * np.pi * np.sqrt(
        inertia / weight
    )


EXAMPLE = Example(
    "Two links, one load",
    "C. van der Merwe, An Analytical Consideration of Multi Body Dynamics as applied to Robotic"
    " Structures, 1995: section 6.5, eq. 6.66-6.152.",
    "A body carried by two chains (the reference member), static equilibrium, forces that rigid"
    " bodies do not determine.",
    ("two_links_one_load",),
    run,
    misprints(
        [
            (
                "(6.20), (6.101)",
                "alpha - phi' [zeta + x_open'' + Lambda^-1 phi h]",
                "alpha - phi' zeta + phi' x_open'' - phi' Lambda^-1 phi h",
                "(6.19); the numbers of (6.102) use these signs",
            ),
            (
                "(6.24)",
                "phi_k alone",
                "phi_k h_k",
                "(6.23)",
            ),
            (
                "(6.34)",
                "q'' = x_open'' - Lambda^-1 f",
                "q'' = q_open'' - Omega f",
                "(6.141)",
            ),
            (
                "(6.44), (6.49)",
                "(k_(t + dt) - k_t) / dt, a difference",
                "half the sum",
                "the text before says mean",
            ),
            (
                "(6.52)",
                "a rotation matrix",
                "its transpose",
                "the convention of (2.22) for A",
            ),
            (
                "(6.60)",
                "left side M_k^-1",
                "M_k",
                "the text before says so",
            ),
            (
                "(6.80)",
                "n_c = 1",
                "n_c = 5",
                "a pin constrains five directions, and (6.81) has five columns",
            ),
            (
                "(6.92)",
                "J H^-1 J",
                "J H^-1 J'",
                "dimension; (6.93) has it right",
            ),
            (
                "(6.97)",
                "H^-1 [Gamma - C q' + G]",
                "H^-1 [Gamma - C q' - G]",
                "(6.98) has it right",
            ),
        ]
    ),
)
