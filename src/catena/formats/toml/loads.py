"""Loads, rows and constraints: [[load]], [[row]] and [[constraint]] tables, read by the keys of
each kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING as REQUIRED
from dataclasses import fields
from typing import TypeVar

from ...errors import unknown
from ...model import Scalar, Vector
from ...model.loads import (
    CONSTRAINTS,
    LOADS,
    ROWS,
    Constraint,
    Holonomic,
    Key,
    Keyed,
    Load,
    Nonholonomic,
)
from ..draft import MISSING
from .schema import LOAD
from .tables import Table

Kind = TypeVar("Kind", bound=Keyed)


def read_load(t: Table) -> Load | None:
    """Return the load of a [[load]]; None, with a fault, where its kind is not known."""
    return _read(t, "load kind", {kind: load for kind, load in LOADS.items() if load.written})


def read_row(t: Table) -> Nonholonomic | None:
    """Return the speed row of a [[row]]; None, with a fault, where its kind is not known."""
    return _read(t, "row kind", ROWS)


def read_constraint(t: Table) -> Holonomic | None:
    """Return the constraint of a [[constraint]]; one without a kind is an expression."""
    return _read(t, "constraint kind", CONSTRAINTS, Constraint.kind)


def _read(
    t: Table, what: str, known: Mapping[str, type[Kind]], usual: str | None = None
) -> Kind | None:
    kind = usual if usual and "kind" not in t else t.text("kind")
    name = t.text("name", instead=t.where)
    if kind not in known:
        if kind:
            t.fault(unknown(what, kind, known))
        return None
    record = known[kind]
    keys = record.schema()
    defaults = {f.name: f.default for f in fields(record)}
    t.only((*LOAD.names, LOAD.word, *keys))
    given = {
        key: _READERS[keys[key].sort](t, key, keys[key])
        for key in keys
        if key in t or defaults[key] is REQUIRED
    }
    return record(name, **given)


# --- one reader per sort
def _measure(t: Table, k: Key) -> str:
    """Return the dimension of a number. "length|angle" is one of the two, by the coordinate that
    the table names, where that is known.
    """
    slide, both, turn = str(k.measure).partition("|")
    known = t.ledger.slides
    named = next((x for x in t.data.values() if isinstance(x, str) and x in known), None)
    return str(k.measure) if not both or named is None else slide if known[named] else turn


def _name(t: Table, key: str, k: Key) -> str:
    return t.text(key, instead=MISSING)


def _names(t: Table, key: str, k: Key) -> tuple[str, ...]:
    values = t.items(key)
    if wrong := [x for x in values if not isinstance(x, str)]:
        t.fault(f"{key} holds {wrong[0]!r}; it is a list of names")
    return tuple(map(str, values))


def _numbers(t: Table, key: str, k: Key) -> tuple[Scalar, ...]:
    values = t.items(key)
    if isinstance(k.measure, str):
        return tuple(t.scalar(x, key, k.measure) for x in values)
    if len(values) != len(k.measure):
        t.fault(
            f"{key} has {len(values)} values; {len(k.measure)} are wanted: {', '.join(k.measure)}"
        )
        return (0.0,) * len(k.measure)
    return tuple(
        t.scalar(x, f"{key}.{n}", measure)
        for n, (x, measure) in enumerate(zip(values, k.measure), start=1)
    )


def _direction(t: Table, key: str, k: Key) -> Vector:
    values = t.vector(key, "number", symbolic=False)
    if not any(values):
        if key in t:
            t.fault(f"{key} has no direction; give three numbers that are not all zero")
        return (1.0, 0.0, 0.0)
    return values


_READERS: dict[str, Callable[[Table, str, Key], object]] = {
    **dict.fromkeys(("frame", "turning", "sliding", "coordinate", "speed", "word"), _name),
    **dict.fromkeys(("frames", "coordinates"), _names),
    "number": lambda t, key, k: t.number(key, _measure(t, k), instead=1.0),
    "numbers": _numbers,
    "expression": lambda t, key, k: t.expression(t.data.get(key), key),
    "expressions": lambda t, key, k: tuple(t.expression(x, key) for x in t.items(key)),
    **dict.fromkeys(
        ("text", "position", "profile"),
        lambda t, key, k: str(t.expression(t.text(key, instead="0"), key)),
    ),
    "direction": _direction,
    "times": lambda t, key, k: tuple(
        t.scalar(x, key, "time", symbolic=False) for x in t.items(key)
    ),
}
