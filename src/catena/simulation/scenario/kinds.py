"""Families whose members are written as a table with a `kind`: controllers and trajectories. One
record per kind.
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
    """Where a table stands. letter: what its values by name are, "q" coordinates or "tau" forces.
    trusted: whether programs may run.
    """

    mechanism: Mechanism
    folder: Path
    letter: str = "q"
    trusted: bool = False


@dataclass(frozen=True)
class Reader:
    """How a key is read, and what may stand there. read(table, key, context): its value; faults go
    to the table.
    """

    type: Type
    read: Callable[[Table, str, Context], object]

    def __call__(self, t: Table, key: str, c: Context) -> object:
        return self.read(t, key, c)


def reads(type: Type) -> Callable[[Callable[[Table, str, Context], object]], Reader]:
    """Make a function a reader of values of that type."""
    return lambda read: Reader(type, read)


@dataclass(frozen=True)
class TableKey:
    """A key of a kind's table, and of its maker's arguments. what: follows where it is missing.
    doc: its meaning in a few words.
    """

    name: str
    read: Reader
    needed: bool = False
    what: str = ""
    doc: str = ""


@dataclass(frozen=True)
class Kind(Generic[Made]):
    """A member: make(**values of its keys) makes it; with `of_mechanism`, the mechanism is its
    first argument. It may be given as "module:name", and is then imported when it is needed. doc:
    one line. alternatives: groups of keys, of which exactly one is given.
    """

    name: str
    make: Callable[..., Made] | str
    keys: tuple[TableKey, ...]
    doc: str
    of_mechanism: bool = False
    alternatives: tuple[tuple[str, ...], ...] = ()

    def described(self) -> FileKind:
        """What a file may say of it; defaults are those of its maker."""
        make = loaded(self.make)
        keys = tuple(
            FileKey(k.name, k.read.type, k.doc, default_of(make, k.name), k.needed)
            for k in self.keys
        )
        return FileKind(self.name, self.doc, keys, self.alternatives)


class Family(Registry[Kind[Made]]):
    """The kinds of a family, by name."""

    def described(self) -> list[FileKind]:
        """What a file may say of each."""
        return [kind.described() for kind in self.values()]

    def read(self, t: Table, context: Context, word: str = "kind") -> Made | None:
        """What a table makes, whose kind stands under the key `word`; None where the table has a
        fault.
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
    """A number of some dimension."""
    return Reader(
        Quantity(dimension, symbolic=False),
        lambda t, key, _: t.number(key, dimension, symbolic=False),
    )


def numbers(dimension: str) -> Reader:
    """A list of numbers."""
    return Reader(
        Several(Quantity(dimension, symbolic=False)),
        lambda t, key, _: [t.scalar(x, key, dimension, symbolic=False) for x in t.items(key)],
    )


@reads(Vector(symbolic=False))
def point(t: Table, key: str, _: Context) -> object:
    """Three lengths."""
    return t.vector(key, "length", symbolic=False)


@reads(Text())
def word(t: Table, key: str, _: Context) -> object:
    """A text."""
    return t.text(key)


def named(of: str) -> Reader:
    """The name of something."""
    return Reader(Name(of=of), word.read)


def choice(*words: str) -> Reader:
    """One of these words; what makes of them looks at them."""
    return Reader(Word(words), word.read)


@reads(Flag())
def flag(t: Table, key: str, _: Context) -> object:
    """True or false."""
    return t.flag(key, False)


def values(letter: str = "", along: str = "") -> Reader:
    """Values by the names of coordinates; with `along`, a list for each, as long as that key's.
    letter: the context's if none.
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
