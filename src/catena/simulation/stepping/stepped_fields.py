"""The constants of heightfields that are touched by time stepping: their grids, one after another,
and for each pair where its grid is and how many cells a sphere may reach.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...collision import grid_of
from ...model import SHAPE_KINDS as KINDS
from ...model import Shape

# Numbers of a grid, at most, which are written into the compiled code.
MAX_GRID_NUMBERS = 250_000
# Cells that the radius of a sphere covers, at most; a step looks at the square of twice as many.
MAX_CELLS_OF_RADIUS = 8


def fields_of(pairs: Sequence[tuple[Shape, Shape, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of all grids, and the table (n, 5) that `Hulls` calls field. pairs: the
    surface, the sphere and the rank of each pair.
    """
    begins: dict[Shape, int] = {}
    grids = [np.zeros(1)]
    rows = []
    for surface, sphere, rank in pairs:
        if not KINDS[surface.kind].has_grid:
            rows.append((0, 0, 0, 0, 0))
            continue
        grid = grid_of(surface)
        if surface not in begins:
            begins[surface] = sum(x.size for x in grids)
            grids.append(grid.ravel())
        rows.append((begins[surface], *grid.shape, cells_of(surface, sphere), rank))
    return np.concatenate(grids), np.array(rows, dtype=np.int64).reshape(len(rows), 5)


def cells_of(surface: Shape, sphere: Shape) -> int:
    """Return how many cells the radius of a sphere covers, at least one."""
    rows, columns = grid_of(surface).shape
    x, y = (float(s) for s in surface.size[:2])
    cell = min(x / (columns - 1), y / (rows - 1))
    return max(1, math.ceil(float(sphere.size[0]) / cell))


def field_fault(surface: Shape, sphere: Shape) -> str:
    """Return what is wrong with a heightfield and a sphere, "" where nothing is."""
    if not KINDS[surface.kind].has_grid:
        return ""
    try:
        cells = cells_of(surface, sphere)
    except TypeError:
        return "has a size that is an expression; its sizes, and the radius, are numbers"
    count = grid_of(surface).size
    if count > MAX_GRID_NUMBERS:
        return (
            f"has {count} numbers, and at most {MAX_GRID_NUMBERS} are supported; take a coarser"
            " grid"
        )
    if cells > MAX_CELLS_OF_RADIUS:
        return (
            f"has cells of which {cells} fit into the radius of a sphere, and at most"
            f" {MAX_CELLS_OF_RADIUS} are supported; take a coarser grid"
        )
    return ""
