"""The registry of files that a result is saved as: one record per suffix.

`Result.save` and `catena export --to` read it. A writer is a function (result, path), named as text
so that a list of the kinds costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..registry import Registry


@dataclass(frozen=True)
class FileKind:
    """A kind of file that a result is saved as.

    name: its suffix. write(result, path): the function that writes it, or its place. doc: what the
    file holds, in a few words. target: its name in `catena export --to`, "" for none.
    """

    name: str
    write: Callable[[Any, Any], Any] | str
    doc: str
    target: str = ""


FILE_KINDS: Registry[FileKind] = Registry("kind of file")

for _kind in (
    FileKind(".nc", "catena.results.tables:write_netcdf", "netCDF: everything"),
    FileKind(".csv", "catena.results.tables:write_csv", "the table of to_pandas", "csv"),
    FileKind(
        ".parquet", "catena.results.tables:write_parquet", "the table of to_pandas", "parquet"
    ),
    FileKind(".rrd", "catena.results.rerun_log:write", "a recording for the Rerun viewer", "rerun"),
    FileKind(
        ".mcap",
        "catena.results.mcap_log:write",
        "joint states, frames and energies as messages, for Foxglove and tools of ROS",
        "mcap",
    ),
):
    FILE_KINDS.register(_kind)
