"""`catena export`: kernels of a mechanism as C."""

from __future__ import annotations

from typing import Annotated

import typer

from ._reading import File, Floating, Gravity, Uncoupled, read
from ._tables import console


def export(
    file: File,
    kernel: Annotated[list[str], typer.Option(help="Which kernel, such as inverse_dynamics; give it again for more of them.")],
    out: Annotated[str, typer.Option(metavar="FOLDER", help="Where NAME.c and NAME.h go.")],
    frame: Annotated[str | None, typer.Option(help="The frame, for pose, jacobian, frame_velocity and the like.")] = None,
    axes: Annotated[str, typer.Option(help='The axes of a frame\'s quantity: "world" or "body".')] = "world",
    wrench: Annotated[list[str] | None, typer.Option(metavar="FRAME[:world]", help="Take a wrench at this frame.")] = None,
    name: Annotated[str | None, typer.Option(help="The C function's name, for one kernel.")] = None,
    fixed: Annotated[bool, typer.Option("--fixed", help="Put the parameters' values into the code.")] = False,
    floating: Floating = False,
    no_mimic: Uncoupled = False,
    gravity: Gravity = None,
) -> None:
    """Write kernels as C99 that needs nothing but math.h."""
    from ..errors import CompileError
    from ..machine.export import c_kernel
    from ..machine.machine import compile
    from ..machine.quantities import find

    if name and len(kernel) > 1:
        raise CompileError(f"one name {name!r} was given for {len(kernel)} kernels; leave it out, or export one at a time")
    machine = compile(read(file, floating, no_mimic, gravity))
    wrenches = [(at.removesuffix(":world"), "world" if at.endswith(":world") else "body") for at in wrench or ()]
    kernels = []
    for quantity in kernel:
        known = find(quantity, "kernel")
        if known.frame and frame is None:
            named = ", ".join([*(x.name for x in machine.mechanism.frames), *(b.name for b in machine.mechanism.bodies)])
            raise CompileError(f"kernel {quantity!r} takes a frame; found none. Name it with --frame; frames and bodies are: {named}")
        which = [x for x in (frame, axes)[: known.frame + known.axes] if x is not None]
        kernels.append(c_kernel(machine, quantity, *which, wrenches=wrenches, name=name, fixed=fixed))
    screen = console()
    for made in kernels:
        for path in made.write(out):
            screen.print(str(path), markup=False, soft_wrap=True)
