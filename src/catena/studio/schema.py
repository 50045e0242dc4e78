"""The parts of the schema of model files that the studio's page uses: the keys of each table, their
units, and the allowed words.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..equations.formulations import formulations
from ..formats.toml import FileKey, FileTable, Word, schema
from ..model import GROUND, Mechanism
from ..simulation.scenario import SCENARIO

TABLES = (
    schema.BODY,
    schema.JOINT,
    schema.LOOP,
    schema.FRAME,
    schema.CONTACT,
    schema.GROUND_SHAPE,
    SCENARIO,
)


def described() -> dict[str, Any]:
    """Return the parts of the schema that do not depend on the model."""
    kinds = list(schema.LOAD.kinds()) if schema.LOAD.kinds else []
    loads = {kind.name: [_key(key) for key in kind.keys] for kind in kinds}
    choices = {
        f"{table.name}.{key.name}": _words(key)
        for table in TABLES
        for key in _keys(table)
        if _words(key)
    }
    units = {
        key.name: _unit(key)
        for table in (schema.TOP, *TABLES)
        for key in _keys(table)
        if _unit(key) and " or " not in _unit(key)
    }
    return {
        "tables": {table.name: [key.name for key in _keys(table)] for table in TABLES},
        "loads": loads,
        "choices": choices | {"load.kind": list(loads)},
        "units": units,
        "formulations": [f.name for f in formulations()],
    }


def names(m: Mechanism) -> dict[str, list[str]]:
    """Return the names that a file may refer to: of bodies, frames, coordinates and joints."""
    bodies = [GROUND, *(b.name for b in m.bodies)]
    return {
        "bodies": bodies,
        "frames": [*bodies, *(f.name for f in m.frames)],
        "coordinates": list(m.coordinate_names),
        "joints": [j.name for j in (*m.joints, *m.loops)],
    }


def _keys(table: FileTable) -> Iterable[FileKey]:
    """Return the keys of a table, those of all kinds of its parts included."""
    kinds = list(table.kinds()) if table.kinds else []
    word = (
        [FileKey(table.word, Word([kind.name for kind in kinds]), "the kind", needed=True)]
        if kinds
        else []
    )
    return {
        key.name: key
        for key in (
            *table.keys[:1],
            *word,
            *(key for kind in kinds for key in kind.keys),
            *table.keys[1:],
        )
    }.values()


def _key(key: FileKey) -> dict[str, Any]:
    """Return a key of a load: name, unit, allowed words, and whether it is required."""
    return {"name": key.name, "unit": _unit(key), "words": _words(key), "needed": key.needed}


def _words(key: FileKey) -> list[str]:
    """Return the words that a key allows; empty for a key with other values."""
    return key.type.all() if isinstance(key.type, Word) else []


def _unit(key: FileKey) -> str:
    """Return the unit of a key."""
    return key.type.unit().replace("^2", "²")
