"""Motions from markers: a table of measured points over time becomes a trajectory of the
coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ...analysis import marker_kinematics
from ...errors import FormatError
from ...model import Mechanism
from ..planning.plan import machine_of
from ..planning.starts import from_names
from ..trajectories.courses import csv_table, spline
from ..trajectories.piecewise import Trajectory


def marked(
    mechanism: Mechanism, path: Path, guess: Mapping[str, float] | None = None
) -> Trajectory:
    """Return the spline through the coordinates found for each row of a .csv file, whose columns
    are time (s) and FRAME.px, FRAME.py, FRAME.pz (m, in the ground's axes). guess: {coordinate:
    value} at which the search for the first row begins.
    """
    machine = machine_of(mechanism)
    names, times, values = csv_table(path)
    frames = list(dict.fromkeys(n.rpartition(".")[0] for n in names))
    columns = {frame: [f"{frame}.p{axis}" for axis in "xyz"] for frame in frames}
    if wrong := [n for n in names if n not in columns[n.rpartition(".")[0]]] + [
        n for each in columns.values() for n in each if n not in names
    ]:
        raise FormatError(
            path,
            "these are not markers over time:",
            [f"column {n!r}: a marker has FRAME.px, FRAME.py and FRAME.pz" for n in wrong],
        )
    q, _ = from_names(machine, dict(guess or {}), None)
    found = marker_kinematics(
        machine,
        {frame: values[:, [names.index(n) for n in columns[frame]]] for frame in frames},
        guess=q,
    )
    return spline(times, dict(zip(machine.coordinate_names, np.asarray(found.q).T)))
