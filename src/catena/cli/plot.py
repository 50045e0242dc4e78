"""`catena plot`: plots of a result."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import CatenaError
from ..results.plotting import PLOTS, SUFFIXES, Plot, find, save
from ._results import Force, Results, free, opened
from ._tables import console


def plot(
    results: Results,
    what: Annotated[list[str] | None, typer.Option(help=f"Which plot: {', '.join(PLOTS)}, or all that apply. Give it again for more.")] = None,
    out: Annotated[str | None, typer.Option(metavar="FILE|FOLDER", help="A .png, .pdf or .svg, or a folder.")] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this coordinate, joint or frame; give it again for more.")
    ] = None,
    degrees: Annotated[bool, typer.Option("--degrees", help="Angles in degrees.")] = False,
    run: Annotated[int, typer.Option(help="Which run of a batch.")] = 0,
    force: Force = False,
) -> None:
    """Draw plots of a result."""
    asked = what or ["overview"]
    named = {name: find(name) for name in asked if name != "all"}
    result = opened(results)
    everything = PLOTS.values() if "all" in asked else ()
    kinds = list((named | {kind.name: kind for kind in everything if kind.applies(result.mechanism)}).values())
    source = Path(results)
    target = Path(out) if out else source if source.is_dir() else source.parent
    screen = console()
    for kind, path in zip(kinds, [free(path, force or not out) for path in places(target, kinds)]):
        save(result, path, kind.name, run=run, **options(kind, only, degrees))
        screen.print(str(path), markup=False, soft_wrap=True)


def places(target: Path, kinds: list[Plot]) -> list[Path]:
    """The file of each plot: the one that was named, or one per plot in the folder that was named."""
    if not target.suffix or target.is_dir():
        return [target / f"{kind.name}.png" for kind in kinds]
    if target.suffix.lower() not in SUFFIXES:
        raise CatenaError(f"{target}: a plot is saved as {', '.join(SUFFIXES)}, not {target.suffix!r}; a folder's name has no suffix")
    if len(kinds) > 1:
        raise CatenaError(f"{target}: one file was named for {len(kinds)} plots; name a folder, or draw one at a time")
    return [target]


def options(kind: Plot, only: list[str] | None, degrees: bool) -> dict[str, object]:
    """Those of the options given that this plot takes."""
    chosen: dict[str, object] = {kind.select: only} if only and kind.select else {}
    return chosen | ({"degrees": True} if degrees and "degrees" in kind.options else {})
