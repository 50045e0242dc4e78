"""[[scenario.events]]: stops, impulses, locks, releases and instants; see `catena.events` for what
each does.

[[scenario.events]]
event = "impulse"
frame = "tip"
linear = [0, 0, "5 N*s"]
at = "1 s"
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from ...errors import CatenaError
from ...formats.toml import (
    ByName,
    Either,
    Expression,
    FileTable,
    Quantity,
    Several,
    Table,
    Vector,
    Word,
    register,
)
from ...model import JOINT_KINDS as JOINTS
from ...model import Mechanism, law_faults
from ..events.event_kinds import EVENT_KINDS, INSTANT
from .kinds import Context, Family, Kind, Reader, TableKey, choice, flag, named, number, reads, word
from .names import DIMENSIONS, by_name, state_entries


def read_events(t: Table, m: Mechanism, folder: Path) -> list[Any]:
    """Return the events in the order of the file."""
    return [
        event
        for table in t.tables("events")
        if (event := _one(table, Context(m, folder))) is not None
    ]


def _one(t: Table, context: Context) -> Any:
    try:
        return Family("event", _kinds()).read(t, context, "event")
    except (CatenaError, TypeError) as why:
        t.fault(str(why))
        return None


def _kinds() -> list[Kind[Any]]:
    return [
        Kind(
            k.name,
            k.record,
            tuple(
                TableKey(key, READERS[how], _must(k.record, key), doc=doc)
                for key, (how, doc) in k.keys.items()
            ),
            k.summary,
            alternatives=(("at",), ("when",)) if INSTANT.keys() <= k.keys.keys() else (),
        )
        for k in EVENT_KINDS.values()
    ]


def _must(record: type, key: str) -> bool:
    return any(
        f.name == key and f.default is MISSING and f.default_factory is MISSING
        for f in fields(record)
    )


@reads(Either((Quantity("time", symbolic=False), Several(Quantity("time", symbolic=False)))))
def _times(t: Table, key: str, _: Context) -> Any:
    """Read one time or a list of times."""
    if isinstance(t.data[key], list):
        return tuple(t.scalar(x, key, "time", symbolic=False) for x in t.data[key])
    return t.number(key, "time", symbolic=False)


@reads(Quantity("length", symbolic=False, also="angle"))
def _coordinate(t: Table, key: str, c: Context) -> Any:
    """Read a value of the coordinate that the table names under `joint`, in its unit."""
    own = next(
        (p for p in state_entries(c.mechanism, "q") if t.data.get("joint") in (p.name, p.joint)),
        None,
    )
    return t.number(key, own.dimension if own else "any", symbolic=False)


@reads(ByName(*DIMENSIONS["impulse"]))
def _impulses(t: Table, key: str, c: Context) -> Any:
    """Read a table {coordinate or speed: impulse}."""
    table = t.table(key)
    return by_name(table, c.mechanism, "impulse") if table else {}


def _vector(dimension: str) -> Reader:
    """Three numbers of some dimension."""
    return Reader(
        Vector(dimension, symbolic=False),
        lambda t, key, _: t.vector(key, dimension, symbolic=False),
    )


@reads(Expression("t, q_NAME, v_NAME, parameters", only_text=True))
def _guard(t: Table, key: str, c: Context) -> Any:
    """A text that falls to zero; its parameters with units fit the rest of it."""
    text = t.text(key)
    for fault in law_faults(c.mechanism, t.where, key, text):
        t.ledger.faults.append(fault)
    return text


READERS: dict[str, Reader] = {
    "times": _times,
    "coordinate": _coordinate,
    "impulses": _impulses,
    "text": word,
    "flag": flag,
    **{of: named(of) for of in ("joint", "frame", "body", "lock", "contact")},
    "guard": _guard,
    "axes": choice("world", "body"),
    "joint kind": Reader(Word(lambda: JOINTS), word.read),
    "number": number("number"),
    "linear impulse": _vector("impulse"),
    "angular impulse": _vector("angular impulse"),
    "direction": _vector("number"),
}  # how a kind of event says that its keys are read
register(
    FileTable(
        "events",
        "[[scenario.events]]",
        "Something that happens at an instant of a run.",
        (),
        lambda: [k.described() for k in _kinds()],
        "event",
    )
)
