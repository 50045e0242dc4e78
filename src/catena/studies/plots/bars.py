"""Bar charts of indices (Sobol, tornado), and the plane of Morris."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ...results.plots import COLOURS, FAINT, INK, legend, page
from .labels import chosen


def _panels(indices: Any, measures: Any, rows: int) -> tuple[Figure, list[Any], list[str]]:
    """Return a figure with one panel per measure, the panels, and the names of the measures."""
    names = chosen(measures, [str(m) for m in indices["measure"].values], "measure")
    figure = page(len(names), each=0.75 + 0.32 * rows)
    return figure, list(figure.subplots(len(names), 1, squeeze=False)[:, 0]), names


def sobol(indices: Any, measures: Any = None) -> Figure:
    """Draw one panel per measure: first-order and total indices of each variable, the largest on
    top, with confidence intervals.
    """
    variables = [str(v) for v in indices["variable"].values]
    figure, panels, names = _panels(indices, measures, len(variables))
    for ax, name in zip(panels, names):
        own = indices.sel(measure=name)
        order = np.argsort(own["ST"].values)
        y = np.arange(len(order))
        for shift, key, colour, said in (
            (0.19, "S1", COLOURS[0], "first order"),
            (-0.19, "ST", COLOURS[4], "total"),
        ):
            ax.barh(
                y + shift,
                own[key].values[order],
                0.36,
                color=colour,
                label=said,
                xerr=own[f"{key}_conf"].values[order],
                error_kw={"ecolor": INK, "elinewidth": 0.8, "capsize": 2},
            )
        _named(ax, y, [variables[k] for k in order], name)
        ends = [
            own[key].values + sign * own[f"{key}_conf"].values
            for key in ("S1", "ST")
            for sign in (-1, 1)
        ]
        ax.set_xlim(
            min(0.0, 1.02 * float(np.nanmin(ends))), max(1.0, 1.02 * float(np.nanmax(ends)))
        )
    panels[-1].set_xlabel("part of the variance")
    return figure


def tornado(indices: Any, measures: Any = None) -> Figure:
    """Draw one panel per measure: its range from low to high values of each variable, the widest
    on top.
    """
    variables = [str(v) for v in indices["variable"].values]
    figure, panels, names = _panels(indices, measures, len(variables))
    for ax, name in zip(panels, names):
        own = indices.sel(measure=name)
        low, high, middle = (own[key].values for key in ("low", "high", "nominal"))
        order = np.argsort(np.ptp([low, middle, high], axis=0))
        y = np.arange(len(order))
        for ends, colour, said in (
            (low, COLOURS[0], "variable low (5 %)"),
            (high, COLOURS[1], "variable high (95 %)"),
        ):
            longer = np.abs(ends - middle) >= np.abs(low + high - ends - middle)
            for bar, behind in zip(
                ax.barh(
                    y, (ends - middle)[order], 0.6, left=middle[order], color=colour, label=said
                ),
                longer[order],
            ):
                # where both go the same way, the shorter is seen
                bar.set_zorder(2 if behind else 2.1)
        ax.axvline(middle[0], color=INK, linewidth=0.9)
        _named(ax, y, [variables[k] for k in order], "")
        ax.margins(x=0.06)
        ax.set_xlabel(name)
    return figure


def morris(indices: Any, measures: Any = None) -> Figure:
    """Draw one panel per measure: the spread of elementary effects over their mean size.

    Above the diagonal the effect of a variable depends on the other variables.
    """
    figure, panels, names = _panels(indices, measures, 5)
    for ax, name in zip(panels, names):
        own = indices.sel(measure=name)
        x = own["mu_star"].values
        y = own["sigma"].values
        end = 1.1 * max(x.max(), y.max(), 1e-300)
        ax.plot([0, end], [0, end], color=FAINT, linewidth=0.8)
        for k, variable in enumerate(str(v) for v in own["variable"].values):
            ax.plot(x[k], y[k], "o", color=COLOURS[k % len(COLOURS)], label=variable, markersize=5)
        ax.set(
            xlim=(0, end),
            ylim=(0, end),
            xlabel=f"mean size of effects on {name}",
            ylabel="their spread",
        )
        legend(ax)
    return figure


def _named(ax: Any, y: np.ndarray, names: list[str], title: str) -> None:
    """Label the bars at positions y with names, and set the title."""
    ax.set_yticks(y, names)
    ax.grid(axis="y", visible=False)
    ax.set_title(title, loc="left")
    legend(ax)
