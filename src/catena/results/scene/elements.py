"""Machine elements as they are drawn: toothed wheels, rings, pulleys with their belt, racks and
cams. Each is a member of the registry of load glyphs, the functions that draw loads and
constraints.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...model import value_of
from .drawing import DARK, STEEL, Drawing
from .geometry import Geometry, box, creased, joined, tube
from .wheels import Axes, Wheel, facing, wheels

Array = np.ndarray
# height of a tooth above and below the pitch circle, relative to the radius, for up to 20 teeth
TOOTH_HEIGHT_RATIO = 0.055


def draw_wheels(d: Drawing) -> None:
    """Draw all wheels of a mechanism, each once."""
    for w in wheels(d.mechanism):
        key = f"wheel {w.name} {w.body} {w.radius:.6g} {w.ring}"
        d.put(w.body, key, _made(w, 1.6 * d.unit), w.pose, STEEL, "loads", w.name)


def _made(w: Wheel, width: float) -> Callable[[], Geometry]:
    return lambda: ring(w, width) if w.ring else disc(_toothed(w), width, 0.0)


def ring(w: Wheel, width: float) -> Geometry:
    """Return the geometry of a ring with its teeth inside."""
    return disc(np.full(len(_toothed(w)), 1.13 * w.radius), width, _toothed(w))


def _toothed(w: Wheel) -> Array:
    """Return the radii of a wheel's outline, with its teeth."""
    if not w.teeth:
        return w.outline
    steps = np.arange(8 * w.teeth) % 8
    height = TOOTH_HEIGHT_RATIO * w.radius * min(1.0, 20 / w.teeth)
    return w.radius + height * np.array([-1.0, -1.0, -1.0, 0.3, 1.0, 1.0, 1.0, 0.3])[steps]


def disc(outer: Array, width: float, inner: Array | float) -> Geometry:
    """Return a plate about z, `width` thick. outer: radii of its outline at equal angles. inner:
    radii of its hole, 0 for none.
    """
    n = len(outer)
    angle = np.linspace(0, 2 * np.pi, n, endpoint=False)
    inside = np.broadcast_to(np.asarray(inner, float), (n,))
    rim = lambda r, z: np.stack([r * np.cos(angle), r * np.sin(angle), np.full(n, z)], axis=1)  # noqa: E731
    points = np.concatenate(
        [
            rim(outer, width / 2),
            rim(inside, width / 2),
            rim(outer, -width / 2),
            rim(inside, -width / 2),
        ]
    )
    k = np.arange(n)
    j = (np.arange(n) + 1) % n
    quads = [
        (k, j, n + j, n + k),
        (2 * n + j, 2 * n + k, 3 * n + k, 3 * n + j),
        (2 * n + k, 2 * n + j, j, k),
    ]
    quads += [(3 * n + j, 3 * n + k, n + k, n + j)] if inside.any() else []
    faces = np.concatenate(
        [
            f
            for a, b, c, e in quads
            for f in (np.stack([a, b, c], axis=1)[:, ::-1], np.stack([a, c, e], axis=1)[:, ::-1])
        ]
    )
    turned = np.cross(
        points[faces[:, 1]] - points[faces[:, 0]], points[faces[:, 2]] - points[faces[:, 0]]
    )
    if turned[: 2 * n, 2].sum() < 0:  # the upper side looks up
        faces = faces[:, ::-1]
    return creased(points, faces)


def draw_belt(d: Drawing, x: Any) -> None:
    """Draw a belt around its two wheels, on the carrier of both."""
    m, axes = d.mechanism, Axes(d.mechanism)
    carrier = m.frame(x.carrier).body
    (p, n), (o, _) = axes.line(x.first, x.carrier), axes.line(x.second, x.carrier)
    X = np.linalg.inv(axes.at[carrier])
    a, b = (float(value_of(r, m.parameters)) for r in x.radii)
    across = o - p - n * (n @ (o - p))
    Y = X @ facing(n, across, p)
    path = _around(a, b, float(np.linalg.norm(across)), x.run == "crossed")
    if path is not None:
        d.put(
            carrier, f"belt {x.name}", lambda: tube(path, 0.35 * d.unit), Y, DARK, "loads", x.name
        )


def _around(a: float, b: float, apart: float, crossed: bool) -> Array | None:
    """Return the closed line (n, 3) of a belt around two circles, of radius a at the origin and of
    radius b at x = apart; None where one circle contains the other.
    """
    sine = (a + b if crossed else a - b) / apart if apart > 0 else 2.0
    if abs(sine) >= 1.0:
        return None
    edge = np.arccos(sine)  # of the first tangent point, from x
    first = np.linspace(edge, 2 * np.pi - edge, 40)
    far = (
        np.linspace(-edge, edge, 40)
        if not crossed
        else np.linspace(np.pi - edge, -(np.pi - edge), 40)
    )

    def at(r: Any, angle: Any, x: Any) -> Any:
        return np.stack([x + r * np.cos(angle), r * np.sin(angle), np.zeros_like(angle)], axis=1)

    loop = np.concatenate([at(a, first, 0.0), at(b, far, apart)])
    return np.concatenate([loop, loop[:1]])


def draw_rack(d: Drawing, x: Any) -> None:
    """Draw a toothed bar on the rack, at the pitch point of its pinion."""
    axes = Axes(d.mechanism)
    p, n = axes.line(x.pinion, x.carrier)
    _, s = axes.line(x.rack, x.carrier, "sliding")
    body = d.mechanism.frame(x.rack).body
    radius = float(value_of(x.radius, d.mechanism.parameters))
    side = np.sign(radius) * np.cross(s, n)
    r = abs(radius)
    u = d.unit
    X = np.linalg.inv(axes.at[body]) @ facing(n, s, p + r * side)
    step, count = 2 * np.pi * r / 18, 27
    up = 1.0 if side @ (axes.at[body] @ X)[:3, 1] > 0 else -1.0
    teeth = [
        box(0.5 * step, 0.5 * step, 1.6 * u).moved(_shift((k - count // 2) * step, 0.0))
        for k in range(count)
    ]
    bar = joined([box(count * step, step, 1.6 * u).moved(_shift(0.0, up * 0.75 * step)), *teeth])
    d.put(body, f"rack {x.name}", lambda: bar, X, STEEL, "loads", x.name)


def _shift(x: float, y: float) -> Array:
    X = np.eye(4)
    X[:2, 3] = x, y
    return X
