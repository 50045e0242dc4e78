"""A cache of tapes by structure: a tape is traced once, in this process or, through the disk, in an
earlier one.

A tape is a function of the mechanism's structure and of a few words; its key is the hash of both,
of the sources of catena and of CasADi's version. What cannot be hashed (Python functions, records
from outside catena) is cached in memory alone, on the mechanism itself.
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
