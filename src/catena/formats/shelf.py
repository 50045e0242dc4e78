"""The robot shelf: models of robots in installed packages and folders, which `load` takes as
"robot:NAME".

    source               what it holds
    folders              the folders that the environment variable CATENA_ROBOTS names
    example-robot-data   URDF files of the Python package of that name
    menagerie            folders of MuJoCo's menagerie in the usual places
    robot_descriptions   what the Python package of that name has downloaded

A source is a record that lists its robots; `SOURCES.register` adds one from outside. Nothing is
downloaded and no package is imported.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import UnknownNameError
from ..registry import Registry

PREFIX = "robot:"
FOLDERS = "CATENA_ROBOTS"  # folders of robots, separated as in PATH
CACHE = "ROBOT_DESCRIPTIONS_CACHE"  # of the package robot_descriptions
# how deep below a folder files of models are looked for; clones of whole workspaces are deeper
DEPTH = 5
_INCLUDED = re.compile(rb"<include\s+file\s*=\s*[\"']([^\"']+)")


@dataclass(frozen=True)
class Robot:
    """A robot of the shelf.

    name: the part after "robot:". file: its model. source: the name of the source that has it.
    """

    name: str
    file: Path
    source: str


@dataclass(frozen=True)
class RobotSource:
    """Where robots may be installed. robots(): their names and files, main files first."""

    name: str
    doc: str
    robots: Callable[[], Iterable[tuple[str, Path]]]


SOURCES: Registry[RobotSource] = Registry("source of robots")


def robots() -> dict[str, Robot]:
    """Return the robots that are installed, by name.

    Returns
    -------
    dict of str to Robot
        Each name is that of a robot's folder without its ending, for its main file, or that of one
        of its files. Where two sources have the same name, the first of `formats.shelf.SOURCES` has
        it, and the other robot is called SOURCE/NAME.

    Examples
    --------
    >>> import catena
    >>> shelf = catena.robots()
    >>> all(robot.file.is_file() for robot in shelf.values())
    True
    """
    found: dict[str, Robot] = {}
    for source in SOURCES.values():
        for name, file in source.robots():
            if name in found and found[name].file == file:
                continue
            called = f"{source.name}/{name}" if name in found else name
            found.setdefault(called, Robot(called, file, source.name))
    return found


def robot(name: str) -> Robot:
    """Return the robot of that name, without regard to case. Raise UnknownNameError with the
    nearest names where there is none.
    """
    known = robots()
    word = name.removeprefix(PREFIX).strip()
    folded = {key.lower(): key for key in reversed(known)}
    if word.lower() in folded:
        return known[word if word in known else folded[word.lower()]]
    where = (
        "the packages of robots that are installed"
        if known
        else "any package: none is installed. `pip install example-robot-data` brings one, and"
        f" {FOLDERS} names folders of robots, such as a copy of mujoco_menagerie"
    )
    raise UnknownNameError("robot", word, known, where)


# --- sources
def _site_folders(*parts: str) -> list[Path]:
    """Return the folders of that name in the places where Python packages are installed."""
    return [root for place in sys.path if (root := Path(place, *parts)).is_dir()]


def _named_folders() -> list[Path]:
    return [Path(p).expanduser() for p in os.environ.get(FOLDERS, "").split(os.pathsep) if p]


def _descriptions() -> Path:
    return Path(os.environ.get(CACHE, "~/.cache/robot_descriptions")).expanduser()


def package_folders() -> list[Path]:
    """Return the folders in which package://NAME may lie: those of the shelf, and those that ROS
    and Gazebo name by their environment variables.
    """
    listed = lambda name: [Path(p) for p in os.environ.get(name, "").split(os.pathsep) if p]  # noqa: E731
    found = [
        *listed("ROS_PACKAGE_PATH"),
        *(p / "share" for p in (*listed("AMENT_PREFIX_PATH"), *listed("CMAKE_PREFIX_PATH"))),
        *listed("GZ_SIM_RESOURCE_PATH"),
        *_named_folders(),
        *_site_folders("cmeel.prefix", "share"),
        _descriptions(),
    ]
    return [p for p in dict.fromkeys(found) if p.is_dir()]


def _example_robot_data() -> Iterator[tuple[str, Path]]:
    for root in _site_folders("cmeel.prefix", "share", "example-robot-data", "robots"):
        yield from _urdf_robots(root)


def _urdf_robots(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield the URDF files below each folder of `root`: the main one by the folder's name, which is
    the one with "full" or the shortest name, and each by its own.
    """
    for folder in sorted(p for p in root.iterdir() if p.is_dir()):
        files = sorted(_below(folder, ".urdf"), key=lambda p: (len(p.stem), p.stem))
        short = folder.name.removesuffix("_description").removesuffix("_data")
        own = [p for p in files if p.stem.startswith(short)] or files
        main = next((p for p in own if "full" in p.stem), own[0] if own else None)
        if main is not None:
            yield short, main
        for p in files:  # ur5 and ur5_robot are the same robot
            for name in dict.fromkeys((p.stem.removesuffix("_robot"), p.stem)):
                if name != short:
                    yield name, p


