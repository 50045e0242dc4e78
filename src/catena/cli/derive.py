"""`catena derive`: the equations of motion by one formulation, with the way to them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..errors import CatenaError
from ._reading import Model

By = Annotated[str, typer.Option(help="The formulation, such as kane.")]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="A file to write; by default the terminal.")
]


class Form(StrEnum):
    """The forms in which a derivation is written."""

    text = "text"
    latex = "latex"
    html = "html"
    notebook = "notebook"


# the form that follows from the suffix of a file
SUFFIXES = {".tex": Form.latex, ".html": Form.html, ".ipynb": Form.notebook}


def form_of(form: Form | None, out: Path | None) -> Form:
    """Return the form that was asked for, by its name or by the suffix of the file."""
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
    out: Out = None,
) -> None:
    """Derive the equations of motion by one formulation; with --steps, the whole way to them."""
    from ..equations.formulations import derive as derived

    mechanism = model.load()
    form = form_of(form, out)
    found = derived(mechanism, by)
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
    emit(written, out)


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
