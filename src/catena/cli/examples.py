"""`catena examples`: the built-in mechanisms, and the text of one of them."""

from __future__ import annotations

import re
from importlib import resources
from typing import Annotated

import typer

from ..errors import UnknownNameError
from ._tables import console, table


def examples(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Print this example's file, to start from."),
    ] = None,
) -> None:
    """List the built-in mechanisms, by the names that FILE may be."""
    from ..formats import examples as known

    if name is None:
        console().print(table(["name", "what it is"], [[n, summary(text(n))] for n in known()]))
    elif name in known():
        print(text(name), end="")
    else:
        raise UnknownNameError("example", name, known(), "catena")


def text(name: str) -> str:
    """Return the TOML text of an example."""
    return (resources.files("catena") / "examples" / f"{name}.toml").read_text(encoding="utf-8")


def summary(toml: str) -> str:
    """The first sentence of the comment at the head of a file.

    >>> summary("# A bar\\n# on a pin. It swings.\\n#\\n#   o---\\n")
    'A bar on a pin.'
    """
    lines: list[str] = []
    for line in toml.splitlines():
        if not line.startswith("#") or not line.strip("# "):
            break
        lines.append(line.strip("# "))
    said = " ".join(lines)
    sentence = re.match(r".*?[.](?=\s|$)", said)
    return sentence.group() if sentence else said
