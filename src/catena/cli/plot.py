"""`catena plot`: pictures of a result."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ._results import Force, Results, free, opened
from ._tables import console

KINDS = "overview, coordinates, speeds, accelerations, torques, energies, reactions, paths, phase, cyclograph, or all"


def plot(
    results: Results,
    what: Annotated[list[str] | None, typer.Option(help=f"Which picture: {KINDS}. Give it again for more.")] = None,
    out: Annotated[str | None, typer.Option(metavar="FILE|FOLDER", help="A .png, .pdf or .svg, or a folder.")] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this coordinate or joint; again for more.")
    ] = None,
    degrees: Annotated[bool, typer.Option("--degrees", help="Angles in degrees.")] = False,
    run: Annotated[int, typer.Option(help="Which run of a batch.")] = 0,
    force: Force = False,
) -> None:
    """Draw pictures of a result."""
    from ..errors import UnknownNameError
    from ..results import plots

    kinds = [k for asked in what or ["overview"] for k in (plots.KINDS if asked == "all" else [asked])]
    for kind in kinds:
        if kind not in plots.KINDS:
            raise UnknownNameError("picture", kind, [*plots.KINDS, "all"], "catena")
    result = opened(results)
    source = Path(results)
    folder = source if source.is_dir() else source.parent
    target = Path(out) if out else folder
    single = target.suffix in plots.SUFFIXES
    if single and len(kinds) > 1:
        from ..errors import CatenaError

        raise CatenaError(f"{target}: one file was named for {len(kinds)} pictures; name a folder, or draw one at a time")
    paths = [free(target if single else target / f"{kind}.png", force or not out) for kind in kinds]
    screen = console()
    for kind, path in zip(kinds, paths):
        plots.save(result, path, kind, run=run, **_options(kind, only, degrees))
        screen.print(str(path), markup=False, soft_wrap=True)


def _options(kind: str, only: list[str] | None, degrees: bool) -> dict[str, object]:
    """The options that this kind of picture takes."""
    names = {"reactions": "joints", "paths": "frames", "cyclograph": "frames"}.get(kind, "only")
    chosen = {names: only} if only and kind not in ("overview", "energies") else {}
    return chosen | (
        {"degrees": True} if degrees and kind in ("overview", "coordinates", "speeds", "accelerations", "phase") else {}
    )
