"""Contacts: normal force and friction of every contact point over time, with the modes as coloured
bands behind them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ..result import Result, chosen
from .series import Names
from .style import named, stacked

SHOWN_POINTS = 6  # the number of contact points shown: those with the largest forces
BANDS = {"slip": "#f4b183", "stick": "#a9d18e"}  # what is open has none


def draw(result: Result, points: Names = None) -> Figure:
    """Draw normal force and friction over time, one panel for each contact point, with its modes
    and impacts. points: by default those with the largest forces.

    Lines are interrupted where the mode changes.
    """
    seen = result.contacts
    names = [str(n) for n in seen["contact"].values]
    N = np.nan_to_num(np.abs(seen["normal_force"].values))
    hardest = [names[k] for k in np.argsort(-N.max(axis=0), kind="stable") if N[:, k].any()][
        :SHOWN_POINTS
    ] or names[:SHOWN_POINTS]
    asked = (
        [n for n in names if n in hardest]
        if points is None
        else chosen(points, names, "contact point", "this result")
    )
    figure, axes = stacked(len(asked), each=1.9)
    for ax, name in zip(axes, asked):
        _panel(ax, result, name, names.index(name))
    lines = {h.get_label(): h for ax in axes for h in ax.get_legend_handles_labels()[0]}
    handles = [*lines.values(), *(Patch(color=c, label=mode) for mode, c in BANDS.items())]
    figure.legend(handles=handles, loc="outside upper right", ncols=len(handles))
    return figure


def _panel(ax: Axes, result: Result, name: str, k: int) -> None:
    seen, t = result.contacts, result.time
    N = seen["normal_force"].values[:, k]
    T = np.linalg.norm(seen["friction_force"].values[:, k], axis=-1)
    for mode, rows, start, end in _mode_intervals(t, seen["mode"].values[:, k]):
        if mode in BANDS:
            ax.axvspan(start, end, color=BANDS[mode], alpha=0.45, lw=0)
        ax.plot(t[rows], N[rows], color="black", label="normal force")
        ax.plot(t[rows], T[rows], color="tab:blue", linestyle="--", label="friction")
    if "impact_time" in result.data:
        hits = result.data["impact_time"].values[result.data["impact_contact"].values == name]
        # an empty line that is not clipped has a bounding box at the corner of the figure, which
        # upsets the layout
        if len(hits):
            ax.plot(
                hits,
                np.zeros(len(hits)),
                "^",
                color="tab:red",
                ms=5,
                label="impact",
                clip_on=False,
                zorder=5,
            )
    ax.set_ylim(bottom=0.0)
    ax.set_title(name, fontsize=9, loc="left")
    ax.set_ylabel(named("force", "N"))


def _mode_intervals(t: np.ndarray, modes: np.ndarray) -> Iterator[tuple[str, slice, float, float]]:
    """Yield (mode, rows, start, end) for successive rows with the same mode, s. A change is half
    way between two rows.
    """
    edges = np.flatnonzero(modes[1:] != modes[:-1]) + 1
    for a, b in pairwise([0, *edges.tolist(), len(t)]):
        yield (
            str(modes[a]),
            slice(a, b),
            t[0] if a == 0 else 0.5 * (t[a - 1] + t[a]),
            t[-1] if b == len(t) else 0.5 * (t[b - 1] + t[b]),
        )
