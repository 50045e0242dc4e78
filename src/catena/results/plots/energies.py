"""Energies: kinetic, potential and total energy and the work done, with the error of their balance
below.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...model.flexible import strain_energy
from ..result import Result
from .resolution import resolution, widen
from .style import COLOURS, INK, legend, page


def draw(result: Result) -> Figure:
    """Draw energies over time, and below them the change of energy less the work done."""
    figure = page(1.75)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1.3])
    panel(upper, result)
    error(lower, result)
    return figure


def panel(ax: Axes, result: Result) -> None:
    """Draw kinetic, potential and total energy, and the work done where there is any."""
    data, t = result.data, result.time
    ax.plot(t, data["kinetic"], label="kinetic", color=COLOURS[0])
    ax.plot(t, data["potential"], label="potential", color=COLOURS[1])
    ax.plot(t, result.energy, label="total", color=INK)
    if result.mechanism.beams:
        strain = sum(strain_energy(result.mechanism, data["q"].values).values())
        ax.plot(t, strain, label="strain, part of potential", color=COLOURS[4], linestyle=":")
    if np.abs(data["work"]).max() > resolution(result, "J", float(np.abs(data["kinetic"]).max())):
        ax.plot(t, data["work"], label="work done", color=COLOURS[2], linestyle="--")
    widen(ax, result, "J")
    ax.set_ylabel("energy (J)")
    legend(ax)


def error(ax: Axes, result: Result) -> None:
    """Draw the error of the energy balance, with its largest value as a label."""
    ax.plot(result.time, result.data["energy_error"], color=COLOURS[3], linewidth=1.0)
    ax.set_ylabel("balance error (J)")
    ax.set_xlabel("time (s)")
    words = "largest:\n" + balance(result).replace(
        "of the largest kinetic energy", "of\nlargest kinetic"
    )
    ax.annotate(
        words,
        (1.0, 1.0),
        (6, 0),
        xycoords="axes fraction",
        textcoords="offset points",
        va="top",
        fontsize=8,
        color=COLOURS[3],
    )


def balance(result: Result) -> str:
    """Return a phrase with the largest error of the energy balance: relative to the largest kinetic
    energy, or in joules where nothing moves.
    """
    book = result.ledger
    moves = float(np.abs(result.data["kinetic"]).max()) > resolution(result, "J")
    return (
        f"{book.relative_energy_balance:.1e} of the largest kinetic energy"
        if moves
        else f"{book.energy_balance:.1e} J"
    )
