"""The archive of an FMU: modelDescription.xml, sources/, and binaries/ where a compiler is
found.
"""

from __future__ import annotations

import platform
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import CompileError, UnknownNameError
from ..c_compiler import SUFFIX, find_compiler, shared_library
from ..c_header import header, template
from ..plant import Plant
from . import description2, description3
from .variables import KINDS, TOLERANCE, Unit

VERSIONS = (2, 3)
SYSTEMS = {"linux": "linux", "win32": "windows", "darwin": "darwin"}
PROCESSORS = {"x86_64": "x86_64", "amd64": "x86_64", "arm64": "aarch64", "aarch64": "aarch64"}


@dataclass(frozen=True)
class Written:
    """An FMU that was written.

    path: the file. binary: the path of the binary inside it, "" where it contains sources only.
    why: the reason for that.
    """

    path: Path
    binary: str
    why: str = ""


def write_fmu(
    plant: Plant,
    path: str | Path,
    version: int = 2,
    kinds: Sequence[str] = ("me", "cs"),
    binary: bool = True,
) -> Written:
    """Write a plant as an FMU.

    version: of FMI, 2 or 3. kinds: "me" (model exchange: the importing tool integrates), "cs"
    (co-simulation: the FMU contains an integrator), or both. binary: whether to compile it for this
    machine; without a compiler the FMU contains sources only, and `why` of the result says so.
    """
    where = Path(path)
    unit = Unit(plant, _kinds(kinds))
    if version not in VERSIONS:
        raise CompileError(f"FMI {version!r} was asked; versions are: 2, 3")
    if where.suffix != ".fmu":
        raise CompileError(f"an FMU is a file whose name ends in .fmu; {str(where)!r} was given")
    texts = _texts(unit, version)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for name, text in texts.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        inside = ""
        why = (
            "no C compiler was found (cc, gcc or clang, or what CC names)"
            if binary and find_compiler() is None
            else ""
            if binary
            else "asked for"
        )
        if not why:
            inside = f"binaries/{platform_folder(version)}/{plant.name}{SUFFIX}"
            shared_library(folder / "sources" / f"fmi{version}.c", folder / inside)
        _zip(folder, where)
    return Written(where, inside, why)


def platform_folder(version: int) -> str:
    """Return the name of the folder of this machine's binary inside an FMU."""
    system = SYSTEMS.get(sys.platform, sys.platform)
    processor = PROCESSORS.get(platform.machine().lower(), platform.machine().lower())
    if version == 3 or processor != "x86_64":
        return f"{processor}-{system}"
    return {"linux": "linux64", "windows": "win64", "darwin": "darwin64"}.get(
        system, f"{processor}-{system}"
    )


def _kinds(kinds: Sequence[str]) -> tuple[str, ...]:
    """Return the kinds without duplicates, in a fixed order; raise where one is unknown or none is
    given.
    """
    if not kinds:
        raise CompileError("an FMU has at least one kind: me, cs")
    for kind in kinds:
        if kind not in KINDS:
            raise UnknownNameError(
                "kind of FMU", kind, KINDS, "an export; me is model exchange, cs co-simulation"
            )
    return tuple(kind for kind in KINDS if kind in kinds)


def _texts(unit: Unit, version: int) -> dict[str, str]:
    """Return {path in the archive: text} of all text files."""
    plant, n = unit.plant, unit.plant.name
    kinds = sum(KINDS[kind][1] for kind in unit.kinds)
    said = (
        f'#define {n}_TOKEN "{unit.token}"\n#define {n}_KINDS {kinds}\n#define {n}_TOLERANCE'
        f" {TOLERANCE!r}\n"
    )
    texts = {
        f"sources/{n}.h": f"{said}\n{header(plant)}",
        "sources/friction.h": template("friction.h", plant),
        "sources/instance.h": template("instance.h", plant),
        f"sources/fmi{version}.c": template(f"fmi{version}.c", plant),
    }
    if version == 2:
        return {"modelDescription.xml": description2.description(unit), **texts}
    return {
        "modelDescription.xml": description3.description(unit),
        **texts,
        "sources/buildDescription.xml": description3.build_description(unit),
    }


def _zip(folder: Path, where: Path) -> None:
    """Write a folder as a zip archive, under a temporary name first."""
    try:
        temporary = where.with_name(f".{where.name}.part")
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(p for p in folder.rglob("*") if p.is_file()):
                archive.write(path, path.relative_to(folder).as_posix())
        temporary.replace(where)
    except OSError as why:
        raise CompileError(f"{str(where)!r} cannot be written: {why.strerror}") from None
