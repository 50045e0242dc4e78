"""How variables and measures are called on axes."""

from __future__ import annotations

from typing import Any

from ...errors import UnknownNameError
from ...results.plots import named

LONGEST = 40  # letters of a label


def label(table: Any, name: str, longest: int = LONGEST) -> str:
    """A variable with its unit; a measure by its name, shortened."""
    shown = name if len(name) <= longest else f"{name[: longest - 3]}..."
    unit = str(table[name].attrs.get("units", "")) if name in table.variables else ""
    return named(shown, unit.replace("*", " ").replace("^", ""))


def chosen(asked: Any, known: list[str], what: str) -> list[str]:
    """The names asked for, or all."""
    if asked is None:
        return known
    names = [asked] if isinstance(asked, str) else list(asked)
    for name in names:
        if name not in known:
            raise UnknownNameError(what, name, known, "this table")
    return names
