"""Labels of variables and measures on axes."""

from __future__ import annotations

from typing import Any

from ...errors import UnknownNameError
from ...results.plots import named

MAX_LABEL_LETTERS = 40  # a longer name is shortened


def label(table: Any, name: str, longest: int = MAX_LABEL_LETTERS) -> str:
    """Return the label of a variable with its unit, or the name of a measure, shortened."""
    shown = name if len(name) <= longest else f"{name[: longest - 3]}..."
    unit = str(table[name].attrs.get("units", "")) if name in table.variables else ""
    return named(shown, unit.replace("*", " ").replace("^", ""))


def chosen(asked: Any, known: list[str], what: str) -> list[str]:
    """Return the names asked for, or all for None; raise UnknownNameError for others."""
    if asked is None:
        return known
    names = [asked] if isinstance(asked, str) else list(asked)
    for name in names:
        if name not in known:
            raise UnknownNameError(what, name, known, "this table")
    return names
