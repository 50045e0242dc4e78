"""Storage: the netCDF file of a run, written during the run and valid at every instant.

    time      known from the beginning                the other rows are NaN until they are computed
    journal   two slots, written in turn: how far the run has come, its ledger, and the checkpoint
              for a restart
    log       lines that are only appended: events, and the impacts of contacts; the journal holds
              how many bytes of it are valid

HDF5 creates the file and reserves all its space. Afterwards bytes are written in place, without
HDF5: rows first, then a slot of the journal with its own checksum. So a process may die at any
instant; what it leaves is a netCDF file whose last valid slot says how many rows are valid. (An
unlimited time dimension would grow HDF5's own tables at each write, and a death in between would
damage them.) Other processes may read the file meanwhile.
"""

from __future__ import annotations

import base64
import errno
import json
import math
import os
import re
import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import CatenaError, FormatError

if TYPE_CHECKING:
    import xarray as xr

JOURNAL = "journal"
LOG = "log"
SLOT_BYTES = 1 << 16  # bytes of a slot of the journal, without the state
LOG_BYTES = 1 << 21  # bytes of the log without states: some ten thousand events
LOGGED_STATES = 10_000  # the number of events whose states before and after have room in the log
# error numbers that mean that another process holds a lock
LOCK_BUSY = (errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK, errno.EDEADLK)
HEAD = struct.Struct("<II")  # length and checksum of the text of a slot


@dataclass(frozen=True)
class Journal:
    """The progress of the run of a file, its ledger, and the checkpoint for a restart.

    number: the index of this journal, counted from zero. row: the number of valid rows. state: the
    checkpoint. energy: kinetic and potential at the start, J. extremes: of all rows. wall_time: s.
    key: the fingerprint of the run. logged, checksum: the number of valid bytes of the log, and
    their checksum. lost: the number of lines that did not fit into the log.
    """

    number: int
    row: int
    state: dict[str, Any]
    energy: list[float]
    extremes: dict[str, Any]
    wall_time: float
    key: dict[str, str | float]
    ledger: dict[str, Any]
    logged: int = 0
    checksum: int = 0
    lost: int = 0

    @staticmethod
    def read(text: bytes) -> Journal:
        """Return the journal that one of its slots in the file holds as text. Raise a ValueError
        where the text is not a journal.
        """
        try:
            found = Journal(**json.loads(text))
            kinds = (
                (dict, found.state),
                (dict, found.extremes),
                (dict, found.key),
                (dict, found.ledger),
                (list, found.energy),
            )
            counts = found.number, found.row, found.logged, found.checksum, found.lost
            if not all(isinstance(x, kind) for kind, x in kinds) or not all(
                type(x) is int and x >= 0 for x in counts
            ):
                raise ValueError("a field is of another kind")
            if (
                found.row < 1
                or len(found.energy) != 2
                or not all(math.isfinite(x) for x in (*found.energy, found.wall_time))
            ):
                raise ValueError("a number is not possible")
        except (TypeError, RecursionError) as error:
            raise ValueError(str(error)) from None
        return found


# --- the log
class Logged(NamedTuple):
    """The contents of a log: events, (time, words, state before, state after), and impacts of
    contacts, lists of the fields of a `Hit`.
    """

    events: list[tuple[float, str, tuple[float, ...], tuple[float, ...]]]
    impacts: list[list[Any]]


def log_lines(events: Iterable[Any], impacts: Iterable[Any]) -> list[bytes]:
    """Return the lines of events and impacts that are written together, in the order of their
    times.
    """
    lines = [
        *(["event", t, what, *map(_packed, states)] for t, what, *states in events),
        *(["impact", *i] for i in impacts),
    ]
    return [json.dumps(line).encode() + b"\n" for line in sorted(lines, key=lambda line: line[1])]


def log_room(size: int) -> int:
    """Return the size in bytes that is reserved for the log of a run that may have events. size:
    the number of entries of q and v together.
    """
    states = LOGGED_STATES * 2 * (len(_packed((0.0,) * size)) + 4)
    return LOG_BYTES + min(states, 4 * LOG_BYTES)


def _packed(state: Iterable[float]) -> str:
    """Return the bits of a state as a string."""
    return base64.b64encode(np.array(tuple(state), "<f8").tobytes()).decode()


def _unpacked(text: str) -> tuple[float, ...]:
    """Return the state whose bits a string holds."""
    return tuple(np.frombuffer(base64.b64decode(text), "<f8").tolist())


