"""`catena fit`: parameters of a mechanism from measured motions and forces."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import CatenaError
from ._fit_logs import fit_logs
from ._reading import Csv, Model
from ._results import Force, free
from ._tables import console, number, table

if TYPE_CHECKING:
    from ..identification import Fit


def fit(
    model: Model,
    logs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[LOG]...",
            help=(
                "Logs of a robot (.csv, .mat, .npz, .parquet, .mcap, .bag): drive gains, inertial"
                " parameters and friction are fitted to them, with laws chosen between them."
            ),
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help=(
                "A .csv log: time, 'q NAME' of each coordinate, 'tau NAME' of each motor; 'v NAME'"
                " and 'a NAME' if measured."
            ),
        ),
    ] = None,
    unknown: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help=(
                "What is sought, with commas between: masses, inertial, friction, damping, coulomb,"
                " armature, offset, "
                "or names such as 'mass of fore' and of the mechanism's parameters."
            ),
        ),
    ] = None,
    validate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE...", help="With LOG: held-out logs, which are predicted and not used."
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="With LOG: 'time=1, q=2-7, v=8-13, current=14-19', columns counted from one.",
        ),
    ] = None,
    coupling: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DRIVE:JOINT=FACTOR...",
            help=(
                "With LOG: drives that turn with other joints too, such as wrist_3:wrist_2=1 where"
                " the drive of wrist_3 turns at the sum of both speeds."
            ),
        ),
    ] = None,
    page: Annotated[
        str | None,
        typer.Option(
            "--report", metavar="FOLDER", help="With LOG: write a page and the model into a folder."
        ),
    ] = None,
    cutoff: Annotated[
        float | None,
        typer.Option(help="Of the filter, Hz; by default ten times the motion's own band."),
    ] = None,
    consistent: Annotated[
        bool,
        typer.Option(
            "--consistent", help="With inertial: inertias that bodies can have (needs Clarabel)."
        ),
    ] = False,
    trajectory: Annotated[
        bool,
        typer.Option(
            "--trajectory",
            help=(
                "Fit the motion alone, by multiple shooting: any parameter, 'body.rod.mass',"
                " 'joint.pin.damping'; q0 and v0 tell the start."
            ),
        ),
    ] = False,
    segments: Annotated[
        int | None,
        typer.Option(
            help=(
                "With --trajectory: into how many the log is cut; by default one for every ten"
                " rows, at most 50."
            )
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Write the mechanism with what was found, such as fitted.toml."
        ),
    ] = None,
    csv: Csv = False,
    force: Force = False,
) -> None:
    """Find parameters from measured motions and forces, or from a trajectory, with their
    confidence, and name what the data cannot tell. Exit status 0: all were identified, 1: some were
    not, 2: bad input.
    """
    from ..formats import save
    from ..identification import fit as fitted

    mechanism = model.load()
    if logs:
        asked = (validate or [], columns, cutoff, page, coupling or [])
        fit_logs(mechanism, logs, asked, forbidden=(data, unknown), csv=csv, force=force)
        return
    if data is None or unknown is None:
        raise CatenaError(
            "nothing to fit: give logs of a robot (catena fit robot.urdf log.csv), or --data with"
            " --unknown"
        )
    target = free(Path(out), force) if out else None
    shooting: dict[str, Any] = {"trajectory": True, "segments": segments} if trajectory else {}
    found = fitted(mechanism, data, unknown, cutoff=cutoff, consistent=consistent, **shooting)
    if csv:
        print(found.to_pandas().to_csv(), end="")
    else:
        report(console(), mechanism.name, found)
    if target is not None:
        save(found.mechanism, target)
        console().print(str(target), markup=False, soft_wrap=True)
    if found.not_determined:
        raise typer.Exit(1)


def report(screen: Any, name: str, found: Fit) -> None:
    """Print what was done, the estimates, how well they fit, and which parameters the data do not
    determine.
    """
    screen.print(
        f"{name}: {len(found.estimates)} estimates from {found.rows} rows",
        style="bold",
        markup=False,
    )
    for note in found.notes:
        screen.print(f"  {note}", markup=False)
    rows = [
        [
            e.name,
            number(e.value),
            number(e.sigma),
            (
                f"{number(e.value - found.width * e.sigma)} to"
                f" {number(e.value + found.width * e.sigma)}"
            ),
            e.unit,
            number(e.before),
            "" if e.determined else "not identified",
        ]
        for e in found.estimates
    ]
    screen.print(table(["parameter", "value", "sigma", "95 %", "unit", "before", ""], rows))
    of = "motion, as far as it varies" if found.measured else "forces"
    screen.print(
        f"left of the {of}: {found.share:.3g} of {'it' if found.measured else 'them'}; condition"
        f" number {found.condition:.3g}",
        markup=False,
    )
    if found.inertias is not None:
        shown = [
            [
                b,
                *(
                    number(x)
                    for x in (
                        found.inertias.of(b)[0],
                        *found.inertias.of(b)[1],
                        *found.inertias.of(b)[2],
                    )
                ),
            ]
            for b in found.inertias.bodies
        ]
        screen.print(
            table(
                ["consistent", "mass", "com x", "y", "z", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"],
                shown,
            )
        )
    for names, sentence in (
        (found.without_effect, "no force depends on"),
        (found.not_excited, "these data do not excite"),
        ([e.name for e in found.estimates if not e.determined], "these data do not determine"),
    ):
        if names:
            screen.print(f"{sentence}: {', '.join(names)}", markup=False)
