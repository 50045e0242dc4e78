"""Bodies: mass, centre of mass, inertia and shapes."""

from __future__ import annotations

from ...model import Body, Scalar, Shape
from .beams import read_beam
from .schema import BODY, INERTIA
from .shapes import read_shape
from .tables import REQUIRED, Table

_STAND_IN = (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)  # an inertia that has no fault of its own


def read_body(t: Table) -> Body:
    """Return the body of a [[body]] table. One whose mass is zero needs neither centre of mass nor
    inertia, and a flexible one has those of its beam.
    """
    t.only(BODY.names)
    name = t.text("name", instead=t.where)
    shapes = tuple(read_shape(s) for s in t.tables("shapes"))
    if "flexible" in t:
        return _flexible(t, name, shapes)
    mass = t.number("mass", "mass", instead=1.0)
    if mass == 0.0 and "com" not in t and "inertia" not in t:
        return Body.massless(name, shapes)
    return Body(name, mass, t.vector("com", "length"), _inertia(t), shapes)


def _flexible(t: Table, name: str, shapes: tuple[Shape, ...]) -> Body:
    if taken := [key for key in ("mass", "com", "inertia") if key in t]:
        t.fault(
            f"{', '.join(taken)} of a flexible body come from its beam: leave them out; what it"
            " carries is a body on a fixed joint"
        )
    table = t.table("flexible")
    beam = read_beam(table) if table is not None else None
    return (
        Body(name, shapes=shapes, flexible=beam)
        if beam is not None
        else Body.massless(name, shapes)
    )


def _inertia(t: Table) -> tuple[Scalar, ...]:
    """Return six entries from three (a diagonal), six, three rows, or a table with names."""
    if isinstance(t.data.get("inertia"), dict):
        return _named_inertia(t.table("inertia"))
    rows = t.items("inertia")
    if len(rows) == 3 and all(isinstance(row, list) for row in rows):
        return _symmetric(t, rows)
    if len(rows) not in (3, 6):
        if isinstance(t.data.get("inertia"), list):
            t.fault(
                f"inertia has {len(rows)} values; 3 (a diagonal), 6 [{', '.join(INERTIA)}] or 3"
                " rows of 3 are wanted"
            )
        return _STAND_IN
    names = INERTIA if len(rows) == 6 else ("xx", "yy", "zz")
    given = dict(zip(names, t.components(rows, "inertia", "inertia", names, instead=1.0)))
    return tuple(given.get(k, 0.0) for k in INERTIA)


def _named_inertia(t: Table | None) -> tuple[Scalar, ...]:
    assert t is not None  # the caller has looked
    t.only(INERTIA)
    return tuple(
        t.number(k, "inertia", REQUIRED if k[0] == k[1] else 0.0, instead=float(k[0] == k[1]))
        for k in INERTIA
    )


def _symmetric(t: Table, rows: list[object]) -> tuple[Scalar, ...]:
    before = t.faults
    m = [
        t.components(row, "inertia", "inertia", [a + b for b in "xyz"])
        for a, row in zip("xyz", rows)
    ]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        if m[i][j] != m[j][i]:
            a, b = "xyz"[i], "xyz"[j]
            t.fault(
                f"inertia is a symmetric matrix, but {a}{b} is {m[i][j]} and {b}{a} is {m[j][i]}"
            )
    return (*m[0], *m[1][1:], m[2][2]) if t.faults == before else _STAND_IN
