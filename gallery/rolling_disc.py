"""A rolling disc: three rows that speeds obey and places do not, [Everett1988] eq. 1-2 and
20-24.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from matplotlib.axes import Axes
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

from catena.analysis.linearization import linearize
from catena.formats import load
from catena.machine.machine import Machine, compile
from catena.model.loads import Rolling
from catena.model.mechanism import GROUND, Body, Joint, Mechanism
from catena.results.plots.style import FAINT, INK, TIMES
from catena.results.result import Result
from catena.simulation import simulate
from catena.simulation.scenario import read

from .drawing import over_time, panels
from .page import Example, Number, Page, Picture, number

R, G = 0.5, 9.81
BASIS = "two formulations of our own, independent of catena, agreeing to 3e-11"
REFERENCE = {  # at t (s): quaternion, angular velocity in the disc (rad/s), centre (m)
    2.5: (
        (-0.31692100534516354, -0.38175372779918426, 0.15009085182052354, 0.8551595780215574),
        (-0.9257779526053243, -4.142555789329094, 1.845131591905841),
        (0.9877777496773167, -2.453960129610314, 0.43339457611909854),
    ),
    5.0: (
        (-0.5370931295229188, 0.18127857596455516, -0.5294792699703601, -0.6311265727150749),
        (-1.826638555827704, -4.106717369723981, 0.2059836796544199),
        (-1.1782796283905363, -0.8937917029764967, 0.4403673594297277),
    ),
}


def run() -> Page:
    """Five seconds of a leaning disc, and the speed at which an upright one falls."""
    result = motion()
    upright = compile(coin())
    slip = np.linalg.norm(contact(result)[1], axis=1).max()
    found = [
        *compared(result),
        number(
            "largest speed of the touching point",
            slip,
            reference=0.0,
            within=1e-9,
            unit="m/s",
            basis="rolling",
        ),
        number(
            "largest change of energy",
            np.abs(result.energy.values - result.energy.values[0]).max(),
            reference=0.0,
            unit="J",
            basis="rolling does no work",
        ),
        number(
            "slowest stable rolling, upright",
            brentq(lambda w: growth(upright, w), 2.0, 3.0, xtol=1e-12),
            reference=np.sqrt(G / (3 * R)),
            within=1e-7,
            unit="rad/s",
            basis="closed form: omega^2 = g / (3 R) for a uniform thin disc",
        ),
    ]
    return Page(
        tuple(found),
        pictures(upright, result),
        text=(
            "Six speeds and three rows A v = 0: (2) of the source. The velocity of the centre at"
            " the start is found from the rows; the multipliers are the force at the contact. An"
            " upright disc that rolls slower than omega^2 = g / (3 R) falls over: the eigenvalues"
            " of the linearised motion say so. (Linearised in angles, in which rolling straight is"
            " a steady motion; a quaternion's axes turn with the disc.)"
        ),
    )


@cache
def motion() -> Result:
    """The five seconds of the file's scenario."""
    case = read("rolling_disc", tolerance=1e-11)
    return simulate(case.mechanism, **case.arguments)


def compared(result: Result) -> list[Number]:
    """Attitude, spin and centre at two instants."""
    found = []
    for t, (quaternion, spin, centre) in REFERENCE.items():
        row = int(np.searchsorted(result.time, t - 1e-9))
        q = result.data["q"].values[row]
        v = result.data["v"].values[row]
        # a quaternion and its opposite are one attitude
        same = q[3:] * np.sign(q[3:] @ np.array(quaternion))
        found += [
            number(f"quaternion at {t:g} s", same, reference=quaternion, basis=BASIS),
            number(
                f"angular velocity at {t:g} s", v[3:], reference=spin, unit="rad/s", basis=BASIS
            ),
            number(f"centre at {t:g} s", q[:3], reference=centre, unit="m", basis=BASIS),
        ]
    return found


