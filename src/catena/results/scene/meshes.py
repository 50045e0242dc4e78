"""Meshes: the triangles of files that shapes name (STL, OBJ, DAE, PLY, ...), read by trimesh and
cached on disk.

A name is looked for in the model's folder; package://NAME/... in the folders above the model and in
ROS_PACKAGE_PATH. A file outside of these folders is not opened. A mesh that cannot be drawn becomes
a note, and a box is drawn instead.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from ...errors import CatenaError
from .detail import coarse
from .geometry import Geometry, box, creased

LARGEST_FILE_BYTES = 100 * 2**20  # the largest mesh file that is read
LARGEST_TRIANGLE_COUNT = 60_000  # of one mesh; a finer one is simplified
VERSION = "7"  # of the cached arrays
ARRAYS = ("points", "normals", "faces")


class MeshError(CatenaError):
    """A mesh that cannot be drawn."""


def mesh(file: str, scale: Sequence[float], folders: Sequence[Path] | None) -> Geometry:
    """Return the triangles of a file, scaled. folders: the model's folder, and others that the user
    names; None takes the name as a path.
    """
    found = _cached(located(file, folders))
    size = np.asarray(scale, float)
    return found if (size == 1.0).all() else found.moved(np.diag([*size, 1.0]))


def stand_in(size: float) -> Geometry:
    """Return the box that is drawn in place of a mesh that cannot be read. size: m."""
    return box(size, size, size)


def located(file: str, folders: Sequence[Path] | None) -> Path:
    """Return the path of a mesh within the folders. Raise a MeshError where there is none."""
    name = file.removeprefix("file://")
    if folders is None and not name.startswith("package://"):
        found = Path(name)
        if os.path.isfile(found):
            return found
        raise MeshError(f"mesh {file!r} is not there")
    homes = [*(Path(f).resolve() for f in folders or ()), *_ros()]
    places = [p for p in _places(name, homes) if os.path.isfile(p)]
    inside = [
        p for p in places if any(p.resolve().is_relative_to(root) for root in _roots(homes, name))
    ]
    if inside:
        return inside[0]
    if places:
        raise MeshError(
            f"mesh {file!r} lies outside the folders of the model; name its folder with --meshes"
            " FOLDER"
        )
    raise MeshError(
        f"mesh {file!r} is not there; looked in {', '.join(map(str, homes[:3])) or 'no folder'}"
    )


def _places(name: str, homes: Sequence[Path]) -> Iterator[Path]:
    """Yield the paths at which a mesh may be."""
    if name.startswith("package://"):
        rest = Path(name.removeprefix("package://").lstrip("/"))
        for home in homes:
            for folder in (home, *home.parents):
                yield folder / rest
                yield folder / Path(*rest.parts[1:])
    else:
        yield from (home / name for home in homes)


def _roots(homes: Sequence[Path], name: str) -> list[Path]:
    """Return the folders in which a file may be opened: each named folder and its parent (for urdf/
    next to meshes/), and the packages of that name above them.
    """
    roots = [root for home in homes for root in (home, home.parent) if len(root.parts) > 2]
    if name.startswith("package://"):
        package = name.removeprefix("package://").lstrip("/").partition("/")[0]
        roots += [
            folder / package
            for home in homes
            for folder in home.parents
            if package not in ("", ".", "..") and (folder / package).is_dir()
        ]
    return roots


def _ros() -> list[Path]:
    """Return the folders of ROS_PACKAGE_PATH."""
    return [
        Path(p).resolve() for p in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if p
    ]


# --- reading
def _cached(path: Path) -> Geometry:
    """Return the triangles of a file, from the cache where the file has not changed."""
    now = path.stat()
    if now.st_size > LARGEST_FILE_BYTES:
        raise MeshError(
            f"mesh {path.name!r} has {now.st_size / 2**20:.0f} MB;"
            f" {LARGEST_FILE_BYTES // 2**20} MB are read at most"
        )
    key = hashlib.sha256(
        f"{VERSION} {path.resolve()} {now.st_mtime_ns} {now.st_size}".encode()
    ).hexdigest()[:32]
    place = Path(platformdirs.user_cache_dir("catena")) / "meshes" / f"{key}.npz"
    try:
        if not os.path.isfile(place):  # nor a pipe, which would never end
            raise FileNotFoundError(place)
        with np.load(place, allow_pickle=False) as data:
            few = Geometry(*(data[f"coarse_{name}"] for name in ARRAYS))
            return replace(Geometry(*(data[name] for name in ARRAYS)), coarse=few)
    except (OSError, ValueError, KeyError):
        made = _read(path)
    few = coarse(made)
    rows = {name: getattr(made, name) for name in ARRAYS} | {
        f"coarse_{name}": getattr(few, name) for name in ARRAYS
    }
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        beside = place.with_suffix(f".{os.getpid()}.npz")
        np.savez(
            beside,
            **{
                name: x.astype(np.uint32 if name.endswith("faces") else np.float32)
                for name, x in rows.items()
            },
        )
        os.replace(beside, place)
    except OSError:
        pass  # a cache that cannot be written costs time and nothing else
    return replace(made, coarse=few)


def _read(path: Path) -> Geometry:
    """Return the triangles of a file, read by trimesh."""
    try:
        import trimesh
    except ImportError:
        raise MeshError(f"mesh {path.name!r} needs trimesh: pip install 'catena[studio]'") from None
    try:
        found: Any = trimesh.load(path, force="mesh", process=False)
        points = np.asarray(found.vertices, float)
        faces = np.asarray(found.faces)
    except Exception as why:  # whatever a reader of a broken file raises
        raise MeshError(
            f"mesh {path.name!r} cannot be read ({type(why).__name__}: {why})"
        ) from None
    if not len(faces) or not np.isfinite(points).all():
        raise MeshError(
            f"mesh {path.name!r} has"
            f" {'no triangles' if not len(faces) else 'points that are not finite'}"
        )
    return creased(*coarser(points, faces))


def coarser(
    points: np.ndarray, faces: np.ndarray, most: int = LARGEST_TRIANGLE_COUNT
) -> tuple[np.ndarray, np.ndarray]:
    """Return points and faces with at most about `most` triangles: points in one cell of a grid are
    merged, and faces without area are left out.
    """
    cells = 512
    while len(faces) > most and cells > 8:
        low = points.min(axis=0)
        size = np.ptp(points, axis=0).max()
        _, which = np.unique(
            np.floor((points - low) / size * cells).astype(np.int64), axis=0, return_inverse=True
        )
        which = which.ravel()
        weight = np.bincount(which)
        merged = np.stack([np.bincount(which, points[:, k]) / weight for k in range(3)], axis=1)
        left = which[faces]
        left = left[
            (left[:, 0] != left[:, 1]) & (left[:, 1] != left[:, 2]) & (left[:, 2] != left[:, 0])
        ]
        if len(left) <= most or cells <= 16:
            return merged, left
        cells = int(cells * 0.7)
    return points, faces
