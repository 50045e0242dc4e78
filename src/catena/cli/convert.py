"""`catena convert`: a mechanism from a file of one format to a file of another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ._reading import Model
from ._results import Force, free
from ._tables import console, table

if TYPE_CHECKING:
    from ..model import Mechanism

STATES = 20  # random states at which two mechanisms are compared


def convert(
    model: Model,
    out: Annotated[
        str,
        typer.Argument(
            metavar="OUT",
            help="The file to write: .toml holds everything; .urdf and .xml hold less.",
        ),
    ],
    force: Force = False,
) -> None:
    """Read a mechanism in any format and write it in another; say what the new file does not
    hold.
    """
    from ..formats import load, mapping, save

    target = free(Path(out), force)
    mechanism = model.load()
    save(mechanism, target)
    screen = console()
    screen.print(
        f"{target}: {len(mechanism.bodies)} bodies, {len(mechanism.joints)} joints,"
        f" {len(mechanism.loops)} loops",
        markup=False,
        soft_wrap=True,
    )
    screen.print(_agreement(mechanism, load(target)), markup=False, soft_wrap=True)
    trusted = {"trusted": True} if model.trust else {}
    changed = [e for e in mapping(model.file, **model.of_format, **trusted) if e.outcome != "taken"]
    if changed:
        screen.print("\nwhat the first file says and a mechanism does not hold exactly")
        screen.print(
            table(
                ["element", "name", "outcome", "how"],
                [[e.element, e.name, e.outcome, e.how] for e in changed],
            )
        )
    if _says_how_to_run(model):
        screen.print(
            "\nThe motors, keyframes and other settings of a run stay in the first file: only the"
            " mechanism is written.",
            markup=False,
        )


def _agreement(first: Mechanism, second: Mechanism) -> str:
    """Return a sentence that says how closely the mechanism of the new file equals the first."""
    import numpy as np

    from ..machine import compile

    if first == second:
        return "It was read again and is equal to the mechanism of the first file."
    machines = compile(first), compile(second)
    if (machines[0].nq, machines[0].nv) != (machines[1].nq, machines[1].nv):
        return (
            f"It was read again and has {machines[1].nv} speeds; the mechanism of the first file"
            f" has {machines[0].nv}."
        )
    q = machines[0].sample(np.random.default_rng(0), STATES)
    M, again = (m.mass_matrix(q) for m in machines)
    apart = float(np.abs(M - again).max() / np.abs(M).max())
    return (
        f"It was read again: at {STATES} random states its mass matrix differs from that of the"
        f" first file by at most {apart:.1g} of the largest entry."
    )


def _says_how_to_run(model: Model) -> bool:
    """Return whether the file contains more than a mechanism: motors, keyframes, a [scenario]."""
    from ..formats import drafted

    return bool(drafted(model.file, **model.of_format).scenario)
