"""`catena robots`: the robots of installed packages."""

from __future__ import annotations

from typing import Annotated

import typer

from ._tables import console, table


def robots(
    word: Annotated[
        str | None,
        typer.Argument(metavar="[WORD]", help="List only robots whose name contains this word."),
    ] = None,
    files: Annotated[bool, typer.Option("--files", help="Print the files of the robots.")] = False,
) -> None:
    """List the robots of installed packages. Every command takes one as robot:NAME in place of a
    file.
    """
    from ..errors import UnknownNameError
    from ..formats import robots as known
    from ..formats import shelf

    screen = console()
    all_robots = known()
    found = [r for r in all_robots.values() if word is None or word.lower() in r.name.lower()]
    if word is not None and all_robots and not found:
        raise UnknownNameError(
            "robot", word, all_robots, "the packages of robots that are installed"
        )
    head = ["robot", "source", *(["file"] if files else [])]
    rows = [[r.name, r.source, *([str(r.file)] if files else [])] for r in found]
    if rows:
        screen.print(table(head, rows))
    else:
        screen.print(
            "No package of robots is installed. `pip install example-robot-data` brings 40 robots;"
            f" {shelf.FOLDERS} names folders, such as a copy of mujoco_menagerie. Looked for:",
            markup=False,
        )
        screen.print(
            table(["source", "what it holds"], [[s.name, s.doc] for s in shelf.SOURCES.values()])
        )
