"""`catena inverse`: the forces and reactions of a motion."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import CatenaError
from ._reading import Csv, Model, Start, Wrenches, pairs, time_option
from ._results import Force, free
from ._tables import console, number, table


def inverse(
    model: Model,
    trajectory: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="A .csv with time (s) and coordinates (rad, m), one per column."
        ),
    ] = None,
    markers: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="In its place, a .csv with time (s) and points of frames, FRAME.px, .py, .pz (m).",
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Where the tables and pictures go; NAME_inverse unless given."
        ),
    ] = None,
    step: Annotated[
        float | None, time_option("Seconds between rows; by default about 1000 rows.")
    ] = None,
    q: Start = None,
    wrenches: Wrenches = None,
    csv: Csv = False,
    force: Force = False,
) -> None:
    """Find the joint forces and reactions along a trajectory; speeds and accelerations come from a
    spline through its rows.
    """
    from ..results import save
    from ..simulation.scenario import along, marked, near, placed

    mechanism = model.load()
    held = placed(mechanism, pairs("--q", q))
    if (trajectory is None) == (markers is None):
        raise CatenaError(
            "give the motion once: --trajectory FILE with coordinates, or --markers FILE with"
            " points of frames"
        )
    motion = trajectory or marked(mechanism, Path(str(markers)), held)
    result = along(
        mechanism, motion, step, near(model.file, mechanism), held=held, wrenches=wrenches
    )
    if csv:
        print(result.to_pandas().to_csv(), end="")
        return
    folder = Path(out or f"{model.stem}_inverse")
    paths = [free(folder / name, force) for name in ("results.nc", "torques.csv", "reactions.csv")]
    result.save(paths[0])
    result.to_pandas().to_csv(paths[1])
    reactions = result.reactions()
    flat = reactions.stack(column=("joint", "component")).to_pandas()
    flat.columns = [f"{joint} {component}" for joint, component in flat.columns]
    flat.to_csv(paths[2])
    for kind in ("torques", "reactions", "coordinates"):
        paths.append(save(result, folder / f"{kind}.png", kind))
    screen = console()
    tau = result.data["tau"]
    rows = [
        [
            str(name),
            number(float(x.min())),
            number(float(x.max())),
            number(float((x**2).mean() ** 0.5)),
            str(unit),
        ]
        for name, unit, x in zip(tau["speed"].values, tau["force_unit"].values, tau.values.T)
    ]
    screen.print(table(["joint force", "least", "largest", "root mean square", "unit"], rows))
    for path in paths:
        screen.print(str(path), markup=False, soft_wrap=True)
