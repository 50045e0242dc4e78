"""Machine code on disk, so that a function is compiled once per computer.

An entry is one file named by its key: a checksum of key and code, then the object code. The key is
the hash of all that the code depends on, so that an entry is never stale. It can only be damaged or
have another entry's name; then it does not match its checksum and is compiled again. Entries are
written to a temporary file and renamed, so that a reader sees all of one or nothing. Object code is
executed, so folders and files that another user owns or may write are not used at all.

    CATENA_CACHE_DIR=/some/where    the folder, instead of the user's cache folder
    CATENA_CACHE=off                no cache
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import platformdirs

MAGIC = b"catena lanes 2\n"
SUFFIX = ".lanes"
LIMIT = 1 << 30  # bytes: beyond it the least recently used entries are removed
# one in so many new entries, by its checksum, triggers the removal of old ones; in a full folder
# that takes a quarter of a second
SWEEP = 64

_warned: set[str] = set()  # folders that could not be used, of each of which a warning was issued


def folder() -> Path | None:
    """Return the folder of the cache, or None if the cache is off."""
    if os.environ.get("CATENA_CACHE", "").strip().lower() in ("off", "0", "no", "false"):
        return None
    chosen = os.environ.get("CATENA_CACHE_DIR", "").strip()
    return Path(chosen) if chosen else Path(platformdirs.user_cache_dir("catena", appauthor=False))


class CacheState(NamedTuple):
    """The cache on disk: its folder, the number of its entries, their bytes, and the limit of these
    bytes.
    """

    folder: Path
    entries: int
    size: int
    limit: int


def cache_state() -> CacheState | None:
    """Return the state of the cache, or None if the cache is off."""
    place = folder()
    if place is None:
        return None
    sizes = [p.stat().st_size for p in place.glob(f"*{SUFFIX}")] if place.is_dir() else []
    return CacheState(place, len(sizes), sum(sizes), LIMIT)


def key(*parts: str | bytes) -> str:
    """Return the hash of several strings, each with its length, so that different lists of strings
    have different hashes.
    """
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def load(name: str) -> bytes | None:
    """Return the code under this key, or None if there is none, it is damaged, or other users could
    have written it.
    """
    place = _trusted_folder()
    if place is None:
        return None
    path = place / (name + SUFFIX)
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            found = os.fstat(file.fileno())
            data = file.read() if _private(found) and stat.S_ISREG(found.st_mode) else b""
    except OSError:
        return None
    head = len(MAGIC) + hashlib.sha256().digest_size
    code = data[head:]
    if data[:head] != _head(name, code):
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # it was used just now
    return code


def _without_waiting(path: str, flags: int) -> int:
    # opening a pipe would wait for its writer
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def store(name: str, code: bytes) -> None:
    """Write code under a key. A folder that cannot be written causes one warning and nothing
    else.
    """
    place = folder()
    if place is None:
        return
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _trusted_folder() is None:
            return
        head = _head(name, code)
        handle, temporary = tempfile.mkstemp(dir=place, prefix=".", suffix=SUFFIX + ".new")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(head + code)
            os.replace(temporary, place / (name + SUFFIX))
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        if head[-1] % SWEEP == 0:
            _evict(place)
    except OSError as error:
        _warn(
            place,
            f"compiled kernels cannot be kept in '{place}' ({error.strerror or error}), so they are"
            " compiled anew in every session; set CATENA_CACHE_DIR to a folder that can be"
            " written, or CATENA_CACHE=off",
        )


def load_or_make(name: str, make: Callable[[], bytes]) -> bytes:
    """Return the code under this key; where there is none, call `make` and store the result."""
    code = load(name)
    if code is None:
        code = make()
        store(name, code)
    return code


def _head(name: str, code: bytes) -> bytes:
    """Return the header of an entry: its checksum covers its name, so that two files cannot be
    exchanged.
    """
    return MAGIC + bytes.fromhex(key(name, code))


def _trusted_folder() -> Path | None:
    """Return the folder of the cache, if it exists and no other user can write to it."""
    place = folder()
    if place is None:
        return None
    try:
        found = place.stat()
    except OSError:
        return None
    if _private(found):
        return place
    _warn(
        place,
        f"the cache of compiled kernels '{place}' belongs to another user, or others may write to"
        f" it (owner {found.st_uid}, mode {stat.S_IMODE(found.st_mode):03o}): its machine code is"
        f" not used; make it yours and run chmod 700 '{place}', or set CATENA_CACHE_DIR to a folder"
        " of your own",
    )
    return None


def _private(found: os.stat_result) -> bool:
    """Return whether a file or folder belongs to this user (or the administrator), and no other
    user can write to it.
    """
    if os.name != "posix":
        return True  # rights are inherited from the user's profile
    return found.st_uid in (os.geteuid(), 0) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _warn(place: Path, message: str) -> None:
    if str(place) not in _warned:
        _warned.add(str(place))
        warnings.warn(message, stacklevel=3)


def _evict(place: Path) -> None:
    """Remove the least recently used entries, until the rest is below the limit."""
    entries: list[tuple[float, int, Path]] = []
    # what a killed process left half written grows old like the rest
    for path in place.glob(f"*{SUFFIX}*"):
        try:
            found = path.stat()
        except OSError:
            continue  # another process was faster
        entries.append((found.st_mtime, found.st_size, path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= LIMIT:
            return
        path.unlink(missing_ok=True)
        total -= size
