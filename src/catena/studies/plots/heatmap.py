"""Heat map: a measure over two axes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ...errors import CatenaError
from ...results.plots import WIDTH, Picture
from ..grids import as_grid
from ..plotting import axes, measures, varying_measures
from .labels import chosen, label

COLOURS = "cividis"  # even in lightness, and seen alike by everybody


def draw(
    table: Any, measure: str | None = None, x: str | None = None, y: str | None = None
) -> Figure:
    """Draw a measure as colours over the axes x and y, by default the first two.

    Over all other axes the mean is taken. Cells whose runs all failed are left white. measure: by
    default the first that is not the same in all runs.
    """
    name = (
        chosen(measure, measures(table), "measure")[0]
        if measure is not None
        else (varying_measures(table) or measures(table))[0]
    )
    known = axes(table)
    across = chosen(x, known, "axis")[0] if x else next(a for a in known if a != y)
    upwards = chosen(y, known, "axis")[0] if y else next(a for a in known if a != across)
    if across == upwards:
        raise CatenaError(f"a heat map is over two axes; both are {across!r}")
    grid = as_grid(table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of cells in which every run failed
        mean = (
            grid[name]
            .mean([d for d in grid[name].dims if d not in (across, upwards)], skipna=True)
            .transpose(upwards, across)
        )
    figure = Picture(figsize=(WIDTH, 4.4), layout="constrained")
    ax = figure.subplots()
    ax.grid(False)
    drawn = ax.pcolormesh(
        _edges(grid[across].values),
        _edges(grid[upwards].values),
        _ordered(grid, mean, across, upwards),
        cmap=COLOURS,
        rasterized=True,
    )
    bar = figure.colorbar(drawn, ax=ax, pad=0.02, aspect=28)
    bar.outline.set_visible(False)
    averaged = [d for d in grid[name].dims if d not in (across, upwards) and grid.sizes[d] > 1]
    bar.set_label(
        label(table, name) + (f", mean over {', '.join(map(str, averaged))}" if averaged else "")
    )
    ax.set(xlabel=label(table, across), ylabel=label(table, upwards))
    return figure


def _ordered(grid: Any, values: Any, across: str, upwards: str) -> np.ndarray:
    """Return the values with both axes in increasing order."""
    return values.values[np.argsort(grid[upwards].values)][:, np.argsort(grid[across].values)]


def _edges(values: np.ndarray) -> np.ndarray:
    """Return the borders of cells around values, halfway between neighbours."""
    v = np.sort(values)
    middle = 0.5 * (v[1:] + v[:-1])
    return np.concatenate([[v[0] - (middle[0] - v[0])], middle, [v[-1] + (v[-1] - middle[-1])]])
