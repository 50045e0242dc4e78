"""Pictures of robustness: the Nyquist plot with its disk, the region of attraction, and the
parameters of failed runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import QuestionError
from .disturbed_runs import DisturbedRuns
from .margins import LoopMargins

GOOD, BAD = "#2a6f97", "#c9572c"
MOST_DOTS = 20_000  # of one picture


def plot_margins(loop: LoopMargins, axes: Any = None) -> Any:
    """Return the Nyquist plot of a loop: its response must stay out of the disk around -1.

    Parameters
    ----------
    loop : LoopMargins
        From `margins`.
    axes : matplotlib Axes, optional
        Where to draw. By default a new figure.
    """
    axes = _axes(axes)
    L = loop.response
    axes.plot(L.real, L.imag, color=GOOD, label=f"loop of {loop.input!r}")
    axes.plot(L.real, -L.imag, color=GOOD, lw=0.7, ls=":")
    if 0.0 < loop.disk < 2.0:
        low, high = loop.disk_gain
        left, right = -1.0 / low, -1.0 / high
        turn = np.linspace(0.0, 2.0 * np.pi, 200)
        middle, radius = 0.5 * (left + right), 0.5 * (right - left)
        axes.fill(
            middle + radius * np.cos(turn),
            radius * np.sin(turn),
            color=BAD,
            alpha=0.3,
            label=f"disk margin {loop.disk:.2f}",
        )
    axes.plot([-1.0], [0.0], "+", color="black", ms=10)
    gain = ", ".join(f"{x:.2f}" for x in loop.gain)
    axes.set(
        xlabel="Re L",
        ylabel="Im L",
        xlim=(-4, 2),
        ylim=(-3, 3),
        title=(
            f"gain within ({gain}), phase {np.degrees(loop.phase):.0f}°, delay"
            f" {1e3 * loop.delay:.0f} ms"
        ),
    )
    axes.set_aspect("equal")
    axes.legend(loc="lower right")
    return axes


def plot_region(runs: DisturbedRuns, names: tuple[str, str] | None = None, axes: Any = None) -> Any:
    """Return a picture of the runs over two of the quantities that vary: those that succeeded, and
    the others.

    Parameters
    ----------
    runs : DisturbedRuns
        From `region_of_attraction` or `monte_carlo`.
    names : pair of str, optional
        The two axes. By default the first two names.
    axes : matplotlib Axes, optional
        Where to draw. By default a new figure.
    """
    shown = runs.names[:2] if names is None else tuple(names)
    if len(shown) != 2 or any(name not in runs.names for name in shown):
        raise QuestionError(
            f"plot_region: it takes two of {', '.join(map(repr, runs.names))}; found"
            f" {', '.join(map(repr, shown))}"
        )
    axes = _axes(axes)
    every = max(1, len(runs.success) // MOST_DOTS)
    x, y = (runs.values[::every, runs.names.index(name)] for name in shown)
    good = runs.success[::every]
    size = float(np.clip(40_000 / len(good), 1.0, 20.0))
    for which, color, label in ((~good, BAD, "does not arrive"), (good, GOOD, "arrives")):
        axes.scatter(x[which], y[which], s=size, color=color, lw=0, label=label, rasterized=True)
    low, high = runs.interval
    axes.set(
        xlabel=shown[0],
        ylabel=shown[1],
        title=f"{len(runs.success)} runs, {100 * low:.1f} to {100 * high:.1f} % arrive (95 %)",
    )
    axes.legend(loc="upper right", markerscale=3)
    return axes


def _axes(axes: Any) -> Any:
    if axes is not None:
        return axes
    from matplotlib.figure import Figure

    return Figure(figsize=(6.0, 5.0), layout="constrained").add_subplot()
