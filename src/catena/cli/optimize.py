"""`catena optimize`: the motion or the design of least cost that a file asks for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import CatenaError
from ._reading import File
from ._results import Force
from ._tables import console

if TYPE_CHECKING:
    from rich.console import Console

    from ..optimization import Design, Optimum


def optimize(
    file: File,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Where the result and its pictures go; NAME_optimum unless given.",
        ),
    ] = None,
    intervals: Annotated[
        int | None, typer.Option(help="Intervals of constant forces, not the file's.")
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="collocation or shooting, not the file's.")
    ] = None,
    accuracy: Annotated[
        float | None,
        typer.Option(help="Halve the intervals until the forward simulation differs by no more."),
    ] = None,
    pictures: Annotated[
        bool, typer.Option("--pictures/--no-pictures", help="Draw the motion.")
    ] = True,
    force: Force = False,
) -> None:
    """Find the motion of least cost that the table [optimize] of a file asks for, from the start of
    its [scenario], and run it forward; or the design of least cost over poses. Exit status 2: bad
    input, or no such motion or design.
    """
    from ..optimization import Optimum, read_optimize
    from ..optimization import optimize as solve

    folder = Path(out or f"{Path(file).stem}_optimum")
    if folder.exists() and not folder.is_dir():
        raise CatenaError(f"{folder} is a file; a result goes into a folder: give another --out")
    if folder.is_dir() and any(folder.iterdir()) and not force:
        raise CatenaError(
            f"{folder} exists already; give another --out, or --force to overwrite it"
        )
    mechanism, asked = read_optimize(file)
    changes = {"intervals": intervals, "method": method, "accuracy": accuracy}
    found = solve(mechanism, **{**asked, **{k: x for k, x in changes.items() if x is not None}})
    screen = console()
    screen.print(
        f"{mechanism.name}: an optimal {'motion' if isinstance(found, Optimum) else 'design'}",
        style="bold",
        markup=False,
    )
    screen.print(str(found), markup=False, soft_wrap=True)
    folder.mkdir(parents=True, exist_ok=True)
    for place in (
        _written(found, folder, pictures, screen)
        if isinstance(found, Optimum)
        else [_designed(found, folder)]
    ):
        screen.print(str(place), markup=False, soft_wrap=True)


def _written(found: Optimum, folder: Path, pictures: bool, screen: Console) -> list[Path]:
    """Print the ledger, and write the motion and its pictures into the folder."""
    from ..results import save

    screen.print()
    screen.print(str(found.result.ledger), markup=False, soft_wrap=True)
    places = [folder / "motion.nc"]
    found.result.save(places[0])
    return places + (
        [save(found.result, folder / f"{kind}.png", kind) for kind in ("overview", "torques")]
        if pictures
        else []
    )


def _designed(found: Design, folder: Path) -> Path:
    """Write the mechanism of the design."""
    from ..formats import save

    save(found.mechanism, folder / "design.toml")
    return folder / "design.toml"
