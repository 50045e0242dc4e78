"""`catena info`: what a mechanism is, and whether its inverse and forward dynamics agree."""

from __future__ import annotations

import json
import warnings
from typing import Annotated

import typer

from ..errors import MechanismWarning
from ._reading import Csv, Model, Start, pairs, start_of_file
from ._tables import comma_separated, console, plain, table


def info(
    model: Model,
    q: Start = None,
    csv: Csv = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    mapped: Annotated[
        bool,
        typer.Option(
            "--mapping", help="Say what became of each element of the file, and nothing else."
        ),
    ] = False,
    chart: Annotated[
        bool,
        typer.Option("--chart", help="Show the turns of each joint as a configuration chart only."),
    ] = False,
) -> None:
    """Show what a mechanism is, and check forward against inverse dynamics at random states."""
    from ..machine import compile
    from ..report import (
        closing,
        configuration_chart,
        coordinates_from_names,
        describe,
        heading,
        mobility,
        round_trip,
        state,
        tables,
    )

    if mapped:
        return _mapping(model, as_json)
    mechanism = model.load()
    if chart:
        print(configuration_chart(mechanism))
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MechanismWarning)  # printed below, as doubts
        machine = compile(mechanism)
    start = (
        coordinates_from_names(machine, pairs("--q", q)) if q else start_of_file(model, machine)[0]
    )
    found = (
        describe(mechanism)
        | {"mobility": mobility(machine, start)}
        | ({"state": state(machine, pairs("--q", q))} if q else {})
    )
    if as_json:
        print(json.dumps(found | {"round_trip": round_trip(machine)}, indent=2, allow_nan=False))
        return
    if csv:
        print(
            "\n".join(
                f"{title}\n{comma_separated(columns, rows)}"
                for title, columns, rows in tables(found)
                if rows
            ),
            end="",
        )
        return
    screen = console()
    for line in (plain(found["name"]), *heading(found)):
        screen.print(line, markup=False, soft_wrap=True)
    for title, columns, rows in tables(found):
        if rows:
            screen.print(f"\n{title}", style="bold", markup=False, soft_wrap=True)
            screen.print(table(columns, rows))
    for title, sentences in (("notes", found["notes"]), ("doubts", found["doubts"])):
        for k, sentence in enumerate(sentences):
            screen.print(
                ("" if k else f"\n{title}\n") + f"  - {plain(sentence)}",
                markup=False,
                soft_wrap=True,
            )
    screen.print()
    screen.print(closing(round_trip(machine)), markup=False, soft_wrap=True)


def _mapping(model: Model, as_json: bool) -> None:
    """Return the mapping report: one row per element, or a note that the format has none."""
    from dataclasses import asdict

    from ..formats import mapping

    found = mapping(model.file, **model.of_format, **({"trusted": True} if model.trust else {}))
    if as_json:
        print(json.dumps([asdict(e) for e in found], indent=2))
    elif not found:
        console().print(
            "this format says nothing that a mechanism does not hold: there is no mapping to show;"
            " see notes in `catena info`"
        )
    else:
        console().print(
            table(
                ["element", "name", "outcome", "how"],
                [[e.element, e.name, e.outcome, e.how] for e in found],
            )
        )
