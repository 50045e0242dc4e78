"""The faults of loads, speed rows and constraints, as their keys define them; a part of
`validation`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from ..errors import ExpressionError, unknown
from . import carriers
from .carriers import place_names
from .expressions import parse
from .loads import Key, identifier
from .loads.keys import Keyed
from .mechanism import GROUND, Mechanism
from .pose import Scalar
from .values import value_of


def load_faults(m: Mechanism) -> Iterator[str]:
    """Yield every fault of the loads and rows of a mechanism whose bodies and joints are valid."""
    if not (m.loads or m.row_records):
        return
    known = _Known.of(m)
    names = False
    for what, things in (("load", m.loads), ("row", m.nonholonomic), ("constraint", m.constraints)):
        for thing in things:
            found = [
                fault
                for name, key in thing.schema().items()
                for fault in _held(thing, name, key, known)
            ]
            names = names or bool(found)
            yield from (
                f"{what} {thing.name!r}: {fault}" for fault in (*found, *thing.faults(m.parameters))
            )
    yield from _twice(m)
    if not names:
        yield from carriers.faults(m)


def _twice(m: Mechanism) -> Iterator[str]:
    """Yield the faults of coordinates with two drives, and of rows with the same name."""
    for name, count in Counter(row.name for row in m.row_records).items():
        if count > 1 and any(row.name == name for row in m.constraints):
            yield f"{count} constraints or rows are called {name!r}; give each its own name"
    driven: dict[str, str] = {}
    for row in m.constraints:
        if (coordinate := row.drives()) and driven.setdefault(coordinate, row.name) != row.name:
            yield (
                f"constraint {row.name!r}: {coordinate!r} is driven by {driven[coordinate]!r}"
                " already; one drive per freedom is wanted"
            )


@dataclass(frozen=True)
class _Known:
    """The names that a load may use."""

    frames: Collection[str]  # dictionaries, which keep the order and find a name at once
    coordinates: Collection[str]
    speeds: Collection[str]
    symbols: Collection[str]
    places: Collection[str]  # what a position row may use
    parameters: Mapping[str, float]

    @staticmethod
    def of(m: Mechanism) -> _Known:
        coordinates = m.coordinate_names
        speeds = dict.fromkeys(m.speed_names)
        following = m.following
        symbols = (
            f"{letter}_{identifier(n)}"
            for letter, names in (("q", coordinates), ("v", speeds))
            for n in names
        )
        frames = (GROUND, *m._bodies, *m._frames)
        alike = (n for n in coordinates if n in speeds)
        places = ("t", *m.parameters, *(f"q_{identifier(n)}" for n in coordinates), *place_names(m))
        return _Known(
            dict.fromkeys(frames),
            dict.fromkeys((*alike, *following)),
            dict.fromkeys((*speeds, *following)),
            dict.fromkeys(("t", *m.parameters, *symbols)),
            dict.fromkeys(places),
            m.parameters,
        )


def _held(thing: Keyed, name: str, key: Key, known: _Known) -> Iterator[str]:
    """Yield the faults of one field of a record."""
    value = getattr(thing, name)
    if value is None:
        return
    wanted = {
        **dict.fromkeys(("frame", "turning", "sliding"), ("body", known.frames)),
        "frame": ("frame", known.frames),
        "coordinate": ("coordinate", known.coordinates),
        "speed": ("coordinate", known.speeds),
        "word": (name, key.words),
    }
    if key.sort.rstrip("s") in wanted:
        what, names = wanted[key.sort.rstrip("s")]
        yield from (
            unknown(what, x, names)
            for x in (value if isinstance(value, tuple) else (value,))
            if not isinstance(x, str) or x not in names
        )
    elif key.sort in ("text", "expression", "expressions"):
        yield from _texts(
            name, value if key.sort == "expressions" else (value,), known.symbols, key
        )
    elif key.sort == "position":
        yield from _texts(name, (value,), known.places, key)
    elif key.sort == "number":
        yield from _number(name, value, key, known.parameters)
    elif key.sort == "times" and not all(abs(t) < float("inf") for t in value):
        yield (
            f"{name} is {value}; it holds the instants (s) at which the load jumps, begins or ends"
        )
    elif key.sort == "numbers":
        yield from _numbers(name, value, key, known.parameters)


def _texts(
    name: str, texts: tuple[str | float, ...], symbols: Collection[str], key: Key
) -> Iterator[str]:
    if key.sort == "expressions" and len(texts) != 3:
        yield f"{name} has three components, found {len(texts)}"
    for text in texts:
        if not isinstance(text, (str, float, int)):
            yield f"{name} is {text!r}; a number or a text is wanted"
        elif isinstance(text, str):
            try:
                parse(text, symbols)
            except ExpressionError as why:
                yield str(why)


def _numbers(
    name: str, values: tuple[Scalar, ...], key: Key, parameters: Mapping[str, float]
) -> Iterator[str]:
    if not isinstance(key.measure, str) and len(values) != len(key.measure):
        yield (
            f"{name} has {len(values)} values; {len(key.measure)} are wanted:"
            f" {', '.join(key.measure)}"
        )
    for x in values:
        yield from _number(name, x, key, parameters)


def _number(name: str, x: Scalar, key: Key, parameters: Mapping[str, float]) -> Iterator[str]:
    value = value_of(x, parameters)
    if value is None:
        missing = [str(s) for s in x.free_symbols if str(s) not in parameters]
        yield f"{name} uses {unknown('parameter', missing[0], parameters)}"
    elif not abs(value) < float("inf"):
        yield f"{name} is {value:g}; a finite number is wanted"
    elif value < 0 and not key.negative:
        yield f"{name} is {value:g}; it is {'zero or more' if key.zero else 'above zero'}"
    elif value == 0 and not key.zero:
        yield f"{name} is 0; it is above zero"
