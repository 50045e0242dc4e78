"""`catena modes`: natural frequencies about an equilibrium."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ._reading import Model, Start, pairs, start_of_file
from ._tables import console, number, table


def modes(
    model: Model,
    count: Annotated[int, typer.Option(metavar="N", help="How many, slowest first.")] = 12,
    lock: Annotated[
        list[str] | None,
        typer.Option(metavar="JOINT", help="Hold a joint as at coordinate zero; may be repeated."),
    ] = None,
    q: Start = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Show the natural frequencies and damping ratios of small vibrations about the equilibrium
    nearest to where the file's scenario starts, or to coordinates zero; --q names another place.
    """
    from ..analysis import equilibrium
    from ..analysis import modes as of
    from ..machine import machine_of
    from ..report import MODE_HEAD, coordinates_from_names, locked, mode_rows

    mechanism = locked(model.load(), lock or [])
    machine = machine_of(mechanism)
    if q:
        start = coordinates_from_names(machine, pairs("--q", q))
    else:  # a locked joint has no place in the scenario
        start = machine.neutral() if lock else start_of_file(model, machine)[0]
    rest = equilibrium(machine, start)
    found = of(machine, rest)
    rows = list(zip(found.frequencies, found.hertz, found.ratios, found.squares, found.leading))[
        : max(0, count)
    ]
    if as_json:
        keys = ("rad/s", "Hz", "damping ratio", "square", "leading")
        shown = [
            dict(zip(keys, (*(None if x != x else float(x) for x in row[:4]), row[4])))
            for row in rows
        ]
        at = dict(zip(machine.coordinate_names, rest.tolist()))
        print(
            json.dumps(
                {"name": mechanism.name, "equilibrium": at, "modes": shown},
                indent=2,
                allow_nan=False,
            )
        )
        return
    screen = console()
    screen.print(
        f"{mechanism.name}: {len(found.squares)} modes about its equilibrium",
        markup=False,
        soft_wrap=True,
    )
    screen.print(table(MODE_HEAD, mode_rows(found, len(rows))))
    if len(rows) < len(found.squares):
        screen.print(
            f"... and {len(found.squares) - len(rows)} faster ones, up to"
            f" {number(found.hertz[-1])} Hz",
            markup=False,
        )
