"""`catena clearance`: how close shapes come to each other."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from ..errors import CatenaError
from ._reading import Model, Start, start_of_file
from ._reading import pairs as named_values
from ._results import opened
from ._tables import console, number, table, vector


def clearance(
    model: Model,
    result: Annotated[
        str | None,
        typer.Option(
            metavar="RESULTS", help="Along this result: a .nc file, or the folder it is in."
        ),
    ] = None,
    pair: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help="Only this pair of shapes, bodies or groups; give it again for more.",
        ),
    ] = None,
    q: Start = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Show the signed distance of every pair of shapes: along a result with times, or in one
    configuration: that of --q, or where the file's scenario starts, or with every coordinate zero.
    Loops are closed first.
    """
    mechanism = model.load()
    pairs = [_pair(text) for text in pair] if pair else None
    if result and q:
        raise CatenaError(
            "--result and --q are both given; --q does not apply, because the result has the"
            " configurations"
        )
    found = _along(mechanism, result, pairs) if result else _at(model, mechanism, pairs, q)
    if as_json:
        print(json.dumps({"name": mechanism.name, **found}, indent=2))
        return
    screen = console()
    title = "closest approach of every pair" if result else f"distances {found['where']}"
    screen.print(f"{mechanism.name}: {title}", markup=False, soft_wrap=True)
    cells = [
        [
            " - ".join(x["pair"]),
            number(x["distance"]),
            number(x.get("time")),
            vector(x["first"]),
            vector(x["second"]),
            "overlap" if x["overlap"] else "",
        ]
        for x in found["pairs"]
    ]
    screen.print(
        table(
            ["pair", "distance, m", "at time, s", "point of the first", "point of the second", ""],
            cells,
        )
    )
    for sentence in (*found.get("meetings", ()), *found.get("notes", ())):
        screen.print(sentence, markup=False, soft_wrap=True)


def _pair(text: str) -> tuple[str, str]:
    """Return the two names of a --pair option."""
    names = [name.strip() for name in text.split(",")]
    if len(names) != 2 or not all(names):
        raise CatenaError(
            f"--pair {text!r} is not two names with a comma between them, such as hand,table"
        )
    return names[0], names[1]


def _along(mechanism: Any, path: str, pairs: Any) -> dict[str, Any]:
    """Return the closest approach of every pair along a result."""
    from dataclasses import replace

    from ..results import interference

    run = opened(path, lazy=False)
    if list(run.data["coordinate"].values) != list(mechanism.coordinate_names):
        raise CatenaError(
            f"{path} is of another mechanism: its coordinates are"
            f" {', '.join(map(str, run.data['coordinate'].values))}"
        )
    found = interference(replace(run, model=mechanism), pairs=pairs)
    whose = run.data.attrs.get("mechanism", mechanism.name)
    several = "run" in run.data.dims
    met = {(x.pair, x.run) for x in found}
    rows = [
        {
            "pair": [*x.pair, *([f"run {x.run}"] if several else [])],
            "distance": x.distance,
            "time": x.time,
            "first": x.first.tolist(),
            "second": x.second.tolist(),
            "overlap": (x.pair, x.run) in met,
        }
        for x in found.closest
    ]
    notes = (
        [
            f"{path} is of mechanism {whose!r}, which has the same coordinates; distances are those"
            f" of {mechanism.name!r}"
        ]
        if whose != mechanism.name
        else []
    )
    return {
        "pairs": rows,
        "meetings": [f"{f'run {x.run}: ' if several else ''}{x}" for x in found],
        "notes": notes,
    }


def _at(model: Model, mechanism: Any, pairs: Any, given: list[str] | None) -> dict[str, Any]:
    """Return the distance of every pair in one configuration."""
    from ..analysis import clearance as of
    from ..machine import compile
    from ..report import coordinates_from_names

    machine = compile(mechanism)
    closed = ", loops closed" if machine.rows else ""
    if given:
        q, where = (
            coordinates_from_names(machine, named_values("--q", given)),
            f"at the coordinates given{closed}",
        )
    else:
        q, where = start_of_file(model, machine)
        where += closed
    found = of(machine, q, pairs=pairs)
    order = found.distance.argsort()
    rows = [
        {
            "pair": [*found.pairs[k]],
            "distance": float(found.distance[k]),
            "first": found.first[k].tolist(),
            "second": found.second[k].tolist(),
            "overlap": bool(found.overlaps[k]),
        }
        for k in order
    ]
    coordinates = dict(zip(machine.coordinate_names, map(float, q)))
    return {"pairs": rows, "where": where, "q": coordinates}
