"""Measured trajectories: from a log to columns of coordinates and speeds, as they were measured.

A log has `time` (s), some of `q NAME` and `v NAME`, and `tau NAME` of known joint forces, each
constant from its row to the next. Nothing is filtered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import StudyError, unknown
from ..machine import Machine, coordinates
from .measured_motion import columns_of, not_finite

Array = NDArray[np.float64]
SLOPE_ROWS = 4  # rows to either side through which a parabola estimates a speed


@dataclass(frozen=True)
class MeasuredTrajectory:
    """A measured trajectory.

    t: (T,) s. names: of the measured columns. columns: for each its letter ("q" or "v") and its
    index in q or v. y: (T, m), the measurements. scale: (m,), the standard deviation of each
    column. tau: (T, nv), known joint forces. guess: {(letter, index): (T,)}, first guesses of the
    states that the log determines. first: {letter: {name: (T,)}}, the same guesses by name. notes:
    what was read, in sentences.
    """

    t: Array
    names: tuple[str, ...]
    columns: tuple[tuple[str, int], ...]
    y: Array
    scale: Array
    tau: Array
    guess: Mapping[tuple[str, int], Array]
    first: Mapping[str, Mapping[str, Array]]
    notes: tuple[str, ...]


def measured_trajectory(machine: Machine, data: Any) -> MeasuredTrajectory:
    """Return the trajectory in a .csv file, a pandas table, a mapping of columns, or a Result.

    Raises StudyError with every fault.
    """
    table, source = columns_of(data)
    clock = next((c for c in table if c.lower() in ("time", "t")), None)
    known = {"q": machine.coordinate_names, "v": machine.speed_names, "tau": machine.speed_names}
    found: dict[str, dict[str, Array]] = {letter: {} for letter in known}
    faults = (
        []
        if clock is not None
        else [f"there is no column 'time' (s); its columns are {', '.join(list(table)[:12])}"]
    )
    for column, x in table.items():
        letter, _, name = column.partition(" ")
        if column in machine.coordinate_names:
            letter, name = "q", column
        if letter not in known or not name:
            continue
        if name not in known[letter]:
            faults.append(
                f"column {column!r}: "
                + unknown(
                    "coordinate" if letter == "q" else "speed",
                    name,
                    known[letter],
                    f"mechanism {machine.mechanism.name!r}",
                )
            )
        elif not np.isfinite(x).all():
            faults.append(not_finite(column, x))
        else:
            found[letter][name] = x
    if not found["q"] and not found["v"] and not faults:
        faults.append(
            "it has no column 'q NAME' or 'v NAME'; coordinates are"
            f" {', '.join(machine.coordinate_names)}"
        )
    if clock is not None and not (
        np.isfinite(table[clock]).all() and (np.diff(table[clock]) > 0).all()
    ):
        faults.append("its times are finite and rise from row to row; these do not")
    if faults:
        raise StudyError(
            f"{source} is no trajectory of mechanism {machine.mechanism.name!r}:", faults
        )
    assert clock is not None
    return _read(machine, table[clock], found)


def _read(machine: Machine, t: Array, found: dict[str, dict[str, Array]]) -> MeasuredTrajectory:
    """Return the trajectory of columns that were checked; speeds that are missing are estimated."""
    places = {"q": machine.coordinate_names.index, "v": machine.speed_names.index}
    names = [f"{letter} {n}" for letter in "qv" for n in found[letter]]
    columns = [(letter, places[letter](n)) for letter in "qv" for n in found[letter]]
    y = np.stack([x for letter in "qv" for x in found[letter].values()], axis=1)
    tau = np.zeros((len(t), machine.nv))
    for n, x in found["tau"].items():
        tau[:, machine.speed_names.index(n)] = x
    speeds = {
        c.speed: _slope(t, found["q"][c.name])
        for c in coordinates(machine)
        if c.name in found["q"] and c.speed not in found["v"]
    }
    first = {"q": found["q"], "v": {**speeds, **found["v"]}}
    guess = {(letter, places[letter](n)): x for letter in "qv" for n, x in first[letter].items()}
    notes = [
        f"measured: {', '.join(names)}, {len(t)} rows from {t[0]:g} to {t[-1]:g} s, as they are"
    ]
    if found["tau"]:
        notes.append(f"known forces of {', '.join(found['tau'])}, each from its row to the next")
    spread = y.std(axis=0)
    return MeasuredTrajectory(
        t,
        tuple(names),
        tuple(columns),
        y,
        np.where(spread > 0.0, spread, np.abs(y).max(axis=0) + (np.abs(y).max(axis=0) == 0.0)),
        tau,
        guess,
        first,
        tuple(notes),
    )


def _slope(t: Array, x: Array) -> Array:
    """Return the slope of a parabola through the rows around each row."""
    found = np.zeros(len(t))
    for k in range(len(t)):
        own = slice(max(0, k - SLOPE_ROWS), k + SLOPE_ROWS + 1)
        found[k] = np.polyfit(t[own] - t[k], x[own], min(2, len(t[own]) - 1))[-2]
    return found
