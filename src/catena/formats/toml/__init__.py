"""TOML: catena's own files. `docs/file_format.md` describes them; `schema.py` lists their keys."""

from typing import TYPE_CHECKING

from ...doors import door
from ..registry import Format

FORMAT = Format(
    "toml",
    "catena's own files, which say everything",
    (".toml",),
    "catena.formats.toml.reader:read",
    "catena.formats.toml.writer:text",
    add="catena.formats.toml.companion:add",
)

if TYPE_CHECKING:
    from . import schema
    from .json_schema import json_schema
    from .key_reference import markdown
    from .key_types import (
        ByName,
        Either,
        Expression,
        Flag,
        Inside,
        Map,
        Name,
        Quantity,
        Several,
        Text,
        Type,
        Vector,
        Whole,
        Word,
    )
    from .keys import FileKey, FileKind, FileTable, default_of, register
    from .reader import draft, open_file, parsed, read
    from .tables import FaultLedger, Table
    from .writer import companion, text

__getattr__, __dir__ = door(__name__)
