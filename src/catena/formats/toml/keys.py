"""The tables of a file: one record per table, with a record for each of its keys.

Readers find in them which keys are allowed, `json_schema.py` makes the schema for editors from
them, and `key_reference.py` the page for users. A package that reads a table of its own adds it
with `register`, as the simulation does for the scenario.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Any

from ...registry import Registry
from .key_types import ByName, Type, Word

NONE: Any = None


@dataclass(frozen=True)
class FileKey:
    """A key of a table: the type of its value, one sentence, and its default (None: there is none).

    needed: whether it is required. kinds: the kinds of the table's records that have it, and
    require it; None: every kind. shown: what the documentation shows in place of the default.
    """

    name: str
    type: Type
    doc: str
    default: Any = NONE
    needed: bool = False
    kinds: Callable[[], Iterable[str]] | None = None
    shown: str = ""

    def usual(self) -> str:
        """The default in the form in which a file would give it."""
        return self.shown or (
            "needed" if self.needed else f"`{toml(self.default)}`" if toml(self.default) else "none"
        )


@dataclass(frozen=True)
class FileKind:
    """The properties of one kind of record in a table: its name, one sentence, its keys, and groups
    of keys of which exactly one must be given.
    """

    name: str
    doc: str
    keys: tuple[FileKey, ...]
    alternatives: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class FileTable:
    """A table of a file.

    name: in this registry. heading: how it is written in a file. own: keys that all its records
    have. more: a function that returns keys which are members of a registry. kinds: a function that
    returns the kinds, which differ in their keys. Both are called each time, since registries grow.
    word: the key that names the kind. usual: the kind of a record without that key. alternatives:
    groups of keys, of which exactly one is given. otherwise: the type of further values, by name,
    in a table without that key.
    """

    name: str
    heading: str
    doc: str
    own: tuple[FileKey, ...]
    kinds: Callable[[], Iterable[FileKind]] | None = None
    word: str = "kind"
    usual: str = ""
    alternatives: tuple[tuple[str, ...], ...] = ()
    otherwise: ByName | None = None
    more: Callable[[], Iterable[FileKey]] = tuple

    @property
    def keys(self) -> tuple[FileKey, ...]:
        """The keys that all records of the table may have."""
        return (*self.own, *self.more())

    @property
    def names(self) -> tuple[str, ...]:
        """The keys that all its records may have."""
        return tuple(key.name for key in self.keys)

    def __getitem__(self, name: str) -> FileKey:
        return next(key for key in self.keys if key.name == name)

    def of_kind(self, kind: FileKind) -> tuple[FileKey, ...]:
        """Return every key of a record of that kind, its kind first."""
        given = FileKey(
            self.word,
            Word((kind.name,)),
            "the kind",
            kind.name if kind.name == self.usual else NONE,
            needed=kind.name != self.usual,
        )
        return (given, *self.keys, *kind.keys)


TABLES: Registry[FileTable] = Registry("table of a file")
register = TABLES.register


def default_of(maker: Any, name: str) -> Any:
    """Return the default of a field of a record, or of an argument of a function; None where it is
    required or empty. maker: the class of the record, or the function.
    """
    if is_dataclass(maker):
        found = next((f.default for f in fields(maker) if f.name == name), None)
        return None if found is MISSING else found
    parameter = inspect.signature(maker).parameters.get(name)
    return (
        None
        if parameter is None or parameter.default is inspect.Parameter.empty
        else parameter.default
    )


def first_sentence(text: str | None) -> str:
    """Return the first sentence of a docstring, without its period."""
    line = " ".join((text or "").split("\n\n")[0].split())
    end = line.find(". ")
    return (line if end < 0 else line[:end]).rstrip(".:")


def toml(value: Any) -> str:
    """Return a default in the form in which a file would give it; "" for none."""
    if value is None or value in ((), "") or (isinstance(value, dict) and not value):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(toml, value))}]"
    return str(value) if isinstance(value, int) else "inf" if value == math.inf else f"{value:g}"