def read_log(entry: Journal, log: np.ndarray) -> Logged:
    """Return the valid part of a log (bytes,). Raise a ValueError where it is damaged."""
    text = log[: entry.logged].tobytes()
    if len(text) < entry.logged or zlib.crc32(text) != entry.checksum:
        raise ValueError("its log is damaged")
    lines = [json.loads(line) for line in text.splitlines()]
    events = [
        (t, what, *(_unpacked(x) for x in (states or ("", ""))))
        for _, t, what, *states in (line for line in lines if line[0] == "event")
    ]
    if not all(
        isinstance(t, float) and math.isfinite(t) and isinstance(what, str) and what.isprintable()
        for t, what, *_ in events
    ):
        raise ValueError("an event is not possible")
    return Logged(events, [line[1:] for line in lines if line[0] == "impact"])


# --- the file
def create(
    path: Path, first: xr.Dataset, times: np.ndarray, room: int, lines: int = LOG_BYTES
) -> None:
    """Create the file: the labels and attributes of `first`, whose rows come first, and space for a
    row at each of the `times`.

    room: how many numbers the state in the journal has. lines: bytes of the log.
    """
    import h5netcdf
    import h5py  # type: ignore[import-untyped]

    slot = SLOT_BYTES + 64 * room
    row = sum(v.nbytes for v in first.variables.values() if "time" in v.dims) // max(
        1, first.sizes["time"]
    )
    reserve(path, len(times) * row + 2 * slot + SLOT_BYTES + lines)
    with h5netcdf.File(path, "w") as file:
        sizes = {str(name): size for name, size in first.sizes.items()}
        file.dimensions = {
            **sizes,
            "time": len(times),
            "slot": 2,
            "byte": slot,
            "log_byte": max(1, lines),
        }
        for name, variable in first.variables.items():
            over_time = "time" in variable.dims
            text = variable.dtype.kind in "UOT"
            dtype = h5py.string_dtype() if text else variable.dtype
            missing = np.nan if over_time and name != "time" else None
            made = file.create_variable(str(name), variable.dims, dtype, fillvalue=missing)
            values = variable.values.astype(object) if text else variable.values
            if name == "time":
                made[:] = times
            elif over_time:
                made[: len(values)] = values  # the first row takes the space of all
            else:
                made[...] = values
            made.attrs.update(variable.attrs)
        file.create_variable(JOURNAL, ("slot", "byte"), "u1", data=np.zeros((2, slot), "u1"))
        file.create_variable(LOG, ("log_byte",), "u1", data=np.zeros(max(1, lines), "u1"))
        file.attrs.update(first.attrs)
        beside = [str(name) for name in first.coords if name not in first.dims]
        if beside:
            file.attrs["coordinates"] = " ".join(beside)


def reserve(path: Path, size: int) -> None:
    """Raise an OSError where the disk has no room for this many bytes. (When HDF5 finds that out
    while it writes, the process crashes.)
    """
    try:
        with path.open("wb") as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, max(1, size))
    finally:
        remove(path)


@dataclass(frozen=True)
class FileRegion:
    """The bytes of a variable in the file. offset: of the first byte. width: bytes of a row. dtype:
    its type. count: the number of rows that it has room for.
    """

    offset: int
    width: int
    dtype: np.dtype
    count: int


def places(path: Path) -> dict[str, FileRegion]:
    """Return the regions of the variables of a file that `create` made."""
    import h5py

    try:
        with h5py.File(path, "r") as file:
            if JOURNAL not in file:
                raise FormatError(
                    path, "this result was not written while it ran; it cannot be resumed"
                )
            found = {
                name: x for name, x in file.items() if x.id.get_offset() is not None and x.ndim
            }
            return {
                name: FileRegion(
                    x.id.get_offset(), x.dtype.itemsize * int(np.prod(x.shape[1:])), x.dtype, len(x)
                )
                for name, x in found.items()
            }
    except OSError as error:
        raise FormatError(path, f"this is not a result of catena: {reason(error)}") from None


