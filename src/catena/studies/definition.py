"""Study: a mechanism, what varies, what is measured. `run` makes its table; where it runs does not
change a bit of it.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiler import default_width
from ..errors import CatenaError, StudyError
from ..machine import Machine, compile
from ..model import Mechanism
from ..registry import loaded
from ..results import Result
from ..simulation.scenario import read
from . import engines
from .design import Design, Grid, design
from .experiment import GROUP, Block
from .measures import read_measures
from .ranges import values_of
from .run_lists import read_names, read_rows
from .specification import Specification
from .store import (
    FAILURE,
    KEY,
    Column,
    Store,
    compare,
    finished,
    is_netcdf,
    open_study,
    write_netcdf,
)
from .variables import Varied, vary

if TYPE_CHECKING:
    import xarray as xr

SECONDS = 15.0  # of one core's work in a shard, about: what a kill may lose
MOST_RUNS = 1_000_000  # of a shard
# shards of a worker: many where each is a second of work or more
FEWEST = 4
MANY = 16
PILOT = 0.3  # s that a pilot takes at least
MOST_BYTES = 4e9  # of a table that is held in memory
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Estimate:
    """What a study will cost: runs; seconds of one core for each; on so many cores; bytes of its
    table, before they are compressed.
    """

    runs: int
    each: float
    cores: int
    bytes: int
    pilot: int

    @property
    def seconds(self) -> float:
        """Of the clock."""
        return self.runs * self.each / self.cores

    @property
    def core_hours(self) -> float:
        """Hours of one core."""
        return self.runs * self.each / 3600

    @property
    def large(self) -> bool:
        """Whether it is worth a question: ten minutes, or ten gigabytes."""
        return self.seconds > 600 or self.bytes > 10e9

    def __str__(self) -> str:
        return (
            f"{self.runs} runs, about {duration(self.seconds)} on {self.cores}"
            f" {'core' if self.cores == 1 else 'cores'} ({self.core_hours:.2g} core hours;"
            f" {1e6 * self.each:.3g} us per run, from {self.pilot}), {size(self.bytes)} before"
            " compression"
        )


def duration(seconds: float) -> str:
    """In words: "2 min 5 s"."""
    if seconds < 120:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    hours = round(seconds / 3600, 1)
    return (
        f"{minutes} min"
        if minutes < 180
        else f"{hours:g} h"
        if hours < 48
        else f"{hours / 24:.0f} days"
    )


def size(count: float) -> str:
    """Of bytes, in words."""
    power = int(np.clip(np.log10(max(count, 1)) // 3, 0, 4))
    return f"{count / 1000**power:.3g} {('bytes', 'kB', 'MB', 'GB', 'TB')[power]}"


@dataclass(frozen=True)
class Study(Specification):
    """What `catena.study` makes: a specification that can be run."""

    def __repr__(self) -> str:
        axes = ", ".join(
            f"{name} {n}" for name, n in zip(self.design.dimensions, self.design.shape)
        )
        return (
            f"Study({self.varied.mechanism.name!r}: {self.design.runs} runs ({axes}); measures"
            f" {', '.join(m.name for m in self.measures)})"
        )

    # --- running
    def estimate(self, on: Any = None, threads: int | None = None) -> Estimate:
        """What the whole of it will cost, from a pilot of a few runs; its machine code is compiled
        on the way.
        """
        experiment = engines.experiment_of(self)
        count = self.design.runs
        runs = min(default_width(), count)
        experiment.block(0, runs)
        while True:
            began = clock.perf_counter()
            experiment.block(0, runs)
            spent = clock.perf_counter() - began
            if spent > PILOT or runs >= min(experiment.block_size, count):
                break
            runs = min(8 * runs, experiment.block_size, count)
        series = sum(m.over_time for m in self.measures)
        each = (
            8
            * (len(self.design.names) + len(self.measures) - series + series * len(experiment.rows))
            + 16
        )
        with engines.connected(on) as where:
            return Estimate(count, spent / runs, _workers(where, threads), count * each, runs)

    def run(
        self,
        out: str | Path | None = None,
        on: Any = None,
        *,
        resume: bool = False,
        threads: int | None = None,
        shard: int | None = None,
        progress: Progress | None = None,
    ) -> xr.Dataset:
        """All runs, as a table: an xarray Dataset over `run`, with the variables as coordinates,
        the measures, and `failure`, which says why a run has none ("" where it has).

        out: a folder, study.zarr, into which shards are written as they are done; the table is then
        read from there when it is looked at. A name that ends in .nc is a netCDF file, which needs
        no zarr; it is written when all runs are done, and cannot be resumed. resume: compute only
        what it lacks. on: None, threads
        of this process (`threads`, by default one per core); "processes" (`threads` of them, each
        with one thread); a Dask client or "dask://host:port". shard: runs in a task, by default
        about 15 s of work. progress: called with the runs that are done, and all.
        """
        self.check(out, on, resume)
        with engines.connected(on) as where:
            _workers(where, threads)
            span = (
                _shard(self.estimate(where, threads), self.design.runs)
                if shard is None
                else _rounded(shard, self.design.runs)
            )
            if out is None or is_netcdf(out):
                table = self._in_memory(where, threads, span, progress)
                return table if out is None else write_netcdf(table, Path(out))
            return self._on_disk(Path(out), where, threads, span, progress, resume)

    def _on_disk(
        self,
        path: Path,
        on: Any,
        threads: int | None,
        span: int,
        progress: Progress | None,
        resume: bool,
    ) -> xr.Dataset:
        runs = self.design.runs
        store = self._opened(path, self.columns(), span, engines.experiment_of(self).rows, resume)
        with store.locked():
            spans = [(k, *store.span(k)) for k in store.missing()]
            done = runs - sum(b - a for _, a, b in spans)
            for k, block in self._shards(on, threads, spans, _told(progress, done, runs)):
                store.write(k, self._arrays(block), block.failure)
        return open_study(path)

    def check(self, out: str | Path | None = None, on: Any = None, resume: bool = False) -> None:
        """Refuse a place that holds something else, and an engine that is none, before anything is
        computed.
        """
        if out is None and resume:
            raise StudyError("resume continues the study of a folder; say which: out='study.zarr'")
        if out is not None and resume and is_netcdf(out):
            raise StudyError(
                f"{out} is a netCDF file, which is written when all runs are done; a study that can"
                " be resumed is a folder, such as study.zarr, and needs zarr"
            )
        if out is not None and resume:
            compare(Path(out), self.key)
        elif out is not None and Path(out).exists():
            raise StudyError(
                f"{out} is there already; go on with it by resume=True (--resume), or give another"
                " place"
            )
        if isinstance(on, str) and on != "processes" and not on.startswith(("dask://", "tcp://")):
            raise StudyError(
                f"on is {on!r}; a study runs on None (threads), 'processes', a Dask client or"
                " 'dask://host:port'"
            )
        if on is not None and not isinstance(on, str) and not hasattr(on, "submit"):
            raise StudyError(
                f"on is a {type(on).__name__}; a study runs on None (threads), 'processes', a Dask"
                " client or 'dask://host:port'"
            )

    def columns(self) -> tuple[Column, ...]:
        """The arrays of the table."""
        units = {v.name: v.unit for v in self.varied.variables}
        variables = [
            Column(name, variable=True, attributes={"units": units.get(name) or ""})
            for name in self.design.names
        ]
        return (
            *variables,
            *(Column(m.name, m.over_time, attributes={"measure": m.text}) for m in self.measures),
        )

    def _attributes(self) -> dict[str, Any]:
        d = self.design
        return {
            KEY: self.key,
            "mechanism": self.varied.mechanism.name,
            "dimensions": list(d.dimensions),
            "shape": [int(n) for n in d.shape],
            "variables": list(d.names),
            "drawn": [name for name, _ in d.drawn],
        }

    def _opened(
        self, path: Path, columns: tuple[Column, ...], span: int, rows: Any, resume: bool
    ) -> Store:
        if resume:
            return Store(
                path, columns, self.design.runs, int(compare(path, self.key)["shard"]), rows
            )
        store = Store(path, columns, self.design.runs, span, rows)
        store.create(self._attributes())
        return store

    def _shards(
        self, on: Any, threads: int | None, spans: list[engines.Span], tell: engines.Tell
    ) -> Iterator[tuple[int, Block]]:
        if not spans:
            return iter(())
        if on is None:
            return engines.in_threads(self, spans, _workers(on, threads), tell)
        if on == "processes":
            return engines.in_processes(self, spans, _workers(on, threads), tell)
        return engines.on_dask(on, self, spans, tell)

    def _arrays(self, block: Block) -> dict[str, Any]:
        return {
            **{name: block.variables[:, k] for k, name in enumerate(self.design.names)},
            **block.measures,
        }

    def _in_memory(
        self, on: Any, threads: int | None, span: int, progress: Progress | None
    ) -> xr.Dataset:
        import xarray as xr

        runs = self.design.runs
        columns = self.columns()
        rows = engines.experiment_of(self).rows
        needed = 8 * runs * sum(len(rows) if c.over_time else 1 for c in columns)
        if needed > MOST_BYTES:
            raise StudyError(
                f"the table of {runs} runs takes {size(needed)}; write it to a folder,"
                " out='study.zarr'"
            )
        spans = [
            (k, first, min(first + span, runs)) for k, first in enumerate(range(0, runs, span))
        ]
        found = dict(self._shards(on, threads, spans, _told(progress, 0, runs)))
        block = engines.joined([found[k] for k, *_ in spans])
        arrays = self._arrays(block)
        made = {
            c.name: (
                ("run", "time") if c.over_time else ("run",),
                arrays[c.name],
                {**(c.attributes or {}), "variable": c.variable},
            )
            for c in columns
        }
        made[FAILURE] = (("run",), np.array(block.failure, dtype=object), {})
        time = {"time": ("time", rows, {"units": "s"})} if any(c.over_time for c in columns) else {}
        return finished(
            xr.Dataset(made, time, {k: x for k, x in self._attributes().items() if k != KEY})
        )

    # --- looking at it
    def result(self, runs: Iterable[int] | int) -> Result:
        """The Result of some runs, by their numbers, as the study ran them; over `run` where they
        are several.
        """
        return engines.experiment_of(self).result(runs)

    def sensitivity(self, method: str = "sobol", **options: Any) -> xr.Dataset:
        """How much each variable matters to each measure, by one of `catena.studies.METHODS`; see
        `catena.studies.indices`.
        """
        return loaded("catena.studies.indices:sensitivity")(self, method, **options)

    def with_design(self, changed: Design) -> Study:
        """The same with other runs."""
        return replace(self, design=changed)


def _told(progress: Progress | None, done: int, runs: int) -> engines.Tell:
    reached = [done]

    def tell(more: int) -> None:
        reached[0] += more
        if progress is not None:
            progress(reached[0], runs)

    return tell


def _workers(on: Any, threads: int | None) -> int:
    """How many cores work at once."""
    if threads is not None and (
        isinstance(threads, bool) or not isinstance(threads, int) or threads < 1
    ):
        raise StudyError(
            f"threads is {threads!r}; it is a whole number from 1 on, or None for one per core"
        )
    if on is None or isinstance(on, str):
        return threads or engines.cores()
    return max(1, sum(on.nthreads().values())) if hasattr(on, "nthreads") else 1


def _shard(cost: Estimate, runs: int) -> int:
    """Runs of a shard: some seconds of work, and so many for each worker that none waits long for
    the last of another.
    """
    share = -(-runs // cost.cores)
    several = min(-(-share // FEWEST), max(-(-share // MANY), int(1.0 / cost.each)))
    return _rounded(min(int(SECONDS / cost.each) + 1, MOST_RUNS, several), runs)


def _rounded(shard: int | None, runs: int) -> int:
    if isinstance(shard, bool) or not isinstance(shard, int) or shard < 1:
        raise StudyError(f"shard is {shard!r}; it is a number of runs, from 1 on")
    return min(-(-shard // GROUP) * GROUP, -(-runs // GROUP) * GROUP)


# --- making one
def study(
    mechanism: Mechanism | Machine | str | Path,
    variables: Mapping[str, Any] | None = None,
    *,
    measures: Mapping[str, Any] | Iterable[str] | str,
    samples: int | None = None,
    sampling: str = "random",
    seed: int = 0,
    rows: str | Path | None = None,
    **options: Any,
) -> Study:
    """A study: many runs of one mechanism, and a few numbers of each.

    mechanism: a Mechanism; or a file or the name of an example, which brings its [scenario].
    variables: {name: values}, names as in `catena.studies.variables`: a parameter, q.NAME, v.NAME,
    tau.NAME, body.NAME.mass, control.kp ...; values an array or list (an axis), a distribution
    (`catena.studies.uniform`, `normal`, ..., or frozen ones of SciPy), or a text with units, "8..12
    cm:200". measures: {name: text}, such as {"peak": "max(abs(q['elbow']))"}, or a function of a
    Result; see `catena.studies.measures`. samples: how often what has a distribution is drawn, by
    `sampling` ("random", "lhs", "sobol") from `seed`. rows: a .csv with a column for each variable
    and a row for each run. options: those of `catena.simulate`; integrator="rk4", step=1e-3 is
    quickest.

    >>> s = study("triple_pendulum", {"q.pin 1": [0.1, 0.2]}, measures="max(kinetic)", until=0.1)
            # doctest: +SKIP
    """
    given = dict(variables or {})
    model, asked = _of(mechanism, options)
    control = asked.pop("control", None)
    listed = read_names(rows) if rows is not None else []
    if twice := [name for name in listed if name in given]:
        raise StudyError(
            f"{twice[0]!r} is a column of {rows} and is varied beside it; leave one of them out"
        )
    if not given and not listed:
        raise StudyError(
            "nothing is varied; say what is: {'crank': '8..12 cm:200'}, or --set 'crank=8..12"
            " cm:200'"
        )
    varied = vary(model, control, [*listed, *given])
    values, grid = _values(varied, given, rows)
    made = design(values, grid, samples, sampling, seed)
    return Study(varied, made, read_measures(measures, compile(varied.mechanism, threads=1)), asked)


def _of(
    mechanism: Mechanism | Machine | str | Path, options: dict[str, Any]
) -> tuple[Mechanism, dict[str, Any]]:
    if isinstance(mechanism, Machine):
        return mechanism.mechanism, dict(options)
    if isinstance(mechanism, Mechanism):
        return mechanism, dict(options)
    if not isinstance(mechanism, str | Path):
        raise StudyError(
            f"a study is of a Mechanism or a file, not of a {type(mechanism).__name__}"
        )
    changes = {k: options[k] for k in ("until",) if k in options}
    scenario = read(mechanism, **changes)
    return scenario.mechanism, {**scenario.arguments, "kept": dict(scenario.kept), **options}


def _values(
    varied: Varied, given: dict[str, Any], rows: str | Path | None
) -> tuple[dict[str, Any], Grid | None]:
    """What each variable takes; a StudyError with every fault."""
    units = {v.name: v.unit for v in varied.variables}
    found = {}
    faults = []
    for name, x in given.items():
        try:
            found[name] = values_of(x, units[name], name)
        except CatenaError as why:
            faults.append(str(why))
    if faults:
        raise StudyError("what the variables of a study take cannot be read:", faults)
    return found, read_rows(rows, units) if rows is not None else None