def _menageries() -> Iterator[tuple[str, Path]]:
    name = "mujoco_menagerie"
    places = [
        Path.cwd() / name,
        Path.home() / name,
        _descriptions() / name,
        *_site_folders("mujoco_playground", "external_deps", name),
    ]
    for root in places:
        if root.is_dir():
            yield from _mjcf_robots(root)


def _mjcf_robots(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield the MJCF models of each folder of `root`: the one that its scene includes, or else one
    that another scene includes or that has bodies, by the folder's name, and all as FOLDER/FILE.
    """
    for folder in sorted(p for p in root.iterdir() if p.is_dir()):
        files = [p for p in sorted(folder.glob("*.xml")) if b"<mujoco" in _head(p)]
        if not files:
            continue
        scene = folder / "scene.xml"
        inside = [folder / m.decode("utf-8", "replace") for m in _INCLUDED.findall(_head(scene))]
        included = _INCLUDED.findall(b"".join(_head(p) for p in files if _is_scene(p)))
        named = [folder / m.decode("utf-8", "replace") for m in included]
        bare = [p for p in named if p in files and _has_bodies(p)]
        bare += [p for p in files if not _is_scene(p) and _has_bodies(p)] or files
        yield folder.name, next((p for p in inside if p in files), bare[0])
        yield from ((f"{folder.name}/{p.stem}", p) for p in files)


def _is_scene(path: Path) -> bool:
    return path.stem.startswith("scene")


def _has_bodies(path: Path) -> bool:
    """Return whether an MJCF file has bodies of its own; parts such as keyframes have none."""
    try:
        return b"<body" in path.read_bytes()
    except OSError:
        return False


def _folders() -> Iterator[tuple[str, Path]]:
    for root in _named_folders():
        if root.is_dir():
            yield from _mjcf_robots(root)
            yield from _urdf_robots(root)


def _downloaded() -> Iterator[tuple[str, Path]]:
    root = _descriptions()
    if root.is_dir():
        yield from _urdf_robots(root)


def _head(path: Path) -> bytes:
    """Return the beginning of a file; nothing where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(4096)
    except OSError:
        return b""


def _below(folder: Path, suffix: str, depth: int = DEPTH) -> Iterator[Path]:
    """Yield the files of a suffix in a folder and the folders below it, hidden ones left out."""
    for p in sorted(folder.iterdir()):
        if p.name.startswith(".") or p.is_symlink():
            continue
        if p.is_dir() and depth:
            yield from _below(p, suffix, depth - 1)
        elif p.suffix == suffix:
            yield p


for _name, _doc, _robots in (
    ("folders", f"folders that {FOLDERS} names", _folders),
    ("example-robot-data", "URDF files of that Python package", _example_robot_data),
    ("menagerie", "MuJoCo's menagerie in the usual places", _menageries),
    ("robot_descriptions", "what that Python package has downloaded", _downloaded),
):
    SOURCES.register(RobotSource(_name, _doc, _robots))
