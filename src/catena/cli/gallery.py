"""`catena gallery`: the pages of the worked examples, made by running them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ._tables import console

if TYPE_CHECKING:
    from ..gallery.writing import Entry


def gallery(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Only these examples; by default all.")] = None,
    out: Annotated[str, typer.Option(metavar="FOLDER", help="Where the pages go.")] = "gallery",
    processes: Annotated[int, typer.Option(min=1, help="How many examples run at once.")] = 2,
) -> None:
    """Run the worked examples and write a page for each: numbers beside the print, pictures, misprints."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from ..gallery import NAMES
    from ..gallery.building import build

    screen = console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=screen, disable=not sys.stdout.isatty()) as bar:
        task = bar.add_task("making pages", total=len(set(names or NAMES)))

        def told(entry: Entry) -> None:
            agree = entry.numbers - len(entry.disagreements)
            bar.console.print(f"{entry.name}: {agree} of {entry.numbers} numbers agree", markup=False)
            bar.advance(task)

        made = build(out, names or (), processes=processes, progress=told)
    screen.print(f"{len(made)} page{'s' if len(made) != 1 else ''} in {out}", markup=False)
