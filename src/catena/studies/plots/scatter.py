"""Scatter matrix: variables and measures against each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ...results.plots import COLOURS, WIDTH, Picture
from ..plotting import measures, variables, varying_measures
from .labels import chosen, label

MAX_PANELS, MOST_POINTS, BINS = 6, 5000, 30


def draw(table: Any, names: Any = None) -> Figure:
    """Draw variables and measures against each other, at most six, measures last.

    Points are below the diagonal, histograms on it, the rank correlation (Spearman) above it.
    """
    known = [*variables(table), *measures(table)]
    own = (
        chosen(names, known, "variable or measure") if names is not None else _default_names(table)
    )
    values = [np.asarray(table[n].values, float) for n in own]
    sound = np.flatnonzero(np.isfinite(np.stack(values)).all(axis=0))
    shown = sound[:: max(1, len(sound) // MOST_POINTS)]
    n = len(own)
    figure = Picture(figsize=(WIDTH, 0.5 + 6.2 * max(n, 3) / 6 + 0.5), layout="constrained")
    panels = figure.subplots(n, n, squeeze=False)
    for i in range(n):
        for j in range(n):
            ax = panels[i, j]
            if i == j:
                _histogram(ax, values[i][sound])
                ax.set_yticks([])
                ax.grid(False)
            elif i > j:
                ax.plot(
                    values[j][shown],
                    values[i][shown],
                    ".",
                    color=COLOURS[0],
                    markersize=2.5,
                    alpha=max(0.06, min(0.8, 400 / max(1, len(shown)))),
                    markeredgewidth=0,
                    rasterized=True,
                )
                ax.margins(0.05)
            else:
                _correlation(ax, values[j][sound], values[i][sound])
            _label_edges(ax, table, own, i, j)
    return figure


def _default_names(table: Any) -> list[str]:
    """Return the names that are drawn by default: variables, then measures that vary."""
    own = variables(table)
    seen = varying_measures(table)
    room = max(1, MAX_PANELS - len(seen[: MAX_PANELS // 2]))
    return [*own[:room], *seen[: MAX_PANELS - len(own[:room])]]


def _histogram(ax: Any, x: np.ndarray) -> None:
    """Draw a histogram of thirty bins; for few distinct values, as those of an axis, one bar
    each.
    """
    distinct, counts = np.unique(x, return_counts=True)
    if 1 < len(distinct) <= BINS and len(distinct) < len(x):
        ax.bar(distinct, counts, 0.8 * np.diff(distinct).min(), color=COLOURS[0], alpha=0.75)
    else:
        ax.hist(x, bins=BINS, color=COLOURS[0], alpha=0.75)


def _correlation(ax: Any, x: np.ndarray, y: np.ndarray) -> None:
    """Write the rank correlation into a panel, larger where it is stronger."""
    from scipy.stats import spearmanr

    flat = len(x) < 3 or not np.ptp(x) > 0 or not np.ptp(y) > 0
    ax.axis("off")
    rank = np.nan if flat else float(spearmanr(x, y)[0])
    strength = 0.0 if flat else abs(rank)
    ax.text(
        0.5,
        0.5,
        "" if flat else f"{rank:+.2f}".replace("-", "−"),
        transform=ax.transAxes,
        ha="center",
        va="center",
        fontsize=8 + 6 * strength,
        color=COLOURS[1] if strength > 0.3 else "#888888",
    )


def _label_edges(ax: Any, table: Any, own: list[str], i: int, j: int) -> None:
    """Label only the panels at the left and at the bottom."""
    if i == len(own) - 1:
        ax.set_xlabel(label(table, own[j], 20))
    else:
        ax.set_xticklabels([])
    if j == 0:
        ax.set_ylabel(label(table, own[i], 20))
    elif i != j:
        ax.set_yticklabels([])
