"""`catena studio`: a model file in the browser, to edit, run, play and plot."""

from __future__ import annotations

from typing import Annotated

import typer

from .view import Browse, Host, Meshes, Port

Model = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help=(
            "A .toml file, new or not; or an example or robot, which becomes a new file when saved."
        ),
    ),
]


def studio(
    file: Model = "untitled.toml",
    meshes: Meshes = None,
    host: Host = "127.0.0.1",
    port: Port = 0,
    browser: Browse = True,
) -> None:
    """Edit a model in the browser: draw it, change any value and watch the motion follow, plot,
    compare, save.
    """
    from ..studio import run
    from ..studio import studio as opened

    session = opened(file, tuple(meshes or ()))
    run(session, host, port, browser, session.journal)
