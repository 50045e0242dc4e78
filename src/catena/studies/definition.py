"""Study: a mechanism, the values that vary, and the measures. `run` computes its table, which is
the same to the bit on every machine and with any number of threads or processes.
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

SHARD_SECONDS = 15.0  # work of one core per shard, about: what is lost when a process is killed
SHARD_MAX_RUNS = 1_000_000  # runs per shard at most
# shards per worker: many where each is a second of work or more
MIN_SHARDS_PER_WORKER = 4
MAX_SHARDS_PER_WORKER = 16
PILOT_SECONDS = 0.3  # s; a pilot takes at least so long, to be measured well
MAX_TABLE_BYTES = 4e9  # the largest table that is kept in memory
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Estimate:
    """The estimated cost of a study.

    Attributes
    ----------
    runs : int
        The number of runs.
    each : float
        Seconds of one core per run.
    cores : int
        The number of cores that work at once.
    bytes : int
        The size of the table before compression.
    pilot : int
        The number of runs from which the cost was measured.
    """

    runs: int
    each: float
    cores: int
    bytes: int
    pilot: int

    @property
    def seconds(self) -> float:
        """The expected wall-clock time, s."""
        return self.runs * self.each / self.cores

    @property
    def core_hours(self) -> float:
        """The expected computing time in hours of one core."""
        return self.runs * self.each / 3600

    @property
    def large(self) -> bool:
        """Whether it takes more than ten minutes or ten gigabytes, so that a user should be asked
        first.
        """
        return self.seconds > 600 or self.bytes > 10e9

    def __str__(self) -> str:
        return (
            f"{self.runs} runs, about {duration(self.seconds)} on {self.cores}"
            f" {'core' if self.cores == 1 else 'cores'} ({self.core_hours:.2g} core hours;"
            f" {1e6 * self.each:.3g} us per run, from {self.pilot}), {size(self.bytes)} before"
            " compression"
        )


def duration(seconds: float) -> str:
    """Return a duration as a string, such as "2 min" or "3.5 h"."""
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
    """Return a number of bytes as a string, such as "3.2 MB"."""
    power = int(np.clip(np.log10(max(count, 1)) // 3, 0, 4))
    return f"{count / 1000**power:.3g} {('bytes', 'kB', 'MB', 'GB', 'TB')[power]}"


@dataclass(frozen=True)
class Study(Specification):
    """A study: a mechanism, the values that vary, and the measures of each run.

    `catena.study` makes one; nothing runs until `run` is called.

    Parameters
    ----------
    *args, **kwargs
        The fields of the specification, as `catena.study` fills them in.
    """

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
        """Estimate the cost of the whole study from a pilot of a few runs.

        The pilot also compiles the machine code of the study.

        Parameters
        ----------
        on : None, "processes", str or Dask client
            Where the study is to run, as for `run`.
        threads : int or None, default None
            The number of threads or processes; None means one per core.

        Returns
        -------
        Estimate
            Runs, seconds per run, cores, and bytes of the table.
        """
        experiment = engines.experiment_of(self)
        count = self.design.runs
        runs = min(default_width(), count)
        experiment.block(0, runs)
        while True:
            began = clock.perf_counter()
            experiment.block(0, runs)
            spent = clock.perf_counter() - began
            if spent > PILOT_SECONDS or runs >= min(experiment.block_size, count):
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
        """Compute all runs and return their table.

        Parameters
        ----------
        out : str, Path or None, default None
            A folder, study.zarr, into which shards are written as they are done; the table is then
            read from there lazily. A name that ends in .nc is a netCDF file, which needs no zarr,
            is written when all runs are done, and cannot be resumed. None keeps the table in
            memory.
        on : None, "processes", str or Dask client
            None runs in threads of this process; "processes" in processes with one thread each; a
            Dask client or "dask://host:port" on a cluster.
        resume : bool, default False
            Whether to compute only the shards that `out` lacks.
        threads : int or None, default None
            The number of threads or processes; None means one per core.
        shard : int or None, default None
            The number of runs per task; None means about 15 s of work.
        progress : callable or None, default None
            Called with the number of finished runs and the number of all runs.

        Returns
        -------
        xarray.Dataset
            Over `run`: the variables as coordinates, the measures, and `failure`, the reason why a
            run has no measures ("" where it has them).

        Raises
        ------
        StudyError
            If `out` exists already, holds another study, or an argument is out of range.
        """
        self.check(out, on, resume)
        with engines.connected(on) as where:
            _workers(where, threads)
            span = (
                _runs_per_shard(self.estimate(where, threads), self.design.runs)
                if shard is None
                else _round_to_groups(shard, self.design.runs)
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
        """Compute the missing shards, write them into a store, and return its table."""
        runs = self.design.runs
        store = self._open_store(
            path, self.columns(), span, engines.experiment_of(self).rows, resume
        )
        with store.locked():
            spans = [(k, *store.span(k)) for k in store.missing()]
            done = runs - sum(b - a for _, a, b in spans)
            for k, block in self._shards(
                on, threads, spans, _progress_counter(progress, done, runs)
            ):
                store.write(k, self._arrays(block), block.failure)
        return open_study(path)

    def check(self, out: str | Path | None = None, on: Any = None, resume: bool = False) -> None:
        """Raise StudyError, before anything is computed, where `run` would refuse its arguments.

        Parameters
        ----------
        out, on, resume
            As for `run`.
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
                f"{out} exists already; go on with it by resume=True (--resume), or give another"
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
        """Return the columns of the table.

        Returns
        -------
        tuple of Column
            The variables, then the measures.
        """
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
        """Return the attributes of the table: key, names, dimensions and shape of the design."""
        d = self.design
        return {
            KEY: self.key,
            "mechanism": self.varied.mechanism.name,
            "dimensions": list(d.dimensions),
            "shape": [int(n) for n in d.shape],
            "variables": list(d.names),
            "drawn": [name for name, _ in d.drawn],
        }

    def _open_store(
        self, path: Path, columns: tuple[Column, ...], span: int, rows: Any, resume: bool
    ) -> Store:
        """Return the store of the study: an existing one to resume, or a new one."""
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
        """Yield (index, block) of each shard, as the engine finishes them."""
        if not spans:
            return iter(())
        if on is None:
            return engines.in_threads(self, spans, _workers(on, threads), tell)
        if on == "processes":
            return engines.in_processes(self, spans, _workers(on, threads), tell)
        return engines.on_dask(on, self, spans, tell)

    def _arrays(self, block: Block) -> dict[str, Any]:
        """Return {name: values} for the variables and measures of a block of runs."""
        return {
            **{name: block.variables[:, k] for k, name in enumerate(self.design.names)},
            **block.measures,
        }

    def _in_memory(
        self, on: Any, threads: int | None, span: int, progress: Progress | None
    ) -> xr.Dataset:
        """Compute all shards and return the table; raise StudyError where it is too large for
        memory.
        """
        import xarray as xr

        runs = self.design.runs
        columns = self.columns()
        rows = engines.experiment_of(self).rows
        needed = 8 * runs * sum(len(rows) if c.over_time else 1 for c in columns)
        if needed > MAX_TABLE_BYTES:
            raise StudyError(
                f"the table of {runs} runs takes {size(needed)}; write it to a folder,"
                " out='study.zarr'"
            )
        spans = [
            (k, first, min(first + span, runs)) for k, first in enumerate(range(0, runs, span))
        ]
        found = dict(self._shards(on, threads, spans, _progress_counter(progress, 0, runs)))
        block = engines.join_blocks([found[k] for k, *_ in spans])
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
        """Return the Result of some runs, exactly as the study ran them.

        Parameters
        ----------
        runs : int or iterable of int
            The numbers of the runs.

        Returns
        -------
        Result
            Of one run, or over `run` for several.

        Raises
        ------
        StudyError
            If a number is out of range, a run failed, or the runs have rows at different times.
        """
        return engines.experiment_of(self).result(runs)

    def sensitivity(self, method: str = "sobol", **options: Any) -> xr.Dataset:
        """Return how much each variable matters to each measure.

        Parameters
        ----------
        method : {"sobol", "morris", "tornado"}, default "sobol"
            One of `catena.studies.METHODS`; see `catena.studies.indices`.
        **options
            samples, seed, and the arguments of `run`.

        Returns
        -------
        xarray.Dataset
            The indices of the method, over `measure` and `variable`.

        Raises
        ------
        StudyError
            If a run fails, or no measure is one number per run.
        """
        return loaded("catena.studies.indices:sensitivity")(self, method, **options)

    def with_design(self, changed: Design) -> Study:
        """Return the same study with the runs of another design.

        Parameters
        ----------
        changed : Design
            The values of every run.

        Returns
        -------
        Study
        """
        return replace(self, design=changed)


