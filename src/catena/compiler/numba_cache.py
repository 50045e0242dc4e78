"""Numba's machine code in catena's own cache: checked when it is read, and built anew when any source of ours has changed.

Numba's cache looks at the file a function stands in alone; a kernel is inlined from many, and code made from older ones
would be taken without a word. Here a key holds the text of every file of the house that compiled code is made of. Entries
have a checksum and are written atomically, as those of `cache` are.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from functools import cache as once
from pathlib import Path
from typing import Any

import llvmlite
import numba as nb
from numba.core import ccallback, compiler, serialize

from . import cache

SOURCES = ("spatial.py", "kernels/*.py", "compiler/*.py", "simulation/*.py")


@once
def _sources() -> str:
    """The hash of all files that compiled code may come from."""
    root = Path(__file__).resolve().parent.parent
    files = sorted(path for pattern in SOURCES for path in root.glob(pattern))
    return cache.key(*(part for path in files for part in (path.name, path.read_bytes())))


class Kept:
    """What Numba asks of a cache, for one function."""

    def __init__(self, function: Callable):
        self._name = f"{function.__module__}.{function.__qualname__}"
        self.cache_path = str(cache.folder() or "")

    def _key(self, signature: Any, code: Any) -> str:
        versions = (nb.__version__, llvmlite.__version__, sys.version)
        return cache.key("numba", _sources(), self._name, str(signature), repr(code.magic_tuple()), *versions)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled function, or None."""
        context.refresh()
        code = cache.load(self._key(signature, context.codegen()))
        return None if code is None else compiler.CompileResult._rebuild(context, *pickle.loads(code))

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep a compiled function, where it can be kept at all."""
        if not result.library.has_dynamic_globals and all(part.can_cache for part in result.lifted):
            cache.store(self._key(signature, result.codegen), serialize.dumps(result._reduce()))

    def enable(self) -> None:
        """It always is, unless CATENA_CACHE is off."""

    disable = flush = enable


def njit(*signature: Any, **options: Any) -> Callable[[Callable], Any]:
    """As numba.njit, kept; with a signature it is compiled, or found, at once."""

    def wrap(function: Callable) -> Any:
        made = nb.njit(**options)(function)
        made._cache = Kept(function)
        if signature:
            made.compile(signature)
        return made

    return wrap


def address(function: Callable, signature: Any, **options: Any) -> int:
    """The address of a function compiled for callers that know C. It stays for the life of the process."""
    made: Any = ccallback.CFunc(function, (signature.args, signature.return_type), {}, {"nopython": True, **options})
    made._cache = Kept(function)
    made.compile()
    _alive.append(made)
    return made.address


_alive: list[Any] = []
