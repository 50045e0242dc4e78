"""The triple pendulum of [Baysec1996]: one mechanism by every formulation, and the paper's figures
1 to 7.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from catena.equations.formulations import ALL_FORMULATIONS, derive
from catena.formats import load
from catena.model.mechanism import Mechanism
from catena.results.plots import plot
from catena.results.result import Result
from catena.simulation import simulate

from .drawing import over_time
from .page import Example, Number, Page, Picture, Table, misprints, number

BASIS = "four formulations of our own, independent of catena, agreeing to 3e-13"
# at t (s): angles from x (rad), momenta of these angles (kg m2/s), forces in the pins (N)
REFERENCE: dict[float, Any] = {
    1.0: {"theta": (-1.71288943189032, -1.734778857568118, -2.4309887777924177)},
    3.0: {
        "theta": (-1.0765893479863078, -0.438075146371341, -0.1679697117614267),
        "Fx": (-18.30177391790251, -26.84074600128325, -14.245255471701288),
        "Fy": (33.96739228933647, 12.573042484814128, 2.4155314260518637),
    },
    5.0: {
        "theta": (-2.906675255005786, -2.5689983493669786, -3.661862425641338),
        "omega": (-1.0934134574358163, -2.384611297384058, -0.1048497672791921),
        "p": (-7.85647556207633, -6.880777522244666, -1.9977993238524554),
        "x": (-0.9725335711751988, -1.8130317450354319, -2.680716848761929),
        "y": (-0.23276265365649748, -0.7745770312228495, -0.2774627981021938),
    },
}
PRINTED_ORDERS = {"newton_euler": "18", "penalty": "14", "hamilton": "6", "lagrange": "6"}
HEAVY = 1e-2  # kg m2: inertias of links 2 and 3 for the penalty formulation, which divides by them
BETA, GAMMA = 1e5, 1e-3  # N/m, s


def run() -> Page:
    """5 s from rest, all links horizontal."""
    m = load("triple_pendulum")
    result = motion()
    body = profiles(m, result)
    table, orders = comparison(m)
    return Page(
        (*orders, *numbers(result, body)),
        pictures(result, body),
        (table,),
        "Released from rest with all links horizontal; g = 9.81 m/s2 (the paper does not print it)."
        " The paper measures all angles from the x axis, a joint's coordinate is measured from the"
        " link before it: theta_k = q_1 + ... + q_k.",
    )


@cache
def motion() -> Result:
    """The five seconds of the figures."""
    return simulate(load("triple_pendulum"), until=5.0, output=0.01, tolerance=1e-11)


def profiles(m: Mechanism, result: Result) -> dict[str, np.ndarray]:
    """What the paper plots, each (time, 3): angles, speeds, momenta, bobs' places, accelerations
    and energies, pin forces.
    """
    machine = result.machine
    q, v, a = (result.data[name].values for name in "qva")
    points = ("link2", "link3", "tip")  # a bob sits where the next link is pinned
    places = np.stack([machine.pose(q, p)[:, :3, 3] for p in points], axis=1)
    speeds = np.stack([machine.frame_velocity(q, v, p)[:, 3:] for p in points], axis=1)
    accelerations = np.stack(
        [machine.frame_acceleration(q, v, a, p)[:, 3:] for p in points], axis=1
    )
    p_q = np.einsum("tij,tj->ti", machine.mass_matrix(q), v)  # p_theta_k = p_q_k - p_q_(k+1)
    mass = np.array([m.parameters[f"m{k}"] for k in (1, 2, 3)])
    g = 9.81
    force = result.reactions("world").values
    return {
        "theta": np.cumsum(q, axis=1),
        "omega": np.cumsum(v, axis=1),
        "p": p_q - np.pad(p_q[:, 1:], ((0, 0), (0, 1))),
        "x": places[..., 0],
        "y": places[..., 1],
        "ax": accelerations[..., 0],
        "ay": accelerations[..., 1],
        "T": 0.5 * mass * (speeds**2).sum(axis=-1),
        "V": mass * g * places[..., 1],
        "Fx": force[..., 3],
        "Fy": force[..., 4],
    }


WORDS = {
    "theta": ("angles of the links", "rad"),
    "omega": ("angular speeds", "rad/s"),
    "p": ("momenta of the angles", "kg m2/s"),
    "x": ("x of the bobs", "m"),
    "y": ("y of the bobs", "m"),
    "Fx": ("x forces in the pins", "N"),
    "Fy": ("y forces in the pins", "N"),
}


def numbers(result: Result, body: dict[str, np.ndarray]) -> list[Number]:
    """Angles, momenta, places and forces against the reference; the energy against zero."""
    found = []
    for t, values in REFERENCE.items():
        row = int(np.searchsorted(result.time, t - 1e-9))
        for key, wanted in values.items():
            what, unit = WORDS[key]
            found.append(
                number(
                    f"{what} at {t:g} s", body[key][row], reference=wanted, unit=unit, basis=BASIS
                )
            )
    drift = float(np.abs(result.energy.values).max())
    found.append(
        number(
            "largest total energy in 5 s",
            drift,
            reference=0.0,
            unit="J",
            basis="the start: at rest at the pivot's height",
        )
    )
    return found


def comparison(m: Mechanism) -> tuple[Table, list[Number]]:
    """The paper's comparison, for all formulations: what each integrates, inverts and computes."""
    stout = m.with_(parameters={**m.parameters, "I2": HEAVY, "I3": HEAVY})
    end = {id(x): _end(simulate(x, until=5.0, output=1.0)) for x in (m, stout)}
    rows, orders, work = [], [], {}
    for by in ALL_FORMULATIONS:
        own: Mechanism = stout if by == "penalty" else m
        options: dict[str, Any] = {"beta": BETA, "gamma": GAMMA} if by == "penalty" else {}
        counts = derive(own, by, **options).counts
        result = simulate(own, until=5.0, output=1.0, by=by, **options)
        off = np.abs(_end(result) - end[id(own)]).max()
        work[by] = counts.operations * result.ledger.evaluations
        rows.append(
            (
                by,
                PRINTED_ORDERS.get(by, ""),
                str(counts.first_order),
                str(counts.largest_matrix),
                str(counts.operations),
                str(result.ledger.evaluations),
                f"{off:.0e}",
            )
        )
        if by in PRINTED_ORDERS:
            orders.append(
                number(
                    f"first-order equations by {by}",
                    counts.first_order,
                    printed=PRINTED_ORDERS[by],
                    where="(text after 77)",
                )
            )
        elif by != "recursive":
            orders.append(
                number(
                    f"angles at 5 s by {by}",
                    _end(result),
                    reference=REFERENCE[5.0]["theta"],
                    unit="rad",
                    within=1e-7,
                    basis=BASIS,
                )
            )
    columns = (
        "formulation",
        "equations, printed",
        "equations",
        "largest matrix solved",
        "operations an evaluation",
        "evaluations for 5 s",
        "deviation of the angles",
    )
    beside = ", ".join(
        f"{by} {work[by] / work['lagrange']:.1f}" for by in ("hamilton", "penalty", "newton_euler")
    )
    remark = (
        f"All at a tolerance of 1e-9. Operations times evaluations, relative to lagrange: {beside}."
        " The paper measured computing times of 1 for Hamilton, 1.3 for the approximate form and 25"
        " for Newton. The difference is in the tools: Newton's 15 x 15 system is sparse, and here"
        " every zero of it is folded away before anything is computed; and the approximate form's"
        f" springs (beta = {BETA:g} N/m, gamma = {GAMMA:g} s) ring, which at this tolerance costs"
        f" many small steps. For it the links have inertias of {HEAVY:g} kg m2, since it divides by"
        " them, and its deviation is from the exact motion with the same."
    )
    return Table("The comparison of formulations", columns, tuple(rows), remark), orders


