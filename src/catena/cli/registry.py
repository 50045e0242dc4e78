"""The registry of commands: one record per command holds what `catena --help` needs. The command
itself is loaded when it runs.

A command is a function whose annotations are Typer's arguments and options; its docstring is the
text of `catena NAME --help`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..registry import Registry


@dataclass(frozen=True)
class Command:
    """A command of the command line.

    name: its word. function: the function that runs it, or where it is ("package.module:function"),
    to be loaded when the command runs. doc: one line for `catena --help`. several: its options that
    take all values up to the next option, as in `--validate a.csv b.csv`.
    """

    name: str
    function: Callable[..., Any] | str
    doc: str
    several: tuple[str, ...] = ()

    def expanded(self, arguments: Sequence[str]) -> list[str]:
        """Return the arguments with options of `several` values written once for each value."""
        found: list[str] = []
        option = ""
        for word in arguments:
            if word.startswith("-"):
                option = word if word in self.several else ""
                if not option:
                    found.append(word)
            else:
                found += [option, word] if option else [word]
        return found


COMMANDS: Registry[Command] = Registry("command")
register = COMMANDS.register
find = COMMANDS.find

SEVERAL = {"fit": ("--validate",)}
for _name, _doc in {  # in the order of the flow
    "examples": "List the built-in mechanisms, or print the file of one.",
    "robots": "List the robots of installed packages, which FILE may be as robot:NAME.",
    "new": "Write a commented model file to begin with.",
    "convert": "Read a mechanism in one format and write it in another.",
    "info": "Show what a mechanism is, and check forward against inverse dynamics.",
    "check": "Certify that all formulations give the same motion.",
    "compare": "Compare the costs of the formulations.",
    "equations": "Write the equations of motion by one formulation.",
    "derive": "Derive the equations of motion by one formulation, step by step.",
    "worksheet": "Write a derivation with its results left out, for a student.",
    "grade": "Check an answer to a line of a worksheet, and say which term is wrong.",
    "inverse": "Find the joint forces and reactions along a trajectory.",
    "modes": "Show natural frequencies and damping ratios.",
    "clearance": "Show how close shapes come to each other, at rest or along a result.",
    "run": "Simulate a mechanism as its [scenario] says.",
    "sweep": "Run a mechanism many times, with values that vary, and keep measures.",
    "fit": "Find parameters from measured motions and forces.",
    "optimize": "Find the motion of least cost that a file's [optimize] asks for.",
    "synthesize": "Find linkages for the path, motion or function that a file asks for.",
    "plot": "Draw plots of a result or a study.",
    "animate": "Write a result as a GIF or as a page with a player.",
    "view": "Show a mechanism in the browser: look at it, move it by hand.",
    "studio": "Edit a model in the browser: draw, change, run, plot, save.",
    "page": "Write a page in which the mechanism itself runs, in one file.",
    "gallery": "Run the worked examples and write a page for each.",
    "report": "Write everything about a mechanism into one page or PDF.",
    "export": "Write a mechanism for other tools: C, FMU, MATLAB, Julia, Modelica.",
    "mcp": "Serve tools to a language model by the Model Context Protocol.",
    "schema": "Write the JSON Schema of model files, for editors.",
    "doctor": "Show the version, the processor, the cache and optional packages.",
}.items():
    register(Command(_name, f"catena.cli.{_name}:{_name}", _doc, SEVERAL.get(_name, ())))
