"""The JSON Schema (draft 2020-12) of a file, from the records of its tables: editors complete and
check model files by it.

It describes keys, types, kinds and which keys are required. Units, names and physics are checked
when a file is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .key_types import Inside, Json, Word
from .keys import TABLES, FileKey, FileTable, toml

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(companion: bool = False) -> Json:
    """Return the schema of a file with a mechanism, or with a scenario that names one; or of a
    companion. It contains every registered table.
    """
    tables = {table.name: _table(table) for table in TABLES.values()}
    whole = {"if": {"required": ["mechanism"]}, "then": _ref("scenario file"), "else": _ref("file")}
    what = (
        "What a companion adds to a mechanism of another format."
        if companion
        else "A mechanism, or a scenario of one: catena's TOML files."
    )
    return {
        "$schema": DRAFT,
        "title": "catena",
        "description": what,
        "type": "object",
        **(_ref("companion") if companion else whole),
        "$defs": dict(sorted(tables.items())),
    }


def _ref(name: str) -> Json:
    return Inside(name).schema()


def _table(table: FileTable) -> Json:
    if table.kinds is None:
        return {
            "description": table.doc,
            **_object(table.keys, table.alternatives),
            **_by_kind(table),
        }
    kinds = list(table.kinds())
    # what an editor may offer
    known = {
        key.name: {"description": key.doc}
        for kind in kinds
        for key in reversed(table.of_kind(kind))
    }
    word = {table.word: {"description": "the kind", "enum": [kind.name for kind in kinds]}}
    rules = [
        {
            "if": {
                "properties": {table.word: {"const": kind.name}},
                **({} if kind.name == table.usual else {"required": [table.word]}),
            },
            "then": {
                "title": kind.name,
                "description": kind.doc,
                **_object(table.of_kind(kind), kind.alternatives),
            },
        }
        for kind in kinds
    ]
    needed = {"required": [table.word]} if table.otherwise is None and not table.usual else {}
    return {
        "description": table.doc,
        "type": "object",
        "properties": known | word,
        **needed,
        "allOf": [*rules, *_otherwise(table)],
    }


def _otherwise(table: FileTable) -> list[Json]:
    """Return the schema of a table that does not have the key of its kind, and holds values by
    name.
    """
    if table.otherwise is None:
        return []
    values = {
        "title": "by names",
        **table.otherwise.schema(),
        "properties": {key.name: _key(key) for key in table.keys},
    }
    return [{"if": {"not": {"required": [table.word]}}, "then": values}]


def _object(keys: Iterable[FileKey], alternatives: tuple[tuple[str, ...], ...]) -> Json:
    """Return the schema of a table with these keys and no others."""
    keys = list(keys)
    needed = [key.name for key in keys if key.needed]
    found: Json = {
        "type": "object",
        "properties": {key.name: _key(key) for key in keys},
        "additionalProperties": False,
    }
    found |= {"required": needed} if needed else {}
    return found | (
        {"oneOf": [{"required": list(group)} for group in alternatives]} if alternatives else {}
    )


def _by_kind(table: FileTable) -> Json:
    """Return the schema of the keys that only some kinds have or require."""
    rules = []
    for key in table.keys:
        if key.kinds is not None:
            having: Json = {"properties": {"kind": {"enum": list(key.kinds())}}}
            rules.append(
                {
                    "if": having,
                    "then": {"required": [key.name]},
                    "else": {"properties": {key.name: False}},
                }
            )
    return {"allOf": rules} if rules else {}


def _key(key: FileKey) -> Json:
    """Return the schema of a key: its type, with its description."""
    unit = f" ({key.type.unit()})" if key.type.unit() else ""
    usual = (
        ""
        if key.needed
        else f" Default: {(key.shown or toml(key.default) or 'none').replace('`', '')}."
    )
    own: dict[str, Any] = key.type.schema()
    said = {"description": f"{key.doc[:1].upper()}{key.doc[1:]}{unit}.{usual}".lstrip(".")}
    if isinstance(key.type, Word) and isinstance(key.default, str) and key.default:
        said["default"] = key.default
    return said | own
