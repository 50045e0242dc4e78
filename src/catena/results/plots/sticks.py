"""Stick figures: a skeleton at one configuration, drawn on matplotlib axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from ..scene.skeleton import Skeleton, Solid, moved
from ..scene.view import View
from .style import FAINT, INK

Array = np.ndarray
# The area of a solid's outline, relative to the square of its length, below which it is a line.
EDGE_ON = 1e-9
GLASS = (0.35, 0.45, 0.55)  # of a solid that names no colour


def stick(
    ax: Axes,
    bones: Skeleton,
    at: dict[str, Array],
    v: View,
    colour: Any = INK,
    solids: bool = True,
    width: float = 1.8,
) -> list[Artist]:
    """Draw one figure: solids (balls always, in the figure's colour), guides, lines and joints. at:
    {body: pose (4, 4)}.
    """
    drawn: list[Artist] = []
    for outline, solid, bare in outlined(bones, at, v):
        if solid.radius:
            drawn += ax.fill(
                *outline.T, facecolor=solid.colour or colour, edgecolor="none", zorder=3
            )
        elif solids:
            drawn += ax.fill(
                *outline.T,
                facecolor=solid.colour[:3] or GLASS,
                alpha=0.18,
                edgecolor="none",
                zorder=1,
            )
        if bare and not solid.radius:
            drawn += ax.fill(
                *outline.T, facecolor="none", edgecolor=colour, linewidth=0.7 * width, zorder=3
            )
    guides = [
        v.flat(np.array([moved(at[g.start], g.at), moved(at[g.end], g.to)])) for g in bones.guides
    ]
    drawn.append(
        ax.add_collection(
            LineCollection(guides, colors=FAINT, linewidths=0.8, linestyles=":", zorder=2)
        )
    )
    lines = LineCollection(
        segments(bones, at, v), colors=[colour], linewidths=width, capstyle="round", zorder=3
    )
    dots = pins(bones, at, v)
    drawn.append(ax.add_collection(lines))
    drawn += ax.plot(
        dots[:, 0],
        dots[:, 1],
        "o",
        color=colour,
        markersize=1.9 * np.sqrt(width),
        markeredgewidth=0,
        zorder=4,
    )
    return drawn


def ground(ax: Axes, bones: Skeleton, v: View) -> None:
    """Draw a small triangle under each joint on the ground. Nothing is drawn without such joints:
    the layout counts empty markers at the corner of the page.
    """
    if not len(bones.ground):
        return
    at = v.flat(bones.ground)
    ax.plot(
        at[:, 0],
        at[:, 1],
        marker=(3, 0, 0),
        color=INK,
        markersize=8,
        markerfacecolor="#DDDDDD",
        linestyle="none",
        markeredgewidth=0.8,
        zorder=5,
        clip_on=False,
    )


def segments(bones: Skeleton, at: dict[str, Array], v: View) -> list[Array]:
    """Return every line on the page, (2, 2) each."""
    return [line for limb in bones.limbs for line in v.flat(moved(at[limb.body], limb.lines))]


def pins(bones: Skeleton, at: dict[str, Array], v: View) -> Array:
    """Return every joint on the page, (n, 2)."""
    return np.concatenate([v.flat(moved(at[limb.body], limb.pins)) for limb in bones.limbs])


def outlined(bones: Skeleton, at: dict[str, Array], v: View) -> list[tuple[Array, Solid, bool]]:
    """Return the outline of every solid on the page, with the solid and whether its body has no
    lines.
    """
    found = [
        (_outline(solid, at[limb.body], v), solid, not len(limb.lines))
        for limb in bones.limbs
        for solid in limb.solids
    ]
    return [(outline, solid, bare) for outline, solid, bare in found if outline is not None]


def _outline(solid: Solid, X: Array, v: View) -> Array | None:
    flat = v.flat(moved(X, solid.corners))
    if solid.radius:
        angle = np.linspace(0, 2 * np.pi, 40)
        return flat[0] + solid.radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    corners = hull(flat)
    x, y = (corners - corners[0]).T
    area = 0.5 * (x * np.roll(y, -1) - y * np.roll(x, -1)).sum()
    return corners if area > EDGE_ON * np.abs(corners - corners[0]).max(initial=0.0) ** 2 else None


def hull(points: Array) -> Array:
    """Return the corners of the convex hull of points (n, 2), anticlockwise, by Andrew's monotone
    chain.
    """

    def chain(rows: Array) -> list[Array]:
        found: list[Array] = []
        for p in rows:
            while len(found) > 1 and np.linalg.det([found[-1] - found[-2], p - found[-2]]) <= 0:
                found.pop()
            found.append(p)
        return found[:-1]

    ordered = np.unique(points, axis=0)
    return np.array([*chain(ordered), *chain(ordered[::-1])] or ordered)


def reach(bones: Skeleton, at: dict[str, Array], v: View) -> Array:
    """Return points (n, 2) on the page that a picture of all these configurations must contain."""
    points = [v.flat(bones.ground)]
    for limb in bones.limbs:
        X = at[limb.body].reshape(-1, 4, 4)
        inner = np.concatenate(
            [limb.lines.reshape(-1, 3), limb.pins, *(s.corners for s in limb.solids)]
        )
        points.append(v.flat(moved(X, inner)).reshape(-1, 2))
        for ball in (s for s in limb.solids if s.radius):
            middle = v.flat(moved(X, ball.corners)).reshape(-1, 2)
            points += [middle - ball.radius, middle + ball.radius]
    return np.concatenate(points)
