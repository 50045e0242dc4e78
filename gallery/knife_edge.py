"""Chaplygin's sleigh: one nonholonomic row with a closed solution, [Everett1988] eq. 2 and 20."""

from __future__ import annotations

from functools import cache

import numpy as np
from matplotlib.axes import Axes

from catena.results.plots.style import FAINT, INK
from catena.results.result import Result
from catena.simulation import simulate
from catena.simulation.scenario import read

from .drawing import over_time, panels, row
from .page import Example, Page, Picture, number

MASS, INERTIA, AHEAD = 1.0, 0.5, 0.3  # kg, kg m2, m
# m/s, rad/s: speed of the edge and spin at the start
U = 0.2
W = 2.0
REFERENCE = {
    3.0: (-2.076272678506553, 1.6274424576611064, 3.2680391701952445),
    6.0: (-6.343673811360283, -0.11252854890032088, 3.650529858288421),
}


def run() -> Page:
    """Six seconds, against the closed form."""
    result = motion()
    u, w = speeds(result)
    t = result.time
    exact_u, exact_w = closed_form(t)
    rows = {at: int(np.searchsorted(t, at - 1e-9)) for at in REFERENCE}
    found = [
        *(
            number(
                f"edge at {at:g} s: x, y, angle",
                result.data["q"].values[rows[at]],
                reference=REFERENCE[at],
                unit="m, rad",
                basis="the closed form, integrated independently of catena",
            )
            for at in REFERENCE
        ),
        *(
            number(
                f"speed and spin at {at:g} s",
                (u[rows[at]], w[rows[at]]),
                reference=(exact_u[rows[at]], exact_w[rows[at]]),
                unit="m/s, rad/s",
                basis="the closed form",
            )
            for at in REFERENCE
        ),
        number(
            "largest difference from the closed form in 6 s",
            max(np.abs(u - exact_u).max(), np.abs(w - exact_w).max()),
            reference=0.0,
            unit="m/s, rad/s",
        ),
        number(
            "largest change of energy",
            np.abs(result.energy.values - result.energy.values[0]).max(),
            reference=0.0,
            unit="J",
            basis="an edge does no work",
        ),
    ]
    return Page(
        tuple(found),
        pictures(result, u, w),
        text=(
            "With u the speed along the edge and w the spin, J = I + m a^2 and E the energy: u = k"
            " tanh(lam (t - t0)), w = sqrt(2 E / J) / cosh(lam (t - t0)), k = sqrt(2 E / m), lam ="
            " a m k / J. No energy is lost, yet the sleigh stops turning: with nonholonomic rows a"
            " conservative system can settle."
        ),
    )


@cache
def motion() -> Result:
    """The six seconds of the file's scenario."""
    case = read("knife_edge", tolerance=1e-11)
    return simulate(case.mechanism, **case.arguments)


def speeds(result: Result) -> tuple[np.ndarray, np.ndarray]:
    """Along the edge (m/s), and the spin (rad/s)."""
    q = result.data["q"].values
    v = result.data["v"].values
    return v[:, 0] * np.cos(q[:, 2]) + v[:, 1] * np.sin(q[:, 2]), v[:, 2]


def closed_form(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """u and w of the closed solution."""
    J = INERTIA + MASS * AHEAD**2
    E = 0.5 * (MASS * U**2 + J * W**2)
    k = np.sqrt(2 * E / MASS)
    lam = AHEAD * MASS * k / J
    t0 = -np.arctanh(U / k) / lam
    return k * np.tanh(lam * (t - t0)), np.sqrt(2 * E / J) / np.cosh(lam * (t - t0))


def pictures(result: Result, u: np.ndarray, w: np.ndarray) -> tuple[Picture, ...]:
    """The path, and the two speeds."""
    q = result.data["q"].values

    def draw(ax: Axes) -> None:
        ax.plot(q[:, 0], q[:, 1], color=FAINT, linewidth=0.9)
        row(ax, result.mechanism, q[::60], guides=False)
        ax.plot(*q[0, :2], "o", color=INK, markersize=3)

    force = result.multipliers().values[:, 0]
    return (
        Picture(
            panels(1, draw, height=3.6),
            "The sleigh every 0.6 s, pale to dark, and the path of its edge.",
        ),
        Picture(
            over_time(
                result.time,
                [
                    ("along the edge (m/s)", {"": u}),
                    ("spin (rad/s)", {"": w}),
                    ("force on the edge (N)", {"": force}),
                ],
                1.6,
            ),
            "The spin dies away without loss of energy; the force on the edge, which does no work,"
            " is what does it.",
        ),
    )


EXAMPLE = Example(
    "Knife edge: Chaplygin's sleigh",
    "L. J. Everett, An Alternative Algebra for Deriving Equations of Motion of Flexible"
    " Manipulators, 1988: nonholonomic constraints, eq. 1-2, 20-24.",
    "One nonholonomic row in the plane, against a closed solution.",
    ("knife_edge",),
    run,
    departures=(
        (
            "The source derives equations and has no numbers; the case is the classic one of"
            " Chaplygin."
        ),
    ),
)
