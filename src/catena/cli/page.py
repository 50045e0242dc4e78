"""`catena page`: one HTML file in which the mechanism runs by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ._reading import Model, time_option
from ._results import Force, free
from ._tables import console

LEFT_OUT = {  # what a scenario may contain and a page cannot, in words
    "control": lambda asked: "control" in asked,
    "events": lambda asked: "events" in asked,
    "stops": lambda asked: asked.get("limits") == "stop",
}


def page(
    model: Model,
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Where the page goes; NAME.html unless given."),
    ] = None,
    step: Annotated[float, time_option("Seconds, of the Runge-Kutta steps.")] = 1e-3,
    contact: Annotated[
        str | None, typer.Option(help="ignore: leave out contacts, which a page cannot have.")
    ] = None,
    force: Force = False,
) -> None:
    """Write one HTML file in which the mechanism itself runs: no server, no network. It starts
    where the file's [scenario] does.
    """
    from .. import formats
    from ..studio import page as write
    from ..studio import smoothed_friction

    path = free(Path(out or f"{model.stem}.html"), force)
    asked = model.scenario(until=1.0)
    left = [words for words, there in LEFT_OUT.items() if there(asked.options)]
    notes = (
        [f"The scenario's {' and '.join(left)} are left out: the mechanism runs freely."]
        if left
        else []
    )
    folders = [formats._find(model.file).resolve().parent]
    written = write(
        asked.mechanism,
        path,
        q=asked.q,
        v=asked.v,
        step=step,
        notes=notes,
        folders=folders,
        contact=contact or str(asked.options.get("contact", "")),
        motion=asked.options.get("motion"),
    )
    for note in smoothed_friction(asked.mechanism):
        console().print(note, markup=False, soft_wrap=True)
    console().print(
        f"{written}: {written.stat().st_size / 1000:.0f} kB", markup=False, soft_wrap=True
    )
