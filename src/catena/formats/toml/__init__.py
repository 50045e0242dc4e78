"""TOML: catena's own files. `docs/file_format.md` says what may stand in one; `schema.py` is that list."""

from .companion import add
from .reader import read
from .writer import text

__all__ = ["read", "add", "text"]
