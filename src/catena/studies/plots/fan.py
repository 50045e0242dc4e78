"""Fans: a quantity over time in all runs, as quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ...results.plots import COLOURS, FAINT, legend, stacked
from ..plotting import measures as known_measures
from .labels import chosen, label

QUANTILES = ((0.01, 0.99, 0.12), (0.05, 0.95, 0.2), (0.25, 0.75, 0.32))  # from, to, opacity
# Runs shown as lines are this fraction of all runs apart, modulo their number: in step with no
# axis of the design.
GOLDEN_FRACTION = 0.6180339887498949
MAX_QUANTILE_RUNS = 20_000  # runs from which quantiles are computed, equally spaced


def draw(table: Any, measures: Any = None, lines: int = 5) -> Figure:
    """Draw one panel per measure over time: its median, bands of quantiles, and `lines` runs as
    lines.
    """
    names = chosen(measures, known_measures(table, over_time=True), "measure over time")
    figure, panels = stacked(len(names), each=2.4)
    every = max(1, table.sizes["run"] // MAX_QUANTILE_RUNS)
    for ax, name in zip(panels, names):
        x = table[name].isel(run=slice(None, None, every)).values
        t = table["time"].values
        sound = np.isfinite(x).any(axis=0)
        for low, high, dark in QUANTILES:
            a, b = np.nanquantile(x[:, sound], [low, high], axis=0)
            ax.fill_between(
                t[sound],
                a,
                b,
                color=COLOURS[0],
                alpha=dark,
                linewidth=0,
                label=f"{low:.0%} to {high:.0%}",
            )
        for k in np.unique((np.arange(lines) * GOLDEN_FRACTION % 1.0 * len(x)).astype(int)):
            ax.plot(t, x[k], color=FAINT, linewidth=0.6)
        ax.plot(t[sound], np.nanmedian(x[:, sound], axis=0), color=COLOURS[0], label="median")
        ax.set_ylabel(label(table, name))
        legend(ax)
    return figure
