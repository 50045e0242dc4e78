"""TOML: catena's own files. `docs/file_format.md` says what may stand in one; `schema.py` is that
list.
"""

from ..registry import Format
from .companion import add
from .reader import read
from .writer import text

__all__ = ["FORMAT", "add", "read", "text"]

FORMAT = Format("toml", "catena's own files, which say everything", (".toml",), read, text, add=add)
