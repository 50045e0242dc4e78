"""The command line: `catena COMMAND ...`.

A command is a file in this folder with a function of the same name; adding a command is adding a file. What goes wrong in a
way catena knows ends in one message on stderr and exit status 2, Ctrl-C in one line and status 130.
"""

from __future__ import annotations

import functools
import os
import pkgutil
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer

from .. import __version__
from ..errors import CatenaError

ORDER = ("examples", "info", "check", "compare", "equations", "inverse", "modes", "run", "plot", "animate", "gallery", "export")

app = typer.Typer(
    name="catena",
    help="The dynamics of articulated bodies: derived in every classical way, compiled, checked, simulated, shown.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def commands() -> list[str]:
    """The names of the commands: the modules of this package, in the order of the flow."""
    found = [m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")]
    return sorted(found, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))


def careful(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command, with the errors that catena knows told in one message."""

    @functools.wraps(command)
    def told(*args: Any, **options: Any) -> Any:
        try:
            return command(*args, **options)
        except BrokenPipeError:
            raise  # the reader went away: typer ends quietly
        except (CatenaError, OSError) as error:
            say(str(error))
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            say("interrupted")
            raise typer.Exit(130) from None

    return told


def say(message: str) -> None:
    """One message to the person, on stderr."""
    print(f"catena: {message}", file=sys.stderr)


def version(asked: bool) -> None:
    """Print the version and leave."""
    if asked:
        print(f"catena {__version__}")
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", help="Print the version and leave.", callback=version, is_eager=True)]


@app.callback()
def catena(version: Version = False) -> None:
    """The dynamics of articulated bodies: derived in every classical way, compiled, checked, simulated, shown."""


for _name in commands():
    app.command(_name)(careful(getattr(import_module(f".{_name}", __name__), _name)))


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit status."""
    if sys.stdout is None or sys.stderr is None:  # closed by who called: nobody listens
        nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
    try:
        app(arguments, prog_name="catena")
    except KeyboardInterrupt:
        say("interrupted")
        sys.exit(130)
