"""Families whose members are written in a file as a table with the key `kind`: controllers and
trajectories. Each kind is one record.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from ...errors import unknown
from ...formats.toml import (
    ByName,
    FileKey,
    FileKind,
    Flag,
    Name,
    Quantity,
    Several,
    Table,
    Text,
    Type,
    Vector,
    Word,
    default_of,
)
from ...model import Mechanism
from ...registry import Registry, loaded
from .names import DIMENSIONS, by_name

Made = TypeVar("Made")


class Context(NamedTuple):
    """The surroundings of a table that is read. letter: whether its values by name are coordinates
    ("q") or forces ("tau"). trusted: whether programs named in the file may run.
    """

    mechanism: Mechanism
    folder: Path
    letter: str = "q"
    trusted: bool = False


@dataclass(frozen=True)
class Reader:
    """The type of a value in a file, and the function that reads it. read(table, key, context)
    returns the value; faults are reported to the table.
    """

    type: Type
    read: Callable[[Table, str, Context], object]

    def __call__(self, t: Table, key: str, c: Context) -> object:
        return self.read(t, key, c)


def reads(type: Type) -> Callable[[Callable[[Table, str, Context], object]], Reader]:
    """Return a decorator that makes a function the reader of values of that type."""
    return lambda read: Reader(type, read)


@dataclass(frozen=True)
class TableKey:
    """A key of the table of a kind, and an argument of its function `make`. what: a remark that
    follows the error message where the key is missing. doc: its meaning in a few words.
    """

    name: str
    read: Reader
    needed: bool = False
    what: str = ""
    doc: str = ""


@dataclass(frozen=True)
class Kind(Generic[Made]):
    """A member of a family: make(**values of its keys) returns the object; with `of_mechanism`, the
    mechanism is its first argument. doc: one line. alternatives: groups of keys of which exactly
    one must be given.
    """

    name: str
    make: Callable[..., Made] | str
    keys: tuple[TableKey, ...]
    doc: str
    of_mechanism: bool = False
    alternatives: tuple[tuple[str, ...], ...] = ()

    def described(self) -> FileKind:
        """Return the keys that a file may give for this kind, with the default values of `make`."""
        make = loaded(self.make)
        keys = tuple(
            FileKey(k.name, k.read.type, k.doc, default_of(make, k.name), k.needed)
            for k in self.keys
        )
        return FileKind(self.name, self.doc, keys, self.alternatives)


class Family(Registry[Kind[Made]]):
    """The kinds of a family, by name."""

    def described(self) -> list[FileKind]:
        """Return the keys that a file may give for each kind."""
        return [kind.described() for kind in self.values()]

    def read(self, t: Table, context: Context, word: str = "kind") -> Made | None:
        """Return the object that a table describes; None where the table has a fault. word: the key
        under which its kind stands.
        """
        before, name = t.faults, t.text(word)
        if name not in self:
            if name:
                t.fault(f"{word}: {unknown(self.what, name, self)}")
            return None
        kind = self[name]
        t.only((word, *(key.name for key in kind.keys)))
        values = {}
        for key in kind.keys:
            if key.name in t:
                values[key.name] = key.read(t, key.name, context)
            elif key.needed:
                t.fault(f"{key.name} is missing" + (f": {key.what}" if key.what else ""))
        if t.faults > before:
            return None
        first = (context.mechanism,) if kind.of_mechanism else ()
        made: Made = loaded(kind.make)(*first, **values)
        return made


# --- readers of keys
def number(dimension: str) -> Reader:
    """Return a reader of a number of some dimension."""
    return Reader(
        Quantity(dimension, symbolic=False),
        lambda t, key, _: t.number(key, dimension, symbolic=False),
    )


def numbers(dimension: str) -> Reader:
    """Return a reader of a list of numbers of some dimension."""
    return Reader(
        Several(Quantity(dimension, symbolic=False)),
        lambda t, key, _: [t.scalar(x, key, dimension, symbolic=False) for x in t.items(key)],
    )


@reads(Vector(symbolic=False))
def point(t: Table, key: str, _: Context) -> object:
    """Read three lengths."""
    return t.vector(key, "length", symbolic=False)


@reads(Text())
def word(t: Table, key: str, _: Context) -> object:
    """Read a string."""
    return t.text(key)


def named(of: str) -> Reader:
    """Return a reader of the name of an item of the mechanism."""
    return Reader(Name(of=of), word.read)


def choice(*words: str) -> Reader:
    """Return a reader of one of these words; the function `make` checks it."""
    return Reader(Word(words), word.read)


@reads(Flag())
def flag(t: Table, key: str, _: Context) -> object:
    """Read true or false."""
    return t.flag(key, False)


def values(letter: str = "", along: str = "") -> Reader:
    """Return a reader of values by the names of coordinates; with `along`, of a list of values for
    each coordinate, as long as the list under that key. letter: "q" or "tau", by default that of
    the context.
    """

    slides, turns = DIMENSIONS[letter or "q"]

    @reads(ByName(slides, turns, bool(along)))
    def read(t: Table, key: str, c: Context) -> object:
        table = t.table(key)
        if table is None:
            t.fault(f"{key} has no coordinates")
            return None
        count = len(t.items(along)) if along and along in t else None
        return by_name(table, c.mechanism, letter or c.letter, count)

    return read
