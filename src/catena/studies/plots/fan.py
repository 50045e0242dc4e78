"""Fans: a quantity over time in all runs, as quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ...results.plots import COLOURS, FAINT, legend, stacked
from ..plotting import measures as known_measures
from .labels import chosen, label

QUANTILES = ((0.01, 0.99, 0.12), (0.05, 0.95, 0.2), (0.25, 0.75, 0.32))  # from, to, how dark
# runs that are shown lie at this part of all of them, round and round: they fall in step with no
# axis
GOLDEN = 0.6180339887498949
MOST_RUNS = 20_000  # of which quantiles are taken: at equal distances


def draw(table: Any, measures: Any = None, lines: int = 5) -> Figure:
    """One panel per measure that is kept over time: its median, bands of quantiles, and so many
    runs as lines.
    """
    names = chosen(measures, known_measures(table, over_time=True), "measure over time")
    figure, panels = stacked(len(names), each=2.4)
    every = max(1, table.sizes["run"] // MOST_RUNS)
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
        for k in np.unique((np.arange(lines) * GOLDEN % 1.0 * len(x)).astype(int)):
            ax.plot(t, x[k], color=FAINT, linewidth=0.6)
        ax.plot(t[sound], np.nanmedian(x[:, sound], axis=0), color=COLOURS[0], label="median")
        ax.set_ylabel(label(table, name))
        legend(ax)
    return figure
