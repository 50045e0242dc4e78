"""Storage: the netCDF file of a run that is written while it goes on, and is whole at every instant.

    time      known from the beginning                     the other rows are NaN until they are computed
    journal   two slots, written in turn: how far the run has come, its ledger, and what is needed to go on

HDF5 makes the file and takes all its space. Afterwards nothing but bytes are written, in place and past HDF5: rows first,
then a slot of the journal with its own checksum. So a process may die at any instant; what it leaves is a netCDF file whose
last good slot says how many rows count. (An unlimited time dimension would grow HDF5's own tables at each write, and a death
in between would tear them.) Others may read the file meanwhile.
"""

from __future__ import annotations

import json
import os
import re
import struct
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from ..errors import CatenaError, FormatError

JOURNAL = "journal"
SLOT = 1 << 16  # bytes of a slot, besides what the state takes
HEAD = struct.Struct("<II")  # length and checksum of what a slot holds


def create(path: Path, first: xr.Dataset, times: np.ndarray, room: int) -> None:
    """Make the file: the labels and attributes of `first`, its rows at the head of as many as there are `times`.

    room: how many numbers the state holds that the journal keeps.
    """
    import h5netcdf
    import h5py  # type: ignore[import-untyped]

    slot = SLOT + 64 * room
    row = sum(v.nbytes for v in first.variables.values() if "time" in v.dims) // max(1, first.sizes["time"])
    reserve(path, len(times) * row + 2 * slot + SLOT)
    with h5netcdf.File(path, "w") as file:
        sizes = {str(name): size for name, size in first.sizes.items()}
        file.dimensions = {**sizes, "time": len(times), "slot": 2, "byte": slot}
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
        file.attrs.update(first.attrs)
        beside = [str(name) for name in first.coords if name not in first.dims]
        if beside:
            file.attrs["coordinates"] = " ".join(beside)


def reserve(path: Path, size: int) -> None:
    """Raise an OSError where there is no room for so many bytes; HDF5, told so while it writes, takes the process down."""
    try:
        with path.open("wb") as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, max(1, size))
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)


@dataclass(frozen=True)
class Place:
    """Where a variable's bytes stand in the file: the first, how many a row has, its type."""

    offset: int
    width: int
    dtype: np.dtype


def places(path: Path) -> dict[str, Place]:
    """Where the variables of a file stand that was made by `create`."""
    import h5py

    try:
        with h5py.File(path, "r") as file:
            if JOURNAL not in file:
                raise FormatError(path, "this result was not written while it ran; it cannot be resumed")
            found = {name: x for name, x in file.items() if x.id.get_offset() is not None and x.ndim}
            return {
                name: Place(x.id.get_offset(), x.dtype.itemsize * int(np.prod(x.shape[1:])), x.dtype)
                for name, x in found.items()
            }
    except OSError as error:
        raise FormatError(path, f"this is not a result of catena: {reason(error)}") from None


def append(path: Path, known: dict[str, Place], row: int, rows: dict[str, np.ndarray], journal: dict[str, Any]) -> None:
    """Write rows (n, ...) from `row` on, then the journal into the slot that its "number" says."""
    slot, text = known[JOURNAL], packed(journal, known[JOURNAL].width)
    with path.open("r+b", buffering=0) as file:
        for name, values in rows.items():
            place = known[name]
            _put(file, place.offset + row * place.width, np.ascontiguousarray(values, place.dtype).tobytes())
        _put(file, slot.offset + journal["number"] % 2 * slot.width, text)


def journal_of(path: Path) -> dict[str, Any]:
    """The last good journal of a file."""
    slot = places(path)[JOURNAL]
    with path.open("rb") as file:
        file.seek(slot.offset)
        found = latest(np.frombuffer(file.read(2 * slot.width), "u1").reshape(2, -1))
    if found is None:
        raise FormatError(path, "its journal is damaged; it cannot be resumed")
    return found


def latest(slots: np.ndarray) -> dict[str, Any] | None:
    """The newest slot whose checksum is right."""
    found = [entry for slot in slots if (entry := _read(slot.tobytes())) is not None]
    return max(found, key=lambda entry: entry["number"], default=None)


def packed(journal: dict[str, Any], width: int) -> bytes:
    """The bytes of a slot; of very many events the earliest are left out."""
    text = json.dumps(journal).encode()
    while len(text) > width - HEAD.size and journal.get("happened"):
        journal = {**journal, "happened": journal["happened"][len(journal["happened"]) // 2 or 1 :]}
        text = json.dumps(journal).encode()
    if len(text) > width - HEAD.size:
        raise CatenaError(f"the journal of a run takes {len(text)} bytes; its file has room for {width - HEAD.size}")
    return HEAD.pack(len(text), zlib.crc32(text)) + text


def _put(file: Any, offset: int, data: bytes) -> None:
    """All the bytes; a disk may take them in parts."""
    file.seek(offset)
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


def _read(slot: bytes) -> dict[str, Any] | None:
    length, checksum = HEAD.unpack_from(slot)
    text = slot[HEAD.size : HEAD.size + length]
    if not length or zlib.crc32(text) != checksum:
        return None
    return json.loads(text)


# ---------------------------------------------------------------------------------------------------- failures
def reason(error: BaseException) -> str:
    """Why a file could not be read or written, in the system's words; HDF5 hides them in its own."""
    number = getattr(error, "errno", None) or next(iter(map(int, re.findall(r"errno = (\d+)", str(error)))), None)
    if number:
        return os.strerror(number)
    hidden = re.search(r"error message = '([^']*)'", str(error))
    return hidden.group(1) if hidden else str(error).splitlines()[0] if str(error) else type(error).__name__
