"""View: the direction from which a mechanism is drawn, by parallel projection: across the plane of
a planar one, else obliquely.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model import Mechanism, plane, value_of

Array = np.ndarray


@dataclass(frozen=True)
class View:
    """right, up, towards (3,): the directions of the page in the ground's axes. planar: whether the
    page is the plane of motion.
    """

    right: Array
    up: Array
    towards: Array
    planar: bool

    def flat(self, points: Array) -> Array:
        """Return points (..., 3) of the ground on the page, (..., 2)."""
        return np.stack([points @ self.right, points @ self.up], axis=-1)


def view_of(m: Mechanism, azimuth: float = -60.0, elevation: float = 22.0) -> View:
    """Return the view across the plane of a planar mechanism with gravity downwards; else from
    azimuth and elevation, degrees.
    """
    up = upward(m)
    normal = plane(m)
    if normal is not None:
        return _across(np.array(normal), up)
    side = np.array([1.0, 0, 0]) if abs(up[0]) < 0.9 else np.array([0, 1.0, 0])
    if abs(up[1]) > 0.9:
        side = np.array([0, 0, 1.0])  # y up: z, x, y make a right-handed frame as x, y, z do
    first = side - up * (side @ up)
    first /= np.linalg.norm(first)
    second = np.cross(up, first)
    a, e = np.radians([azimuth, elevation])
    towards = np.cos(e) * (np.cos(a) * first + np.sin(a) * second) + np.sin(e) * up
    right = np.cross(up, towards) / np.linalg.norm(np.cross(up, towards))
    return View(right, np.cross(towards, right), towards, False)


def upward(m: Mechanism) -> Array:
    """Return the direction against gravity; z where there is none."""
    g = np.array([float(value_of(x, m.parameters)) for x in m.gravity])
    return -g / np.linalg.norm(g) if np.linalg.norm(g) > 1e-9 else np.array([0.0, 0.0, 1.0])


def _across(n: Array, up: Array) -> View:
    up = up - n * (up @ n)
    if np.linalg.norm(up) < 1e-6:  # gravity across the plane, a table: y upwards on the page, or z
        up = np.array([0, 1.0, 0]) if abs(n[1]) < 0.9 else np.array([0, 0, 1.0])
        up = up - n * (up @ n)
    up /= np.linalg.norm(up)
    right = np.cross(up, n)
    if right[np.argmax(np.abs(right))] < 0:  # look from the side where the axis points to the right
        right, n = -right, -n
    return View(right, up, n, True)
