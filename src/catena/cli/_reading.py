"""Arguments that commands share: a mechanism from a file or a built-in example, with the changes
that `catena.load` can make (`Model`).
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import CatenaError, ClosureError, MechanismWarning

if TYPE_CHECKING:
    import numpy as np

    from ..machine import Machine
    from ..model import Mechanism
    from ..simulation.scenario import Scenario


def _completed(begun: str) -> list[str]:
    """Return the built-in examples and files that begin with the given letters, for shell
    completion.
    """
    from ..formats import examples, robots, shelf, suffixes

    if begun.startswith(shelf.PREFIX[: len(begun)]) and begun:
        named = [shelf.PREFIX + name for name in robots()]
        return [name for name in named if name.startswith(begun)]
    here = Path(begun)
    folder = here if begun.endswith("/") else here.parent
    files = (
        [p for p in sorted(folder.iterdir()) if p.is_dir() or p.suffix in suffixes()]
        if folder.is_dir()
        else []
    )
    shown = [f"{p}/" if p.is_dir() else str(p) for p in files if not p.name.startswith(".")]
    return [name for name in (*examples(), *shown) if name.startswith(begun)]


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help=(
            "A .toml, .urdf, .xacro, .sdf, .osim or MJCF .xml file, the name of a built-in"
            " example, or robot:NAME, a robot of `catena robots`."
        ),
        autocompletion=_completed,
    ),
]
Floating = Annotated[bool, typer.Option("--floating", help="Put the root body on a free joint.")]
Uncoupled = Annotated[
    bool, typer.Option("--no-mimic", help="Let joints that mimic others move on their own.")
]
Three = tuple[float, float, float]
Gravity = Annotated[
    Three | None,
    typer.Option(metavar="X Y Z", help="Gravity in the ground's axes, m/s2, not the file's."),
]
Armature = Annotated[
    float | None,
    typer.Option(
        metavar="INERTIA",
        help="Rotor inertia of joints for which the file gives none, kg m2 or kg.",
    ),
]
Companion = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="A .toml with loops, frames and loads that the file cannot hold."
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter's value, such as l1='40 cm'; once for each.",
    ),
]
Start = Annotated[
    list[str] | None,
    typer.Option(
        "--q", metavar="NAME=VALUE", help="A coordinate, such as elbow='30 deg'; once for each."
    ),
]
Arguments = Annotated[
    list[str] | None,
    typer.Option("--arg", metavar="NAME=VALUE", help="An argument of a xacro file; once for each."),
]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        help=(
            "An option of the file's reader: within=FOLDER, contacts=true or meshes=false of MJCF,"
            " muscles=true of OpenSim; once for each."
        ),
    ),
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust", help="Run what the file names: expressions of xacro, which are Python, and FMUs."
    ),
]
Wrenches = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="A .csv of forces from outside over time: FRAME.fx and so on; see docs/simulation.md.",
    ),
]
Csv = Annotated[
    bool, typer.Option("--csv", help="Numbers as comma-separated values, with all digits.")
]

# the options of a run that have a flag, {name: value, or None where it is not given}
RunFlags = dict[str, Any]


def seconds(text: str | float) -> float:
    """Return a time (s) from a number, or from a string with a unit such as "200 ms"."""
    from ..errors import QuantityError
    from ..formats import quantity

    try:
        return float(quantity(text, "time", what="the time"))
    except QuantityError as why:
        raise typer.BadParameter(str(why)) from None


def time_option(sentence: str, **options: Any) -> Any:
    """Return an option that takes a time."""
    return typer.Option(help=sentence, parser=seconds, metavar="TIME", **options)


def pairs(option: str, given: Iterable[str] | None) -> dict[str, str]:
    """Return {name: value} of options written as NAME=VALUE; raise CatenaError for others."""
    found: dict[str, str] = {}
    for text in given or ():
        name, sign, value = text.partition("=")
        if not (sign and name.strip() and value.strip()):
            raise CatenaError(
                f"{option} {text!r}: it is written as NAME=VALUE, such as {option} l1=0.4 or"
                f" {option} l1='40 cm'"
            )
        if name.strip() in found:
            raise CatenaError(f"{option} gives {name.strip()!r} twice")
        found[name.strip()] = value.strip()
    return found


@dataclass(frozen=True)
class Model:
    """The mechanism of a command, with the changes that options ask for.

    A command with a parameter `model: Model` accepts all of these options (`with_shared_options`).
    """

    file: File
    floating: Floating = False
    no_mimic: Uncoupled = False
    gravity: Gravity = None
    companion: Companion = None
    armature: Armature = None
    parameters: Set = None
    arg: Arguments = None
    option: Options = None
    trust: Trust = False

    @property
    def stem(self) -> str:
        """The name of the file without its suffix, or of the robot."""
        return Path(self.file.removeprefix("robot:")).stem

    def load(self) -> Mechanism:
        """Return the mechanism. Warnings about doubtful values are suppressed: `catena info`
        prints them.
        """
        from ..formats import load

        options = {**self._reader, **self.of_format, **({"trusted": True} if self.trust else {})}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MechanismWarning)
            return load(
                self.file,
                gravity=self.gravity,
                parameters=pairs("--set", self.parameters),
                **options,
            )

    def scenario(self, **changes: Any) -> Scenario:
        """Return the mechanism with the scenario of its file; changes replace values of the
        file.
        """
        from ..simulation.scenario import read

        return read(self.file, **self.scenario_options, **changes)

    @property
    def scenario_options(self) -> dict[str, Any]:
        """The options with which a scenario is read."""
        gravity = list(self.gravity) if self.gravity else None
        return {
            **self._reader,
            "values": pairs("--set", self.parameters),
            "options": self.of_format,
            "trusted": self.trust,
            "gravity": gravity,
        }

    @property
    def _reader(self) -> dict[str, Any]:
        """The options that all readers of mechanisms take."""
        return {
            "floating": self.floating,
            "mimic": not self.no_mimic,
            "companion": self.companion,
            "armature": self.armature,
        }

    @property
    def of_format(self) -> dict[str, Any]:
        """The options of the reader of the file's format: --option (with true and false as flags)
        and --arg.
        """
        given = pairs("--arg", self.arg)
        words = {"true": True, "false": False}
        found: dict[str, Any] = {
            name: words.get(text, text) for name, text in pairs("--option", self.option).items()
        }
        return found | ({"arguments": given} if given else {})


def start_of_file(model: Model, machine: Machine) -> tuple[np.ndarray, str]:
    """Return the configuration (nq,) that a command without --q uses, and a phrase that describes
    it.

    It is the start of the file's scenario, or every coordinate zero; with loops, the closest
    configuration found in which they close.
    """
    from ..analysis import assemble
    from ..simulation.scenario import near, start

    q = machine.neutral()
    where = "with every coordinate zero"
    try:
        found = start(model.file, machine)
    except ClosureError:
        found = near(
            model.file, machine.mechanism
        )  # the analysis itself reports which loop stays open
    except CatenaError:  # the scenario names what this mechanism lacks, such as with --floating
        found = None
    if found is not None:
        return found, "where the scenario starts"
    try:
        return assemble(machine, q)[0], where
    except ClosureError:
        return q, where


def run_flags() -> list[inspect.Parameter]:
    """Return the command-line flags for options of a run, from the records of the options."""
    from ..simulation import RUN_OPTIONS

    found = []
    for option in (x for x in RUN_OPTIONS.values() if x.flag):
        timed = option.dimension == "time"
        how = time_option(option.flag) if timed else typer.Option(help=option.flag)
        found.append(
            inspect.Parameter(
                option.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=None,
                annotation=Annotated[option.type | None, how],
            )
        )
    return found


def with_shared_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command with a parameter `model` as one with the model's file before its own options
    and the model's options after them; the flags of a run replace a parameter `flags`.
    """
    own = inspect.signature(command, eval_str=True).parameters
    groups: dict[str, tuple[Callable[..., Any], list[inspect.Parameter]]] = {}
    if "model" in own:
        groups["model"] = Model, [*inspect.signature(Model, eval_str=True).parameters.values()]
    if "flags" in own:
        groups["flags"] = dict, run_flags()

    @functools.wraps(command)
    def whole(**given: Any) -> Any:
        for name, (make, parts) in groups.items():
            given[name] = make(**{p.name: given.pop(p.name) for p in parts})
        return command(**given)

    listed: list[inspect.Parameter] = []
    for p in own.values():
        listed += groups[p.name][1] if p.name in groups else [p]
    if "model" in own:
        file, *shared = groups["model"][1]
        listed = [file, *(p for p in listed if p not in (file, *shared)), *shared]
    listed = [p.replace(kind=p.KEYWORD_ONLY) for p in listed]
    whole.__signature__ = inspect.Signature(listed)  # type: ignore[attr-defined]
    whole.__annotations__ = {p.name: p.annotation for p in listed}
    return whole if groups else command
