"""`catena synthesize`: linkages for a task that a file asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import CatenaError
from ._results import Force
from ._tables import console


def synthesize(
    file: Annotated[str, typer.Argument(help="A TOML file with a table [synthesize].")],
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Where models and pictures go; NAME_linkages unless given."
        ),
    ] = None,
    count: Annotated[int, typer.Option(help="How many candidates are written.")] = 6,
    density: Annotated[
        float | None, typer.Option(help="Mass per length of the bars, kg/m, not the file's.")
    ] = None,
    force: Force = False,
) -> None:
    """Find four-bar linkages for the function, motion or path that the table [synthesize] of a file
    describes. Print the ranked table, and write the best ones as model files with a picture. Exit
    status 2: bad input, or no linkage.
    """
    from ..synthesis import read_task
    from ..synthesis import synthesize as solve

    folder = Path(out or f"{Path(file).stem}_linkages")
    if folder.exists() and not folder.is_dir():
        raise CatenaError(f"{folder} is a file; models go into a folder: give another --out")
    if folder.is_dir() and any(folder.iterdir()) and not force:
        raise CatenaError(
            f"{folder} exists already; give another --out, or --force to overwrite it"
        )
    asked = read_task(file)
    own = asked.pop("density", None)
    mass = own if density is None else density
    if mass is None:
        raise CatenaError(
            f"{file} has no density; the models need the mass per length of their bars: write"
            ' density = "0.8 kg/m" into [synthesize], or give --density'
        )
    found = solve(**asked)
    screen = console()
    screen.print(str(found), markup=False, soft_wrap=True)
    _ = found.best  # there is one, or an error that says so
    for place in found.save(folder, mass, count):
        screen.print(str(place), markup=False, soft_wrap=True)
