"""Response curves: each measure over one variable."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...results.plots import COLOURS, legend, page, pen
from ..plotting import axes, variables
from ..plotting import measures as known_measures
from .labels import chosen, label

MOST_LINES, MOST_POINTS, BINS = 7, 20_000, 24
QUANTILES = ((0.05, 0.95, 0.18), (0.25, 0.75, 0.3))  # from, to, opacity


def draw(table: Any, measures: Any = None, over: str | None = None) -> Figure:
    """Draw one panel per measure over one variable.

    Over an axis it is a line; where one other axis has few values, a line for each of them; else
    median and quantiles. Over a drawn variable it is points with a running median.
    """
    names = chosen(measures, known_measures(table), "measure")
    grid = axes(table)
    x = chosen(over, variables(table), "variable")[0] if over else (grid or variables(table))[0]
    figure = page(len(names), each=2.1)
    panels = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    for ax, name in zip(panels, names):
        _panel(ax, table, x, name, grid)
        ax.set_ylabel(label(table, name))
        legend(ax)
    panels[-1].set_xlabel(label(table, x))
    return figure


def _panel(ax: Axes, table: Any, x: str, name: str, grid: list[str]) -> None:
    """Draw one measure over the variable x."""
    places = table[x].values
    values = table[name].values
    others = [v for v in variables(table) if v != x]
    distinct = np.unique(places)
    if x not in grid:
        _cloud(ax, places, values)
    elif not others:
        order = np.argsort(places, kind="stable")
        ax.plot(places[order], values[order], **pen(0))
    elif (
        len(others) == 1
        and others[0] in grid
        and len(np.unique(table[others[0]].values)) <= MOST_LINES
    ):
        for k, other in enumerate(np.unique(table[others[0]].values)):
            own = table[others[0]].values == other
            order = np.argsort(places[own], kind="stable")
            ax.plot(
                places[own][order],
                values[own][order],
                label=_value(table, others[0], other),
                **pen(k),
            )
    else:
        _bands(ax, distinct, [values[places == d] for d in distinct])


def _value(table: Any, name: str, value: float) -> str:
    """Return a label such as "crank = 0.1 m"."""
    unit = str(table[name].attrs.get("units", "")).replace("*", " ")
    return f"{name} = {value:.4g} {unit}".rstrip()


def _bands(ax: Axes, x: np.ndarray, groups: list[np.ndarray]) -> None:
    """Draw median and quantiles of the groups of values at each x."""
    sound = [g[np.isfinite(g)] for g in groups]
    kept = [k for k, g in enumerate(sound) if len(g)]
    for low, high, dark in QUANTILES:
        edges = np.array([np.quantile(sound[k], [low, high]) for k in kept])
        if not np.ptp(edges, axis=1).max() > 1e-6 * np.ptp(edges):
            continue  # the others have no influence
        ax.fill_between(
            x[kept],
            edges[:, 0],
            edges[:, 1],
            color=COLOURS[0],
            alpha=dark,
            linewidth=0,
            label=f"{low:.0%} to {high:.0%}",
        )
    ax.plot(x[kept], [np.median(sound[k]) for k in kept], color=COLOURS[0], label="median")


def _cloud(ax: Axes, x: np.ndarray, y: np.ndarray) -> None:
    """Draw at most about MOST_POINTS points, and the median in bins of equal count."""
    sound = np.flatnonzero(np.isfinite(y))
    shown = sound[:: max(1, len(sound) // MOST_POINTS)]
    ax.plot(
        x[shown],
        y[shown],
        ".",
        color=COLOURS[0],
        markersize=2.2 if len(shown) > 500 else 4,
        alpha=max(0.08, min(0.8, 300 / max(1, len(shown)))),
        markeredgewidth=0,
        rasterized=True,
    )
    if len(sound) >= 10 * BINS:
        order = sound[np.argsort(x[sound])]
        parts = np.array_split(order, BINS)
        ax.plot(
            [np.median(x[p]) for p in parts],
            [np.median(y[p]) for p in parts],
            color=COLOURS[1],
            label="running median",
        )
