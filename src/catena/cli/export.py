"""`catena export`: a mechanism for other tools: kernels as C, or the whole of it as an FMU, C,
MATLAB, Julia, Modelica, URDF, or a ROS 2 package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ._reading import Model
from ._tables import console

if TYPE_CHECKING:
    from ..model import Mechanism


def export(
    model: Model,
    out: Annotated[
        str, typer.Option(metavar="PATH", help="The .fmu file, or the folder for everything else.")
    ],
    fmu: Annotated[
        int | None, typer.Option(metavar="2|3", help="Write an FMU of this version of FMI.")
    ] = None,
    kind: Annotated[
        str, typer.Option(help="Kinds of an FMU: me (model exchange), cs (co-simulation).")
    ] = "me,cs",
    source: Annotated[
        bool, typer.Option("--source", help="An FMU of sources alone: compile nothing.")
    ] = False,
    to: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "Write the whole system as c, library, matlab, julia, modelica, urdf or ros2, the"
                " drawing of a linkage as svg or dxf, or a result (FILE is a .nc, or is run) as"
                " rerun, mcap, parquet or csv."
            )
        ),
    ] = None,
    motor: Annotated[
        list[str] | None,
        typer.Option(
            help="A joint or speed whose force is an input; again for more. Default: all."
        ),
    ] = None,
    friction: Annotated[
        str | None,
        typer.Option(
            metavar="smooth",
            help="Replace dry friction of joints, which sticks in a run, by a smooth function.",
        ),
    ] = None,
    kernel: Annotated[
        list[str] | None,
        typer.Option(help="Write one kernel as C, such as inverse_dynamics; again for more."),
    ] = None,
    frame: Annotated[
        str | None,
        typer.Option(help="The frame, for kernels pose, jacobian, frame_velocity and the like."),
    ] = None,
    axes: Annotated[
        str, typer.Option(help='The axes of a frame\'s quantity: "world" or "body".')
    ] = "world",
    wrench: Annotated[
        list[str] | None, typer.Option(metavar="FRAME[:world]", help="Take a wrench at this frame.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="The C function's name, for one kernel.")] = None,
    fixed: Annotated[
        bool, typer.Option("--fixed", help="Put the parameters' values into a kernel's code.")
    ] = False,
) -> None:
    """Write a mechanism for other tools: kernels or the whole system as C99, an FMU, MATLAB, Julia,
    Modelica, URDF.
    """
    from ..errors import CompileError
    from ..exports import TARGETS, Asked, write

    if not (fmu is not None or to or kernel):
        raise CompileError(
            "say what to write: --fmu 2, --fmu 3, --to"
            f" {{{', '.join(t for t in TARGETS if t != 'fmu')}}}, or --kernel NAME"
        )
    if fmu is not None and (to or kernel):
        raise CompileError(
            "--fmu writes one file, and --to and --kernel write into a folder; give them in"
            " separate commands"
        )
    written: list[str] = []
    if kernel:
        mechanism = model.load()
        written += kernels(mechanism, kernel, out, frame, axes, wrench or [], name, fixed)
    if fmu is not None or to:
        asked = Asked(
            model.file,
            out,
            fmu,
            tuple(k.strip() for k in kind.split(",") if k.strip()),
            not source,
            tuple(motor) if motor else None,
            friction,
            model.scenario_options,
        )
        for target in to or ["fmu"]:
            written += write(target, asked)
    screen = console()
    for line in written:
        screen.print(line, markup=False, soft_wrap=True)


def kernels(
    mechanism: Mechanism,
    names: list[str],
    out: str,
    frame: str | None,
    axes: str,
    wrench: list[str],
    name: str | None,
    fixed: bool,
) -> list[str]:
    """Write kernels as C, and return their paths."""
    from ..errors import CompileError
    from ..machine import c_kernel, compile, find

    if name and len(names) > 1:
        raise CompileError(
            f"one name {name!r} was given for {len(names)} kernels; leave it out, or export one at"
            " a time"
        )
    machine = compile(mechanism)
    wrenches = [
        (at.removesuffix(":world"), "world" if at.endswith(":world") else "body") for at in wrench
    ]
    made = []
    for quantity in names:
        known = find(quantity, "kernel")
        if known.frame and frame is None:
            named = ", ".join(
                [
                    *(x.name for x in machine.mechanism.frames),
                    *(b.name for b in machine.mechanism.bodies),
                ]
            )
            raise CompileError(
                f"kernel {quantity!r} takes a frame; found none. Name it with --frame; frames and"
                f" bodies are: {named}"
            )
        which = [x for x in (frame, axes)[: known.frame + known.axes] if x is not None]
        made.append(c_kernel(machine, quantity, *which, wrenches=wrenches, name=name, fixed=fixed))
    return [str(path) for x in made for path in x.write(out)]
