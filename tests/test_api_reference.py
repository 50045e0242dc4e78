"""The API reference: every public name is in it, and its docstring has the parts that it needs."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import catena
from catena.results.ledger import Ledger

PAGE = (Path(__file__).parent.parent / "docs" / "api.md").read_text(encoding="utf-8")
FUNCTIONS = [name for name in catena.__all__ if inspect.isfunction(getattr(catena, name))]
CLASSES = [name for name in catena.__all__ if inspect.isclass(getattr(catena, name))]
# the methods of loads are for those who write their own: docs/extending/loads_and_constraints.md
LOADS = {
    name for name in CLASSES if getattr(catena, name).__module__.startswith("catena.model.loads")
}
METHODS = [
    (kind, name)
    for kind in (getattr(catena, name) for name in CLASSES if name not in LOADS)
    for name, value in vars(kind).items()
    if not name.startswith("_") and inspect.isfunction(getattr(value, "__func__", value))
]


def lacks(value: object) -> list[str]:
    """Return what the docstring of a function or class does not have and should."""
    said = inspect.getdoc(value) or ""
    wanted = {"a summary": r"\A\S.*\S\s*(?:\n|\Z)"}
    signature = None if value is catena.CatenaError else inspect.signature(value)  # type: ignore[arg-type]
    if signature is None or set(signature.parameters) - {"self", "cls"}:
        wanted["Parameters"] = r"^Parameters\n-{10}$"
    if inspect.isroutine(value) and inspect.signature(value).return_annotation != "None":
        wanted["Returns"] = r"^(Returns|Yields)\n-+$"
    return [part for part, pattern in wanted.items() if not re.search(pattern, said, re.MULTILINE)]


@pytest.mark.parametrize("name", FUNCTIONS + CLASSES)
def test_public_names_say_what_they_take_and_return(name):
    assert lacks(getattr(catena, name)) == []


@pytest.mark.parametrize("kind, name", METHODS, ids=lambda x: getattr(x, "__name__", x))
def test_public_methods_say_what_they_take_and_return(kind, name):
    assert lacks(getattr(kind, name)) == []


def test_every_public_name_is_in_the_reference():
    for name in FUNCTIONS:
        assert f".. autofunction:: catena.{name}\n" in PAGE, name
    for name in CLASSES:
        assert f".. autoclass:: catena.{name}\n" in PAGE, name
    for name in set(catena.__all__) - {*FUNCTIONS, *CLASSES}:
        assert f"catena.{name}" in PAGE, name
    assert f"catena.results.ledger.{Ledger.__name__}" in PAGE
