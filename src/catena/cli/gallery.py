"""`catena gallery`: the pages of the worked examples, made by running them.

The examples are in the folder `gallery` of the source distribution, not in the installed package:
they use catena like any other program.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from ..errors import CatenaError
from ._tables import console


def gallery(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Only these examples; by default all."),
    ] = None,
    out: Annotated[str, typer.Option(metavar="FOLDER", help="Where the pages go.")] = "pages",
    source: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="The source distribution, where it is not found by itself."
        ),
    ] = None,
    processes: Annotated[int, typer.Option(min=1, help="How many examples run at once.")] = 2,
) -> None:
    """Run the worked examples and write a page for each: numbers next to the print, pictures,
    misprints.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    building = _building(source)
    screen = console()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=screen, disable=not sys.stdout.isatty()) as bar:
        task = bar.add_task("making pages", total=len(set(names or building.NAMES)))

        def show_progress(entry: Any) -> None:
            agree = entry.numbers - len(entry.disagreements)
            bar.console.print(
                f"{entry.name}: {agree} of {entry.numbers} numbers agree", markup=False
            )
            bar.advance(task)

        made = building.build(out, names or (), processes=processes, progress=show_progress)
    screen.print(f"{len(made)} page{'s' if len(made) != 1 else ''} in {out}", markup=False)


def _building(source: str | None) -> ModuleType:
    """Return the gallery's module that builds pages, from the given source distribution or the one
    that contains this package.
    """
    root = Path(source).resolve() if source else Path(__file__).resolve().parents[3]
    if not (root / "gallery" / "building.py").is_file():
        found = f"{root} has no folder 'gallery'" if source else "this is an installed package"
        raise CatenaError(
            f"the worked examples are part of catena's source distribution, and {found}; unpack it"
            " and name its folder: catena gallery --source catena-0.1.0"
        )
    sys.path.insert(0, str(root))  # also what the processes that run examples look in
    return import_module("gallery.building")
