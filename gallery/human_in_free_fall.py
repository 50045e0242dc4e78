"""A human in free fall turns without anything to push against: [Passerello1972] introduction, after
Kane and Scher.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from catena.formats import load
from catena.machine.machine import Machine, compile
from catena.model.mechanism import Mechanism
from catena.results.result import Result
from catena.results.scene.view import view_of
from catena.simulation import simulate
from catena.simulation.trajectories import Trajectory, cycloid

from .drawing import house, over_time, panels, row
from .page import Example, Number, Page, Picture, number

STIFF = (
    "neck",
    "left elbow",
    "left wrist",
    "right elbow",
    "right wrist",
    "left knee",
    "left ankle",
    "right knee",
    "right ankle",
)
QUARTER = np.pi / 2
BEND = np.radians(50)


def run() -> Page:
    """Two manoeuvres: the arms go round, and the hips go round."""
    m = load("human_in_free_fall")
    machine = compile(m)
    arms, hips = (fall(m, *manoeuvre) for manoeuvre in (with_arms(), with_hips()))
    found = (
        *turned("arms", machine, arms, with_arms()[0]),
        *turned("hips", machine, hips, with_hips()[0]),
    )
    return Page(
        found,
        pictures(m, arms, hips),
        text=(
            "Nothing acts from outside and the fall begins at rest, so the angular momentum stays"
            " zero. Yet when the limbs have gone round and are back where they began, the body"
            " faces elsewhere: zero momentum ties rates, not angles, a nonholonomic constraint that"
            " nature gives. Three rounds of the arms (forward, apart, down) pitch the body; one"
            " round of the hips (bent to the front, the side, the back, the other side) turns it"
            " about its own axis, as a falling cat does."
        ),
    )


# --- the manoeuvres
def with_arms(rounds: int = 3) -> tuple[Trajectory, tuple[str, ...]]:
    """Forward, apart, down again, each in a second."""
    t = np.arange(3 * rounds + 1.0)
    side = np.append(np.tile([0, 0, QUARTER], rounds), 0.0)
    ahead = np.append(np.tile([0, -QUARTER, 0], rounds), 0.0)
    path = {
        f"{which} shoulder.{axis}": sign * values
        for which, sign in (("left", 1), ("right", -1))
        for axis, values in (("rx", side),)
    }
    path |= {f"{which} shoulder.ry": ahead for which in ("left", "right")} | {
        f"{which} shoulder.rz": 0 * t for which in ("left", "right")
    }
    return cycloid(t, path), ("waist", "left hip", "right hip")


def with_hips() -> tuple[Trajectory, tuple[str, ...]]:
    """The waist bends and the bend goes round the body: front, left, back, right, front; half a
    second each.
    """
    t = 0.5 * np.arange(7.0)
    front = BEND * np.array([0, 1, 0, -1, 0, 1, 0])
    side = BEND * np.array([0, 0, 1, 0, -1, 0, 0])
    return cycloid(t, {"waist.rx": side, "waist.ry": front, "waist.rz": 0 * t}), (
        "left shoulder",
        "right shoulder",
        "left hip",
        "right hip",
    )


def fall(m: Mechanism, path: Trajectory, stiff: tuple[str, ...]) -> Result:
    """The motion from rest, the other joints held."""
    motion = {name: path.of([name]) for name in path.names} | dict.fromkeys(
        (*STIFF, *stiff), "locked"
    )
    return simulate(m, until=float(path.breaks[-1]), output=0.025, motion=motion, tolerance=1e-10)


# --- numbers
def turned(word: str, machine: Machine, result: Result, path: Trajectory) -> list[Number]:
    """How far the pelvis has turned, by the dynamics and by the conservation of momentum alone."""
    q = result.data["q"].values[-1]
    vector = Rotation.from_quat(q[3:7], scalar_first=True).as_rotvec()
    momentum = result.momentum()
    size = max(float(np.abs(momentum[name]).max()) for name in ("linear", "angular"))
    return [
        number(
            f"turn of the pelvis after the {word}' rounds",
            np.degrees(vector),
            reference=np.degrees(by_momentum(machine, path)),
            within=1e-6,
            unit="degrees",
            basis="angular momentum zero, integrated without any dynamics: M_bb v_b + M_bs s' = 0",
        ),
        number(
            f"largest momentum with the {word}",
            size,
            reference=0.0,
            within=1e-7,
            unit="kg m/s, kg m2/s",
            basis="nothing acts from outside",
        ),
    ]


def by_momentum(machine: Machine, path: Trajectory) -> np.ndarray:
    """The rotation vector of the pelvis at the end: M_bb v_b = -M_bs s' at every instant (b: base,
    s: shape).
    """
    at = path.check(machine)
    qi = [c.qi for c in at]
    vi = [c.vi for c in at]

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        q = machine.neutral()
        q[:3], q[3:7] = y[:3], y[3:] / np.linalg.norm(y[3:])
        q[qi], shape, _ = path(t)
        M = machine.mass_matrix(q)
        v = np.zeros(machine.nv)
        v[vi] = shape
        v[:6] = -np.linalg.solve(M[:6, :6], M[:6] @ v)
        return machine.coordinate_rate(q, v)[:7]

    start = np.array([0, 0, 0, 1.0, 0, 0, 0])
    # a piece at a time: accelerations may jump where pieces meet
    for a, b in zip(path.breaks[:-1], path.breaks[1:]):
        start = solve_ivp(rate, (a, b), start, method="DOP853", rtol=1e-10, atol=1e-11).y[:, -1]
    return Rotation.from_quat(start[3:], scalar_first=True).as_rotvec()


# --- pictures
def pictures(m: Mechanism, arms: Result, hips: Result) -> tuple[Picture, ...]:
    """The figures side by side, and the attitude over time."""

    def film(ax: Axes, result: Result, times: np.ndarray, apart: float) -> None:
        rows = np.searchsorted(result.time, times - 1e-9)
        row(
            ax,
            m,
            result.data["q"].values[rows],
            [f"{t:g} s" for t in times],
            view_of(m, azimuth=-35.0, elevation=10.0),
            apart=apart,
        )

    def attitude(r):
        return np.degrees(
            Rotation.from_quat(r.data["q"].values[:, 3:7], scalar_first=True).as_rotvec()
        )

    angles = lambda r: {f"about {axis}": x for axis, x in zip("xyz", attitude(r).T)}  # noqa: E731
    with house():
        return (
            Picture(
                panels(1, lambda ax: film(ax, hips, 0.5 * np.arange(7), 1.15), height=2.8),
                "The bend goes round the body; at the end it faces another way.",
            ),
            Picture(
                panels(1, lambda ax: film(ax, arms, np.array([0.0, 1, 2, 3, 9]), 1.6), height=2.8),
                "The arms go forward, apart and down; after three rounds the body has pitched.",
            ),
            Picture(
                over_time(hips.time, [("turn of the pelvis (degrees)", angles(hips))], 2.2),
                "Attitude of the pelvis (rotation vector), hips going round once.",
            ),
            Picture(
                over_time(arms.time, [("turn of the pelvis (degrees)", angles(arms))], 2.2),
                "Attitude of the pelvis, arms going round three times.",
            ),
        )


EXAMPLE = Example(
    "Human in free fall",
    "C. E. Passerello and R. L. Huston, An Analysis of General Chain Systems, NASA N72-30352, 1972:"
    " introduction; T. R. Kane and M. P. Scher, Human self-rotation by means of limb movements,"
    " 1970.",
    "A tree of fifteen bodies with prescribed limbs: momentum stays zero, orientation changes.",
    ("human_in_free_fall",),
    run,
    departures=(
        (
            "The source names the problem; the human and the manoeuvres are ours (masses after de"
            " Leva 1996, segments as cylinders)."
        ),
    ),
)
