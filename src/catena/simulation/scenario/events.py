"""[[scenario.events]]: stops, impulses, locks, releases and instants; see `catena.events` for what each does.

[[scenario.events]]
event = "impulse"
frame = "tip"
linear = [0, 0, "5 N*s"]
at = "1 s"
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...errors import CatenaError, unknown
from ...formats.toml.tables import Table
from ...model.mechanism import Mechanism
from ..event_kinds import EVENT_KINDS
from .names import by_name, places


def read_events(t: Table, m: Mechanism, folder: Path) -> list[Any]:
    """The events, in the order of the file."""
    return [event for table in t.tables("events") if (event := _one(table, m)) is not None]


def _one(t: Table, m: Mechanism) -> Any:
    before, name = t.faults, t.text("event")
    if name not in EVENT_KINDS:
        if name:
            t.fault(f"event: {unknown('event', name, EVENT_KINDS)}")
        return None
    kind = EVENT_KINDS[name]
    t.only(("event", *kind.keys))
    values = {key: READERS[how](t, key, m) for key, how in kind.keys.items() if key in t}
    if t.faults > before:
        return None
    try:
        return kind.record(**values)
    except (CatenaError, TypeError) as why:
        t.fault(str(why))
        return None


def _times(t: Table, key: str, m: Mechanism) -> Any:
    """One time or several."""
    if isinstance(t.data[key], list):
        return tuple(t.scalar(x, key, "time", symbolic=False) for x in t.data[key])
    return t.number(key, "time", symbolic=False)


def _coordinate(t: Table, key: str, m: Mechanism) -> Any:
    """A value of the coordinate that the table names under `joint`."""
    own = next((p for p in places(m, "q") if t.data.get("joint") in (p.name, p.joint)), None)
    return t.number(key, own.dimension if own else "any", symbolic=False)


def _impulses(t: Table, key: str, m: Mechanism) -> Any:
    """{coordinate or speed: impulse}."""
    table = t.table(key)
    return by_name(table, m, "impulse") if table else {}


READERS: dict[str, Callable[[Table, str, Mechanism], Any]] = {
    "times": _times,
    "coordinate": _coordinate,
    "impulses": _impulses,
    "text": lambda t, key, m: t.text(key),
    "flag": lambda t, key, m: t.flag(key, False),
    "number": lambda t, key, m: t.number(key, "number", symbolic=False),
    "vector": lambda t, key, m: t.vector(key, "any", symbolic=False),
    "direction": lambda t, key, m: t.vector(key, "number", symbolic=False),
}  # how a kind of event says that its keys are read
