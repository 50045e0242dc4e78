"""`catena check`: the certificate that the formulations agree."""

from __future__ import annotations

from typing import Annotated

import typer

from ._reading import Csv, Model, Start, pairs
from ._tables import comma_separated, console, table

HEAD = ("formulation", "accelerations", "reactions", "power", "free run", "verdict")


def check(
    model: Model,
    states: Annotated[int, typer.Option(min=1, help="How many random states.")] = 100,
    seed: Annotated[int, typer.Option(help="Where the random numbers start.")] = 0,
    run: Annotated[
        bool,
        typer.Option(
            "--run/--no-run",
            help="Also run freely for a second with each formulation, joints without losses.",
        ),
    ] = True,
    q: Start = None,
    csv: Csv = False,
) -> None:
    """Certify that every formulation that applies gives the same motion. Exit status 0 or 1."""
    from ..certify import check as certify
    from ..report import coordinates_from_names

    mechanism = model.load()
    near = coordinates_from_names(mechanism, pairs("--q", q)) if q else None
    screen = console()
    with screen.status("deriving ...") as status:
        found = certify(
            mechanism,
            states=states,
            seed=seed,
            run=run,
            near=near,
            progress=lambda name: status.update(f"deriving by {name} ..."),
        )
    if csv:
        print(comma_separated(HEAD, found.rows()), end="")
        raise typer.Exit(0 if found.passed else 1)
    screen.print(
        f"{found.mechanism}: the largest relative differences at {found.states} random states",
        markup=False,
    )
    screen.print(table(HEAD, found.rows()))
    screen.print(
        f"mass matrix: asymmetry {found.asymmetry:.1e}, smallest eigenvalue"
        f" {found.smallest_eigenvalue:.3g}",
        markup=False,
    )
    for line in found.doubts():
        screen.print(line, markup=False)
    if found.passed:
        screen.print("the formulations agree", markup=False)
        return
    screen.print(
        f"they do NOT agree: {', '.join(found.failed)}; the worst accelerations are those of"
        f" {found.worst.get('formulation')} at",
        markup=False,
    )
    for name in ("q", "v", "tau", "p"):
        screen.print(
            f"  {name} = {[float(x) for x in found.worst.get(name, ())]}",
            markup=False,
            soft_wrap=True,
        )
    raise typer.Exit(1)
