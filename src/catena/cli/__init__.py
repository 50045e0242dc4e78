"""The command line: `catena COMMAND ...`.

    registry        the commands: names, one line each, and where their functions are
    one file per command, with a function of the same name, loaded when the command runs
    _reading        arguments that commands share: mechanisms
    _results        arguments that commands share: results, and where output goes
    _tables         tables on the terminal

A CatenaError becomes one message on stderr and exit status 2; Ctrl-C becomes one line and exit
status 130.
"""

from __future__ import annotations

import functools
import gc
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ..errors import CatenaError, MechanismWarning
from ..registry import loaded
from ._reading import with_shared_options
from .registry import COMMANDS, find

# allocations before the garbage collector runs: what a command imports stays, and scanning it took
# a
# tenth of its time
COLLECTION_THRESHOLD = 50_000
HOME = Path(__file__).parent.parent


class Commands(TyperGroup):
    """The registered commands. `--help` reads the registry and loads none of them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands, in the order of the registry."""
        return [*COMMANDS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Load a command and return it as a command of Typer."""
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(cmd_name)(
            with_error_messages(with_shared_options(loaded(find(cmd_name).function)))
        )
        return typer.main.get_command(single)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the name of a command, the command, and its arguments, one value per option."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command, find(name).expanded(rest) if name else rest

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Return the commands that begin with the given letters, from the registry; none is
        loaded.
        """
        from click.shell_completion import CompletionItem

        found = [
            CompletionItem(c.name, help=c.doc)
            for c in COMMANDS.values()
            if c.name.startswith(incomplete)
        ]
        return (
            found
            if found or not incomplete.startswith("-")
            else super().shell_complete(ctx, incomplete)
        )

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write names and lines of all commands, for `--help`."""
        with formatter.section("Commands"):
            formatter.write_dl([(command.name, command.doc) for command in COMMANDS.values()])


app = typer.Typer(
    name="catena",
    cls=Commands,
    help=(
        "The dynamics of articulated bodies: derived in every classical way, compiled, checked,"
        " simulated, shown."
    ),
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def with_error_messages(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return the command with catena's errors printed as one message instead of a traceback."""

    @functools.wraps(command)
    def run_command(*args: Any, **options: Any) -> Any:
        try:
            return command(*args, **options)
        except BrokenPipeError:
            raise  # the reader of the pipe has closed it: typer ends quietly
        except (CatenaError, OSError) as error:
            say(str(error))
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            say("interrupted")
            raise typer.Exit(130) from None

    return run_command


def say(message: str) -> None:
    """Print one message to the user, on stderr."""
    print(f"catena: {message}", file=sys.stderr)


def _warn(usual: Callable[..., None]) -> Callable[..., None]:
    """Return a function that prints catena's own warnings as messages, without the source line;
    `usual` prints the others.
    """

    @functools.wraps(usual)
    def warn(
        message: Warning | str, category: type[Warning], filename: str, *more: Any, **named: Any
    ) -> None:
        if issubclass(category, MechanismWarning) or Path(filename).is_relative_to(HOME):
            say(str(message))
        else:
            usual(message, category, filename, *more, **named)

    return warn


def version(asked: bool) -> None:
    """Print the version and exit, if the option is given."""
    if asked:
        from importlib import metadata

        print(f"catena {metadata.version('catena')}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option("--version", help="Print the version and leave.", callback=version, is_eager=True),
]


@app.callback()
def catena(version: Version = False) -> None:
    """The dynamics of articulated bodies: derived in every classical way, compiled, checked,
    simulated, shown.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    gc.set_threshold(COLLECTION_THRESHOLD)
    if sys.stdout is None or sys.stderr is None:  # closed by the caller
        nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        sys.stdout = sys.stdout or nowhere
        sys.stderr = sys.stderr or nowhere
    usual = warnings.showwarning
    warnings.showwarning = _warn(usual)
    try:
        app(arguments, prog_name="catena")
    except CatenaError as error:  # an unknown command
        say(str(error))
        sys.exit(2)
    except KeyboardInterrupt:
        say("interrupted")
        sys.exit(130)
    finally:
        warnings.showwarning = usual
