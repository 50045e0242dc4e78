"""`catena view`: a mechanism in the browser, to look at and to move by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ._reading import Floating, Uncoupled

Thing = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help=(
            "A .toml, .urdf or MJCF .xml file, a built-in example, a robot's name, or a result"
            " (.nc)."
        ),
    ),
]
Host = Annotated[
    str,
    typer.Option(
        help="Where to listen. Any other than this machine's own opens it to the network."
    ),
]
Port = Annotated[int, typer.Option(help="The port; 0 takes one that is free.", min=0, max=65535)]
Browse = Annotated[
    bool, typer.Option("--browser/--no-browser", help="Open a browser, or print the address alone.")
]
Meshes = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FOLDER",
        help="A further folder where files of meshes may lie; may be given several times.",
    ),
]


def view(
    file: Thing,
    result: Annotated[
        str | None, typer.Option(metavar="RESULTS", help="A result to play with this mechanism.")
    ] = None,
    floating: Floating = False,
    no_mimic: Uncoupled = False,
    meshes: Meshes = None,
    host: Host = "127.0.0.1",
    port: Port = 0,
    browser: Browse = True,
) -> None:
    """Show a mechanism in the browser: solid, with sliders for its coordinates; grab a body to move
    it, watch its modes, play a result.
    """
    from ..studio import run, viewer

    run(
        viewer(
            file, result=result, floating=floating, mimic=not no_mimic, meshes=tuple(meshes or ())
        ),
        host,
        port,
        browser,
    )
