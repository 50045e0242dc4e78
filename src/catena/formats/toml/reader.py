"""Reader: a TOML file as a mechanism, with every fault of the file."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from ...errors import ExpressionError, FormatError, QuantityError
from ...model import GRAVITY, Frame, Mechanism, fit_name, names_in, parse, shown
from .. import files
from ..draft import MISSING, Draft
from ..units import describe, quantity, si_unit
from .bodies import read_body
from .contacts import read_contact
from .includes import with_includes
from .joints import read_joints, read_loop
from .loads import read_constraint, read_load, read_row
from .poses import read_pose
from .schema import FRAME, TOP
from .sensors import read_sensor
from .shapes import read_collisions, read_shape
from .tables import FaultLedger, Table


def read(path: Path) -> Draft:
    """Return the draft of a TOML file."""
    return draft(path, open_file(path))


def draft(path: Path, top: Table) -> Draft:
    """Return the draft of a file that is parsed already."""
    top.only(TOP.names)
    top.ledger.check_dimensions = top.flag("check_dimensions", True) is True
    read_parameters(top)
    read_expressions(top)
    mechanism = Mechanism(
        name=top.text("name", default=path.stem, instead=path.stem),
        gravity=top.vector("gravity", "acceleration", default=GRAVITY),
        planar=top.flag("planar", None),
        as_found=top.flag("as_found", False),
        notes=_texts(top, "notes"),
        bodies=tuple(read_body(t) for t in top.tables("body")),
        joints=read_joints(top),
        frames=tuple(read_frame(t) for t in top.tables("frame")),
        loops=tuple(read_loop(t) for t in top.tables("loop")),
        loads=tuple(load for t in top.tables("load") if (load := read_load(t))),
        nonholonomic=tuple(row for t in top.tables("row") if (row := read_row(t))),
        constraints=tuple(tie for t in top.tables("constraint") if (tie := read_constraint(t))),
        contacts=tuple(contact for t in top.tables("contact") if (contact := read_contact(t))),
        sensors=tuple(sensor for t in top.tables("sensor") if (sensor := read_sensor(t))),
        parameters=top.ledger.parameters,
        units=top.ledger.units,
        ground=tuple(read_shape(t, collides=True) for t in top.tables("ground")),
        collisions=read_collisions(top),
    )
    mechanism = with_includes(mechanism, path, top)
    for key in ("scenario", "optimize", "environment"):
        top.table(key)  # read by those who run it; here it is a table or a fault
    return Draft(
        path,
        mechanism,
        top.ledger.faults,
        cut_at=_texts(top, "cut"),
        check_dimensions=top.ledger.check_dimensions,
    )


# parts of a dotted key, since the time and memory of Python's parser grow with their square
MAX_KEY_PARTS = 50
_QUOTED = re.compile(
    r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*', re.DOTALL
)
_LONG_KEY = re.compile(
    r'(?<![\w"-])(?:[\w-]+|"")(?:[ \t]*\.[ \t]*(?:[\w-]+|"")){' + f"{MAX_KEY_PARTS}" + ",}"
)


def open_file(path: Path) -> Table:
    """Return the file as one table, before any of its contents is interpreted."""
    return parsed(path, files.read(path))


def parsed(path: Path, data: bytes) -> Table:
    """Return the bytes of a file, parsed as one table."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as why:
        raise FormatError(
            path, f"the file is not UTF-8 text: byte {why.start} cannot be read"
        ) from None
    if found := _LONG_KEY.search(_QUOTED.sub('""', text)):
        raise FormatError(
            path,
            f"the key {shown(found[0])} has more than {MAX_KEY_PARTS} parts, and those of a model"
            " have one or two",
        )
    try:
        return Table(tomllib.loads(text), "", FaultLedger())
    except RecursionError:
        raise FormatError(
            path, "the file is not TOML that can be read: its lists or tables are nested too deeply"
        ) from None
    except ValueError as why:
        # TOMLDecodeError, and Python's own words for a number of too many digits
        raise FormatError(path, f"the file is not TOML: {why}") from None


def read_parameters(top: Table) -> None:
    """Read the values of [parameters] into the ledger: numbers with units, not expressions of each
    other.
    """
    table = top.table("parameters")
    for name, value in table.data.items() if table else ():
        what = f"parameter {name!r}"
        number = 1.0  # stands in for a faulty value, so that one fault is reported once
        try:
            number = quantity(value, "any", what=what)
        except QuantityError as why:
            top.fault(str(why))
        if not fit_name(name):
            top.fault(
                f"{what} cannot stand in an expression; take letters, digits and _, and no word of"
                " Python's or ours"
            )
        top.ledger.parameters[name] = number
        if (unit := si_unit(value)) is not None:
            top.ledger.units[name] = unit


def read_expressions(top: Table) -> None:
    """Read the named expressions of [expressions] into the ledger: each may use parameters, t,
    q_NAME, v_NAME and those above it.
    """
    table = top.table("expressions")
    ledger = top.ledger
    for name, value in table.data.items() if table else ():
        what = f"expression {name!r}"
        if (
            not fit_name(name)
            or name in ledger.parameters
            or name == "t"
            or name[:2] in ("q_", "v_")
        ):
            top.fault(
                f"{what} needs another name: letters, digits and _, no parameter, not t, q_... or"
                " v_..., no word of Python's or ours"
            )
            continue
        text = str(top.expression(value, what, "0"))
        state = [word for word in names_in(text) if word == "t" or word[:2] in ("q_", "v_")]
        try:
            parse(text, [*ledger.parameters, *state])
        except ExpressionError as why:
            top.fault(f"{what}: {why}")
            text = "0"
        ledger.expressions[name] = text


def read_frame(t: Table) -> Frame:
    """Return the frame of a [[frame]]."""
    t.only(FRAME.names)
    return Frame(t.text("name", instead=t.where), t.text("body", instead=MISSING), read_pose(t))


def _texts(top: Table, key: str) -> tuple[str, ...]:
    given = top.items(key, default=[])
    for text in given:
        if not isinstance(text, str):
            top.fault(f"{key} holds {describe(text)}; it takes texts")
    return tuple(map(str, given))
