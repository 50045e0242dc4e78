"""View: the direction from which a mechanism is drawn: across the plane of a planar one, else obliquely; parallel projection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from ...model.mechanism import Mechanism
from ...model.planarity import plane
from ...model.values import value_of
from .style import FAINT, INK

Array = np.ndarray


@dataclass(frozen=True)
class View:
    """right, up, towards (3,): the page's directions in the ground's axes. planar: whether the page is the plane itself."""

    right: Array
    up: Array
    towards: Array
    planar: bool

    def flat(self, points: Array) -> Array:
        """Points (..., 3) of the ground on the page, (..., 2)."""
        return np.stack([points @ self.right, points @ self.up], axis=-1)


def view_of(m: Mechanism, azimuth: float = -60.0, elevation: float = 22.0) -> View:
    """Across the plane of a planar mechanism with gravity downwards; else from azimuth and elevation, degrees."""
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
    """Against gravity; z where there is none."""
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


def letters(v: View) -> tuple[str, str]:
    """What the page's axes are called: x, y or z where they are one, else words."""
    return _letter(v.right, "across"), _letter(v.up, "upwards")


def dress(ax: Axes, v: View, reach: Array) -> None:
    """Equal scales and an outline around points `reach` (n, 2); metres on the axes of a plane, else a scale and a triad."""
    low, high = reach.min(axis=0), reach.max(axis=0)
    margin = 0.06 * max(high - low) or 0.1
    ax.set_aspect("equal", adjustable="box")
    ax.set_xlim(low[0] - margin, high[0] + margin)
    ax.set_ylim(low[1] - margin, high[1] + margin)
    if v.planar:
        across, upwards = letters(v)
        ax.set(xlabel=f"{across} (m)", ylabel=f"{upwards} (m)")
        return
    ax.grid(False)
    ax.axis("off")
    _triad(ax, v)
    _scale(ax, max(high - low))


def _letter(direction: Array, otherwise: str) -> str:
    k = int(np.argmax(np.abs(direction)))
    if abs(abs(direction[k]) - 1) > 1e-6:
        return otherwise
    return ("-" if direction[k] < 0 else "") + "xyz"[k]


def _triad(ax: Axes, v: View, length: float = 20.0) -> None:
    """The ground's axes in the lower left corner."""
    for k, name in enumerate("xyz"):
        x, y = v.flat(np.eye(3)[k]) * length
        ax.annotate("", (x + 24, y + 24), (24, 24), xycoords="axes points", textcoords="axes points",
                    arrowprops={"arrowstyle": "-|>", "color": FAINT, "lw": 0.8, "shrinkA": 0, "shrinkB": 0})  # fmt: skip
        ax.annotate(name, (1.35 * x + 24, 1.35 * y + 24), xycoords="axes points", ha="center", va="center", color=FAINT)


def _scale(ax: Axes, size: float) -> None:
    """A bar of a round length in the lower right corner."""
    from mpl_toolkits.axes_grid1.anchored_artists import AnchoredSizeBar  # type: ignore[import-untyped]

    power = 10.0 ** np.floor(np.log10(size / 4 or 1.0))
    length = next(k * power for k in (5, 2, 1) if k * power <= size / 4 or k == 1)
    bar = AnchoredSizeBar(ax.transData, length, f"{length:g} m", "lower right", pad=0.3, sep=3, frameon=False, color=INK)
    ax.add_artist(bar)
