"""Formats: a mechanism from a file, and a file from a mechanism.

    load:  bytes -> Draft (what was read, with every fault) -> changes -> validated Mechanism
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
from ..model import Mechanism, mechanism_of
from . import files, mjcf, osim, sdf, shelf, simscape, toml, urdf, usd
from .draft import Draft
from .mapping import Mapped
from .registry import FORMATS, Format, format_of, register, suffixes
from .shelf import robots

__all__ = [
    "FORMATS",
    "Format",
    "changed",
    "drafted",
    "examples",
    "load",
    "mapping",
    "register",
    "robots",
    "save",
]

for _format in (
    toml.FORMAT,
    urdf.FORMAT,
    urdf.XACRO,
    mjcf.FORMAT,
    sdf.FORMAT,
    osim.FORMAT,
    usd.FORMAT,
    simscape.FORMAT,
):
    register(_format)


def load(
    path: str | os.PathLike[str],
    *,
    floating: bool = False,
    mimic: bool = True,
    gravity: Sequence[float] | None = None,
    companion: str | os.PathLike[str] | None = None,
    parameters: Mapping[str, float | str] | None = None,
    armature: float | None = None,
    **options: object,
) -> Mechanism:
    """Read a mechanism from a file, or a built-in example by its name, and validate it.

    Parameters
    ----------
    path : str or path
        A .toml, .urdf, .xacro, .sdf, .osim, .usda or MJCF .xml file; the suffix chooses the format.
        A name without a suffix is looked for among the built-in examples
        (`catena.formats.examples()`), then as a file of that name with a known suffix. "robot:NAME"
        is a robot of an installed package (`catena.robots()`).
    floating : bool, default False
        Put the root body on a free joint "root_joint". Otherwise the root link of a URDF is fixed
        to the ground.
    mimic : bool, default True
        Whether joints that mimic others follow them. With False they move on their own (Pinocchio's
        default), and `Mechanism.notes` says so.
    gravity : sequence of 3 floats, optional
        Gravity in the ground's axes, m/s2, in place of the file's.
    companion : str or path, optional
        A TOML file with the loops, frames, gravity and joint damping that a URDF cannot hold.
    parameters : mapping of str to float or str, optional
        {name: value} in place of the file's values: numbers in SI, or texts with a unit such as "30
        mm".
    armature : float, optional
        Rotor inertia, kg m2 (kg for joints that slide), of every joint for which the file gives
        none. A few 1e-4 let robots run that have joints without inertia behind them, such as
        massless fingers. Free joints get none.
    **options
        Further options of the reader of the file's format, by name.

    Returns
    -------
    Mechanism
        The valid mechanism.

    Raises
    ------
    FormatError
        Where the file has faults; all of them are in one error. What is doubtful but allowed comes
        as one MechanismWarning instead.
    UnknownNameError
        Where `path` has no suffix, and is neither an example nor a file; or where no robot of the
        name is installed.

    Examples
    --------
    >>> load("triple_pendulum").coordinate_names
    ('pin1', 'pin2', 'pin3')
    """
    return drafted(
        path,
        floating=floating,
        mimic=mimic,
        gravity=gravity,
        companion=companion,
        parameters=parameters,
        armature=armature,
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
    armature: float | None = None,
    **options: object,
) -> Draft:
    """Read a file as `load` does, and return the draft before it becomes a mechanism.

    The draft also contains the file's description of a run (`Draft.scenario`) and a report on how
    each of its elements was treated (`Draft.mapping`). The arguments are those of `load`.
    """
    return changed(
        _read(path, options),
        floating=floating,
        mimic=mimic,
        gravity=gravity,
        companion=companion,
        parameters=parameters,
        armature=armature,
    )


def changed(
    draft: Draft,
    *,
    floating: bool = False,
    mimic: bool = True,
    gravity: Sequence[float] | None = None,
    companion: str | os.PathLike[str] | None = None,
    parameters: Mapping[str, float | str] | None = None,
    armature: float | None = None,
) -> Draft:
    """Apply the changes that `load` takes to a draft, in place, and return it."""
    if companion is not None:
        other = files.as_path(companion)
        format_of(other, "add").complete(draft, other)
    if floating:
        draft.float_root()
    if not mimic:
        draft.uncouple()
    if armature is not None:
        draft.add_armature(armature)
    draft.lead_followers()
    draft.keep_actuators()
    if gravity is not None:
        draft.gravitate(gravity)
    if parameters:
        draft.assign(parameters)
    return draft


def mapping(path: str | os.PathLike[str], **options: object) -> tuple[Mapped, ...]:
    """Return a report on how each element of a file was treated: taken, approximated or refused.
    Only formats that can express more than a mechanism holds (such as MJCF) have such reports.
    """
    return tuple(_read(path, options).mapping)


def _read(path: str | os.PathLike[str], options: Mapping[str, object]) -> Draft:
    found = _find(path)
    return format_of(found).draft(found, options)


def save(mechanism: Mechanism, path: str | os.PathLike[str]) -> None:
    """Write a mechanism to a file.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism; it is validated first.
    path : str or path
        The suffix chooses the format: .toml holds everything exactly; .urdf and MJCF .xml hold what
        these formats can say. The file is written whole or not at all.

    Returns
    -------
    None

    Raises
    ------
    MechanismError
        Where the mechanism has faults.
    FormatError
        Where the format cannot be written, or cannot hold something of the mechanism, which is
        named.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "arm.toml")
    >>> save(load("two_link_arm"), path)
    >>> load(path) == load("two_link_arm")
    True
    """
    where = files.as_path(path)
    files.write(where, format_of(where, "text").write(mechanism_of("save", mechanism).validate()))


def examples() -> tuple[str, ...]:
    """Return the names of the built-in mechanisms, which `load` takes."""
    return tuple(sorted(Path(p.name).stem for p in _shelf().iterdir() if p.name.endswith(".toml")))


def _shelf() -> Traversable:
    return resources.files("catena") / "examples"


def _find(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file: of the robot or the built-in example of that name, or of the file
    itself, or of the name with a known suffix.
    """
    found = files.as_path(path)
    if str(path).startswith(shelf.PREFIX):
        return shelf.robot(str(path)).file
    if found.suffix or len(found.parts) > 1:
        return found
    if found.name in examples():
        return Path(str(_shelf() / f"{found.name}.toml"))
    if os.path.exists(found):
        raise FormatError(found, f"the file has no suffix; known are {', '.join(suffixes())}")
    for suffix in suffixes():
        if os.path.isfile(candidate := found.with_suffix(suffix)):
            return candidate
    raise UnknownNameError("example", str(path), examples(), "catena, and no file of that name")


if TYPE_CHECKING:
    from .files import as_path
    from .units import describe, in_unit, quantity, split

__getattr__, __dir__ = door(__name__)
