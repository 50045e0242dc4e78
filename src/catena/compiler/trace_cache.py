"""A cache of traced functions by structure: a function is traced once, in this process or, through
the disk, in an earlier one.

A traced function depends on the mechanism's structure and on a few options; its key is the hash of
both, of the sources of catena and of CasADi's version. Functions that depend on objects which
cannot be hashed (Python functions, records from outside catena) are cached in memory only, on the
mechanism itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import RLock
from typing import TypeVar

import casadi as ca

from ..model import Mechanism
from . import cache as disk
from .attached import keep
from .fingerprint import fingerprint

MAX_CACHED = 256  # values of one mechanism that are cached in memory
Made = TypeVar("Made")

_lock = RLock()


def kept(m: Mechanism, name: str, words: object, make: Callable[[], Made]) -> Made:
    """Return the result of `make` for this mechanism, cached in memory. words: all other values
    that it depends on; if these cannot be hashed, it is computed anew.
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
    """Return the traced function `name` of a mechanism, from memory, from the disk, or traced now.
    words: all other values that it depends on.
    """
    return kept(m, f"tape {name}", words, lambda: tape_on_disk(structure(m), name, words, make))


def structure(m: Mechanism) -> str | None:
    """Return the hash of everything that traced functions of a mechanism depend on; None where
    parts of it are not catena's own.
    """
    # a joint's kind may be anyone's
    return fingerprint([m, [j.freedoms for j in m.joints], [j.closure for j in m.loops]])


def tape_on_disk(
    structure: str | None, name: str, words: object, make: Callable[[], ca.Function]
) -> ca.Function:
    """Return the traced function of a mechanism of this structure, from the disk or traced now,
    without caching it in memory. `make` must call only catena's own code.
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
    """Return the hash of catena's own sources, because other code traces other functions."""
    digest = hashlib.sha256()
    root = Path(__file__).parent.parent
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()