def append(
    path: Path,
    known: dict[str, FileRegion],
    row: int,
    rows: dict[str, np.ndarray],
    journal: Journal,
    lines: bytes = b"",
) -> None:
    """Write rows (n, ...) from row `row` on, then new lines of the log, then the journal into the
    slot that its number selects.
    """
    slot = known[JOURNAL]
    text = packed(journal, known[JOURNAL].width)
    with path.open("r+b", buffering=0) as file:
        for name, values in rows.items():
            place = known[name]
            _put(
                file,
                place.offset + row * place.width,
                np.ascontiguousarray(values, place.dtype).tobytes(),
            )
        if lines:
            _put(file, known[LOG].offset + journal.logged - len(lines), lines)
        _put(file, slot.offset + journal.number % 2 * slot.width, text)


def rows_of(path: Path, place: FileRegion, first: int, last: int) -> NDArray[np.float64]:
    """Return rows `first` to `last` of a variable, flattened."""
    with path.open("rb") as file:
        file.seek(place.offset + first * place.width)
        return np.frombuffer(file.read((last - first) * place.width), place.dtype)


def journal_of(path: Path) -> Journal:
    """Return the last valid journal of a file."""
    return with_log(path)[0]


def with_log(path: Path) -> tuple[Journal, Logged]:
    """Return the last valid journal of a file, and its log. Raise a ValueError where the log is
    damaged.
    """
    known = places(path)
    with path.open("rb") as file:
        file.seek(known[JOURNAL].offset)
        found = latest(np.frombuffer(file.read(2 * known[JOURNAL].width), "u1").reshape(2, -1))
        if found is None:
            raise FormatError(path, "its journal is damaged; it cannot be resumed")
        file.seek(known[LOG].offset)
        return found, read_log(found, np.frombuffer(file.read(known[LOG].count), "u1"))


def latest(slots: np.ndarray) -> Journal | None:
    """Return the newest journal with a correct checksum; None if neither slot has one."""
    found = [entry for slot in slots if (entry := _read(slot.tobytes())) is not None]
    return max(found, key=lambda entry: entry.number, default=None)


def packed(journal: Journal, width: int) -> bytes:
    """Return a journal as bytes: its length, its checksum, and its text. Raise CatenaError where it
    does not fit into a slot of `width` bytes.
    """
    text = json.dumps(asdict(journal)).encode()
    if len(text) > width - HEAD.size:
        raise CatenaError(
            f"the journal of a run takes {len(text)} bytes; its file has room for"
            f" {width - HEAD.size}"
        )
    return HEAD.pack(len(text), zlib.crc32(text)) + text


def _put(file: Any, offset: int, data: bytes) -> None:
    """Write all bytes at an offset, in as many parts as the system takes."""
    file.seek(offset)
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


def _read(slot: bytes) -> Journal | None:
    """Return the journal of a slot; None where its checksum is wrong or it is not a journal."""
    if len(slot) < HEAD.size:
        return None
    length, checksum = HEAD.unpack_from(slot)
    text = slot[HEAD.size : HEAD.size + length]
    if not length or zlib.crc32(text) != checksum:
        return None
    with suppress(ValueError):
        return Journal.read(text)
    return None


# --- one writer
@contextmanager
def lock(path: Path) -> Iterator[None]:
    """Hold a lock so that no other process writes a result to `path`. The system releases it when
    the process dies.
    """
    beside = path.with_name(f".{path.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = beside.open("a+b")
    except OSError as error:
        raise CatenaError(
            f"{path}: the results cannot be written there ({reason(error)}); nothing was computed"
        ) from None
    with file:
        if not _locked(file.fileno()) or not _same(file.fileno(), beside):
            raise CatenaError(
                f"{path}: another run is writing there; wait for its end, or give another place"
            )
        try:
            yield
        finally:
            remove(beside)


def _locked(file: int) -> bool:
    """Return whether the lock on an open file was acquired; true also where the file system has no
    locks.
    """
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in LOCK_BUSY  # some file systems have no locks
    return True


def _same(file: int, path: Path) -> bool:
    """Return whether the open file is still the one at that path; a process that ended in the
    meantime may have removed it.
    """
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except OSError:
        return False


def remove(path: Path) -> None:
    """Delete a file, if it exists and can be deleted."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


# --- failures
def reason(error: BaseException) -> str:
    """Return the system's explanation why a file could not be read or written, extracted from a
    message of HDF5 where necessary.
    """
    number = getattr(error, "errno", None) or next(
        iter(map(int, re.findall(r"errno = (\d+)", str(error)))), None
    )
    if number:
        return os.strerror(number)
    hidden = re.search(r"error message = '([^']*)'", str(error))
    return (
        hidden.group(1)
        if hidden
        else str(error).splitlines()[0]
        if str(error)
        else type(error).__name__
    )
