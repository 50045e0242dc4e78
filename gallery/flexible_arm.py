"""A flexible arm on a hub with a PD motor: by segments, by modes, and by the equation of its
frequencies.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from scipy.optimize import brentq, newton

from catena.analysis.linearization import linearize
from catena.analysis.vibration import modes
from catena.formats import load
from catena.model.flexible import discretise, whole
from catena.model.loads import JointSpring
from catena.model.mechanism import Mechanism
from catena.results.plots import plot
from catena.results.plots.bending import deflections
from catena.results.result import Result
from catena.simulation import simulate
from catena.simulation.scenario import read

from .drawing import over_time
from .page import Example, Page, Picture, Table, number

LENGTH, EI, RHO, HUB = 1.0, 2.0, 0.5, 0.1
KP, KD = 2.0, 0.4
BASIS = "roots of the frequency equation of the beam on its hub"


def run() -> Page:
    """Frequencies, the poles with the motor, and the turn itself."""
    m = load("flexible_arm")
    exact = frequencies()
    segments = {n: free(m, segments=n)[:3] for n in (8, 16, 32)}
    shapes = {n: free(m, modes=n) for n in (2, 4)}
    error = {n: np.abs(w / exact[:3] - 1) for n, w in segments.items()}
    turns = {"16 segments": turn(segments=16), "4 modes": turn(modes=4), "rigid": turn()}
    t = turns["rigid"].time
    w = {name: deflections(r)["boom along y"] for name, r in turns.items() if r.mechanism.beams}
    return Page(
        (
            number(
                "frequencies on a free hub, 4 modes",
                shapes[4][:3],
                reference=exact[:3],
                unit="rad/s",
                within=1e-6,
                basis=BASIS,
            ),
            number(
                "frequencies on a free hub, 8 and 32 segments extrapolated",
                (16 * segments[32] - segments[8]) / 15,
                reference=exact[:3],
                unit="rad/s",
                within=1e-3,
                basis=BASIS,
            ),
            number(
                "order of convergence with segments, first frequency",
                np.log2(error[16][0] / error[32][0]),
                reference=2.0,
                within=0.02,
                basis="the error falls as 1/n^2",
            ),
            number(
                "first vibration with the motor: decay and frequency, 4 modes",
                parts(motor_pole(m, modes=4)),
                reference=parts(pole()),
                unit="1/s",
                within=1e-5,
                basis="the same equation with the motor's law, by Newton",
            ),
            number(
                "the same, 32 segments",
                parts(motor_pole(m, segments=32)),
                reference=parts(pole()),
                unit="1/s",
                within=2e-3,
                basis="the same equation with the motor's law, by Newton",
            ),
            number(
                "angle at the end of the turn",
                turns["16 segments"].q.values[-1, 0],
                reference=np.radians(30),
                unit="rad",
                within=5e-3,
                basis="what was asked for",
            ),
            number(
                "largest deflection of the tip, segments and modes",
                [np.abs(x).max() for x in w.values()],
                reference=[np.abs(w["4 modes"]).max()] * 2,
                unit="m",
                within=3e-3,
                basis="the arm by 4 modes",
            ),
        ),
        (
            Picture(
                plot(turns["16 segments"], "cyclograph", until=1.5, title=""),
                "The first 1.5 s of the turn; the arm lags behind its hub.",
            ),
            Picture(
                over_time(
                    t,
                    [
                        (
                            "angle of the hub (deg)",
                            {name: np.degrees(r.q.values[:, 0]) for name, r in turns.items()},
                        ),
                        ("deflection of the tip (m)", w),
                    ],
                ),
                "The hub and the tip, by 16 segments and by 4 modes; the rigid arm under the same"
                " motor.",
            ),
        ),
        (table(exact, segments, shapes),),
        text=(
            "The motor pulls with kp (30 deg - angle) - kd speed at the hub and knows nothing of"
            " the tip. The frequencies on a free hub are known in closed form; with the motor's law"
            " in the boundary condition the same equation gives complex ones."
        ),
    )


# --- closed form
def boundary(beta: complex, hub: complex) -> complex:
    """Zero where a beam clamped to a hub vibrates: w = a sin + b sinh + c (cos - cosh) of beta x.

    The hub: EI w''(0) = hub w'(0), hub = J s^2 + kd s + kp with s^2 = -EI beta^4 / rhoA. The tip:
    w'' = w''' = 0.
    """
    x = beta * LENGTH
    s = np.sin(x)
    c = np.cos(x)
    sh = np.sinh(x)
    ch = np.cosh(x)
    k = hub / (2 * EI * beta)  # c = -k (a + b)
    bend = np.array([-s + k * (c + ch), sh + k * (c + ch)])
    shear = np.array([-c - k * (s - sh), ch - k * (s - sh)])
    return (bend[0] * shear[1] - bend[1] * shear[0]) / np.cosh(np.real(x)) ** 2


def frequencies(count: int = 5) -> np.ndarray:
    """Those of the arm on a hub without motor, rad/s."""

    def left(beta: float) -> float:
        return float(np.real(boundary(beta, -HUB * EI * beta**4 / RHO)))

    grid = np.linspace(0.5, 20.0, 2000)
    values = np.array([left(b) for b in grid])
    signs = np.flatnonzero(np.sign(values[1:]) != np.sign(values[:-1]))[:count]
    return np.array([brentq(left, grid[k], grid[k + 1], xtol=1e-14) for k in signs]) ** 2 * np.sqrt(
        EI / RHO
    )


def pole() -> complex:
    """s of the first vibration with the motor, 1/s, the beam without damping of its own."""

    def left(s: complex) -> complex:
        return boundary((-RHO * s * s / EI) ** 0.25, HUB * s * s + KD * s + KP)

    return complex(newton(left, -1.0 + 11.0j, tol=1e-12, maxiter=200))


def parts(s: complex) -> tuple[float, float]:
    """Decay and frequency."""
    return -s.real, abs(s.imag)


# --- catena
def made(
    m: Mechanism, segments: int | None = None, modes: int | None = None, damping: float = 0.0
) -> Mechanism:
    """The arm by segments or by modes, without damping of its own unless given; or, by neither,
    with a rigid rod.
    """
    m = whole(m)
    hub, boom = m.bodies
    assert boom.flexible is not None
    flexible = (
        replace(boom.flexible, damping=damping, segments=segments, modes=modes)
        if segments or modes
        else None
    )
    return m.with_(bodies=(hub, replace(boom, flexible=flexible)))


def free(m: Mechanism, **how: int) -> np.ndarray:
    """Frequencies on the hub without motor, rad/s, without the free turn."""
    return modes(made(m, **how)).frequencies[1:]


def motor_pole(m: Mechanism, **how: int) -> complex:
    """The first vibration with the motor as a spring and a damper on its joint: the slowest pole
    above 5 rad/s.
    """
    arm = discretise(made(m, **how))
    arm = arm.with_(loads=(*arm.loads, JointSpring("motor law", "motor", KP, 0.0, KD)))
    poles = linearize(arm, np.zeros(sum(j.nq for j in arm.moving))).poles
    return complex(next(s for s in poles if s.imag > 5.0))


@cache
def turn(**how: int) -> Result:
    """The scenario of the file, with the arm by other means."""
    asked = read("flexible_arm")
    m = discretise(made(asked.mechanism, **how, damping=asked.mechanism.beams[0].beam.damping))
    n = sum(j.nq for j in m.moving)
    return simulate(m, q=np.zeros(n), v=np.zeros(n), until=asked.until, **asked.options)


def table(
    exact: np.ndarray, segments: dict[int, np.ndarray], shapes: dict[int, np.ndarray]
) -> Table:
    """Frequencies on a free hub, rad/s."""

    def row(name: str, w: np.ndarray) -> tuple[str, ...]:
        return (name, *(f"{x:.4f}" if x else "" for x in [*w[:3], *[0.0] * (3 - len(w))]))

    rows = [
        row("equation", exact),
        *(row(f"{n} modes", w) for n, w in shapes.items()),
        *(row(f"{n} segments", w) for n, w in segments.items()),
    ]
    return Table("Frequencies on a free hub (rad/s)", ("", "first", "second", "third"), tuple(rows))


EXAMPLE = Example(
    "Flexible arm",
    "The frequency equation of a beam on a hub: L. Meirovitch, Elements of Vibration Analysis,"
    " McGraw-Hill, 1986, chapter 5.",
    "One flexible link on a hub with a PD motor: frequencies, poles and a turn of 30 degrees, by"
    " segments and by modes.",
    ("flexible_arm",),
    run,
    commands=(
        "catena run flexible_arm",
        "catena modes flexible_arm",
        "catena modes flexible_arm --lock motor",
    ),
)
