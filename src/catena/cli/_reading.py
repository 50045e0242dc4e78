"""What every command takes: a mechanism from a file or a built-in example, with what `catena.load` can change."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import MechanismWarning

if TYPE_CHECKING:
    from ..model.mechanism import Mechanism

File = Annotated[str, typer.Argument(metavar="FILE", help="A .toml, .urdf or MJCF .xml file, or the name of a built-in example.")]
Floating = Annotated[bool, typer.Option("--floating", help="Put the root body on a free joint.")]
Uncoupled = Annotated[bool, typer.Option("--no-mimic", help="Let joints that mimic others move on their own.")]
Three = tuple[float, float, float]
Gravity = Annotated[Three | None, typer.Option(metavar="X Y Z", help="Gravity in the ground's axes, m/s2, not the file's.")]


def read(file: str, floating: bool = False, uncoupled: bool = False, gravity: Three | None = None) -> Mechanism:
    """The mechanism. Warnings about doubtful values are left out: `catena info` prints them."""
    from ..formats import load

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MechanismWarning)
        return load(file, floating=floating, mimic=not uncoupled, gravity=gravity)
