"""Lists of runs from a CSV file: a column for each variable, a row for each run. The unit of a
column is given in brackets, `crank [cm]`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CatenaError, FormatError
from .design import Grid
from .ranges import in_unit

_HEAD = re.compile(r"(?P<name>.*?)\s*(?:\[(?P<unit>[^\]]*)\])?")


def read_names(path: str | Path) -> list[str]:
    """Return the variables for which a file has columns."""
    return [name for name, _ in _heads(path)[1]]


def read_rows(path: str | Path, units: dict[str, str | None]) -> Grid:
    """Return the rows of a file in SI units.

    units: the SI units of the variables, None where any is allowed. Raises FormatError with every
    fault.
    """
    table, heads = _heads(path)
    faults, columns = [], []
    for (name, unit), column in zip(heads, table.columns):
        try:
            factor = in_unit(f"1 {unit}", units[name], f"column {name!r}") if unit else 1.0
            numbers = np.array(table[column], dtype=float)
            if not np.isfinite(numbers).all():
                faults.append(
                    f"column {name!r} has no finite number in row"
                    f" {int(np.argmin(np.isfinite(numbers))) + 2}"
                )
            columns.append(numbers * factor)
        except ValueError as why:
            faults.append(
                str(why)
                if isinstance(why, CatenaError)
                else f"column {name!r} holds what is no number: {why}"
            )
    if faults:
        raise FormatError(path, "the list of runs has faults:", faults)
    return Grid(tuple(name for name, _ in heads), np.stack(columns, axis=1))


def _heads(path: str | Path) -> tuple[Any, list[tuple[str, str]]]:
    """Return the table of a file, and the name and unit of each column."""
    import pandas as pd  # type: ignore[import-untyped]

    try:
        table = pd.read_csv(path, comment="#", skipinitialspace=True)
    except FileNotFoundError:
        raise FormatError(
            path, "there is no such file; a list of runs is a .csv with a column for each variable"
        ) from None
    except (ValueError, OSError) as why:
        raise FormatError(path, f"this is not a list of runs: {str(why).splitlines()[0]}") from None
    if not len(table) or not len(table.columns):
        raise FormatError(
            path,
            "the list of runs is empty; it has names in its first line, and a row for each run",
        )
    found = [_HEAD.fullmatch(str(c).strip()) for c in table.columns]
    return table, [(m["name"], m["unit"] or "") for m in found if m]
