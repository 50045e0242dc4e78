"""The spinning boom: what turning does to a beam, with and without the stiffening that turning
brings.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from catena.analysis.tangent import tangent
from catena.certify import check
from catena.formats import load
from catena.machine.machine import compile
from catena.model.beams import Beam
from catena.model.mechanism import Body, Joint, Mechanism
from catena.results.plots.bending import deflections
from catena.results.plots.style import FAINT, INK, legend, pen
from catena.results.result import Result
from catena.simulation import simulate
from catena.simulation.trajectories.piecewise import Trajectory

from .drawing import over_time, panels
from .page import Example, Number, Page, Picture, number

FIRST = 1.8751040687119611**2  # of a cantilever, in units of sqrt(EI / rhoA L^4)
# [Wright1982] table 1: two flapping frequencies at a speed of rotation, in those units
FLAPPING = {
    1: (3.6817, 22.1810),
    2: (4.1373, 22.6149),
    3: (4.7973, 23.3203),
    5: (6.4495, 25.4461),
    10: (11.2023, 33.6404),
}
TIME, SPEED = 15.0, 6.0  # of the manoeuvre, s and rad/s
STILL = "closed form: rhoA w^2 L^3 / 3 EA"


def run() -> Page:
    """Frequencies over the speed of rotation, and the manoeuvre."""
    m = load("spinning_boom")
    runs = {
        "stiffening": _spun(m),
        "no stiffening": _spun(_made(m, stiffening=False), until=9.0),
    }
    stretched = _spun(_made(m, EA=2.8e7, modes={"y": 2, "x": 3}))
    pieces = {n: _deepest(_spun(_made(m, segments=n, modes=None), until=8.0)) for n in (10, 20)}
    worst = max(f.acceleration or 0.0 for f in check(m, states=10, run=False).findings)
    return Page(
        (
            *_flapping(),
            number(
                "growth in the plane at 1.2 of the first frequency, without stiffening",
                _poles([1.2 * FIRST], (1.0, None), 3, stiffening=False).real.max(),
                reference=FIRST * np.sqrt(0.44),
                basis="closed form: sqrt(w^2 - w_1^2)",
                within=1e-6,
            ),
            number(
                "the same with stiffening",
                np.abs(_poles([1.2 * FIRST], (1.0, None), 3).real).max(),
                reference=0.0,
                within=1e-6,
            ),
            number(
                "tip at 20 s, stretched by the turning",
                1e4 * deflections(stretched)["boom along x"][-1],
                reference=1e4 * 1.2 * SPEED**2 * 10**3 / 3 / 2.8e7,
                basis=STILL,
                unit="0.1 mm",
                within=2e-3,
            ),
            number(
                "deepest deflection of the tip",
                _deepest(runs["stiffening"]),
                reference=(4 * pieces[20] - pieces[10]) / 3,
                basis=(
                    "10 and 20 segments, extrapolated; they bend by more than a second-order theory"
                    " knows"
                ),
                unit="m",
                within=5e-3,
            ),
            number(
                "thirteen formulations, largest relative difference",
                worst,
                reference=0.0,
                within=1e-9,
            ),
        ),
        (
            Picture(
                _manoeuvre(runs),
                "The tip relative to the straight boom. Dotted: the end of the acceleration."
                " Without stiffening the boom softens as it turns, and is lost before it turns at"
                " its own first frequency, 3.8 rad/s.",
            ),
            Picture(
                panels(2, _draw, height=3.4),
                "Frequencies over the speed of rotation, both in units of sqrt(EI / rhoA L⁴)."
                " Lines: eight shapes. Circles: [Wright1982], in the plane less the square of the"
                " speed. Dashed: without stiffening.",
            ),
        ),
        text=(
            "The tip of a beam that bends moves back along its axis, by half the integral of the"
            " slope squared. Linear theories leave this displacement out, because it is of second"
            " order. But the centrifugal force along the axis is of zeroth order, and the work that"
            " it does along this displacement is as large as the strain energy. With this work a"
            " rotating beam becomes stiffer. Without it the beam becomes softer, and unstable above"
            " its first frequency. This is the error that Kane, Ryan and Banerjee found in the"
            " programs of their time."
        ),
    )


# --- the manoeuvre
def spin_up(name: str) -> Trajectory:
    """W/T (t^2/2 + (T/2 pi)^2 (cos(2 pi t/T) - 1)), then at the speed W for ever."""
    k = 2 * np.pi / TIME
    a = SPEED / TIME / k**2
    powers = np.array([[[-a, 0.0, SPEED / TIME / 2]], [[SPEED * TIME / 2, SPEED, 0.0]]])
    waves = np.array([[[a, k, np.pi / 2]], [[0.0, 0.0, 0.0]]])
    return Trajectory((name,), np.array([TIME]), np.array([[0.0], [TIME]]), powers, waves)


def _made(m: Mechanism, **changes: Any) -> Mechanism:
    """The same with another beam."""
    boom = m.body("boom")
    assert boom.flexible is not None
    return m.with_(bodies=(Body("boom", flexible=replace(boom.flexible, **changes)),))


def _spun(m: Mechanism, until: float = 20.0) -> Result:
    return simulate(m, until=until, output=0.02, motion=spin_up("spin"), tolerance=1e-8)


def _deepest(result: Result) -> float:
    return float(deflections(result)["boom along y"].min())


def _manoeuvre(runs: dict[str, Result]) -> Figure:
    t = runs["stiffening"].time
    lines = {}
    for name, result in runs.items():
        w = np.full(len(t), np.nan)
        w[: len(result.time)] = deflections(result)["boom along y"]
        lines[name] = np.where(w > -2.0, w, np.nan)
    speed = spin_up("spin")(t)[1][:, 0]
    return over_time(
        t, [("tip along y (m)", lines), ("speed (rad/s)", {"spin": speed})], marks=(TIME,)
    )


# --- frequencies
def _poles(speeds: Any, EI: tuple, modes: int, **more: Any) -> np.ndarray:
    """(speeds, 2 modes): of a beam of unit length, mass and stiffness whose axle is kept
    turning.
    """
    beam = Body("boom", flexible=Beam(1.0, 1.0, EI=EI, modes=modes, **more))
    machine = compile(
        Mechanism(
            "unit", (beam,), (Joint("spin", "revolute", "ground", "boom"),), gravity=(0, 0, 0)
        )
    )
    v = np.zeros((len(speeds), machine.nv))
    v[:, 0] = speeds
    still = np.zeros(machine.nv)
    none = np.zeros(0)
    # few states of many shapes: traced, not compiled
    found = [tangent(machine, still, row, still, none) for row in v]
    r_q, r_v, M = (
        np.array([getattr(t, name)[1:, 1:] for t in found]) for name in ("r_q", "r_v", "M")
    )
    zero = np.zeros_like(M)
    one = np.broadcast_to(np.eye(modes), M.shape)
    return np.linalg.eigvals(
        np.block([[zero, one], [-np.linalg.solve(M, r_q), -np.linalg.solve(M, r_v)]])
    )


def _frequencies(speeds: Any, EI: tuple) -> np.ndarray:
    """(speeds, 2): the two lowest, with eight shapes."""
    return np.array([np.sort(row.imag[row.imag > 1e-6])[:2] for row in _poles(speeds, EI, 8)])


def _flapping() -> list[Number]:
    found = _frequencies(list(FLAPPING), (None, 1.0))
    return [
        number(
            f"two flapping frequencies at the speed {speed}",
            ours,
            reference=FLAPPING[speed],
            basis="[Wright1982] table 1",
            within=5e-5,
        )
        for speed, ours in zip(FLAPPING, found)
    ]


def _draw(flap: Axes, lag: Axes) -> None:
    speeds = np.linspace(0, 10, 21)
    for ax, EI, drop in ((flap, (None, 1.0), 0.0), (lag, (1.0, None), 1.0)):
        curves = _frequencies(speeds, EI)
        ax.plot(speeds, curves[:, 0], label="first", **pen(0))
        ax.plot(speeds, curves[:, 1], label="second", **pen(1))
        for known in np.transpose(list(FLAPPING.values())):
            at = np.sqrt(known**2 - drop * np.square(list(FLAPPING)))
            ax.plot(list(FLAPPING), at, "o", color=INK, markersize=4, markerfacecolor="none")
        inside = np.linspace(0, FIRST if drop else 10, 60)
        ax.plot(
            inside, np.sqrt(FIRST**2 - drop * inside**2), color=INK, linewidth=0.9, linestyle="--"
        )
        ax.axvline(FIRST, color=FAINT, linewidth=0.8, linestyle=":")
        ax.set(
            xlabel="speed of rotation",
            title="in the plane of rotation" if drop else "across the plane of rotation",
            ylim=(0, None),
        )
    flap.set_ylabel("frequency")
    legend(flap)


EXAMPLE = Example(
    "Spinning boom",
    "T. R. Kane, R. R. Ryan and A. K. Banerjee, Dynamics of a cantilever beam attached to a moving"
    " base, 1987 [Kane1987]: the manoeuvre; J. C. Simo and L. Vu-Quoc, On the dynamics of flexible"
    " beams under large overall motions, 1986 [Simo1986]: the beam; A. D. Wright, C. E. Smith, R."
    " W. Thresher and J. L. C. Wang, Vibration modes of centrifugally stiffened beams, 1982"
    " [Wright1982]: the frequencies.",
    "A flexible body by modes: geometric stiffening, a prescribed spin-up, and what goes wrong"
    " without it.",
    ("spinning_boom",),
    run,
    commands=("catena run spinning_boom", "catena check spinning_boom"),
)
