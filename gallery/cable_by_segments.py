"""A cable of 200 segments: its catenary, its frequencies with a weight at its end, and its
swing.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from matplotlib.axes import Axes
from scipy.optimize import brentq
from scipy.special import j0, j1, y0, y1

from catena.analysis.statics import equilibrium
from catena.analysis.vibration import modes
from catena.formats import load
from catena.machine.machine import Machine, compile
from catena.model.flexible import discretise, whole
from catena.model.mechanism import Joint, Mechanism
from catena.model.pose import Pose
from catena.results.plots import plot
from catena.results.plots.style import COLOURS, FAINT, INK, legend, pen
from catena.results.result import Result
from catena.simulation import simulate
from catena.simulation.scenario import read

from .drawing import panels
from .page import Example, Page, Picture, number

LENGTH, RHO, WEIGHT, G = 10.0, 0.5, 5.0, 9.81
SPAN = 6.0  # m between the hooks of the catenary
COUNTS = (75, 100, 150, 200)
FIRST = 3  # frequencies
UNTIL = 1.4  # s, of the swing


def run() -> Page:
    """The cable at rest between two hooks, its small vibrations, and its fall."""
    m = load("cable_by_segments")
    hung = catenary_machine(m)
    q = equilibrium(hung, guess(200))
    shape = places(hung, q)
    a, sag = catenary()
    found = {n: frequencies(with_segments(m, n)) for n in COUNTS}
    exact = bessel()
    error = {n: np.abs(w / extrapolated(found) - 1) for n, w in found.items()}
    result = swing()
    return Page(
        (
            number(
                "sag between the hooks",
                -shape[:, 1].min(),
                reference=sag,
                unit="m",
                within=1e-4,
                basis="the catenary a (cosh(d / 2a) - 1), without bending stiffness",
            ),
            number(
                "horizontal pull of the far hook",
                pull(hung, q),
                reference=RHO * G * a,
                unit="N",
                within=2e-4,
                basis="the catenary: a times the weight a length",
            ),
            number(
                "three lowest frequencies with the weight",
                found[200],
                reference=exact,
                unit="rad/s",
                within=1e-4,
                basis="a hanging cable with a weight, without bending stiffness: Bessel functions",
            ),
            number(
                "order of convergence of the second frequency",
                np.log2(error[75][1] / error[150][1]),
                reference=2.0,
                within=0.1,
                basis="segments against a cable: the error falls as 1/n^2",
            ),
            number(
                "largest change of energy of the swing",
                np.abs(result.energy.values - result.energy.values[0]).max(),
                reference=0.0,
                unit="J",
                within=1e-3,
                basis="nothing is lost",
            ),
        ),
        (
            Picture(
                panels(
                    2,
                    lambda left, right: draw(left, right, shape, a, error),
                    height=3.0,
                    width_ratios=[1.5, 1],
                ),
                "Left: 200 segments between two hooks (thin), and the catenary (thick). Right: the"
                " error of the frequencies falls as 1/n².",
            ),
            Picture(
                plot(result, "cyclograph", every=0.1, title=""),
                "The cable is let go from the horizontal, every 0.1 s. At first it falls as loose"
                " bodies do; the pull of the hook runs along it as a bend and reaches the weight of"
                " 5 kg after a second.",
            ),
            Picture(
                plot(result, "energies", title=""),
                f"Its energies over {UNTIL} s; the strain is part of the potential energy.",
            ),
        ),
        text=(
            "Two hundred rigid pieces with a spring between each two of them stand for the cable."
            " In the file it is one body. Long chains of such pieces go through kernels whose cost"
            " grows as their number, and joint springs go with them."
        ),
    )


# --- the cable at rest
def with_segments(m: Mechanism, n: int) -> Mechanism:
    """The same mechanism with the cable in n segments."""
    m = whole(m)
    return m.with_(
        bodies=[
            b if b.flexible is None else replace(b, flexible=replace(b.flexible, segments=n))
            for b in m.bodies
        ]
    )


def catenary_machine(m: Mechanism) -> Machine:
    """The cable without its weight, between two hooks at one height."""
    parts = whole(m)
    far = Joint(
        "far hook",
        "revolute",
        "ground",
        "cable",
        Pose(position=(SPAN, 0, 0)),
        offset=Pose(position=(LENGTH, 0, 0)),
    )
    return compile(
        Mechanism("catenary", parts.bodies[:1], parts.joints[:1], loops=(far,), gravity=m.gravity)
    )


def catenary() -> tuple[float, float]:
    """The length a and the sag of a catenary of LENGTH over SPAN: 2 a sinh(d / 2a) = L."""
    a = brentq(lambda a: 2 * a * np.sinh(SPAN / (2 * a)) - LENGTH, 0.5, 50.0)
    return a, a * (np.cosh(SPAN / (2 * a)) - 1)


def guess(n: int) -> np.ndarray:
    """Coordinates of n segments along the catenary: the slope at s from its middle is atan(s /
    a).
    """
    edges = np.concatenate([[0.0], (np.arange(n) + 0.5) * LENGTH / n, [LENGTH]])
    slope = np.arctan((0.5 * (edges[1:] + edges[:-1]) - LENGTH / 2) / catenary()[0])
    return np.diff(slope, prepend=0.0)


def pull(machine: Machine, q: np.ndarray) -> float:
    """The force along x in the far hook, N: the multiplier of its row, from A' lambda = gravity."""
    A = machine.constraint_rows(q, np.zeros(machine.nv))[3]
    forces = np.linalg.lstsq(A.T, machine.gravity(q), rcond=1e-10)[0]
    return abs(forces[[label for _, label in machine.rows].index("displacement x")])


