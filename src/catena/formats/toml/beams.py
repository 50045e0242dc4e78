"""Beams: the table flexible = { kind = "beam", ... } of a body, read and written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...errors import MechanismError, unknown
from ...model import DIRECTIONS, Beam
from ..units import describe
from .schema import BEAM, BENDING
from .tables import REQUIRED, Table

KINDS = ("beam",)
# what each measures, and its value where it is left out
NUMBERS: dict[str, tuple[str, float | None]] = {
    "length": ("length", REQUIRED),
    "rhoA": ("line density", REQUIRED),
    "EA": ("force", None),
    "GJ": ("bending stiffness", None),
    "rhoJ": ("line inertia", 0.0),
    "damping": ("number", 0.0),
}


def read_beam(t: Table) -> Beam | None:
    """Return the beam of a flexible body, None where it has a fault; impossible values are found by
    `validate`.
    """
    before = t.faults
    t.only(BEAM.names)
    kind = t.text("kind")
    if kind and kind not in KINDS:
        t.fault(unknown("kind of flexible body", kind, KINDS))
    beam = Beam(
        **{
            key: t.number(key, measure, default, instead=1.0)
            for key, (measure, default) in NUMBERS.items()
        },
        EI=_bending(t),
        segments=_count(t, "segments"),
        modes=_count(t, "modes"),
        ends=t.text("ends", "clamped-free", "clamped-free"),
        shapes=_shapes(t),
        stiffening=t.flag("stiffening", True),
    )
    return beam if t.faults == before else None


def _bending(t: Table) -> Any:
    """Return EI, given as one value, as a list [along y, along z], or as a table of y and z."""
    given = t.data.get("EI")
    if isinstance(given, list):
        return t.components(given, "EI", "bending stiffness", ("along y", "along z"), instead=1.0)
    if isinstance(given, dict):
        table = Table(given, f"{t.where}: EI", t.ledger)
        table.only(BENDING.names)
        return tuple(table.number(key, "bending stiffness", None, 1.0) for key in ("y", "z"))
    return t.number("EI", "bending stiffness", None, 1.0)


def _count(t: Table, key: str) -> Any:
    """Return a whole number, or for modes a table of whole numbers."""
    given = t.data.get(key)
    tabled = key == "modes" and isinstance(given, dict)
    values = list(given.values()) if tabled else [given]  # type: ignore[union-attr]
    for value in values:
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            also = f", or a table of {', '.join(DIRECTIONS)}" if key == "modes" else ""
            t.fault(f"{key} is {describe(value)}; a whole number is wanted{also}")
            return None
    return given


def _shapes(t: Table) -> Any:
    """Return a list of texts, or a table of such lists."""
    given = t.data.get("shapes")
    if given is not None and not isinstance(given, (list, dict)):
        t.fault(
            f"shapes is {describe(given)}; a list of texts of x is wanted, or a table of such lists"
            f" by {', '.join(DIRECTIONS)}"
        )
        return None
    return _frozen(given)


def _frozen(x: Any) -> Any:
    return (
        tuple(map(_frozen, x))
        if isinstance(x, list)
        else tuple((k, _frozen(v)) for k, v in x.items())
        if isinstance(x, dict)
        else x
    )


# --- and back
def beam_pairs(
    beam: Beam, value: Callable[[Any], str], string: Callable[[str], str]
) -> Iterator[tuple[str, str]]:
    """Yield the keys and values of a beam, written by `value` (a number) and `string`."""
    yield "kind", string("beam")
    if beam.EI is not None:
        planes = (
            ((key, value(x)) for key, x in zip("yz", beam.EI) if x is not None)
            if isinstance(beam.EI, tuple)
            else ()
        )
        yield "EI", _table(planes) if isinstance(beam.EI, tuple) else value(beam.EI)
    yield from (
        (key, value(getattr(beam, key)))
        for key, (_, default) in NUMBERS.items()
        if getattr(beam, key) != default
    )
    if beam.segments is not None:
        yield "segments", str(beam.segments)
    if beam.modes is not None:
        yield "modes", str(beam.modes) if isinstance(beam.modes, int) else _table(beam.modes)
    if beam.ends != "clamped-free":
        yield "ends", string(beam.ends)
    if beam.shapes is not None:
        yield "shapes", _raw(beam.shapes, value, string)
    if not beam.stiffening:
        yield "stiffening", "false"


def _table(pairs: Iterable[tuple[str, object]]) -> str:
    return f"{{ {', '.join(f'{key} = {x}' for key, x in pairs)} }}"


def _raw(x: Any, value: Callable[[Any], str], string: Callable[[str], str]) -> str:
    """Return the shapes that a user gave as TOML: a list of texts, or a table with such a list for
    each direction.
    """
    if callable(x):
        raise MechanismError(
            f"the shape {getattr(x, '__name__', x)!r} is a Python function, which no file can hold;"
            " give it as a text of x"
        )
    if (
        isinstance(x, tuple)
        and x
        and all(isinstance(y, tuple) and len(y) == 2 and isinstance(y[1], tuple) for y in x)
    ):
        return _table((key, _raw(y, value, string)) for key, y in x)
    if isinstance(x, tuple):
        return f"[{', '.join(_raw(y, value, string) for y in x)}]"
    return string(x) if isinstance(x, str) else value(x)
