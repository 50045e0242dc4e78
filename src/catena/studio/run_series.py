"""A run in the form in which the studio's page receives it: a film, and the numbers of its
plots.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model import coordinate_units, speed_units
from ..results import Film, Result, film
from ..results.scene import Scene

Array = np.ndarray
RATE = 60  # pictures per second
MAX_FILM_SECONDS = 60.0  # s of film; a longer run has fewer pictures per second
MAX_PLOT_POINTS = 1500  # points of a plot, at most


def film_of(result: Result, scene: Scene) -> Film:
    """Return the film of a run with the scene on the page."""
    duration = float(result.time[-1] - result.time[0])
    return film(result, max(1.0, duration / MAX_FILM_SECONDS), RATE, scene=scene)


def series_of(result: Result, shown: Film) -> tuple[list[dict[str, Any]], Array]:
    """Return names, units and groups of the quantities that can be plotted, and their values (1 +
    series, points), time first.
    """
    thin = result.thinned(MAX_PLOT_POINTS)
    m = result.mechanism
    qu, vu = ([u for j in m.moving for u in units(j)] for units in (coordinate_units, speed_units))
    rows: list[tuple[dict[str, Any], Array]] = []
    for letter, names, units, group in (
        ("q", m.coordinate_names, qu, "coordinates"),
        ("v", m.speed_names, vu, "speeds"),
    ):
        values = thin.data[letter].values
        rows += [
            ({"name": n, "unit": u, "group": group}, values[:, k])
            for k, (n, u) in enumerate(zip(names, units))
        ]
    kinetic = thin.data["kinetic"].values
    potential = thin.data["potential"].values
    rows += [
        ({"name": n, "unit": "J", "group": "energy"}, x)
        for n, x in (("kinetic", kinetic), ("potential", potential), ("total", kinetic + potential))
    ]
    if "tau" in thin.data:
        tau = thin.data["tau"].values
        rows += [
            ({"name": n, "unit": "N m" if u == "rad/s" else "N", "group": "forces"}, tau[:, k])
            for k, (n, u) in enumerate(zip(m.speed_names, vu))
            if np.abs(tau[:, k]).max() > 0
        ]
    drives = thin.drive_forces()
    rows += [
        (
            {
                "name": f"{x['driven'].item()} (drive {x['drive'].item()!r})",
                "unit": str(x["drive_unit"].item()),
                "group": "forces",
            },
            x.values,
        )
        for x in drives.transpose("drive", ...)
    ]
    every = np.linspace(0, 1, len(thin.time))
    for name, track in shown.tracks.items():
        at = np.linspace(0, 1, len(track))
        rows += [
            (
                {"name": f"{name} {axis}", "unit": "m", "group": "tips"},
                np.interp(every, at, track[:, k]),
            )
            for k, axis in enumerate("xyz")
        ]
    return [row for row, _ in rows], np.nan_to_num(np.stack([thin.time, *(x for _, x in rows)]))
