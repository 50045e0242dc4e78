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

from ...errors import CatenaError, unknown
from ...formats.toml.tables import Table
from ...model.mechanism import Mechanism
from .names import by_name, places

WHEN = ("at", "when", "name")
KEYS: dict[str, tuple[str, ...]] = {
    "stop": ("joint", "restitution", "lower", "upper"),
    "impulse": (*WHEN, "frame", "linear", "angular", "axes", "joint"),
    "lock": (*WHEN, "joint", "frame", "to", "kind", "axis"),
    "release": (*WHEN, "lock"),
    "when": (*WHEN, "end"),
}


def read_events(t: Table, m: Mechanism, folder: Path) -> list[Any]:
    """The events, in the order of the file."""
    return [event for table in t.tables("events") if (event := _one(table, m)) is not None]


def _one(t: Table, m: Mechanism) -> Any:
    from ..events import EVENTS

    before = t.faults
    kind = t.text("event")
    if kind not in KEYS:
        if kind:
            t.fault(f"event: {unknown('event', kind, KEYS)}")
        return None
    t.only(("event", *KEYS[kind]))
    values = {key: _value(t, kind, key, m) for key in KEYS[kind] if key in t}
    if t.faults > before:
        return None
    try:
        return EVENTS[kind](**values)
    except (CatenaError, TypeError) as why:
        t.fault(str(why))
        return None


def _value(t: Table, kind: str, key: str, m: Mechanism) -> Any:
    if key == "at":
        many = isinstance(t.data[key], list)
        return (
            tuple(t.scalar(x, key, "time", symbolic=False) for x in t.data[key])
            if many
            else t.number(key, "time", symbolic=False)
        )
    if key in ("linear", "angular"):
        return t.vector(key, "any", symbolic=False)
    if key == "axis":
        return t.vector(key, "number", symbolic=False)
    if key in ("lower", "upper"):
        own = next((p for p in places(m, "q") if t.data.get("joint") in (p.name, p.joint)), None)
        return t.number(key, own.dimension if own else "any", symbolic=False)
    if key == "restitution":
        return t.number(key, "number", symbolic=False)
    if key == "joint" and kind == "impulse":
        table = t.table(key)
        return by_name(table, m, "impulse") if table else {}
    if key == "end":
        return t.flag(key, False)
    return t.text(key)
