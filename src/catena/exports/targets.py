"""The registry of exports: the forms in which a mechanism can be written. `catena export --to NAME`
reads it.

register(Target("matlab", write, "one .m file"))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import CompileError
from ..formats import files
from ..machine import identifier
from ..registry import Registry
from ..results import FILE_KINDS, FileKind, load_result
from ..simulation import simulate
from ..simulation.scenario import Scenario, read
from . import c_header, library, ros2
from .drawing import WRITERS, drawing
from .fmi import write_fmu
from .languages import julia, matlab, modelica
from .linkage import write_urdf
from .plant import Plant, plant_of_scenario


@dataclass(frozen=True)
class Asked:
    """A request for an export.

    file, reading: the model's file, and how it is read. out: the file or folder to write. fmu,
    kinds, binary: options of an FMU. motors: the joints with a force as input, None for all.
    friction: how dry friction of joints is written; None leaves it to the file.
    """

    file: str
    out: str
    fmu: int | None = None
    kinds: tuple[str, ...] = ("me", "cs")
    binary: bool = True
    motors: tuple[str, ...] | None = None
    friction: str | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)

    @property
    def scenario(self) -> Scenario:
        """The scenario of the model's file: the mechanism and its start."""
        return read(self.file, **self.reading)

    def plant(self, stabilise: str = "project", switching: bool = False) -> Plant:
        """Return the model as a first-order system; switching: whether loads may switch at
        times.
        """
        return plant_of_scenario(self.scenario, self.motors, stabilise, switching, self.friction)

    @property
    def folder(self) -> Path:
        """The folder for the files, created if needed; raises CompileError where it cannot be."""
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
    """An export.

    name: its name on the command line. write: writes it and returns the lines to print, paths
    first. doc: one line for help texts.
    """

    name: str
    write: Callable[[Asked], list[str]]
    doc: str


TARGETS: Registry[Target] = Registry("export", error=CompileError)
register = TARGETS.register


def write(name: str, asked: Asked) -> list[str]:
    """Write an export, and return the lines to print."""
    return TARGETS.find(name).write(asked)


def _fmu(asked: Asked) -> list[str]:
    """Write an FMU, and return the lines to print."""
    fmu = write_fmu(
        asked.plant(switching=True), asked.out, asked.fmu or 2, asked.kinds, asked.binary
    )
    held = f"with a binary in {fmu.binary}" if fmu.binary else f"sources alone: {fmu.why}"
    return [str(fmu.path), f"FMI {asked.fmu or 2}, {', '.join(asked.kinds)}, {held}"]


def _drawn(kind: str, asked: Asked) -> list[str]:
    """Write the drawing of a linkage where its scenario starts."""
    scenario = asked.scenario
    found = drawing(scenario.mechanism, scenario.q)
    path = asked.folder / f"{identifier(scenario.mechanism.name)}.{kind}"
    files.write(path, WRITERS[kind](found))
    return [str(path)]


def _result_as(kind: FileKind, asked: Asked) -> list[str]:
    """Write a result in a form of its own: that of a file, or of the run that a model asks for."""
    place = Path(asked.file)
    place = place / "results.nc" if place.is_dir() else place
    if place.suffix == ".nc":
        found, stem = load_result(place), place.stem
    else:
        scenario = asked.scenario
        found = simulate(scenario.mechanism, **scenario.arguments)
        stem = identifier(scenario.mechanism.name)
    return [str(found.save(asked.folder / f"{stem}{kind.name}"))]


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
    Target(
        "ros2",
        lambda asked: [str(p) for p in ros2.write_package(asked.scenario.mechanism, asked.folder)],
        "a ROS 2 package: the dynamics as C, a C++ header, a plugin of inverse_dynamics_solver",
    ),
    Target("svg", partial(_drawn, "svg"), "a drawing of a planar linkage with dimensions"),
    Target("dxf", partial(_drawn, "dxf"), "the same drawing for CAD programs"),
):
    register(_target)
for _kind in FILE_KINDS.values():
    if _kind.target:
        _doc = f"a result (.nc), or the run that a model asks for: {_kind.doc}"
        register(Target(_kind.target, partial(_result_as, _kind), _doc))
