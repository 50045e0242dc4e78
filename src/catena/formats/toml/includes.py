"""[[include]]: other files in a scene, each with a prefix before its names, a pose, and values of
its parameters.

[[include]]
file = "arm.toml"                    # next to this file or below its folder; .urdf and others too
prefix = "left_"
on = "table"                         # a body or frame of this file or of an include above; the
                                     ground unless given
at = [0, 0.3, "75 cm"]               # and rotate: the pose of its ground there
parameters = { l1 = "40 cm" }
"""

from __future__ import annotations

from contextvars import ContextVar
from pathlib import Path

from ...errors import CatenaError, FormatError, unknown
from ...model import GROUND, Mechanism, attach, parameter_units
from ..draft import Draft
from ..registry import format_of
from .poses import read_pose
from .schema import INCLUDE
from .tables import Table

# the files that are being read, outermost first
_opening: ContextVar[tuple[Path, ...]] = ContextVar("opening", default=())


def with_includes(mechanism: Mechanism, path: Path, top: Table) -> Mechanism:
    """Return the mechanism with everything that its file includes."""
    for t in top.tables("include"):
        mechanism = _included(mechanism, path, t)
    return mechanism


def _included(scene: Mechanism, path: Path, t: Table) -> Mechanism:
    t.only(INCLUDE.names)
    name = t.text("file")
    prefix = t.text("prefix")
    on = t.text("on", GROUND)
    at = read_pose(t)
    if not (name and prefix):
        return scene
    try:
        part = _part(path.resolve(), path.parent / name)
        t.ledger.check_dimensions &= part.check_dimensions
        return attach(scene, _with_parameters(part.mechanism, t), prefix, on, at)
    except CatenaError as why:
        t.fault(str(why))
        return scene


def _part(here: Path, file: Path) -> Draft:
    trail = (*_opening.get(), here)
    wanted = file.resolve()
    if not wanted.is_relative_to(trail[0].parent):
        raise FormatError(
            file,
            f"it lies outside {str(trail[0].parent)!r}; a scene includes files of its own folder"
            " and below",
        )
    if wanted in trail:
        raise FormatError(
            file, f"it includes itself, by way of {' -> '.join(p.name for p in (*trail, wanted))}"
        )
    token = _opening.set(trail)
    try:
        draft = format_of(file).draft(file, {})
    finally:
        _opening.reset(token)
    if draft.faults:
        raise FormatError(file, "the file that is included has faults:", draft.faults)
    return draft


def _with_parameters(part: Mechanism, t: Table) -> Mechanism:
    table = t.table("parameters")
    if table is None:
        return part
    own = dict(part.parameters)
    units = parameter_units(part)
    for name in table.data:
        if name not in own:
            table.fault(unknown("parameter", name, own, f"mechanism {part.name!r}"))
        else:
            own[name] = table.in_unit(name, units.get(name))
    return part.with_(parameters=own)
