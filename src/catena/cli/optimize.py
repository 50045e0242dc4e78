"""`catena optimize`: the motion of least cost that a file asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import CatenaError
from ._reading import File
from ._tables import console


def optimize(
    file: File,
    out: Annotated[str | None, typer.Option(metavar="FOLDER", help="Where the result and its pictures go; NAME_optimum unless given.")] = None,
    intervals: Annotated[int | None, typer.Option(help="Intervals of constant forces, not the file's.")] = None,
    method: Annotated[str | None, typer.Option(help="collocation or shooting, not the file's.")] = None,
    pictures: Annotated[bool, typer.Option("--pictures/--no-pictures", help="Draw the motion.")] = True,
) -> None:
    """Find the motion of least cost that the table [optimize] of a file asks for, from the start of its [scenario], and run it forward. Exit status 2: bad
    input, or no such motion."""
    from ..results.plots import save
    from ..studies import optimize as solve
    from ..studies import read_optimize

    folder = Path(out or f"{Path(file).stem}_optimum")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CatenaError(f"{folder} exists already; give another --out")
    mechanism, asked = read_optimize(file)
    changes = {"intervals": intervals, "method": method}
    found = solve(mechanism, **{**asked, **{k: x for k, x in changes.items() if x is not None}})
    screen = console()
    screen.print(f"{mechanism.name}: an optimal motion", style="bold", markup=False)
    screen.print(str(found), markup=False, soft_wrap=True)
    screen.print()
    screen.print(str(found.result.ledger), markup=False, soft_wrap=True)
    folder.mkdir(parents=True, exist_ok=True)
    places = [folder / "motion.nc"]
    found.result.save(places[0])
    if pictures:
        places += [save(found.result, folder / f"{kind}.png", kind) for kind in ("overview", "torques")]
    for place in places:
        screen.print(str(place), markup=False, soft_wrap=True)
