"""`catena compare`: the cost of each formulation."""

from __future__ import annotations

from typing import Annotated

import typer

from ..errors import CatenaError
from ._reading import Model, time_option
from ._tables import console, table

MIN_DURATION = 1e-6  # s; a shorter simulation cannot be timed


def compare(
    model: Model,
    until: Annotated[float, time_option("How many seconds each formulation simulates.")] = 1.0,
    tolerance: Annotated[
        float, typer.Option(help="The accuracy at which they are compared.")
    ] = 1e-8,
) -> None:
    """Compare the formulations: equations, matrices, operations, time, deviation."""
    from ..certify import Comparison
    from ..certify import compare as weigh

    if not until >= MIN_DURATION:
        raise CatenaError(f"--until is {until:g} s; it is {MIN_DURATION:g} s at least")
    mechanism = model.load()
    screen = console()
    with screen.status("deriving ...") as status:
        found = weigh(
            mechanism,
            until=until,
            tolerance=tolerance,
            progress=lambda name: status.update(f"deriving by {name} ..."),
        )
    screen.print(f"{found.mechanism}: {found.until:g} s at tolerance {tolerance:g}", markup=False)
    screen.print(table(Comparison.HEAD, found.rows()))
    for sentence in found.notes():
        screen.print(f"\n{sentence}", markup=False)
