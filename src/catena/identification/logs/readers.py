"""Readers of logs: from a file to columns of numbers. A format is a record of `LOG_READERS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import FormatError, StudyError
from ...registry import Registry, loaded

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RawLog:
    """The columns of a log as they were read.

    columns: {name: numbers}. source: the file, for messages. header: whether the file named its
    columns; without a header they are named "1", "2", ...
    """

    columns: Mapping[str, Array]
    source: str
    header: bool = True


@dataclass(frozen=True)
class LogReader:
    """A format of logs.

    name: its name. suffixes: of its files. doc: one line for docs/logs.md. read: a function from a
    path to a RawLog, or its location, "module:function".
    """

    name: str
    suffixes: tuple[str, ...]
    doc: str
    read: Callable[[Path], RawLog] | str


LOG_READERS: Registry[LogReader] = Registry("reader of logs", error=StudyError)
HERE = "catena.identification.logs"
for _reader in (
    LogReader(
        "csv",
        (".csv", ".txt", ".tsv"),
        "numbers with commas, semicolons, tabs or spaces between, with a header or without",
        f"{HERE}.text_reader:read_text",
    ),
    LogReader(
        "npz",
        (".npz",),
        "arrays of NumPy; an array of shape (T, n) is n columns NAME 1 to NAME n",
        f"{HERE}.array_readers:read_npz",
    ),
    LogReader(
        "mat",
        (".mat",),
        "MATLAB, versions 4 to 7 and 7.3; structures are read by their fields",
        f"{HERE}.array_readers:read_mat",
    ),
    LogReader(
        "parquet",
        (".parquet", ".pq"),
        "Parquet; needs pyarrow",
        f"{HERE}.array_readers:read_parquet",
    ),
    LogReader(
        "mcap",
        (".mcap",),
        "MCAP with sensor_msgs/JointState in ROS 1 or ROS 2 encoding, or JSON; needs catena[logs]",
        f"{HERE}.ros_readers:read_mcap",
    ),
    LogReader(
        "rosbag",
        (".bag", ".db3"),
        "ROS 1 bags, and ROS 2 bags (the folder or its .db3) with sensor_msgs/JointState; needs"
        " catena[logs]",
        f"{HERE}.ros_readers:read_bag",
    ),
):
    LOG_READERS.register(_reader)


def markdown() -> str:
    """Return the formats as a Markdown table, which docs/logs.md includes."""
    return "\n".join(
        [
            "| format | files | what is read |",
            "|---|---|---|",
            *(f"| {r.name} | {', '.join(r.suffixes)} | {r.doc} |" for r in LOG_READERS.values()),
        ]
    )


def read_raw(data: Any) -> RawLog:
    """Return the columns of a file, a mapping or a pandas table.

    Raises FormatError where a file is missing or its format is unknown, and StudyError where the
    columns of a mapping differ in length or are not numbers.
    """
    if isinstance(data, (str, Path)):
        return _read_file(Path(data))
    names = list(data.columns) if hasattr(data, "columns") else list(data)
    if hasattr(data, "reset_index") and data.index.name:
        data, names = data.reset_index(), [data.index.name, *names]
    return checked_columns({str(n).strip(): data[n] for n in names}, "the data")


def _read_file(path: Path) -> RawLog:
    """Return the columns of a file, by the reader of its suffix."""
    if not path.exists():
        raise FormatError(path, "there is no such log")
    if path.is_dir():
        if not list(path.glob("metadata.yaml")):
            raise FormatError(path, "this folder is no ROS 2 bag: it has no metadata.yaml")
        return loaded(LOG_READERS["rosbag"].read)(path)
    for reader in LOG_READERS.values():
        if path.suffix.lower() in reader.suffixes:
            return loaded(reader.read)(path)
    known = ", ".join(s for r in LOG_READERS.values() for s in r.suffixes)
    raise FormatError(path, f"logs end in {known}; this one ends in {path.suffix or 'nothing'}")


def checked_columns(columns: Mapping[str, Any], source: str, header: bool = True) -> RawLog:
    """Return a RawLog of columns that are numbers and have one length; raise StudyError."""
    found: dict[str, Array] = {}
    faults = []
    for name, column in columns.items():
        try:
            found[name] = np.asarray(column, float).reshape(-1)
        except (TypeError, ValueError):
            continue  # a column of texts; if it is needed, the layout says that it is missing
    if len(lengths := {len(x) for x in found.values()}) > 1:
        parts = ", ".join(f"{n!r} {len(x)}" for n, x in list(found.items())[:6])
        faults.append(f"its columns have different numbers of rows ({parts}); they need one")
    if not found:
        faults.append("it has no column of numbers")
    elif min(lengths) < 10:
        faults.append(f"it has {min(lengths)} rows; a log needs at least 10")
    if faults:
        raise StudyError(f"{source} is no log:", faults)
    return RawLog(found, source, header)
