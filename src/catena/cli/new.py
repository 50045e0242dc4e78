"""`catena new`: a model file to begin with."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from ..errors import CatenaError
from ._results import Force, free
from ._tables import console


def new(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The name of the mechanism, and of its file.")
    ],
    like: Annotated[
        str | None,
        typer.Option(metavar="EXAMPLE", help="Begin with a copy of this built-in example."),
    ] = None,
    force: Force = False,
) -> None:
    """Write a commented model file that runs as it is, to be changed into your own mechanism."""
    from ..formats import files

    path = Path(name if name.endswith(".toml") else f"{name}.toml")
    if not path.stem or path.stem.startswith("."):
        raise CatenaError(f"{name!r} is no name of a file; write `catena new arm` for arm.toml")
    free(path, force)
    files.write(path, _starter(path.stem) if like is None else _example(like))
    console().print(
        f"{path} is written. Next:\n"
        f"  catena info {path}      what it is\n"
        f"  catena run {path}       simulate it\n"
        f"  catena studio {path}    draw and change it in the browser",
        markup=False,
        soft_wrap=True,
    )


def _starter(name: str) -> str:
    """Return the text of the starter file for a mechanism of this name."""
    text = (resources.files("catena.cli") / "starter.toml").read_text(encoding="utf-8")
    return text.replace('"NAME"', '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"', 1)


def _example(name: str) -> str:
    """Return the text of the file of a built-in example."""
    from ..errors import UnknownNameError
    from ..formats import examples

    if name not in examples():
        raise UnknownNameError("example", name, examples(), "catena")
    return (resources.files("catena") / "examples" / f"{name}.toml").read_text(encoding="utf-8")
