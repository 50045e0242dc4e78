"""Robots by name: a file, a built-in example, or a robot of the shelf."""

from __future__ import annotations

from pathlib import Path

from ..errors import UnknownNameError
from ..formats import examples, robots, shelf


def find(name: str) -> str:
    """Return what `catena.load` can read: the path or the example's name, or the file of a robot
    of that name, with or without "robot:".
    """
    given = Path(name)
    if name.startswith(shelf.PREFIX):
        return str(shelf.robot(name).file)
    if given.suffix or given.exists() or len(given.parts) > 1 or name in examples():
        return name
    known = robots()
    if name.lower() in known:
        return str(known[name.lower()].file)
    if any(given.with_suffix(suffix).exists() for suffix in (".toml", ".urdf", ".xml")):
        return name
    raise UnknownNameError("file, example or robot", name, [*examples(), *known], "catena")
