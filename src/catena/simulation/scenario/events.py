"""[[scenario.events]]: stops, impulses, locks, releases and instants; see `catena.events` for what each does.

[[scenario.events]]
event = "impulse"
frame = "tip"
linear = [0, 0, "5 N*s"]
at = "1 s"
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...errors import CatenaError
from ...formats.toml.tables import Table
from ...model.mechanism import Mechanism
from ..event_kinds import EVENT_KINDS
from .kinds import Context, Family, Kind, Reader, TableKey, flag, number, word
from .names import by_name, state_entries


def read_events(t: Table, m: Mechanism, folder: Path) -> list[Any]:
    """The events, in the order of the file."""
    return [event for table in t.tables("events") if (event := _one(table, Context(m, folder))) is not None]


def _one(t: Table, context: Context) -> Any:
    kinds = [Kind(k.name, k.record, tuple(TableKey(key, READERS[how]) for key, how in k.keys.items()), k.summary) for k in EVENT_KINDS.values()]
    try:
        return Family("event", kinds).read(t, context, "event")
    except (CatenaError, TypeError) as why:
        t.fault(str(why))
        return None


def _times(t: Table, key: str, _: Context) -> Any:
    """One time or several."""
    if isinstance(t.data[key], list):
        return tuple(t.scalar(x, key, "time", symbolic=False) for x in t.data[key])
    return t.number(key, "time", symbolic=False)


def _coordinate(t: Table, key: str, c: Context) -> Any:
    """A value of the coordinate that the table names under `joint`."""
    own = next((p for p in state_entries(c.mechanism, "q") if t.data.get("joint") in (p.name, p.joint)), None)
    return t.number(key, own.dimension if own else "any", symbolic=False)


def _impulses(t: Table, key: str, c: Context) -> Any:
    """{coordinate or speed: impulse}."""
    table = t.table(key)
    return by_name(table, c.mechanism, "impulse") if table else {}


READERS: dict[str, Reader] = {
    "times": _times,
    "coordinate": _coordinate,
    "impulses": _impulses,
    "text": word,
    "flag": flag,
    "number": number("number"),
    "vector": lambda t, key, _: t.vector(key, "any", symbolic=False),
    "direction": lambda t, key, _: t.vector(key, "number", symbolic=False),
}  # how a kind of event says that its keys are read
