"""The hanging chain: n rods converge to Bernoulli's frequencies of 1732, [Passerello1972]
introduction.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from scipy.special import jn_zeros

from catena.analysis.vibration import Modes, modes
from catena.formats import load
from catena.model.mechanism import GROUND, Body, Joint, Mechanism, Shape
from catena.model.pose import Pose
from catena.results.plots import plot
from catena.results.plots.style import FAINT, INK, legend, pen
from catena.simulation import simulate

from .drawing import panels
from .page import Example, Number, Page, Picture, number

LENGTH, MASS, G = 1.0, 1.0, 9.81
COUNTS = (2, 5, 10, 20, 50, 200)
EXACT = jn_zeros(0, 5) / 2 * np.sqrt(G / LENGTH)  # rad/s, of the continuous chain
REFERENCE = {  # rad/s, chains of n uniform rods
    5: (
        3.7705045345153025,
        8.948640997891273,
        15.187287922245094,
        23.36625215466478,
        35.44348738843561,
    ),
    10: (
        3.767208518301979,
        8.728321546416222,
        14.045381952777538,
        19.92917331838099,
        26.566350951023683,
    ),
    50: (
        3.7661135794488505,
        8.64824856216611,
        13.575960293103728,
        18.549162927534844,
        23.5888762147367,
    ),
    200: (
        3.7660702772611505,
        8.644919158450795,
        13.553654673770104,
        18.471560143295576,
        23.396844450749924,
    ),
}
BASIS = "the eigenvalues of n rods, independent of catena"


def run() -> Page:
    """Frequencies for growing n, and a chain in motion."""
    found = {n: modes(chain(n)) for n in COUNTS}
    error = {n: abs(found[n].frequencies[0] / EXACT[0] - 1) for n in COUNTS}
    slope = np.log(error[50] / error[200]) / np.log(200 / 50)
    result = simulate(load("hanging_chain"), q=[np.radians(60)] + [0.0] * 9, until=3.0, output=0.01)
    return Page(
        (
            *frequencies(found),
            number(
                "order of convergence in n",
                slope,
                reference=2.0,
                within=1e-3,
                basis="rods against a chain: the error falls as 1/n^2",
            ),
            number(
                "largest change of energy of the swinging chain",
                np.abs(result.energy.values - result.energy.values[0]).max(),
                reference=0.0,
                unit="J",
            ),
        ),
        (
            Picture(
                panels(2, lambda a, b: draw(a, b, found, error), height=3.6),
                "Left: the first four shapes of 200 rods. Right: the error of the frequencies falls"
                " as 1/n².",
            ),
            Picture(
                plot(result, "cyclograph", until=1.2, title=""),
                "Ten rods let go from a straight line at 60 degrees, every 0.07 s.",
            ),
        ),
        text=(
            "Bernoulli found that a hanging chain swings at j_k / 2 sqrt(g / L), where j_k is the"
            " k-th zero of the Bessel function J0: the first place where it turned up. A chain of n"
            " rods of length L / n has n frequencies; they come down to these."
        ),
    )


def chain(n: int) -> Mechanism:
    """n uniform rods on pins, hanging along -y."""
    l, m = LENGTH / n, MASS / n
    bodies = [
        Body(
            f"rod{k}",
            m,
            (0, -l / 2, 0),
            (m * l**2 / 12, 0, m * l**2 / 12),
            (Shape("line", (0, -l, 0)),),
        )
        for k in range(n)
    ]
    joints = [
        Joint(
            f"pin{k}",
            "revolute",
            f"rod{k - 1}" if k else GROUND,
            f"rod{k}",
            Pose(position=(0, -l if k else 0.0, 0)),
        )
        for k in range(n)
    ]
    return Mechanism(f"chain of {n}", tuple(bodies), tuple(joints), gravity=(0, -G, 0))


def frequencies(found: dict[int, Modes]) -> list[Number]:
    """Against the references, and the longest chain against the continuous one."""
    compared = [
        number(
            f"five lowest frequencies, {n} rods",
            found[n].frequencies[:5],
            reference=REFERENCE[n],
            unit="rad/s",
            basis=BASIS,
        )
        for n in REFERENCE
    ]
    closed = np.sqrt(1.5 * G / LENGTH)
    own = modes(chain(1)).frequencies[0]
    return [
        *compared,
        number(
            "one rod", own, reference=closed, unit="rad/s", basis="closed form, sqrt(3 g / 2 L)"
        ),
        number(
            "200 rods against the continuous chain",
            found[200].frequencies[:3],
            reference=EXACT[:3],
            within=2e-4,
            unit="rad/s",
            basis="Bernoulli: j_k / 2 sqrt(g / L)",
        ),
    ]


def draw(shapes: Axes, errors: Axes, found: dict[int, Modes], error: dict[int, float]) -> None:
    """The shapes of the longest chain, and the errors over n."""
    n = max(found)
    angle = np.cumsum(found[n].shapes[:, :4], axis=0)  # of each rod from the vertical
    x = np.concatenate([np.zeros((1, 4)), np.cumsum(angle, axis=0)])
    x /= np.abs(x).max(axis=0) * np.sign(x[-1])
    for k in range(4):
        shapes.plot(0.8 * x[:, k] + 2 * k, -np.linspace(0, LENGTH, n + 1), **pen(k))
        shapes.axvline(2 * k, color=FAINT, linewidth=0.6, linestyle=":")
    shapes.set_xticks([0, 2, 4, 6], [f"{w:.3f}" for w in found[n].frequencies[:4]])
    shapes.set(xlabel="frequency (rad/s)", ylabel="depth (m)")
    shapes.margins(x=0.06)
    shapes.grid(False)
    for k in range(3):
        off = {
            n: abs(found[n].frequencies[k] / EXACT[k] - 1)
            for n in found
            if len(found[n].squares) > k
        }
        errors.loglog(
            list(off),
            list(off.values()),
            marker="o",
            markersize=3,
            label=f"frequency {k + 1}",
            **pen(k),
        )
    ns = np.array([5.0, 200.0])
    errors.loglog(ns, 0.02 / ns**2, color=INK, linewidth=0.7, linestyle=":", label="1/n²")
    errors.set(xlabel="number of rods n", ylabel="relative error")
    legend(errors)


EXAMPLE = Example(
    "Hanging chain",
    "C. E. Passerello and R. L. Huston, An Analysis of General Chain Systems, NASA N72-30352, 1972:"
    " introduction; Daniel Bernoulli, 1732.",
    "Natural frequencies of chains of 1 to 200 rods, their convergence to the continuous chain, and"
    " a chain in motion.",
    ("hanging_chain",),
    run,
    commands=("catena run hanging_chain", "catena info hanging_chain"),
)
