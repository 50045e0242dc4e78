"""Pictures of synthesized linkages: bars, coupler curve and the given positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import QuestionError
from .synthesis import Candidate, Synthesis

BAR, CURVE, ASKED, PIVOT = "#30343b", "#2a6fbb", "#c8452d", "#7a7f87"


def ranked(synthesis: Synthesis, count: int = 6) -> Any:
    """Return a figure of the first candidates."""
    from matplotlib.figure import Figure

    shown = synthesis.candidates[:count]
    if not shown:
        raise QuestionError("there is no candidate to draw; move a position, or give more starts")
    columns = min(3, len(shown))
    lines = -(-len(shown) // columns)
    figure = Figure(figsize=(4.2 * columns, 4.0 * lines), layout="constrained")
    for k, candidate in enumerate(shown, start=1):
        axes = figure.add_subplot(lines, columns, k)
        draw(axes, candidate, synthesis)
        defects = ", ".join(candidate.defects) or "no defects"
        angle = np.degrees(candidate.transmission_angle)
        axes.set_title(
            f"{k}: {candidate.four_bar.kind}, {defects}\n"
            f"error {candidate.error:.1e} {synthesis.unit}, transmission {angle:.0f}°",
            fontsize=9,
        )
    return figure


def draw(axes: Any, c: Candidate, synthesis: Synthesis) -> None:
    """Draw one linkage at its first position."""
    f = c.four_bar
    _curve(axes, c)
    A = f.pivot + f.crank * np.exp(1j * c.angles[0])
    q = c.start()
    B = f.second_pivot + f.rocker * np.exp(1j * q["rocker pin"])
    P = f.with_sign(int(c.signs[0])).coupler_points(c.angles[0])
    axes.plot(*_xy([f.pivot, A, B, f.second_pivot]), color=BAR, lw=2.5, marker="o", ms=5)
    if f.point:
        axes.fill(*_xy([A, B, P]), color=BAR, alpha=0.18, lw=0)
        axes.plot(*_xy([A, P, B]), color=BAR, lw=1.2)
    axes.plot(*_xy([f.pivot, f.second_pivot]), "^", color=PIVOT, ms=10, zorder=0)
    asked = synthesis.positions.get("points", synthesis.positions.get("poses"))
    if asked is not None:
        p = np.asarray(asked, float)
        axes.plot(p[:, 0], p[:, 1], "x", color=ASKED, ms=7, mew=1.6)
        if p.shape[1] == 3:
            size = 0.15 * np.ptp(p[:, :2], axis=0).max()
            axes.quiver(
                p[:, 0],
                p[:, 1],
                size * np.cos(p[:, 2]),
                size * np.sin(p[:, 2]),
                angles="xy",
                scale_units="xy",
                scale=1,
                color=ASKED,
                width=0.006,
            )
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel("x, m")
    axes.set_ylabel("y, m")
    axes.grid(alpha=0.25)


def _curve(axes: Any, c: Candidate) -> None:
    """Draw the coupler curve of the circuit on which the first position lies."""
    for b in c.four_bar.circuits.branches:
        if b.signs != (int(c.signs[0]),):
            continue
        values, signs = c.four_bar.circuits.path(b.circuit)
        found = c.four_bar.linkage.positions(values, modes=signs, coordinates=False).points
        axes.plot(found[:, 0, 0], found[:, 0, 1], color=CURVE, lw=1.3)


def _xy(points: Any) -> tuple[Any, Any]:
    z = np.array(points, complex)
    return z.real, z.imag
