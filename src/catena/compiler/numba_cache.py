"""Numba's machine code in catena's own cache: checked when it is read, and built anew when any source of ours has changed.

Numba's cache looks at the file a function stands in alone; a kernel is inlined from many, and code made from older ones
would be taken without a word. Here a key holds the text of every file of the house that compiled code is made of.

An entry is data, never a pickle: a line of JSON with the names of the symbols and the type of the result, the object code,
and the bitcode that other functions inline. What needs more than that (constants that are Python objects, types that JSON
does not name) is not kept, and compiled anew.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import cache as once
from pathlib import Path
from typing import Any

import llvmlite
import numba as nb
from numba.core import ccallback, compiler, environment, funcdesc, types, typing
from numba.core.types import BaseTuple, IntegerLiteral, Tuple, UniTuple, literal  # type: ignore[attr-defined]

from . import cache

SOURCES = ("spatial.py", "kernels/*.py", "compiler/*.py", "simulation/*.py")
SCALARS = {str(t): t for t in (types.none, types.void, types.boolean, types.int64, types.uint64, types.float64)}


@once
def _sources() -> str:
    """The hash of all files that compiled code may come from."""
    root = Path(__file__).resolve().parent.parent
    files = sorted(path for pattern in SOURCES for path in root.glob(pattern))
    return cache.key(*(part for path in files for part in (path.name, path.read_bytes())))


class NumbaCache:
    """What Numba asks of a cache, for one function."""

    def __init__(self, function: Callable):
        self._function = function
        self.cache_path = str(cache.folder() or "")

    def _key(self, signature: Any, code: Any) -> str:
        name = f"{self._function.__module__}.{self._function.__qualname__}"
        versions = (nb.__version__, llvmlite.__version__, sys.version)
        return cache.key("numba", _sources(), name, str(signature), repr(code.magic_tuple()), *versions)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled function, or None."""
        context.refresh()
        entry = cache.load(self._key(signature, context.codegen()))
        return None if entry is None else _rebuilt(self._function, entry, context)

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep a compiled function, where it can be kept at all."""
        entry = _entry(result)
        if entry is not None:
            cache.store(self._key(signature, result.codegen), entry)

    def enable(self) -> None:
        """It always is, unless CATENA_CACHE is off."""

    disable = flush = enable


# ------------------------------------------------------------------------------------------ a compiled function as bytes
def _entry(result: Any) -> bytes | None:
    """A compiled function as bytes; None where it holds Python objects."""
    environments = [result.environment, *result._find_referenced_environments()]
    plain = not (result.library.has_dynamic_globals or result.lifted or result.reload_init or result.objectmode)
    if not plain or any(e is not None and e.consts for e in environments):
        return None
    f, s = result.fndesc, result.signature
    if (kinds := _told([s.return_type, *s.args])) is None or f.restype != s.return_type or f.argtypes != tuple(s.args):
        return None
    name, _, (code, bitcode) = result.library.serialize_using_object_code()
    about = {"library": name, "types": kinds, "symbol": f.mangled_name, "environment": f.env_name, "unique": f.unique_name,
             "arguments": list(f.args), "noalias": bool(f.noalias), "code": len(code),
             "others": [e.env_name for e in environments[1:] if e is not result.environment]}  # fmt: skip
    return json.dumps(about).encode() + b"\n" + code + bitcode


def _rebuilt(function: Callable, entry: bytes, context: Any) -> Any:
    """The compiled function of an entry."""
    line, _, rest = entry.partition(b"\n")
    about = json.loads(line)
    code, bitcode = rest[: about["code"]], rest[about["code"] :]
    returned, *given = map(_type, about["types"])
    f = funcdesc.PythonFunctionDescriptor(
        True, function.__module__, function.__qualname__, about["unique"], function.__doc__ or "", None, returned, None,
        tuple(about["arguments"]), (), mangler=lambda *_, **__: about["symbol"], argtypes=tuple(given),
        noalias=about["noalias"], env_name=about["environment"],
    )  # fmt: skip
    own = environment.Environment.from_fndesc(f)
    others = tuple(environment._rebuild_env(function.__module__, [], name) for name in about["others"])
    data = (about["library"], "object", (code, bitcode))
    signature = typing.signature(returned, *given)
    return compiler.CompileResult._rebuild(context, data, f, own, signature, False, (), "", (), others)


def _told(kinds: list[Any]) -> list[Any] | None:
    """Types as JSON: the name of a scalar, or [name, ...] of what is made of others; None where one has no such form."""
    found: list[Any] = []
    for kind in kinds:
        if str(kind) in SCALARS:
            found.append(str(kind))
        elif type(kind) is IntegerLiteral:
            found.append(["literal", int(kind.literal_value)])
        elif type(kind) is types.Array and str(kind.dtype) in SCALARS:
            found.append(["array", str(kind.dtype), kind.ndim, kind.layout, not kind.mutable, kind.aligned])
        elif type(kind) in (UniTuple, Tuple) and (parts := _told(list(kind.types))) is not None:
            found.append(["tuple", *parts])
        else:
            return None
    return found


def _type(told: Any) -> Any:
    """The type that `_told` describes."""
    if isinstance(told, str):
        return SCALARS[told]
    name, *parts = told
    if name == "literal":
        return literal(int(parts[0]))
    if name == "tuple":
        return BaseTuple.from_types([_type(x) for x in parts])
    dtype, ndim, layout, readonly, aligned = parts
    return types.Array(SCALARS[dtype], ndim, layout, readonly=readonly, aligned=aligned)


# ------------------------------------------------------------------------------------------ compiled functions
def njit(*signature: Any, **options: Any) -> Callable[[Callable], Any]:
    """As numba.njit, kept; with a signature it is compiled, or found, at once."""

    def wrap(function: Callable) -> Any:
        made = nb.njit(**options)(function)
        made._cache = NumbaCache(function)
        if signature:
            made.compile(signature)
        return made

    return wrap


def address(function: Callable, signature: Any, **options: Any) -> int:
    """The address of a function compiled for callers that know C. It stays for the life of the process."""
    made: Any = ccallback.CFunc(function, (signature.args, signature.return_type), {}, {"nopython": True, **options})
    made._cache = NumbaCache(function)
    made.compile()
    _alive.append(made)
    return made.address


_alive: list[Any] = []
