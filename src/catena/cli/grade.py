"""`catena grade`: check an answer to a line of a worksheet."""

from __future__ import annotations

from typing import Annotated

import typer

from ._reading import Model
from .derive import By


def grade(
    model: Model,
    line: Annotated[str, typer.Argument(metavar="LINE", help="The line's number on the worksheet, such as 4.1.")],
    answer: Annotated[
        str, typer.Argument(metavar="ANSWER", help="The result in Python's notation or LaTeX's, such as \"m*l^2*theta'\".")
    ],
    by: By = "lagrange",
) -> None:
    """Compare an answer with a line of the derivation, at random states, and say which term is wrong."""
    from ..equations.derivation.answers import grade as graded
    from ..equations.formulations import derive

    found = graded(derive(model.load(), by).steps(), line, answer)
    print(found)
    if not found.right:
        raise typer.Exit(1)
