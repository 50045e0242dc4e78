"""`catena animate`: an animation of a result."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ._results import Force, Results, free, opened
from ._tables import console
from .view import Meshes


def animate(
    results: Results,
    out: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="A .gif, an .mp4 (by ffmpeg), or an .html page with a player in it.",
        ),
    ],
    speed: Annotated[
        float | None, typer.Option(help="Times real time; by default 1, faster for a long run.")
    ] = None,
    rate: Annotated[
        int | None, typer.Option(help="Pictures per second; by default 20 (GIF) or 30.")
    ] = None,
    run: Annotated[int, typer.Option(help="Which run of a batch.")] = 0,
    meshes: Meshes = None,
    force: Force = False,
) -> None:
    """Write an animation of a result in solid 3-D: a GIF, an MP4, or an HTML page with a player
    that needs no network.
    """
    from ..results import animate as write

    path = free(Path(out), force)
    folders = [Path(results).resolve().parent, *meshes] if meshes else None
    with console(stderr=True).status("drawing ...") as status:
        made = write(
            opened(results),
            path,
            speed=speed,
            rate=rate,
            run=run,
            folders=folders,
            progress=lambda done, of: status.update(f"picture {done} of {of} ..."),
        )
    console().print(str(made), markup=False, soft_wrap=True)
