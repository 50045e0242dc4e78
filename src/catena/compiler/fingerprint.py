"""Fingerprints: one hash for equal values, in this process and in others.

Plain values, arrays, collections and catena's own records are hashed by their contents. For any
other object, such as a Python function, the caller gives a value that represents it, or says that
there is none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum

import numpy as np

PACKAGE = __name__.partition(".")[0]


class Opaque(Exception):
    """A value that cannot be hashed by its meaning."""


def fingerprint(x: object) -> str | None:
    """Return a hash that is equal for equal values; None for values with parts that cannot be
    hashed.
    """
    try:
        return digest(x, _refuse)
    except Opaque:
        return None


def digest(x: object, substitute: Callable[[object], object]) -> str:
    """Return a hash that is equal for equal values.

    Parameters
    ----------
    x : object
        The value.
    substitute : callable
        Maps a part that is neither plain nor a record of catena to a simpler value that is hashed
        in its place, or raises Opaque.
    """
    total = hashlib.sha256()
    for part in _parts(x, substitute, ()):
        total.update(len(part).to_bytes(8, "little") + part)
    return total.hexdigest()


def _refuse(x: object) -> object:
    """Raise Opaque, because no value represents this object."""
    raise Opaque(type(x))


def _parts(
    x: object, substitute: Callable[[object], object], outer: tuple[int, ...]
) -> Iterator[bytes]:
    """Yield the bytes of a value. outer: the identities of the values that contain it; a value that
    contains itself is hashed once.
    """
    yield type(x).__qualname__.encode()
    if x is None or isinstance(x, (bool, int, float, complex, str, bytes, Enum)):
        yield repr(x).encode()
    elif isinstance(x, (np.ndarray, np.generic)) and x.dtype != object:
        yield repr((x.shape, x.dtype.str)).encode()
        yield np.ascontiguousarray(x).tobytes()
    elif type(x).__module__.partition(".")[0] == "sympy":  # an expression of parameters
        from sympy import srepr

        yield srepr(x).encode()
    elif id(x) not in outer:
        inner = _members(x)
        for value in (substitute(x),) if inner is None else (len(inner), *inner):
            yield from _parts(value, substitute, (*outer, id(x)))


def _members(x: object) -> list[object] | None:
    """Return the contents of a collection or a record of catena, in an order that does not depend
    on the process; None for other values.
    """
    if isinstance(x, Mapping):
        return [part for name in sorted(x, key=repr) for part in (name, x[name])]
    if isinstance(x, (set, frozenset)):
        return sorted(x, key=repr)
    if isinstance(x, (list, tuple)):
        return list(x)
    if is_dataclass(x) and type(x).__module__.partition(".")[0] == PACKAGE:
        return [part for f in fields(x) for part in (f.name, getattr(x, f.name))]
    return None