def _end(result: Result) -> np.ndarray:
    return np.cumsum(result.data["q"].values[-1])


def pictures(result: Result, body: dict[str, np.ndarray]) -> tuple[Picture, ...]:
    """Figures 1, 2, 4, 5, 6 and 7 of the paper, and the forces in the pins."""
    t = result.time

    def three(key, word):
        return {f"{word} {k + 1}": body[key][:, k] for k in range(3)}

    energy = {**three("T", "kinetic"), **three("V", "potential")}
    total = {
        "kinetic": body["T"].sum(axis=1),
        "potential": body["V"].sum(axis=1),
        "total": (body["T"] + body["V"]).sum(axis=1),
    }
    force = {f"pin {k + 1}": np.hypot(body["Fx"][:, k], body["Fy"][:, k]) for k in range(3)}
    return (
        Picture(
            plot(result, "cyclograph", every=0.1, until=1.7, title=""),
            "Figure 1: the first 1.7 seconds, every 0.1 s.",
        ),
        Picture(
            over_time(t, [("angle from x (rad)", three("theta", "link"))], 2.6),
            "Figure 2: angular positions of the links.",
        ),
        Picture(
            over_time(t, [("x (m)", three("x", "bob")), ("y (m)", three("y", "bob"))]),
            "Figure 4: places of the bobs.",
        ),
        Picture(
            over_time(
                t,
                [
                    ("acceleration, x (m/s²)", three("ax", "bob")),
                    ("acceleration, y (m/s²)", three("ay", "bob")),
                ],
            ),
            "Figure 5: accelerations of the bobs.",
        ),
        Picture(
            over_time(t, [("of each link (J)", energy), ("of all (J)", total)], 2.1),
            "Figure 6: energies of the links; the total stays zero.",
        ),
        Picture(
            over_time(
                t,
                [
                    ("angular speed (rad/s)", three("omega", "link")),
                    ("momentum (kg m²/s)", three("p", "angle")),
                ],
            ),
            "Figure 7: generalised velocities and momenta.",
        ),
        Picture(
            over_time(t, [("force in the pin (N)", force)], 2.6),
            "The forces in the pins, which the Newton-Euler equations give along the way.",
        ),
    )


