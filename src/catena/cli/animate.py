"""`catena animate`: an animation of a result."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ._results import Force, Results, free, opened
from ._tables import console


def animate(
    results: Results,
    out: Annotated[str, typer.Option(metavar="FILE", help="A .gif, or an .html page with a player in it.")],
    speed: Annotated[float | None, typer.Option(help="Times real time; by default 1, faster for a long run.")] = None,
    rate: Annotated[int | None, typer.Option(help="Pictures per second; by default 20 (GIF) or 30 (page).")] = None,
    run: Annotated[int, typer.Option(help="Which run of a batch.")] = 0,
    force: Force = False,
) -> None:
    """Write an animation of a result: a GIF, or an HTML page with a player that needs no network."""
    from ..results.animation import animate as write

    path = free(Path(out), force)
    console().print(str(write(opened(results), path, speed=speed, rate=rate, run=run)), markup=False, soft_wrap=True)
