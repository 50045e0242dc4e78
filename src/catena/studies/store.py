"""The store of a study: a zarr group in a folder, with one chunk of each array per shard.

    variables, measures   (run) or (run, time); NaN until they are computed, and where a run has
                          none
    failure               (run) why a run has no measures, "" where it has them
    done                  (shard) 1 where a shard is complete; written after everything else of it

zarr writes a chunk under a temporary name and renames it. So a process may die at any instant: each
shard that it leaves is either complete, or not marked as done and computed again. The group itself
is created under a temporary name too.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import FormatError, StudyError
from ..results import lock, reason

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]
KEY = "catena_study"
NAME = "name"
DONE = "done"
FAILURE = "failure"


@dataclass(frozen=True)
class Column:
    """An array of a study.

    over_time: whether it is kept over time. variable: whether it is a variable. attributes: further
    attributes, such as the unit.
    """

    name: str
    over_time: bool = False
    variable: bool = False
    attributes: Mapping[str, Any] | None = None


def _zarr() -> Any:
    """Return the module zarr; raise StudyError where it is not installed."""
    try:
        import zarr
    except ImportError:
        raise StudyError(
            "a study in a folder is written with zarr, which is not installed: pip install"
            " 'catena[studies]'; or give out='study.nc', a netCDF file, which needs nothing more"
        ) from None
    return zarr


def identifier(name: str, taken: Iterable[str]) -> str:
    """Return a file name for an array that is not taken yet."""
    found = re.sub(r"[^\w-]+", "_", name).strip("_")[:60] or "array"
    others = set(taken)
    while found in others:
        found += "_"
    return found


class Store:
    """A study on disk, open for writing its shards."""

    def __init__(self, path: Path, columns: tuple[Column, ...], runs: int, shard: int, rows: Array):
        self.path = path
        self.columns = columns
        self.runs = runs
        self.shard = shard
        self.rows = rows
        ids: list[str] = []
        for c in columns:
            ids.append(identifier(c.name, [*ids, DONE, FAILURE, "time"]))
        self.ids = dict(zip((c.name for c in columns), ids))

    @property
    def shards(self) -> int:
        """The number of shards."""
        return -(-self.runs // self.shard)

    def span(self, k: int) -> tuple[int, int]:
        """Return the first run of the shard k, and the run after its last."""
        return k * self.shard, min((k + 1) * self.shard, self.runs)

    # --- making it
    def create(self, attributes: dict[str, Any]) -> None:
        """Create the group with empty arrays; where that fails nothing is left, and StudyError is
        raised.
        """
        zarr = _zarr()
        temporary = self.path.with_name(f".{self.path.name}.new")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(temporary, ignore_errors=True)
            group = zarr.open_group(str(temporary), mode="w", zarr_format=3)
            group.attrs.update(
                attributes
                | {
                    "runs": self.runs,
                    "shard": self.shard,
                    "measures": [c.name for c in self.columns if not c.variable],
                }
            )
            for c in self.columns:
                more = (len(self.rows),) if c.over_time else ()
                group.create_array(
                    self.ids[c.name],
                    shape=(self.runs, *more),
                    chunks=(min(self.shard, self.runs), *more),
                    dtype="float64",
                    fill_value=np.nan,
                    dimension_names=["run", *(["time"] if more else [])],
                    attributes={NAME: c.name, "variable": c.variable, **(c.attributes or {})},
                )
            if any(c.over_time for c in self.columns):
                group.create_array(
                    "time", data=self.rows, dimension_names=["time"], attributes={"units": "s"}
                )
            group.create_array(
                FAILURE,
                shape=(self.runs,),
                chunks=(min(self.shard, self.runs),),
                dtype=str,
                fill_value="",
                dimension_names=["run"],
            )
            group.create_array(
                DONE,
                shape=(self.shards,),
                chunks=(1,),
                dtype="uint8",
                fill_value=0,
                dimension_names=["shard"],
            )
            os.replace(temporary, self.path)
        except OSError as why:
            shutil.rmtree(temporary, ignore_errors=True)
            raise StudyError(
                f"{self.path}: the study cannot be written there ({reason(why)}); nothing was"
                " computed"
            ) from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of the study while shards are written, so that no other process writes."""
        with lock(self.path):
            yield

    # --- shards
    def missing(self) -> list[int]:
        """Return the indices of the shards that are not complete."""
        group = _zarr().open_group(str(self.path), mode="r")
        return [int(k) for k in np.flatnonzero(np.asarray(group[DONE][:]) != 1)]

    @cached_property
    def _open(self) -> dict[str, Any]:
        """The arrays, opened once: opening them takes as long as writing a shard of some thousand
        runs.
        """
        group = _zarr().open_group(str(self.path), mode="r+")
        return {name: group[name] for name in (*self.ids.values(), FAILURE, DONE)}

    def write(self, k: int, arrays: Mapping[str, Array], failure: list[str]) -> None:
        """Write the shard k, and then its mark that it is complete; raise StudyError where writing
        fails.
        """
        first, last = self.span(k)
        try:
            for name, values in arrays.items():
                self._open[self.ids[name]][first:last] = values
            if any(failure):  # otherwise the fill value "" is right
                self._open[FAILURE][first:last] = np.array(failure, dtype=np.dtypes.StringDType())
            self._open[DONE][k : k + 1] = np.ones(1, np.uint8)
        except OSError as why:
            done = self.shards - len(self.missing())
            raise StudyError(
                f"{self.path}: shard {k} could not be written ({reason(why)}); {done} of"
                f" {self.shards} shards are there and stay. When that is mended, go on with"
                " resume=True (--resume)"
            ) from None


