"""The plots of a result as a page: choose quantities, zoom, read values; one file, no network."""

from __future__ import annotations

import html
from importlib import resources
from pathlib import Path

from ..formats import files
from ..results import Result, film, with_own_parameters
from ..results.scene import describe, wire
from .run_series import series_of


def plot_page(result: Result, path: str | Path) -> Path:
    """Write the plots of one run as an HTML file, and return its path."""
    series, numbers = series_of(
        result, film(result, 1.0, 30, scene=describe(with_own_parameters(result)))
    )
    folder = resources.files("catena.studio")
    text, live, plots = (
        (folder / name).read_text(encoding="utf-8")
        for name in ("plots.html", "live.js", "plots.js")
    )
    data = {
        "series": series,
        "points": numbers.shape[1],
        "numbers": wire.packed(numbers.astype("<f8")),
    }
    title = html.escape(str(result.data.attrs.get("mechanism", "catena")))
    page = wire.page(text, live=live, plots=plots, title=title, data=wire.text(data))
    files.write(Path(path), page)
    return Path(path)
