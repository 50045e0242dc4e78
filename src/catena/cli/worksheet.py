"""`catena worksheet`: a derivation with room for a student's answers."""

from __future__ import annotations

from typing import Annotated

import typer

from ..errors import CatenaError
from ._reading import Model
from .derive import By, Form, Out, emit, form_of


def worksheet(
    model: Model,
    by: By = "lagrange",
    form: Annotated[
        Form | None,
        typer.Option(
            help="text, latex or html; unless given, by the ending of --out: .tex or .html."
        ),
    ] = None,
    out: Out = None,
) -> None:
    """Write a derivation with its results left out; `catena grade` checks what is filled in, by the
    number of the line.
    """
    from ..equations.formulations import derive

    form = form_of(form, out)
    if form is Form.notebook:
        raise CatenaError(
            "a worksheet is written as text, latex or html; a notebook comes from: catena derive"
            " FILE --steps --form notebook"
        )
    emit(getattr(derive(model.load(), by).steps(), form.value)(blank=True), out)
