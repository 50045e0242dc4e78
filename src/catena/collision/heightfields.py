"""Grids of heights: from the numbers of a shape or from a file, and their triangles."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import MechanismError
from ..model import Shape
from ..spatial import sqrt

# What each ending of a file's name is.
IMAGES = (".png",)
TABLES = (".csv", ".txt")
ARRAYS = (".npy",)


def grid_of(shape: Shape) -> np.ndarray:
    """Return the grid (rows, columns) of a heightfield, in units of its height z.

    The first row is at the smallest y. An image begins at the largest y, as one looks at it, and
    its brightness is 0 (black) to 1 (white); an array or a table has the numbers themselves.
    """
    if shape.heights:
        return np.array(shape.heights, float)
    if not shape.file:
        raise MechanismError(
            f"a {shape.kind} has no heights; give it heights = [[...], ...], or a file"
        )
    return _read(shape.file)


@functools.lru_cache(maxsize=16)
def _read(file: str) -> np.ndarray:
    """Return the grid of a file; raise a MechanismError if it cannot be read."""
    path = Path(file.removeprefix("file://"))
    ending = path.suffix.lower()
    if ending not in (*IMAGES, *TABLES, *ARRAYS):
        raise MechanismError(
            f"heights {file!r}: a file of heights ends in one of"
            f" {', '.join((*IMAGES, *ARRAYS, *TABLES))}"
        )
    if not os.path.isfile(path):
        raise MechanismError(f"heights {file!r}: there is no such file")
    try:
        if ending in IMAGES:
            grid = _image(path)
        elif ending in ARRAYS:
            grid = np.load(path, allow_pickle=False).astype(float)
        else:
            text = path.read_text(encoding="utf-8")
            grid = np.loadtxt(text.splitlines(), delimiter="," if "," in text else None, ndmin=2)
    except Exception as why:  # readers of broken files raise anything
        raise MechanismError(
            f"heights {file!r} cannot be read ({type(why).__name__}: {why})"
        ) from None
    if grid.ndim != 2 or min(grid.shape) < 2 or not np.isfinite(grid).all():
        raise MechanismError(
            f"heights {file!r}: it has the shape {grid.shape}; a grid has two rows and two columns"
            " of finite numbers, or more"
        )
    return grid


def _image(path: Path) -> np.ndarray:
    """Return the brightness of an image, 0 to 1, its last row first."""
    from PIL import Image

    with Image.open(path) as picture:
        deep = picture.mode.startswith("I")
        values = np.asarray(picture if deep else picture.convert("L"), float)
    return values[::-1] / (65535.0 if deep else 255.0)


def reach_of_grid(shape: Shape, size: Sequence[Any]) -> Any:
    """Return the radius (m) of a ball about the origin of a heightfield that contains it."""
    x, y, z = size
    highest = float(np.abs(grid_of(shape)).max())
    return sqrt(0.25 * x * x + 0.25 * y * y + highest * highest * z * z)


def grid_triangles(shape: Shape, size: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Return the points (n, 3) and triangles (m, 3) of a heightfield: two for each cell, which is
    cut along the diagonal from its corner with the smallest x and y.
    """
    grid = grid_of(shape)
    rows, columns = grid.shape
    x, y = np.meshgrid(
        np.linspace(-size[0] / 2, size[0] / 2, columns),
        np.linspace(-size[1] / 2, size[1] / 2, rows),
    )
    points = np.stack([x, y, size[2] * grid], axis=-1).reshape(-1, 3)
    at = np.arange(rows * columns).reshape(rows, columns)
    a, b, e, f = at[:-1, :-1], at[:-1, 1:], at[1:, :-1], at[1:, 1:]
    faces = np.concatenate(
        [np.stack(corners, axis=-1).reshape(-1, 3) for corners in ((a, b, f), (a, f, e))]
    )
    return points, faces
