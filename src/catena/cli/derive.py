"""`catena derive`: the equations of motion by one formulation, with the way to them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ._reading import Model

By = Annotated[str, typer.Option(help="The formulation, such as kane.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="A file to write; by default the terminal.")]


class Form(StrEnum):
    """How a derivation is written."""

    text = "text"
    latex = "latex"
    html = "html"
    notebook = "notebook"


def derive(
    model: Model,
    by: By = "lagrange",
    steps: Annotated[bool, typer.Option("--steps", help="Every step with its reason, each checked at random states.")] = False,
    against: Annotated[
        str | None, typer.Option(metavar="BY", help="A second formulation, set beside the first with the terms that correspond.")
    ] = None,
    form: Annotated[Form, typer.Option(help="text, latex, html (one page) or notebook (.ipynb).")] = Form.text,
    out: Out = None,
) -> None:
    """Derive the equations of motion by one formulation; with --steps, the whole way to them."""
    from ..equations.formulations import derive as derived

    mechanism = model.load()
    found = derived(mechanism, by)
    if against:
        from ..equations.derivation.comparison import Comparison

        written = getattr(Comparison(found.steps(), derived(mechanism, against).steps()), form.value)()
    elif steps or form in (Form.html, Form.notebook):
        written = getattr(found.steps(), form.value)()
    else:
        written = found.latex() if form is Form.latex else found.text()
    emit(written, out)


def emit(written: str, out: Path | None) -> None:
    """To a file, or to the terminal."""
    if out is None:
        print(written.rstrip("\n"))
    else:
        out.write_text(written.rstrip("\n") + "\n", encoding="utf-8")
        print(f"written: {out}")
