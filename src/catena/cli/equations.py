"""`catena equations`: the equations of motion, to read or as code."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ._reading import Model
from .derive import Coordinates, options

DEFAULT_EFFORT = 4_000_000  # products of terms


class Form(StrEnum):
    """The forms in which equations are written."""

    text = "text"
    latex = "latex"
    python = "python"
    c = "c"


def equations(
    model: Model,
    by: Annotated[str, typer.Option(help="The formulation, such as lagrange.")] = "lagrange",
    form: Annotated[
        Form, typer.Option(help="To read (text, latex), or to run (python, c).")
    ] = Form.text,
    effort: Annotated[
        int,
        typer.Option(
            min=0,
            help=(
                "How many operations to spend on the textbook's form; 0 shows the computation"
                " itself."
            ),
        ),
    ] = DEFAULT_EFFORT,
    coordinates: Coordinates = None,
    full: Annotated[
        bool,
        typer.Option(
            "--full", help="Multiplied out, however many pages that takes; else one page."
        ),
    ] = False,
) -> None:
    """Write the equations of motion by one formulation."""
    from ..equations.formulations import derive

    mechanism = model.load()
    found = derive(mechanism, by, **options(mechanism, by, coordinates, None))
    written = {
        Form.text: lambda: found.text(effort, full),
        Form.latex: lambda: found.latex(effort, full),
        Form.python: found.python,
        Form.c: found.c,
    }
    print(written[form]().rstrip("\n"))
