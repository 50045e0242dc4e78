"""`catena derive`: the equations of motion by one formulation, with the way to them."""

from __future__ import annotations

import inspect
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..errors import CatenaError, UnknownNameError
from ..model import Mechanism
from ._reading import Model

By = Annotated[str, typer.Option(help="The formulation, such as kane.")]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="A file to write; by default the terminal.")
]


Coordinates = Annotated[
    str | None,
    typer.Option(
        help='"absolute" writes planar linkages in angles from the ground (lagrange, hamilton).'
    ),
]


class Form(StrEnum):
    """The forms in which a derivation is written."""

    text = "text"
    latex = "latex"
    html = "html"
    notebook = "notebook"


THREE_SCREENS = 150  # lines
# the form that follows from the suffix of a file
SUFFIXES = {".tex": Form.latex, ".html": Form.html, ".ipynb": Form.notebook}


def form_of(form: Form | None, out: Path | None) -> Form:
    """Return the requested form, by its name or by the suffix of the file."""
    return form or SUFFIXES.get(out.suffix if out else "", Form.text)


def derive(
    model: Model,
    by: By = "lagrange",
    steps: Annotated[
        bool,
        typer.Option("--steps", help="Every step with its reason, each checked at random states."),
    ] = False,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="BY",
            help="A second formulation, shown next to the first with the terms that correspond.",
        ),
    ] = None,
    form: Annotated[
        Form | None,
        typer.Option(
            help=(
                "text, latex, html (one page) or notebook; unless given, by the ending of --out:"
                " .tex, .html, .ipynb."
            )
        ),
    ] = None,
    coordinates: Coordinates = None,
    dependent: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="The speeds that speed rows determine, such as x,y (kane); unless given, chosen.",
        ),
    ] = None,
    fragment: Annotated[
        bool,
        typer.Option("--fragment", help="LaTeX without the preamble of a document, to include."),
    ] = False,
    out: Out = None,
) -> None:
    """Derive the equations of motion by one formulation; with --steps, the whole way to them."""
    from ..equations.formulations import derive as derived

    mechanism = model.load()
    form = form_of(form, out)
    found = derived(mechanism, by, **options(mechanism, by, coordinates, dependent))
    file = (str(model.file),) if form is Form.notebook else ()
    if against:
        from ..teaching.derivation import Comparison

        written = getattr(
            Comparison(found.steps(), derived(mechanism, against).steps()), form.value
        )(*file)
    elif steps or form in (Form.html, Form.notebook):
        written = getattr(found.steps(), form.value)(*file)
    else:
        written = found.latex() if form is Form.latex else found.text()
    if form is Form.latex and out is not None and not fragment:
        written = document(written, mechanism.name, by)
    emit(written, out)
    lines = len(written.splitlines())
    if out is None and lines > THREE_SCREENS:
        note = f"{lines} lines, more than three screens; -o FILE.html or -o FILE.tex is a page"
        shorter = ", and without --steps the equations alone" if steps else ""
        print(f"# {note}{shorter}", file=sys.stderr)


def options(
    mechanism: Mechanism, by: str, coordinates: str | None, dependent: str | None
) -> dict[str, object]:
    """Return the options of a formulation that were given; raise an error if it does not have one
    of them.
    """
    from ..equations.formulations import formulation, formulations

    found: dict[str, object] = {} if coordinates is None else {"coordinates": coordinates}
    if dependent is not None:
        names = [x.strip() for x in dependent.split(",")]
        speeds = list(mechanism.speed_names)
        for name in names:
            if name not in speeds:
                raise UnknownNameError("speed", name, speeds, f"mechanism {mechanism.name!r}")
        found["dependent"] = tuple(map(speeds.index, names))
    known = inspect.signature(formulation(by).derive).parameters
    for name in found:
        if name not in known:
            takes = {f.name: inspect.signature(f.derive).parameters for f in formulations()}
            able = [method for method, parameters in takes.items() if name in parameters]
            raise CatenaError(f"--{name}: {by} has no such option; {', '.join(able)} have it")
    return found


def document(body: str, name: str, by: str) -> str:
    """Return LaTeX as a complete document that compiles on its own."""
    title = f"{name} by {by}".replace("_", r"\_").replace("&", r"\&").replace("%", r"\%")
    return "\n".join(
        [
            r"\documentclass[a4paper]{article}",
            r"\usepackage[margin=25mm]{geometry}",
            r"\usepackage{amsmath,amssymb}",
            r"\begin{document}",
            rf"\section*{{{title}}}" if r"\section*" not in body else "",
            body,
            r"\end{document}",
        ]
    )


def emit(written: str, out: Path | None) -> None:
    """Write a text to a file, or to the terminal."""
    if out is None:
        print(written.rstrip("\n"))
    else:
        if not out.parent.is_dir():
            raise CatenaError(
                f"{out}: there is no folder {str(out.parent)!r} to write into; make it first"
            )
        out.write_text(written.rstrip("\n") + "\n", encoding="utf-8")
        print(f"written: {out}")