def places(machine: Machine, q: np.ndarray) -> np.ndarray:
    """Where the pieces begin, and the tip: (n, 2), m."""
    names = [*(b.name for b in machine.mechanism.bodies), "cable.tip"]
    return np.array([machine.pose(q, name)[:2, 3] for name in names])


# --- small vibrations
def frequencies(m: Mechanism) -> np.ndarray:
    """The lowest about hanging straight down."""
    q = np.zeros(sum(j.nq for j in discretise(m).moving))
    q[0] = -np.pi / 2
    return modes(m, q).frequencies[:FIRST]


def extrapolated(found: dict[int, np.ndarray]) -> np.ndarray:
    """Frequencies of a cable without segments, from the two largest numbers of them
    (Richardson).
    """
    m, n = COUNTS[-2:]
    return (n**2 * found[n] - m**2 * found[m]) / (n**2 - m**2)


def bessel() -> np.ndarray:
    """Frequencies of a hanging cable without bending stiffness, with the weight at its lower end.

    (T w')' = -rho omega^2 w with T = g (rho x + M), x upwards from the weight, has w = A J0(z) + B
    Y0(z), z = 2 omega sqrt(s / g), s = x + M / rho. The weight: -omega^2 w = g w'. The hook: w = 0.
    """
    low = WEIGHT / RHO
    high = LENGTH + WEIGHT / RHO

    def left(omega: float) -> float:
        z = 2 * omega * np.sqrt(low / G)
        top = 2 * omega * np.sqrt(high / G)
        slope = np.sqrt(G / low)
        return (j1(z) * slope - omega * j0(z)) * y0(top) - (y1(z) * slope - omega * y0(z)) * j0(top)

    grid = np.linspace(0.2, 12.0, 600)
    values = np.array([left(w) for w in grid])
    signs = np.flatnonzero(np.sign(values[1:]) != np.sign(values[:-1]))
    return np.array([brentq(left, grid[k], grid[k + 1]) for k in signs[:FIRST]])


# --- the swing
@cache
def swing() -> Result:
    """The first seconds of the example's scenario, before the cable snaps taut."""
    asked = read("cable_by_segments", until=UNTIL)
    return simulate(asked.mechanism, **asked.arguments)


def draw(
    left: Axes, right: Axes, shape: np.ndarray, a: float, error: dict[int, np.ndarray]
) -> None:
    """The catenary and the segments; errors over their number."""
    x = np.linspace(0, SPAN, 200)
    left.plot(
        x,
        a * (np.cosh((x - SPAN / 2) / a) - np.cosh(SPAN / (2 * a))),
        color=COLOURS[1],
        linewidth=4.0,
        alpha=0.5,
    )
    left.plot(*shape.T, color=INK, linewidth=0.9)
    left.plot([0, SPAN], [0, 0], "o", color=FAINT, markersize=4)
    left.set_aspect("equal")
    left.set(xlabel="x (m)", ylabel="y (m)")
    counts = [n for n in error if n < COUNTS[-1]]
    for k in range(FIRST):
        right.loglog(
            counts,
            [error[n][k] for n in counts],
            marker="o",
            markersize=3,
            label=f"frequency {k + 1}",
            **pen(k),
        )
    n = np.array(counts, float)
    right.loglog(n, 0.5 / n**2, color=INK, linewidth=0.7, linestyle=":", label="1/n²")
    right.set(xlabel="number of segments n", ylabel="relative error")
    right.set_xticks(counts, [str(n) for n in counts])
    right.minorticks_off()
    legend(right)


EXAMPLE = Example(
    "Cable by segments",
    "J. Bernoulli, G. W. Leibniz and C. Huygens, Acta Eruditorum, 1691: the catenary; the finite"
    " segments of R. L. Huston, Computers and Structures 14, 1981.",
    "A cable of 200 segments at rest between two hooks, vibrating with a weight at its end, and let"
    " go from the horizontal.",
    ("cable_by_segments",),
    run,
    commands=("catena run cable_by_segments", "catena modes cable_by_segments"),
)
