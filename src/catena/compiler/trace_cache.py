"""A cache of tapes by structure: a tape is traced once, in this process or, through the disk, in an
earlier one.

A tape is a function of the mechanism's structure and of a few words; its key is the hash of both,
of the sources of catena and of CasADi's version. What cannot be hashed (Python functions, records
from outside catena) is cached in memory alone, on the mechanism itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from threading import RLock
from typing import TypeVar

import casadi as ca
import numpy as np

from ..model import Mechanism
from . import cache as disk
from .attached import keep

MAX_CACHED = 256  # values of one mechanism that are cached in memory
Made = TypeVar("Made")
PACKAGE = __name__.partition(".")[0]

_lock = RLock()


class Opaque(Exception):
    """A value that cannot be hashed by its meaning."""


def kept(m: Mechanism, name: str, words: object, make: Callable[[], Made]) -> Made:
    """Return what `make` computes from this mechanism, cached in memory. words: whatever else it
    depends on; if they are opaque, it is computed anew.
    """
    more = fingerprint(words)
    if more is None:
        return make()
    with _lock:
        found: Made = keep(m, "tapes", MAX_CACHED, (name, more), make)
        return found


def kept_tape(
    m: Mechanism, name: str, words: object, make: Callable[[], ca.Function]
) -> ca.Function:
    """Return the tape `name` of a mechanism, from memory, from the disk, or traced now. words:
    whatever else it depends on.
    """
    return kept(m, f"tape {name}", words, lambda: tape_on_disk(structure(m), name, words, make))


def structure(m: Mechanism) -> str | None:
    """Return the hash of everything that tapes of a mechanism depend on; None where parts of it are
    not catena's own.
    """
    # a joint's kind may be anyone's
    return fingerprint([m, [j.freedoms for j in m.joints], [j.closure for j in m.loops]])


def tape_on_disk(
    structure: str | None, name: str, words: object, make: Callable[[], ca.Function]
) -> ca.Function:
    """Return the tape of a mechanism of this structure, from the disk or traced now, and not cached
    in memory. `make` must call nothing but catena's own code.
    """
    more = fingerprint(words)
    if structure is None or more is None:
        return make()
    key = disk.key("tape", name, structure, more, _sources(), ca.CasadiMeta.version())
    if (data := disk.load(key)) is not None:
        return ca.Function.deserialize(data.decode())
    tape = make()
    disk.store(key, tape.serialize().encode())
    return tape


@cache
def _sources() -> str:
    """Return the hash of catena's own sources: other code makes other tapes."""
    digest = hashlib.sha256()
    root = Path(__file__).parent.parent
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


# --- fingerprints
def fingerprint(x: object) -> str | None:
    """Return a hash that is equal for equal values, in any process; None for values with parts that
    cannot be hashed.
    """
    digest = hashlib.sha256()
    try:
        for part in _parts(x):
            digest.update(len(part).to_bytes(8, "little") + part)
    except Opaque:
        return None
    return digest.hexdigest()


def _parts(x: object) -> Iterator[bytes]:
    """Yield the bytes of plain values, arrays, mappings, sequences, and catena's own records."""
    yield type(x).__qualname__.encode()
    if x is None or isinstance(x, (bool, int, float, str, bytes, Enum)):
        yield repr(x).encode()
    elif isinstance(x, (np.ndarray, np.generic)) and x.dtype != object:
        yield repr((x.shape, x.dtype.str)).encode()
        yield np.ascontiguousarray(x).tobytes()
    elif isinstance(x, Mapping):
        for name in sorted(x, key=repr):
            yield from _parts(name)
            yield from _parts(x[name])
    elif isinstance(x, (list, tuple)):
        yield str(len(x)).encode()
        for value in x:
            yield from _parts(value)
    elif is_dataclass(x) and type(x).__module__.partition(".")[0] == PACKAGE:
        for f in fields(x):
            yield f.name.encode()
            yield from _parts(getattr(x, f.name))
    elif type(x).__module__.partition(".")[0] == "sympy":  # an expression of parameters
        from sympy import srepr

        yield srepr(x).encode()
    else:
        raise Opaque(type(x))
