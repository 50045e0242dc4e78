"""`catena sweep`: many runs of a mechanism, and a few numbers of each."""

from __future__ import annotations

import sys
import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from ..errors import CatenaError
from ._reading import File, RunFlags, time_option
from ._tables import console, number, table

if TYPE_CHECKING:
    from ..studies import Estimate, Study

NAME = "study.zarr"
FILE = "study.nc"  # where zarr is not installed
MAX_PRINTED_FAILURES = 5  # failures that are printed, at most


def sweep(
    file: File,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUES",
            help="What varies: 'crank=8..12 cm:200', 'density=uniform(0.6,1.0)', "
            "'q.elbow=0.1, 0.2'. Give it again for more.",
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]MEASURE",
            help="What is kept of each run: \"max(abs(q['elbow']))\". Give it again for more.",
        ),
    ] = None,
    rows: Annotated[
        str | None,
        typer.Option(
            "--list",
            metavar="FILE.csv",
            help="Runs from a table: a column for each variable, a row for each run.",
        ),
    ] = None,
    samples: Annotated[
        int | None, typer.Option(help="How often what has a distribution is drawn.")
    ] = None,
    sampling: Annotated[str, typer.Option(help="random, lhs or sobol.")] = "random",
    seed: Annotated[int, typer.Option(help="Of the draws.")] = 0,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Where the study and its pictures go; NAME_study unless given."
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Compute only what the folder lacks.")
    ] = False,
    on: Annotated[
        str | None,
        typer.Option(metavar="WHERE", help="threads (by default), processes, or dask://host:port."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(help="Threads or processes; one per core unless given.")
    ] = None,
    shard: Annotated[
        int | None, typer.Option(help="Runs in a task; some seconds of work unless given.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Begin without a question, however large it is.")
    ] = False,
    until: Annotated[
        float | None, time_option("How long to run, not the scenario's: 2, 2s or '200 ms'.")
    ] = None,
    *,
    flags: RunFlags,
    pictures: Annotated[
        bool, typer.Option("--pictures/--no-pictures", help="Draw the table.")
    ] = True,
) -> None:
    """Run a mechanism many times, with values that vary, and keep measures of each run. Exit status
    0: done, 1: some runs failed, 2: bad input.
    """
    from ..studies import study

    asked = study(
        file,
        pairs(set_ or [], "--set", "crank=8..12 cm:200"),
        measures=named_measures(measure or []),
        samples=samples,
        sampling=sampling,
        seed=seed,
        rows=rows,
        **{k: x for k, x in {"until": until, **flags}.items() if x is not None},
    )
    folder = Path(out or f"{Path(file).stem}_study")
    path = study_path(folder, resume)
    screen = console()
    screen.print(
        f"{asked.varied.mechanism.name}: {asked.design.runs} runs", style="bold", markup=False
    )
    where = None if on in (None, "threads") else on
    asked.check(path, where, resume)
    cost = asked.estimate(where, threads)
    screen.print(str(cost), markup=False)
    confirm(cost, yes)
    with progress_bar(cost.runs) as progress:
        found = run(asked, path, where, resume, threads, shard, progress)
    failed = report(screen, found)
    drawn = draw_pictures(found, folder) if pictures else []
    for place_ in (path, *drawn):
        screen.print(str(place_), markup=False, soft_wrap=True)
    if failed:
        raise typer.Exit(1)


def pairs(given: list[str], option: str, example: str) -> dict[str, str]:
    """Return {name: text} of NAME=TEXT; raise where a name occurs twice."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, rest = text.partition("=")
        if not equals or not name.strip() or not rest.strip():
            raise CatenaError(f"{option} {text!r}: it is NAME=VALUES, such as {example!r}")
        if name.strip() in found:
            raise CatenaError(f"{option}: {name.strip()!r} is given twice")
        found[name.strip()] = rest.strip()
    return found


def named_measures(given: list[str]) -> dict[str, str]:
    """Return {name: text} of measures; one without a name is called by its text."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, rest = text.partition("=")
        named = bool(equals) and not any(letter in name for letter in "()[]'\"")
        found[name.strip() if named else text.strip()] = (rest if named else text).strip()
    return found


