"""The family of exports: what a whole mechanism can be written as. `catena export --to NAME` reads
this table.

register(Target("matlab", write, "one .m file"))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import CompileError
from ..registry import Registry
from ..simulation.scenario import Scenario, read
from . import c_header, library
from .fmi import write_fmu
from .languages import julia, matlab, modelica
from .linkage import write_urdf
from .plant import Plant, plant_of_scenario


@dataclass(frozen=True)
class Asked:
    """What a command asks for: the model's file and how it is read, where the export goes, the
    options of an FMU, the motors.
    """

    file: str
    out: str
    fmu: int | None = None
    kinds: tuple[str, ...] = ("me", "cs")
    binary: bool = True
    motors: tuple[str, ...] | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)

    @property
    def scenario(self) -> Scenario:
        """The model and its start."""
        return read(self.file, **self.reading)

    def plant(self, stabilise: str = "project", switching: bool = False) -> Plant:
        """The model as a first-order system; `switching`: also with loads that switch at
        instants.
        """
        return plant_of_scenario(self.scenario, self.motors, stabilise, switching)

    @property
    def folder(self) -> Path:
        """Where files go, made if it is not there."""
        where = Path(self.out)
        try:
            where.mkdir(parents=True, exist_ok=True)
        except OSError as why:
            raise CompileError(
                f"folder {str(where)!r} cannot be made: {why.strerror}; choose another"
            ) from None
        return where


@dataclass(frozen=True)
class Target:
    """name: its word. write: what writes it; lines to print, paths first. doc: one line."""

    name: str
    write: Callable[[Asked], list[str]]
    doc: str


TARGETS: Registry[Target] = Registry("export", error=CompileError)
register = TARGETS.register


def write(name: str, asked: Asked) -> list[str]:
    """Write an export; the lines to print."""
    return TARGETS.find(name).write(asked)


def _fmu(asked: Asked) -> list[str]:
    made = write_fmu(
        asked.plant(switching=True), asked.out, asked.fmu or 2, asked.kinds, asked.binary
    )
    held = f"with a binary in {made.binary}" if made.binary else f"sources alone: {made.why}"
    return [str(made.path), f"FMI {asked.fmu or 2}, {', '.join(asked.kinds)}, {held}"]


for _target in (
    Target("fmu", _fmu, "a functional mock-up unit of FMI 2 or 3, for any tool that imports one"),
    Target(
        "c",
        lambda asked: [str(c_header.write(asked.plant(), asked.folder))],
        "the whole simulation step in one C header, no allocation",
    ),
    Target(
        "library",
        lambda asked: [str(library.build(asked.plant(), asked.folder))],
        "that header as a shared library, for ctypes and other languages",
    ),
    Target(
        "matlab",
        lambda asked: [str(matlab.write(asked.plant(), asked.folder))],
        "one MATLAB or Octave function file",
    ),
    Target(
        "julia", lambda asked: [str(julia.write(asked.plant(), asked.folder))], "one Julia module"
    ),
    Target(
        "modelica",
        lambda asked: [str(modelica.write(asked.plant("baumgarte"), asked.folder))],
        "one flat Modelica model",
    ),
    Target(
        "urdf",
        lambda asked: [str(p) for p in write_urdf(asked.scenario.mechanism, asked.folder)],
        "a URDF, and a companion with loops, frames, loads",
    ),
):
    register(_target)
