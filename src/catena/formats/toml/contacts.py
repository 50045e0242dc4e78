"""Contacts: [[contact]] tables, read and written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING as REQUIRED
from dataclasses import fields
from typing import Any

from ...errors import MechanismError
from ...model import Contact
from .schema import CONTACT
from .tables import Table

TEXTS = ("law", "impacts", "paradox", "surface", "name")
LENGTHS = ("radius", "surface_radius", "clearance")


def read_contact(t: Table) -> Contact | None:
    """Return the contact of a [[contact]] table; None where it has a fault."""
    t.only(CONTACT.names)
    before = t.faults
    pair = tuple(t.items("between"))
    given: dict[str, Any] = {
        "friction": _friction(t),
        "restitution": t.number("restitution", "number", symbolic=False),
    }
    given |= {key: t.text(key) for key in TEXTS if key in t}
    given |= {key: t.number(key, "length", symbolic=False) for key in LENGTHS if key in t}
    if t.faults > before:
        return None
    try:
        return Contact(pair, **given)  # the record looks at them
    except MechanismError as why:
        t.fault(str(why))
        return None


def _friction(t: Table) -> Any:
    """Return a coefficient, or both as { static, kinetic }."""
    if isinstance(t.data.get("friction"), dict):
        both = t.table("friction")
        assert both is not None
        both.only(("static", "kinetic"))
        return tuple(both.number(key, "number", symbolic=False) for key in ("static", "kinetic"))
    return t.number("friction", "number", symbolic=False)


def contact_pairs(
    c: Contact, value: Callable[[Any], str], string: Callable[[str], str]
) -> Iterator[tuple[str, str]]:
    """Yield the keys of a contact and their values as TOML; defaults are left out."""
    yield "name", string(c.name)
    first = ", ".join(string(name) for name in c.between[0])
    yield (
        "between",
        f"[{first if len(c.between[0]) == 1 else f'[{first}]'}, {string(c.between[1])}]",
    )
    same = c.static == c.kinetic
    yield (
        "friction",
        (
            value(c.static)
            if same
            else f"{{ static = {value(c.static)}, kinetic = {value(c.kinetic)} }}"
        ),
    )
    yield "restitution", value(c.restitution)
    for f in fields(c):
        given = getattr(c, f.name)
        if f.default is not REQUIRED and f.name != "name" and given != f.default:
            yield f.name, string(given) if isinstance(given, str) else value(given)
