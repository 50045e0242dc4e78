"""`catena worksheet`: a derivation with room for a student's answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from ._reading import Model
from .derive import Form, Out, emit, form_of

Way = Annotated[
    str,
    typer.Option(
        "--by", help="The formulation; unless given, lagrange or the first one of the problem."
    ),
]


def listed(show: bool) -> None:
    """Print the problems and end, where the list is asked for."""
    if not show:
        return
    from ..teaching.worksheets import PROBLEMS

    width = max(map(len, PROBLEMS))
    for name, problem in PROBLEMS.items():
        print(f"{name:{width}}  {problem.text} {problem.source}. [{', '.join(problem.methods)}]")
    raise typer.Exit


def worksheet(
    model: Model,
    by: Way = "",
    form: Annotated[
        Form | None,
        typer.Option(
            help=(
                "text, latex (an exam sheet), html (a page that grades) or notebook; unless given,"
                " by the ending of --out: .tex, .html or .ipynb."
            )
        ),
    ] = None,
    solutions: Annotated[
        bool, typer.Option("--solutions", help="The sheet with the solutions in its place.")
    ] = False,
    list_: Annotated[
        bool,
        typer.Option(
            "--list", help="List the problems from the classics.", is_eager=True, callback=listed
        ),
    ] = False,
    out: Out = None,
) -> None:
    """Write a problem with a sketch and a derivation whose results are left out; `catena grade`
    checks what is filled in, by the number of the line. FILE may be a problem of --list.
    """
    from ..equations.formulations import derive
    from ..teaching.worksheets import worksheet as sheet_of

    given, usual = of_problem(model)
    name = model.file if given is not model else ""
    sheet = sheet_of(derive(given.load(), by or usual), name)
    emit(replace(sheet, file=model.file).write(form_of(form, out).value, solutions), out)


def of_problem(model: Model) -> tuple[Model, str]:
    """Return the model of a problem, where FILE names one, and its usual method."""
    from ..teaching.worksheets import PROBLEMS

    problem = PROBLEMS.get(model.file)
    if problem is None:
        return model, "lagrange"
    return replace(model, file=problem.model), problem.methods[0]
