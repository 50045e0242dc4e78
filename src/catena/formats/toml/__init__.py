"""TOML: catena's own files. `docs/file_format.md` describes them; `schema.py` lists their keys."""

from typing import TYPE_CHECKING

from ...doors import door
from ..registry import Format
from .companion import add
from .reader import read
from .writer import text

__all__ = ["FORMAT", "add", "read", "text"]

FORMAT = Format("toml", "catena's own files, which say everything", (".toml",), read, text, add=add)

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
    from .reader import draft, open_file, parsed
    from .tables import FaultLedger, Table
    from .writer import companion

__getattr__, __dir__ = door(__name__)
