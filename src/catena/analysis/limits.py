"""Limits of joints in searches for configurations: closed loops are looked for within them, and
inverse kinematics stays within them.

A coordinate at its limit that a step would move beyond it is held there.
"""

from __future__ import annotations

import numpy as np

from ..machine import Coordinate, Machine, coordinates

Array = np.ndarray
# How far outside its limits a coordinate may be and still count as within them, rad or m: what
# rounding leaves of a configuration at a limit.
AT_LIMIT_TOLERANCE = 1e-9


def limited(machine: Machine) -> list[Coordinate]:
    """Return the coordinates with limits."""
    return [c for c in coordinates(machine) if np.isfinite(c.lower) or np.isfinite(c.upper)]


def are_within(q: Array, bounds: list[Coordinate]) -> Array:
    """Return whether configurations q (..., nq) are within their limits, (...,) of bool."""
    inside = np.ones(q.shape[:-1], bool)
    for c in bounds:
        x = q[..., c.qi]
        inside &= (x >= c.lower - AT_LIMIT_TOLERANCE) & (x <= c.upper + AT_LIMIT_TOLERANCE)
    return inside


def clamped(q: Array, bounds: list[Coordinate]) -> Array:
    """Return q (nq,) with every coordinate clamped to its limits."""
    q = q.copy()
    for c in bounds:
        q[c.qi] = min(max(q[c.qi], c.lower), c.upper)
    return q


def movable(q: Array, pull: Array, bounds: list[Coordinate], free: list[int]) -> list[int]:
    """Return the speeds of `free` that may move: all but those of coordinates at a limit that
    `pull` (nv,) would move beyond it.
    """
    held = {
        c.vi
        for c in bounds
        if (q[c.qi] <= c.lower and pull[c.vi] < 0) or (q[c.qi] >= c.upper and pull[c.vi] > 0)
    }
    return [k for k in free if k not in held]
