"""Robots by name: a file, a built-in example, or a robot of the package example-robot-data where
that is installed.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ..errors import UnknownNameError
from ..formats import examples


def find(name: str) -> str:
    """Return what `catena.load` can read: the path or the example's name, or the URDF of a robot
    of that name.
    """
    given = Path(name)
    if given.suffix or given.exists() or len(given.parts) > 1 or name in examples():
        return name
    known = robots()
    if name.lower() in known:
        return str(known[name.lower()])
    if any(given.with_suffix(suffix).exists() for suffix in (".toml", ".urdf", ".xml")):
        return name
    raise UnknownNameError("file, example or robot", name, [*examples(), *known], "catena")


def robots() -> dict[str, Path]:
    """Return {name: URDF} of the robots in example-robot-data.

    A robot with several files has the name of its folder for the main one, and the name of each
    file.
    """
    roots = [
        root
        for place in sys.path
        if (
            root := Path(place) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
        ).is_dir()
    ]
    found: dict[str, Path] = {}
    for folder in (folder for root in roots for folder in sorted(root.glob("*"))):
        files = sorted(folder.glob("*/*.urdf"), key=lambda p: (len(p.stem), p.stem))
        for path in files:
            found.setdefault(path.stem, path)
        short = folder.name.removesuffix("_description").removesuffix("_data")
        own = [p for p in files if p.stem.startswith(short)] or files
        if own:
            whole = [p for p in own if "full" in p.stem] or own
            found.setdefault(short, whole[0])
    return found