def study_path(folder: Path, resume: bool) -> Path:
    """Return the folder of the study; an existing study is accepted only with --resume."""
    if folder.exists() and not folder.is_dir():
        raise CatenaError(f"{folder} is a file; a study goes into a folder: give another --out")
    if folder.is_dir() and any(folder.iterdir()) and not resume:
        held = (
            "a study, which --resume goes on with" if (folder / NAME).exists() else "files already"
        )
        raise CatenaError(f"{folder} holds {held}; give another --out")
    if find_spec("zarr") is None and not resume:
        from . import say

        say(
            f"zarr is not installed, so the study is kept in memory and written to {folder / FILE}"
            " when all runs are done; with it (pip install 'catena[studies]') it is written as it"
            " goes, and can be resumed"
        )
        return folder / FILE
    return folder / NAME


def confirm(cost: Estimate, yes: bool) -> None:
    """Ask for confirmation before a large study; refuse where nobody can answer."""
    if yes or not cost.large:
        return
    if not sys.stdin.isatty():
        raise CatenaError(
            "this study is large and needs a confirmation, but the input is not a terminal;"
            " add --yes to run it"
        )
    if not typer.confirm("Begin?"):
        raise typer.Exit(1)


def run(
    asked: Study,
    path: Path,
    on: str | None,
    resume: bool,
    threads: int | None,
    shard: int | None,
    progress: Callable[[int, int], None],
) -> Any:
    """Run the study into its folder; Ctrl-C and `kill` leave finished shards, and a message says
    how to resume.
    """
    import signal

    from . import say
    from .run import interrupted

    signal.signal(signal.SIGTERM, interrupted)
    try:
        return asked.run(
            out=path, on=on, resume=resume, threads=threads, shard=shard, progress=progress
        )
    except KeyboardInterrupt:
        if path.exists():
            say(
                f"interrupted; {path} holds the shards that were done. The same command with"
                " --resume goes on from there"
            )
        raise typer.Exit(130) from None


@contextmanager
def progress_bar(runs: int) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar with the remaining time on a terminal; elsewhere a line on stderr every
    minute.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from ..studies import duration

    seen = Console(stderr=True)
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("runs"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(elapsed_when_finished=False),
    )
    bar = Progress(*columns, console=seen, transient=True, disable=not seen.is_terminal)
    began = clock.monotonic()
    last = [clock.monotonic(), -1]
    with bar:
        task = bar.add_task("", total=runs)

        def tell(done: int, of: int) -> None:
            bar.update(task, completed=done)
            if last[1] < 0:
                last[1] = done  # runs of an earlier call took no time in this one
            now = clock.monotonic()
            if not seen.is_terminal and now - last[0] > 60 and done > last[1]:
                left = (now - began) / (done - last[1]) * (of - done)
                print(f"catena: {done} of {of} runs, about {duration(left)} left", file=sys.stderr)
                last[0] = now

        yield tell


def report(screen: Any, found: Any) -> int:
    """Print the measures in a table and the runs that failed, and return how many failed."""
    from ..studies import measures

    rows = []
    for name in measures(found):
        x = found[name].values
        sound = x[np.isfinite(x)]
        said = "the same in all runs" if len(sound) and np.ptp(sound) == 0 else ""
        rows.append(
            [
                name,
                *(
                    number(float(f(sound))) if len(sound) else ""
                    for f in (np.min, np.median, np.mean, np.max, np.std)
                ),
                said,
            ]
        )
    screen.print()
    if rows:
        screen.print(
            table(["measure", "least", "median", "mean", "largest", "deviation", ""], rows)
        )
    failure = found["failure"].values
    failed = np.flatnonzero(failure != "")
    if len(failed):
        screen.print()
        screen.print(f"{len(failed)} of {len(failure)} runs failed:", markup=False)
        for k in failed[:MAX_PRINTED_FAILURES]:
            screen.print(f"  run {k}: {failure[k]}", markup=False, soft_wrap=True)
        if len(failed) > MAX_PRINTED_FAILURES:
            screen.print(
                f"  ... and {len(failed) - MAX_PRINTED_FAILURES} more; they are in `failure`",
                markup=False,
            )
    screen.print()
    return len(failed)


def draw_pictures(found: Any, folder: Path) -> list[Path]:
    """Draw every picture that is possible for the table."""
    from ..studies import PLOTS, save

    return [
        save(found, folder / f"{kind.name}.png", kind.name)
        for kind in PLOTS.values()
        if kind.shows(found)
    ]
