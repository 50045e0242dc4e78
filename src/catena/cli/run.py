"""`catena run`: from a file to a result, with its ledger and pictures."""

from __future__ import annotations

import signal as signals
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._reading import Csv, Model, RunFlags, Start, Wrenches, pairs, time_option
from ._results import NAME
from ._tables import console, number, table

if TYPE_CHECKING:
    from ..results import Result
    from ..simulation.scenario import Scenario

# s; of a run of a file that cannot hold a scenario, such as a URDF
USUAL_LENGTH = 2.0


def run(
    model: Model,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Where results and pictures go; NAME_run unless given."
        ),
    ] = None,
    until: Annotated[
        float | None, time_option("How long to run, not the scenario's: 2, 2s or '200 ms'.")
    ] = None,
    *,
    flags: RunFlags,
    verify: Annotated[
        bool, typer.Option("--verify", help="Run again at a tighter tolerance, and compare.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a run that was broken off.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Write into a folder that exists already.")
    ] = False,
    pictures: Annotated[
        bool, typer.Option("--pictures/--no-pictures", help="Draw the scenario's pictures.")
    ] = True,
    initial: Annotated[
        str | None,
        typer.Option(metavar="STATE", help="A named state to start from, such as a keyframe."),
    ] = None,
    q: Start = None,
    control: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=(
                "What drives it, in place of the file's controllers: hold (PD about the start, with"
                " gravity compensated) or none."
            ),
        ),
    ] = None,
    signal: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A signal of an actuator, by its name or that of its joint; once for each.",
        ),
    ] = None,
    wrenches: Wrenches = None,
    csv: Csv = False,
    view: Annotated[
        bool, typer.Option("--view", help="Play the result in the browser when it is done.")
    ] = False,
) -> None:
    """Simulate a mechanism as its [scenario] says. Exit status 0: done, 1: partial or not accurate
    enough, 2: bad input.
    """
    from ..errors import SimulationError

    screen = console()
    asked = model.scenario(
        until=until,
        initial=initial,
        q=pairs("--q", q),
        signals=signals_of(signal),
        otherwise={} if model.file.endswith(".toml") else {"until": USUAL_LENGTH},
        **flags,
    )
    asked = with_control(asked, control) if control else asked
    asked = with_wrenches(asked, wrenches) if wrenches else asked
    folder = result_folder(Path(out or f"{model.stem}_run"), force, resume)
    usual = "" if asked.has_scenario or until is not None else " (--until says how long)"
    screen.print(f"{asked.mechanism.name}: {asked.until:g} s{usual}", style="bold", markup=False)
    failure = ""
    try:
        with progress_bar(asked) as progress:
            result = simulate_to_file(asked, folder / NAME, verify, resume, progress)
    except SimulationError as error:
        if error.result is None:
            raise

        result = error.result  # type: ignore[assignment]
        failure = str(error)
    report(screen, result)
    drawn = (
        [draw(result, folder, kind) for kind in asked.plots]
        if pictures and len(result.time) > 1
        else []
    )
    if csv:
        drawn.append(folder / "results.csv")
        result.to_pandas().to_csv(drawn[-1])
    for path in (folder / NAME, *drawn):
        screen.print(str(path), markup=False, soft_wrap=True)
    if failure or result.ledger.met is False:
        from . import say

        say(failure or result.ledger.verdict)
    if view:
        from .view import view as show

        show(str(folder / NAME))
    if failure or result.ledger.met is False:
        raise typer.Exit(1)


def signals_of(given: list[str] | None) -> dict[str, Any] | None:
    """Return {name: signal} of the options --signal, with numbers where the strings express
    numbers; None where none is given.
    """
    found = pairs("--signal", given)
    return {name: as_number(text) for name, text in found.items()} or None


def as_number(text: str) -> float | str:
    """Return the number that a string expresses, or the string itself, which may have a unit."""
    try:
        return float(text)
    except ValueError:
        return text


