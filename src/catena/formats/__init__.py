"""Formats: a mechanism from a file, and a file from a mechanism.

    load:  bytes -> Draft (what was read, with every fault) -> changes asked for -> validated
           Mechanism
    save:  Mechanism -> text -> file, whole or not at all

`load` and `save` choose the format by the file's suffix (`registry`). Reading a file never runs
anything in it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

from ..doors import door
from ..errors import FormatError, UnknownNameError
from ..model import Mechanism
from . import files, mjcf, osim, sdf, toml, urdf
from .draft import Draft
from .mapping import Mapped
from .registry import FORMATS, Format, format_of, register, suffixes

__all__ = [
    "FORMATS",
    "Format",
    "changed",
    "drafted",
    "examples",
    "load",
    "mapping",
    "register",
    "save",
]

for _format in (toml.FORMAT, urdf.FORMAT, urdf.XACRO, mjcf.FORMAT, sdf.FORMAT, osim.FORMAT):
    register(_format)


def load(
    path: str | os.PathLike[str],
    *,
    floating: bool = False,
    mimic: bool = True,
    gravity: Sequence[float] | None = None,
    companion: str | os.PathLike[str] | None = None,
    parameters: Mapping[str, float | str] | None = None,
    **options: object,
) -> Mechanism:
    """The valid mechanism of a .toml, .urdf, .xacro, .sdf, .osim or MJCF .xml file, or of a
    built-in example by its name.

    floating: put the root body on a free joint "root_joint"; otherwise a URDF's root link is fixed
    to the ground. mimic: joints that mimic others follow them; with False they move on their own
    (Pinocchio's default), and `notes` says so. gravity: m/s2 in the ground's axes, in place of the
    file's. companion: a TOML file with loops, frames, gravity and joint damping that a URDF cannot
    hold. parameters: {name: value} in place of the file's, numbers (SI) or texts with a unit.
    options: what the reader of the file's format takes besides, by name.

    Every fault of the file comes in one FormatError. What is doubtful but allowed comes as one
    MechanismWarning.

    >>> load("triple_pendulum")
    Mechanism('triple pendulum': 3 bodies, 3 joints, gravity (0, -9.81, 0) m/s2, parameters m1, m2,
        m3, l1, l2, l3, I1, I2, I3)
    """
    return drafted(
        path,
        floating=floating,
        mimic=mimic,
        gravity=gravity,
        companion=companion,
        parameters=parameters,
        **options,
    ).finish()


def drafted(
    path: str | os.PathLike[str],
    *,
    floating: bool = False,
    mimic: bool = True,
    gravity: Sequence[float] | None = None,
    companion: str | os.PathLike[str] | None = None,
    parameters: Mapping[str, float | str] | None = None,
    **options: object,
) -> Draft:
    """What `load` is about to make a mechanism of, with what the file says of a run (`scenario`)
    and what became of its elements.
    """
    return changed(
        _read(path, options),
        floating=floating,
        mimic=mimic,
        gravity=gravity,
        companion=companion,
        parameters=parameters,
    )


def changed(
    draft: Draft,
    *,
    floating: bool = False,
    mimic: bool = True,
    gravity: Sequence[float] | None = None,
    companion: str | os.PathLike[str] | None = None,
    parameters: Mapping[str, float | str] | None = None,
) -> Draft:
    """A draft with the changes that `load` takes."""
    if companion is not None:
        other = files.as_path(companion)
        format_of(other, "add").complete(draft, other)
    if floating:
        draft.float_root()
    if not mimic:
        draft.uncouple()
    if gravity is not None:
        draft.gravitate(gravity)
    if parameters:
        draft.assign(parameters)
    return draft


def mapping(path: str | os.PathLike[str], **options: object) -> tuple[Mapped, ...]:
    """What became of each element of a file whose format says other things than a mechanism: taken,
    approximated or refused.
    """
    return tuple(_read(path, options).mapping)


def _read(path: str | os.PathLike[str], options: Mapping[str, object]) -> Draft:
    found = _find(path)
    return format_of(found).draft(found, options)


def save(mechanism: Mechanism, path: str | os.PathLike[str]) -> None:
    """Write a valid mechanism as .toml (everything, exactly), .urdf or MJCF .xml (what these can
    say; the rest is refused by name).
    """
    where = files.as_path(path)
    files.write(where, format_of(where, "text").write(mechanism.validate()))


def examples() -> tuple[str, ...]:
    """The names of the built-in mechanisms, for `load`."""
    return tuple(sorted(Path(p.name).stem for p in _shelf().iterdir() if p.name.endswith(".toml")))


def _shelf() -> Traversable:
    return resources.files("catena") / "examples"


def _find(path: str | os.PathLike[str]) -> Path:
    """The file, or for a name without a suffix the built-in example of that name, or the file
    NAME.toml or NAME.urdf.
    """
    found = files.as_path(path)
    if found.suffix or len(found.parts) > 1:
        return found
    if found.name in examples():
        return Path(str(_shelf() / f"{found.name}.toml"))
    if os.path.exists(found):
        raise FormatError(found, f"the file has no suffix; known are {', '.join(suffixes())}")
    for suffix in suffixes():
        if os.path.isfile(beside := found.with_suffix(suffix)):
            return beside
    raise UnknownNameError("example", str(path), examples(), "catena, and no file of that name")


if TYPE_CHECKING:
    from .files import as_path
    from .units import describe, in_unit, quantity, split

__getattr__, __dir__ = door(__name__)