def attributes_of(path: Path) -> dict[str, Any]:
    """Return the attributes of a store; raise FormatError where it holds no study."""
    if not os.path.exists(path):
        raise FormatError(
            path, "there is no study to resume; leave resume (--resume) away to begin it"
        )
    zarr = _zarr()
    try:
        found = dict(zarr.open_group(str(path), mode="r").attrs)
    except (OSError, ValueError, KeyError, json.JSONDecodeError) as why:
        raise FormatError(path, f"this is no study of catena: {reason(why)}") from None
    if KEY not in found:
        raise FormatError(path, "this is a zarr group, but no study of catena")
    return found


def compare(path: Path, key: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a store that holds the study of this key.

    Raises StudyError, with the names of the parts that differ, where it holds another study.
    """
    found = attributes_of(path)
    differing = [name for name in key if found[KEY].get(name) != key[name]]
    if differing:
        raise StudyError(
            f"{path} holds another study, whose {' and '.join(differing)}"
            f" {'differs' if len(differing) == 1 else 'differ'}; resume it as it was, or give"
            " another place for this one"
        )
    return found


def open_study(path: str | Path) -> xr.Dataset:
    """Return the table of a study on disk, read lazily: variables, measures and failures over
    `run`.

    An unfinished study has NaN in the runs that were not computed; `table.attrs["missing"]` is
    their number. Raises FormatError where there is no study.
    """
    import xarray as xr

    path = Path(path)
    if not os.path.exists(path):
        raise FormatError(path, "there is no such study")
    if is_netcdf(path):
        return _read_netcdf(path)
    attributes = attributes_of(path)
    data = xr.open_zarr(str(path), consolidated=False, chunks=None)
    done = data[DONE].values
    spans = [
        (k * attributes["shard"], min((k + 1) * attributes["shard"], attributes["runs"]))
        for k in np.flatnonzero(done != 1)
    ]
    named = {name: data[name].attrs[NAME] for name in data.variables if NAME in data[name].attrs}
    data = data.drop_vars(DONE).rename(named)
    for name in named.values():
        data[name].attrs.pop(NAME, None)
    order = [
        n
        for n in (*attributes["variables"], *attributes["measures"], FAILURE)
        if n in data.variables
    ]
    return finished(data[order], sum(b - a for a, b in spans))


# --- in one file
def is_netcdf(path: str | Path) -> bool:
    """Return whether the path is that of a netCDF file (.nc), not of a folder."""
    return Path(path).suffix.lower() == ".nc"


def write_netcdf(table: xr.Dataset, path: Path) -> xr.Dataset:
    """Write a complete table to a temporary file, rename it to `path`, and return the table."""
    own = {k: json.dumps(x) for k, x in table.attrs.items()}
    temporary = path.with_name(f".{path.name}.new")
    data = table.assign_attrs(own).rename(_ids(table))
    for name, given in zip(data.variables, table.variables):
        data[name].attrs[NAME] = str(given)
    data[FAILURE] = data[FAILURE].astype(str)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        data.to_netcdf(temporary, engine="h5netcdf")
        os.replace(temporary, path)
    except OSError as why:
        raise StudyError(f"{path} cannot be written: {reason(why)}") from None
    finally:
        temporary.unlink(missing_ok=True)
    return table


def _ids(table: xr.Dataset) -> dict[str, str]:
    """Return {name: name that netCDF allows} of all arrays."""
    found: dict[str, str] = {}
    for name in map(str, table.variables):
        own = name if name in (FAILURE, "time") else identifier(name, [*found.values(), FAILURE])
        found[name] = own
    return found


def _read_netcdf(path: Path) -> xr.Dataset:
    """Return the table in a netCDF file; raise FormatError where it is no study."""
    import xarray as xr

    try:
        with xr.open_dataset(path, engine="h5netcdf") as file:
            data = file.load()
        attributes = {k: json.loads(x) for k, x in data.attrs.items()}
        data = data.rename({name: data[name].attrs.pop(NAME) for name in list(data.variables)})
    except (OSError, ValueError, KeyError, TypeError) as why:
        raise FormatError(path, f"this is no study of catena: {reason(why)}") from None
    data.attrs = attributes
    return data


def finished(data: xr.Dataset, missing: int = 0) -> xr.Dataset:
    """Return a table with its variables as coordinates; missing: the number of runs not
    computed.
    """
    own = [str(name) for name in data.data_vars if data[name].attrs.get("variable")]
    data = data.set_coords(own)
    for name in data.variables:
        data[name].attrs.pop("variable", None)
    return data.assign_attrs(missing=missing) if missing else data
