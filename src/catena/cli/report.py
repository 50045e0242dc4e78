"""`catena report`: everything about a mechanism in one document."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ._reading import Model, Start, pairs, time_option
from ._results import Force, free
from ._tables import console

FREE_RUN_SECONDS = 2.0  # free motion of a file without a scenario


def report(
    model: Model,
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A .html or .pdf file; NAME_report.html unless given."),
    ] = None,
    by: Annotated[
        str, typer.Option(help="The formulation whose equations are printed.")
    ] = "lagrange",
    until: Annotated[
        float | None, time_option("How long to run, not the scenario's: 2, 2s or '200 ms'.")
    ] = None,
    states: Annotated[int, typer.Option(min=1, help="Random states of the certificate.")] = 20,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CHAPTER",
            help=(
                "Leave out a chapter: parameters, mobility, equations, certificate, modes, run;"
                " again for more."
            ),
        ),
    ] = None,
    meshes: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER", help="A further folder where files of meshes may lie; again for more."
        ),
    ] = None,
    q: Start = None,
    force: Force = False,
) -> None:
    """Write everything about a mechanism into one .html or .pdf: drawing, parameters, mobility,
    equations, certificate, modes, a run.
    """
    import warnings

    from .. import formats
    from ..equations.formulations import formulation
    from ..errors import MechanismWarning
    from ..report import Subject, checked
    from ..report import report as write

    path = checked(free(Path(out or f"{model.stem}_report.html"), force))
    formulation(by)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MechanismWarning)  # printed in the report, as doubts
        asked = model.scenario(
            until=until, q=pairs("--q", q), otherwise={"until": FREE_RUN_SECONDS}
        )
        source = formats._find(model.file)
        subject = Subject(
            asked, source.name, by, states, [source.resolve().parent, *(meshes or ())]
        )
        screen = console()
        with screen.status("writing ...") as status:
            write(
                subject, path, without or (), progress=lambda title: status.update(f"{title} ...")
            )
    screen.print(f"{path}: {path.stat().st_size / 1000:.0f} kB", markup=False, soft_wrap=True)