def contact(result: Result) -> tuple[np.ndarray, np.ndarray]:
    """(time, 3) each: where the disc touches the plane, and the velocity of its point there."""
    q = result.data["q"].values
    v = result.data["v"].values
    turn = Rotation.from_quat(q[:, 3:], scalar_first=True)
    axis = turn.apply([0, 1, 0])
    down = -np.array([0, 0, 1.0]) + axis * axis[:, 2:]
    arm = R * down / np.linalg.norm(down, axis=1, keepdims=True)
    return q[:, :3] + arm, v[:, :3] + np.cross(turn.apply(v[:, 3:]), arm)


def coin() -> Mechanism:
    """The same disc with angles in place of a quaternion, turn, lean and roll: rolling straight is
    steady in them.
    """
    disc = load("rolling_disc").body("disc")
    place = Joint("place", "general", GROUND, "carriage", sequence=("Dx", "Dy", "Dz"))
    turn = Joint("turn", "gimbal", "carriage", "disc", axis=((0, 0, 1), (1, 0, 0), (0, 1, 0)))
    return Mechanism(
        "coin",
        (Body.massless("carriage"), disc),
        (place, turn),
        nonholonomic=(Rolling("contact", "disc", R),),
    )


def growth(machine: Machine, w: float) -> float:
    """The square of the rate at which a small lean grows (1/s2): positive, it falls; negative, it
    wobbles.
    """
    q, v = np.zeros(6), np.zeros(6)
    q[2], v[0], v[5] = R, R * w, w
    return float((linearize(machine, q, v).poles[-1] ** 2).real)


def pictures(upright: Machine, result: Result) -> tuple[Picture, ...]:
    """The path with the disc on it; lean and spin; the force at the contact."""
    at, _ = contact(result)
    q = result.data["q"].values
    v = result.data["v"].values
    turn = Rotation.from_quat(q[:, 3:], scalar_first=True)
    lean = np.degrees(np.arcsin(np.clip(turn.apply([0, 1, 0])[:, 2], -1, 1)))
    force = result.multipliers().values

    def draw(ax: Axes, ay: Axes) -> None:
        ax.plot(at[:, 0], at[:, 1], color=INK, linewidth=1.0, label="contact")
        ax.plot(q[:, 0], q[:, 1], color=FAINT, linewidth=0.8, linestyle="--", label="centre")
        rim = np.linspace(0, 2 * np.pi, 80)
        circle = R * np.stack([np.cos(rim), 0 * rim, np.sin(rim)], axis=1)
        for k in range(0, len(q), 25):
            ring = turn[k].apply(circle) + q[k, :3]
            ax.plot(ring[:, 0], ring[:, 1], color=TIMES(k / len(q)), linewidth=0.9)
        ax.set_aspect("equal")
        ax.set(xlabel="x (m)", ylabel="y (m)", title="from above")
        ax.margins(0.05)
        speeds = np.linspace(1.5, 4.0, 26)
        ay.plot(speeds, [growth(upright, w) for w in speeds])
        ay.axhline(0, color=INK, linewidth=0.7)
        ay.axvline(np.sqrt(G / (3 * R)), color=FAINT, linestyle=":", linewidth=0.9)
        ay.set(
            xlabel="spin of an upright disc (rad/s)",
            ylabel="square of the rate of a small lean (1/s²)",
            title="above zero it falls",
        )

    return (
        Picture(
            panels(2, draw, height=3.8),
            "Left: the path of the contact, and the disc every 0.25 s, pale to dark. Right: an"
            " upright disc is stable beyond 2.557 rad/s.",
        ),
        Picture(
            over_time(
                result.time,
                [
                    ("lean (degrees)", {"": lean}),
                    ("angular velocity (rad/s)", dict(zip("xyz", v[:, 3:].T))),
                    ("contact force (N)", dict(zip("xyz", force.T))),
                ],
                1.7,
            ),
            "Lean, angular velocity in the disc's axes, and the force at the contact.",
        ),
    )


EXAMPLE = Example(
    "Rolling disc",
    "L. J. Everett, An Alternative Algebra for Deriving Equations of Motion of Flexible"
    " Manipulators, 1988: nonholonomic constraints, eq. 1-2, 20-24.",
    "Nonholonomic rows in space: rolling without slipping, contact forces, and the stability of a"
    " rolling coin.",
    ("rolling_disc",),
    run,
    departures=(
        "The source derives equations and has no numbers; the case and its start are ours.",
    ),
)
