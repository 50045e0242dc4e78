"""`catena plot`: plots of a result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ..errors import CatenaError
from ..registry import Named
from ..results import PLOTS, STYLES, SUFFIXES, Plot, find, save
from ._results import Force, Results, free, opened
from ._tables import console


def plot(
    results: Results,
    what: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Which plot: {', '.join(PLOTS)}, or all that apply. Give it again for more."
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE|FOLDER", help="A .png, .pdf or .svg, or a folder.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Only this coordinate, joint or frame; give it again for more."
        ),
    ] = None,
    degrees: Annotated[bool, typer.Option("--degrees", help="Angles in degrees.")] = False,
    run: Annotated[
        list[str] | None,
        typer.Option(
            help="Which run of a batch, or all; give it again to lay several over each other."
        ),
    ] = None,
    style: Annotated[
        str, typer.Option(help=f"The look: {', '.join(STYLES)}. Those of papers are PDF files.")
    ] = "house",
    interactive: Annotated[
        bool,
        typer.Option(
            "--interactive", help="Write a page in which to choose quantities, zoom, read values."
        ),
    ] = False,
    force: Force = False,
) -> None:
    """Draw plots of a result, or pictures of a study."""
    if (stored := study_at(Path(results))) is not None:
        draw_study(stored, what, out, force)
        return
    if interactive:
        from ..studio import plot_page

        shown = opened(results)
        source = Path(results)
        place = Path(out or (source if source.is_dir() else source.parent))
        place = place if place.suffix == ".html" else place / "plots.html"
        numbers = runs(run)
        first = 0 if isinstance(numbers, str) else numbers[0]
        written = plot_page(shown.select(run=first), free(place, force or not out))
        console().print(str(written), markup=False, soft_wrap=True)
        return
    suffix = ".png" if STYLES.find(style).width is None else ".pdf"
    asked = what or ["overview"]
    named = {name: find(name) for name in asked if name != "all"}
    result = opened(results)
    everything = PLOTS.values() if "all" in asked else ()
    kinds = list(
        (
            named | {kind.name: kind for kind in everything if kind.applies(result.mechanism)}
        ).values()
    )
    source = Path(results)
    target = Path(out) if out else source if source.is_dir() else source.parent
    screen = console()
    for kind, path in zip(
        kinds, [free(path, force or not out) for path in places(target, kinds, suffix)]
    ):
        save(result, path, kind.name, run=runs(run), style=style, **options(kind, only, degrees))
        screen.print(str(path), markup=False, soft_wrap=True)


def runs(given: list[str] | None) -> str | list[int]:
    """Return the runs that an option names: "all", or indices."""
    if given and "all" in given:
        return "all"
    try:
        return [int(word) for word in given or ["0"]]
    except ValueError:
        raise CatenaError(
            f"--run {' '.join(given or [])}: it is the number of a run, or all"
        ) from None


def study_at(path: Path) -> Path | None:
    """Return the study that a folder is or contains; None where there is none."""
    from .sweep import FILE, NAME

    if (path / FILE).is_file():
        return path / FILE
    if path.name == FILE and path.is_file():
        return path
    return next((p for p in (path, path / NAME) if (p / "zarr.json").is_file()), None)


def draw_study(stored: Path, what: list[str] | None, out: str | None, force: bool) -> None:
    """Draw pictures of a study: the named ones, or all that are possible."""
    from ..studies import PLOTS as PICTURES
    from ..studies import find as find_picture
    from ..studies import open_study
    from ..studies import save as save_picture

    table = open_study(stored)
    asked = [name for name in what or ["all"] if name != "all"]
    kinds = [find_picture(name) for name in asked] or [
        kind for kind in PICTURES.values() if kind.shows(table)
    ]
    target = Path(out) if out else stored.parent
    for kind, path in zip(kinds, [free(path, force or not out) for path in places(target, kinds)]):
        console().print(str(save_picture(table, path, kind.name)), markup=False, soft_wrap=True)


def places(target: Path, kinds: Sequence[Named], suffix: str = ".png") -> list[Path]:
    """Return the file of each plot: the named file, or one per plot in the named folder."""
    if not target.suffix or target.is_dir():
        return [target / f"{kind.name}{suffix}" for kind in kinds]
    if target.suffix.lower() not in SUFFIXES:
        raise CatenaError(
            f"{target}: a plot is saved as {', '.join(SUFFIXES)}, not {target.suffix!r}; a folder's"
            " name has no suffix"
        )
    if len(kinds) > 1:
        raise CatenaError(
            f"{target}: one file was named for {len(kinds)} plots; name a folder, or draw one at a"
            " time"
        )
    return [target]


def options(kind: Plot, only: list[str] | None, degrees: bool) -> dict[str, object]:
    """Return the given options that this plot takes."""
    chosen: dict[str, object] = {kind.select: only} if only and kind.select else {}
    return chosen | ({"degrees": True} if degrees and "degrees" in kind.options else {})
