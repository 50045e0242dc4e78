"""Convex parts of concave meshes, by approximate convex decomposition [Wei2022], kept on disk.

The parts are files in the cache of the user, found by the hash of the mesh and of the parameters,
so that a mesh is decomposed once. The decomposition starts from a fixed seed: the same mesh has the
same parts.
"""

from __future__ import annotations

import functools
import hashlib
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from ..errors import MechanismError
from ..model import SHAPE_KINDS, Shape
from ..registry import loaded
from .mesh_hull import read_mesh

# Concavity that a part may have, relative to the size of the mesh scaled to two.
THRESHOLD = 0.05
# Corners of a part, at most: then it has 30 faces at most, of 16 corners at most, which time
# stepping takes.
MAX_PART_CORNERS = 17
# Another number makes all files anew.
VERSION = 1


def solid_parts(shape: Shape) -> tuple[Shape, ...]:
    """Return the shapes as which a shape collides: itself, or its convex parts."""
    pieces = SHAPE_KINDS[shape.kind].pieces
    return loaded(pieces)(shape) if pieces else (shape,)


def convex_parts(
    shape: Shape, threshold: float = THRESHOLD, corners: int = MAX_PART_CORNERS
) -> tuple[Shape, ...]:
    """Return the convex parts of a mesh as shapes of kind "mesh" that collide and are not drawn.

    Parameters
    ----------
    shape : Shape
        A shape whose file is a mesh.
    threshold : float, default 0.05
        The concavity that a part may have, relative to a mesh of size two; smaller values give more
        parts.
    corners : int, default 17
        The largest number of corners of a part. Time stepping takes hulls of at most 32 faces.

    Returns
    -------
    tuple of Shape
        The parts, in the pose and with the scale of the shape.

    Raises
    ------
    MechanismError
        Where the mesh cannot be read or decomposed, or coacd is not installed.
    """
    if not 0.01 <= threshold <= 1.0 or corners < 4:
        raise MechanismError(
            f"convex_parts: threshold = {threshold!r}, corners = {corners!r}; the threshold lies"
            " between 0.01 and 1, and a part has four corners or more"
        )
    return tuple(
        replace(shape, kind="mesh", file=file, collides=True, drawn=False, name=_name(shape, n))
        for n, file in enumerate(_files(shape.file, threshold, corners), start=1)
    )


def cache_folder() -> Path:
    """Return the folder that holds the parts of all meshes."""
    return Path(platformdirs.user_cache_dir("catena")) / "convex_parts"


def _name(shape: Shape, n: int) -> str:
    """Return the name of part n, where the shape has a name."""
    return f"{shape.name} {n}" if shape.name else ""


@functools.lru_cache(maxsize=64)
def _files(file: str, threshold: float, corners: int) -> tuple[str, ...]:
    """Return the files of the parts, which are made where they are not in the cache."""
    mesh = read_mesh(file)
    # files repeat a vertex for each triangle, and coacd would take the mesh as open
    vertices, which = np.unique(np.asarray(mesh.vertices, float), axis=0, return_inverse=True)
    faces = which.ravel()[np.asarray(mesh.faces, np.int64)]
    key = hashlib.sha256(f"{VERSION} {threshold!r} {corners}".encode())
    key.update(vertices.tobytes())
    key.update(faces.tobytes())
    folder = cache_folder() / key.hexdigest()[:32]
    if not folder.is_dir():
        _write(folder, _decomposed(file, vertices, faces, threshold, corners))
    return tuple(str(x) for x in sorted(folder.glob("part_*.obj")))


def _decomposed(
    file: str, vertices: np.ndarray, faces: np.ndarray, threshold: float, corners: int
) -> list[Any]:
    """Return vertices and faces of each part."""
    if find_spec("coacd") is None:
        raise MechanismError(
            f"mesh {file!r} collides as its convex parts, which needs coacd: pip install"
            " 'catena[concave]'; or let it collide as its convex hull, with kind = 'mesh'"
        )
    script = Path(__file__).with_name("coacd_process.py")
    with tempfile.TemporaryDirectory() as folder:
        mesh, found = Path(folder) / "mesh.npz", Path(folder) / "parts.npz"
        np.savez(mesh, vertices=vertices, faces=faces)
        words = [str(mesh), str(found), repr(threshold), str(corners)]
        done = subprocess.run(
            [sys.executable, str(script), *words], capture_output=True, text=True, check=False
        )
        if done.returncode or not found.is_file():
            raise MechanismError(
                f"mesh {file!r} cannot be decomposed: coacd ended with"
                f" {done.stderr.strip().splitlines()[-1:] or [done.returncode]}"
            )
        with np.load(found) as data:
            count = len(data.files) // 2
            parts = [(data[f"vertices {n}"], data[f"faces {n}"]) for n in range(count)]
    if not parts:
        raise MechanismError(
            f"mesh {file!r} has no convex parts; a mesh that is decomposed is closed and has a"
            " volume"
        )
    return parts


def _write(folder: Path, parts: list[Any]) -> None:
    """Write a file for each part, and put the folder in its place at once."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as other:
        made = Path(other) / "parts"
        made.mkdir()
        for n, (vertices, faces) in enumerate(parts):
            lines = [f"v {x:.17g} {y:.17g} {z:.17g}" for x, y, z in np.asarray(vertices, float)]
            lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in np.asarray(faces, np.int64)]
            (made / f"part_{n:03}.obj").write_text("\n".join(lines) + "\n", encoding="utf-8")
        try:
            os.rename(made, folder)
        except OSError:
            if not folder.is_dir():  # another process was not quicker
                raise
