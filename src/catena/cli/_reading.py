"""What every command takes: a mechanism from a file or a built-in example, with what `catena.load` can change."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import CatenaError, MechanismWarning

if TYPE_CHECKING:
    from ..model.mechanism import Mechanism


def _completed(begun: str) -> list[str]:
    """Built-in examples and files that begin so, for the shell."""
    from ..formats import examples
    from ..formats.registry import suffixes

    here = Path(begun)
    folder = here if begun.endswith("/") else here.parent
    files = [p for p in sorted(folder.iterdir()) if p.is_dir() or p.suffix in suffixes()] if folder.is_dir() else []
    shown = [f"{p}/" if p.is_dir() else str(p) for p in files if not p.name.startswith(".")]
    return [name for name in (*examples(), *shown) if name.startswith(begun)]


File = Annotated[str, typer.Argument(metavar="FILE", help="A .toml, .urdf, .xacro, .sdf, .osim or MJCF .xml file, or the name of a built-in example.",
                                     autocompletion=_completed)]  # fmt: skip
Floating = Annotated[bool, typer.Option("--floating", help="Put the root body on a free joint.")]
Uncoupled = Annotated[bool, typer.Option("--no-mimic", help="Let joints that mimic others move on their own.")]
Three = tuple[float, float, float]
Gravity = Annotated[Three | None, typer.Option(metavar="X Y Z", help="Gravity in the ground's axes, m/s2, not the file's.")]
Companion = Annotated[str | None, typer.Option(metavar="FILE", help="A .toml with loops, frames and loads that the file cannot hold.")]
Set = Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter's value, such as l1='40 cm'; once for each.")]
Start = Annotated[list[str] | None, typer.Option("--q", metavar="NAME=VALUE", help="A coordinate, such as elbow='30 deg'; once for each.")]
Arguments = Annotated[list[str] | None, typer.Option("--arg", metavar="NAME=VALUE", help="An argument of a xacro file; once for each.")]
Options = Annotated[list[str] | None, typer.Option("--option", metavar="NAME=VALUE", help="An option of the file's reader: within=FOLDER, contacts=true or meshes=false of MJCF, muscles=true of OpenSim; once for each.")]
Trust = Annotated[bool, typer.Option("--trust", help="Run what the file names: expressions of xacro, which are Python, and FMUs.")]
Wrenches = Annotated[str | None, typer.Option(metavar="FILE", help="A .csv of forces from outside over time: FRAME.fx and so on; see docs/simulation.md.")]
Csv = Annotated[bool, typer.Option("--csv", help="Numbers as comma-separated values, with all digits.")]


def pairs(option: str, given: Iterable[str] | None) -> dict[str, str]:
    """{name: value} of options NAME=VALUE."""
    found: dict[str, str] = {}
    for text in given or ():
        name, sign, value = text.partition("=")
        if not (sign and name.strip() and value.strip()):
            raise CatenaError(f"{option} {text!r}: it is written as NAME=VALUE, such as {option} l1=0.4 or {option} l1='40 cm'")
        if name.strip() in found:
            raise CatenaError(f"{option} gives {name.strip()!r} twice")
        found[name.strip()] = value.strip()
    return found


def reader_options(arguments: Iterable[str] | None, options: Iterable[str] | None = None, trust: bool = False) -> dict[str, Any]:
    """The options of the file's reader: --option, where true and false are no texts, and --arg and --trust of xacro files."""
    given, words = pairs("--arg", arguments), {"true": True, "false": False}
    found: dict[str, Any] = {name: words.get(text, text) for name, text in pairs("--option", options).items()}
    return found | ({"arguments": given} if given else {}) | ({"trusted": True} if trust else {})


def read(
    file: str, floating: bool = False, uncoupled: bool = False, gravity: Three | None = None, companion: str | None = None,
    parameters: Iterable[str] | None = None, options: dict[str, Any] | None = None,
) -> Mechanism:  # fmt: skip
    """The mechanism. Warnings about doubtful values are left out: `catena info` prints them."""
    from ..formats import load

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MechanismWarning)
        return load(file, floating=floating, mimic=not uncoupled, gravity=gravity, companion=companion, parameters=pairs("--set", parameters),
                    **(options or {}))  # fmt: skip