def with_control(asked: Scenario, name: str) -> Scenario:
    """Return the scenario driven by the controller of that name, in place of its own."""
    from ..machine import compile
    from ..simulation.control import NAMED_CONTROLS

    make = NAMED_CONTROLS.find(name).make
    return replace(
        asked,
        options={**asked.options, "control": make(compile(asked.mechanism), asked.q)},
    )


def with_wrenches(asked: Scenario, file: str) -> Scenario:
    """Return the scenario with the wrenches of a file added to its controllers."""
    from ..simulation.control import wrenches

    control = asked.options.get("control")
    outside = wrenches(file)
    return replace(
        asked, options={**asked.options, "control": control + outside if control else outside}
    )


def result_folder(folder: Path, force: bool, resume: bool) -> Path:
    """Return the folder for results. A folder that is not empty is accepted only with `force` or
    `resume`.
    """
    from ..errors import CatenaError

    if folder.exists() and not folder.is_dir():
        raise CatenaError(f"{folder} is a file; results go into a folder: give another --out")
    if folder.is_dir() and any(folder.iterdir()) and not (force or resume):
        held = (
            "a run, which --resume goes on with if it was broken off"
            if (folder / NAME).exists()
            else "files already"
        )
        raise CatenaError(f"{folder} holds {held}; give another --out, or --force to write into it")
    return folder


def simulate_to_file(
    asked: Scenario, path: Path, verify: bool, resume: bool, progress: Callable[[float], None]
) -> Result:
    """Simulate into a file; Ctrl-C and `kill` leave a partial result, and a message says how to
    resume.
    """
    from ..simulation import simulate
    from . import say

    signals.signal(signals.SIGTERM, interrupted)
    try:
        return simulate(
            asked.mechanism,
            **asked.arguments,
            out=path,
            verify=verify,
            resume=resume,
            progress=progress,
        )
    except KeyboardInterrupt:
        if path.exists():
            say(
                f"interrupted; {path} holds the part that was computed. The same command with"
                " --resume goes on from there"
            )
        raise typer.Exit(130) from None


def interrupted(*_: Any) -> None:
    """Handle SIGTERM like Ctrl-C."""
    raise KeyboardInterrupt


@contextmanager
def progress_bar(asked: Scenario) -> Iterator[Callable[[float], None]]:
    """Show a progress bar with the remaining time on a terminal, and yield the function that
    receives the time reached.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    seen = Console(stderr=True)
    bar = Progress(*columns, console=seen, transient=True, disable=not seen.is_terminal)
    with bar:
        start = float(asked.options.get("start", 0.0))
        # without a total the bar only shows activity, as the duration is not known
        task = bar.add_task("compiling, the first time of a mechanism", total=None)
        reached, what = [start], [""]

        def tell(t: float) -> None:
            if t < reached[0]:  # a second run with a tighter tolerance has begun
                bar.reset(task)
                what[0] = "verifying, "
            reached[0] = t
            bar.update(
                task,
                total=asked.until - start,
                completed=t - start,
                description=f"{what[0]}{t:.3f} s",
            )

        yield tell


def report(screen: Any, result: Result) -> None:
    """Print the ledger, and the travel of each coordinate."""
    from ..report import TRAVEL_HEAD, travel_rows

    screen.print(table(["ledger", ""], result.ledger.rows()))
    rows, still = travel_rows(result)
    screen.print()
    if rows:
        screen.print(table(TRAVEL_HEAD, rows))
    if still:
        screen.print(
            f"{still}"
            f" {'coordinate stays where it is' if still == 1 else 'coordinates stay where they are'}",  # noqa: E501
            markup=False,
        )
    if result.data.sizes.get("occurrence", 0):
        times = result.data["event_time"].values
        words = result.data["event"].values
        screen.print()
        screen.print(
            table(
                ["time (s)", "event"], [[number(t), str(w)] for t, w in zip(times[:20], words[:20])]
            )
        )
        if len(times) > 20:
            screen.print(f"... and {len(times) - 20} more events", markup=False)
    screen.print()


def draw(result: Result, folder: Path, kind: str) -> Path:
    """Write a picture into the folder."""
    from ..results import save

    return save(result, folder / f"{kind}.png", kind)
