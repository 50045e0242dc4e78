"""A task of synthesis from a TOML file: the arguments of `catena.synthesize`, with units.

[synthesize]
task = "path"
points = [["0 cm", "0 cm"], ["3 cm", "1 cm"], ["6 cm", "1.5 cm"]]
full_turn = true
transmission_angle = "40 deg"
size = "30 cm"
density = "0.8 kg/m"          # of the bars in the model files that are written
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import CatenaError, FormatError, QuantityError, unknown
from ..formats import in_unit
from .tasks import TASKS

LIMITS = {
    "full_turn": "",
    "transmission_angle": "rad",
    "size": "m",
    "box": "m",
    "ordered": "",
    "density": "kg/m",
}
UNITS = {
    "inputs": "rad",
    "outputs": "rad",
    "ground": "m",
    "points": "m",
    "timing": "rad",
    "pivot": "m",
    "second_pivot": "m",
    "poses": ("m", "m", "rad"),
    "samples": "",
    "starts": "",
    "seed": "",
}


def read_task(path: str | Path) -> dict[str, Any]:
    """Read the table [synthesize] of a file.

    Parameters
    ----------
    path : str or Path
        A TOML file.

    Returns
    -------
    dict
        The arguments of `catena.synthesize`, and `density` (kg/m) where the file has it.

    Raises
    ------
    FormatError
        With every fault of the file.
    """
    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise FormatError(path, f"it cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FormatError(path, f"it is not TOML: {error}") from None
    table = document.get("synthesize")
    if not isinstance(table, Mapping):
        raise FormatError(path, "it has no table [synthesize]; that says what to synthesize")
    task = table.get("task")
    if not isinstance(task, str) or task not in TASKS:
        raise FormatError(path, unknown("task", task, TASKS, "[synthesize]"))
    allowed = {"task": "", **TASKS[task].keys, **LIMITS}
    faults = [unknown("key", key, allowed, "[synthesize]") for key in table if key not in allowed]
    found: dict[str, Any] = {}
    for key, value in table.items():
        if key not in allowed or key == "task":
            continue
        try:
            found[key] = _value(value, LIMITS.get(key, UNITS.get(key, "")), key)
        except CatenaError as error:
            faults.append(str(error))
    if faults:
        raise FormatError(path, "the table [synthesize] is not valid", faults)
    return {"task": task, **found}


def _value(value: Any, unit: Any, key: str) -> Any:
    """Return a value, or a list of them, in SI."""
    if isinstance(unit, tuple):
        if not isinstance(value, list) or any(
            not isinstance(row, list) or len(row) != len(unit) for row in value
        ):
            raise QuantityError(f"{key} is {value!r}; it is a list of rows x, y, angle")
        return [[_value(x, u, key) for x, u in zip(row, unit, strict=True)] for row in value]
    if isinstance(value, list):
        return [_value(x, unit, key) for x in value]
    return in_unit(value, unit, key) if unit else value