EXAMPLE = Example(
    "Triple pendulum",
    "S. Baysec and S. Kapucu, Comparison of Simulation Effectiveness of Motion Equation Generation"
    " Methods for Articulated Rigid Body Systems, 1996: figures 1-7, eq. 23-77.",
    "One mechanism by every formulation: the count of equations, the same motion, the figures of"
    " the paper, the forces in the pins.",
    ("triple_pendulum",),
    run,
    misprints(
        [
            (
                "(13)",
                "dL/dq = p'",
                "dL/dq' = p",
                "as printed it is Lagrange's equation without forces; (60)-(62) are dL/dq' of (53)",
            ),
            (
                "(42)",
                "right side l1 theta1'^2 cos theta1",
                "a minus before it",
                "the second derivative of (36)",
            ),
            (
                "(56)",
                "theta2', theta3' in the velocity terms",
                "their squares",
                "dimension; a conservative motion also runs backwards",
            ),
            (
                "(58)",
                "m3 l2 cos(theta2 - theta3)",
                "m3 l2 l3 cos(theta2 - theta3)",
                "the mass matrix is symmetric, (57) has it",
            ),
            (
                "(61)",
                "m3 l3 cos(theta2 - theta3)",
                "m3 l2 l3 cos(theta2 - theta3)",
                "it is dT/dtheta2' of (53)",
            ),
            ("(65)", "theta2' theta3' l3 sin(...)", "l2 l3", "dimension; it is dT/dtheta3 of (53)"),
            (
                "(67), (68)",
                "f1 = x2 + l1 cos theta1 + ..., positive cosines",
                "minus signs",
                "a bob is where the links put it",
            ),
            (
                "(71), (72)",
                "division by I2 and I3",
                "small inertias, or none of these coordinates",
                "figure 1 sets both to zero",
            ),
            (
                "after (65)",
                "equations 53-55 yield velocities",
                "equations 60-62",
                "53-55 hold no momenta",
            ),
            (
                "text",
                "forward and inverse dynamics",
                "the two words are interchanged",
                "the paper's forward problem finds forces from motion",
            ),
        ]
    ),
    commands=(
        "catena run triple_pendulum",
        "catena compare triple_pendulum",
        "catena equations triple_pendulum --by lagrange",
    ),
)
