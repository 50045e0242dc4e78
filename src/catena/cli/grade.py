"""`catena grade`: check an answer to a line of a worksheet."""

from __future__ import annotations

from typing import Annotated

import typer

from ..errors import CatenaError
from ._reading import Model
from .worksheet import Way, of_problem


def grade(
    model: Model,
    line: Annotated[
        str, typer.Argument(metavar="LINE", help="The line's number on the worksheet, such as 4.1.")
    ],
    answer: Annotated[
        str,
        typer.Argument(
            metavar="ANSWER",
            help="The result in Python's notation or LaTeX's, such as \"m*l^2*theta'\".",
        ),
    ],
    by: Way = "",
    letter: Annotated[
        list[str] | None,
        typer.Option(
            "--letter",
            metavar="YOURS=OURS",
            help=(
                "A letter of your own for a quantity of the worksheet, such as phi=theta or"
                " F=tau_x; may be repeated."
            ),
        ),
    ] = None,
) -> None:
    """Compare an answer with a line of the derivation, at random states, and say which term is
    wrong.
    """
    from ..equations.formulations import derive
    from ..teaching.derivation import grade as graded

    letters = {}
    for given in letter or ():
        yours, sign, ours = (x.strip() for x in given.partition("="))
        if not (yours and sign and ours):
            raise CatenaError(f"--letter {given!r}: it is YOURS=OURS, such as phi=theta")
        letters[yours] = ours
    source, usual = of_problem(model)
    found = graded(derive(source.load(), by or usual).steps(), line, answer, letters)
    print(found)
    if not found.right:
        raise typer.Exit(1)
