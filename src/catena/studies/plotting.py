"""The registry of pictures of studies: one record per picture holds what `plot`, the command line
and the documentation need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import CatenaError, UnknownNameError
from ..registry import Registry, loaded
from ..results import plotting

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class StudyPlot:
    """A picture of a table, or of indices.

    draw: the function (table, **options) -> Figure, or where it is. doc: one line. needs: a phrase
    that says what the table must contain. shows(table): whether the table contains it. options: its
    keywords.
    """

    name: str
    draw: Callable[..., Figure] | str
    doc: str
    needs: str
    shows: Callable[[Any], bool]
    options: tuple[str, ...] = ()


PLOTS: Registry[StudyPlot] = Registry("picture of a study")
register = PLOTS.register
find = PLOTS.find


def plot(
    table: xr.Dataset, what: str | None = None, *, title: str | None = None, **options: Any
) -> Figure:
    """Return a picture of a table (or of indices) as a matplotlib Figure.

    what: one of `PLOTS`, by default the first that suits the table. title: by default the name of
    the mechanism. Raises CatenaError where the table lacks what the picture shows.
    """
    import matplotlib as mpl

    from ..results.plots import HOUSE, plain_ticks

    kind = (
        find(what)
        if what is not None
        else next((p for p in PLOTS.values() if p.shows(table)), None)
    )
    if kind is None:
        raise CatenaError(
            "there is nothing to draw in this table: it needs a variable with several values, and a"
            " measure"
        )
    for name in options:
        if name not in kind.options:
            raise UnknownNameError("option", name, kind.options, f"the picture {kind.name!r}")
    if not kind.shows(table):
        raise CatenaError(f"picture {kind.name!r} needs {kind.needs}; this table has none")
    with mpl.rc_context(HOUSE):
        figure = loaded(kind.draw)(table, **options)
        plain_ticks(figure)
        title = str(table.attrs.get("mechanism", "")) if title is None else title
        if title:
            figure.suptitle(title, x=0.01, ha="left")
    return figure


def save(table: xr.Dataset, path: str | Path, what: str | None = None, **options: Any) -> Path:
    """Draw a picture, write it to a .png, .pdf or .svg file, and return its path."""
    return plotting.write(path, "picture", lambda: plot(table, what, **options))


def markdown() -> str:
    """Return the pictures as a Markdown table, which docs/studies.md includes."""
    return plotting.table("picture", PLOTS.values())


# --- those of catena
def variables(table: Any) -> list[str]:
    """Return the variables of a table that have several values."""
    return [
        n for n in table.attrs.get("variables", ()) if table[n].values.min() < table[n].values.max()
    ]


def measures(table: Any, over_time: bool = False) -> list[str]:
    """Return the measures of a table that are one number per run, or those over time."""
    dims = ("run", "time") if over_time else ("run",)
    return [str(n) for n, x in table.data_vars.items() if x.dims == dims and n != "failure"]


def varying_measures(table: Any) -> list[str]:
    """Return the measures with one number per run that differ between runs."""
    return [
        n
        for n in measures(table)
        if len(np.unique(table[n].values[np.isfinite(table[n].values)])) > 1
    ]


def axes(table: Any) -> list[str]:
    """Return the axes of a table that have several values."""
    sizes = zip(table.attrs.get("dimensions", ()), table.attrs.get("shape", ()))
    return [name for name, n in sizes if n > 1 and name in table.coords]


def _numbers(table: Any) -> bool:
    """Return whether a table has a variable and a measure that is one number per run."""
    return "run" in table.dims and bool(measures(table)) and bool(variables(table))


_HERE = "catena.studies.plots"
for _plot in (
    StudyPlot(
        "heatmap",
        f"{_HERE}.heatmap:draw",
        "a measure over two axes, as colours",
        "two axes and a measure that is one number",
        lambda t: _numbers(t) and len(axes(t)) >= 2,
        ("measure", "x", "y"),
    ),
    StudyPlot(
        "response",
        f"{_HERE}.response:draw",
        "each measure over one variable; where others vary too, quantiles or points",
        "a variable and a measure that is one number",
        _numbers,
        ("measures", "over"),
    ),
    StudyPlot(
        "scatter",
        f"{_HERE}.scatter:draw",
        "variables and measures against each other, with histograms",
        "a variable and a measure that is one number",
        _numbers,
        ("names",),
    ),
    StudyPlot(
        "fan",
        f"{_HERE}.fan:draw",
        "a quantity over time: median and quantiles of all runs, some of them as lines",
        "a measure that is kept over time",
        lambda t: "run" in t.dims and bool(measures(t, True)),
        ("measures", "lines"),
    ),
    StudyPlot(
        "sobol",
        f"{_HERE}.bars:sobol",
        "first-order and total Sobol indices as bars, with confidence",
        "Sobol indices, from study.sensitivity('sobol')",
        lambda t: "ST" in t,
        ("measures",),
    ),
    StudyPlot(
        "tornado",
        f"{_HERE}.bars:tornado",
        "how far each variable alone moves a measure",
        "study.sensitivity('tornado')",
        lambda t: {"low", "high", "nominal"} <= set(t.data_vars),
        ("measures",),
    ),
    StudyPlot(
        "morris",
        f"{_HERE}.bars:morris",
        "elementary effects: their spread over their mean size",
        "study.sensitivity('morris')",
        lambda t: "mu_star" in t,
        ("measures",),
    ),
):
    register(_plot)