def _progress_counter(progress: Progress | None, done: int, runs: int) -> engines.Tell:
    """Return a function that adds finished runs to a counter and calls `progress` with the
    counter.
    """
    reached = [done]

    def tell(more: int) -> None:
        reached[0] += more
        if progress is not None:
            progress(reached[0], runs)

    return tell


def _workers(on: Any, threads: int | None) -> int:
    """Return how many cores work at once; raise StudyError where `threads` is not a positive
    integer.
    """
    if threads is not None and (
        isinstance(threads, bool) or not isinstance(threads, int) or threads < 1
    ):
        raise StudyError(
            f"threads is {threads!r}; it is a whole number from 1 on, or None for one per core"
        )
    if on is None or isinstance(on, str):
        return threads or engines.cores()
    return max(1, sum(on.nthreads().values())) if hasattr(on, "nthreads") else 1


def _runs_per_shard(cost: Estimate, runs: int) -> int:
    """Return the number of runs per shard.

    A shard is about SHARD_SECONDS of work at most; each worker gets at least MIN_SHARDS_PER_WORKER
    shards, and up to MAX_SHARDS_PER_WORKER as long as a shard is a second of work, so that no
    worker waits long for the last shard of another.
    """
    share = -(-runs // cost.cores)
    several = min(
        -(-share // MIN_SHARDS_PER_WORKER),
        max(-(-share // MAX_SHARDS_PER_WORKER), int(1.0 / cost.each)),
    )
    return _round_to_groups(min(int(SHARD_SECONDS / cost.each) + 1, SHARD_MAX_RUNS, several), runs)


def _round_to_groups(shard: int | None, runs: int) -> int:
    """Return a number of runs per shard rounded up to a multiple of GROUP."""
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
    """Define a study: many runs of one mechanism, and a few numbers of each.

    Parameters
    ----------
    mechanism : Mechanism, Machine, str or Path
        The mechanism; or a file or the name of an example, whose [scenario] is used too.
    variables : mapping or None
        {name: values}. Names are those of `catena.studies.variables`: a parameter, q.NAME, v.NAME,
        tau.NAME, body.NAME.mass, control.kp and so on. Values are an array or list (an axis), a
        distribution (`catena.studies.uniform`, `normal`, ..., or a frozen one of SciPy), or a text
        with units such as "8..12 cm:200"; numbers without units are SI.
    measures : mapping, iterable of str, or str
        {name: text or function}, such as {"peak": "max(abs(q['elbow']))"}; a function takes a
        Result. See `catena.studies.measures`.
    samples : int or None, default None
        How often variables with a distribution are drawn.
    sampling : {"random", "lhs", "sobol"}, default "random"
        How they are drawn.
    seed : int, default 0
        The seed of the draws.
    rows : str, Path or None, default None
        A .csv file with a column for each variable and a row for each run.
    **options
        The options of `catena.simulate`; integrator="rk4", step=1e-3 is quickest.

    Returns
    -------
    Study
        Its `run` computes the table.

    Raises
    ------
    StudyError
        If nothing is varied, or a variable, a value or a measure cannot be read.

    Examples
    --------
    >>> import catena
    >>> s = catena.study(
    ...     "triple_pendulum", {"q.pin1": [0.1, 0.2]}, measures="max(kinetic)", until=0.1
    ... )
    >>> s.design.runs
    2
    """
    if not (variables is None or isinstance(variables, Mapping)):
        raise StudyError(
            f"what varies is a {type(variables).__name__}; it is a mapping of names to values, such"
            " as {'crank': '8..12 cm:200'}"
        )
    given = dict(variables or {})
    model, asked = _mechanism_and_options(mechanism, options)
    control = asked.pop("control", None)
    file_names = read_names(rows) if rows is not None else []
    if twice := [name for name in file_names if name in given]:
        raise StudyError(
            f"{twice[0]!r} is a column of {rows} and is varied as well; leave one of them out"
        )
    if not given and not file_names:
        raise StudyError(
            "nothing is varied; give the variables: {'crank': '8..12 cm:200'}, or --set"
            " 'crank=8..12 cm:200'"
        )
    varied = vary(model, control, [*file_names, *given])
    values, grid = _values(varied, given, rows)
    made = design(values, grid, samples, sampling, seed)
    return Study(varied, made, read_measures(measures, compile(varied.mechanism, threads=1)), asked)


def _mechanism_and_options(
    mechanism: Mechanism | Machine | str | Path, options: dict[str, Any]
) -> tuple[Mechanism, dict[str, Any]]:
    """Return the mechanism, and the options merged with those of its scenario where it is a
    file.
    """
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
    """Return the values of each variable, and the list of runs if there is one.

    Raises StudyError with every value that cannot be read.
    """
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
