"""Drawings: a planar linkage as SVG or DXF, with the distances of the pins of every link.

Each link is drawn by the lines between its pins and named frames (a closed polygon for three and
more), each pin by a circle, pins on the ground also by a triangle, slides by a short bar along
their direction. Dimensions are in millimetres.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import CompileError
from ..machine import compile
from ..model import GROUND, Mechanism, Motion, plane, plane_of, value_of

MM = 1000.0  # millimetres per metre
PIN = 0.012  # the radius of a pin, relative to the size of the drawing
TEXT = 0.028  # the height of a text, relative to the size of the drawing
CLEAR = 0.035  # the distance of a text from its line, relative to the size of the drawing
MARGIN = 0.08


@dataclass(frozen=True)
class Drawing:
    """Lines, circles and texts in millimetres, y upwards.

    lines: (layer, points (n, 2)). circles: (layer, centre (2,), radius). texts: (layer, place (2,),
    height, text). Layers are "links", "pins", "ground" and "dimensions".
    """

    name: str
    lines: list[tuple[str, np.ndarray]] = field(default_factory=list)
    circles: list[tuple[str, np.ndarray, float]] = field(default_factory=list)
    texts: list[tuple[str, np.ndarray, float, str]] = field(default_factory=list)

    @property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """The lower left and the upper right corner, mm."""
        points = [p for _, line in self.lines for p in line] + [c for _, c, _ in self.circles]
        return np.min(points, axis=0), np.max(points, axis=0)


def drawing(m: Mechanism, q: Any) -> Drawing:
    """Return the drawing of a planar mechanism at coordinates q (nq,).

    Raises
    ------
    CompileError
        Where the mechanism is not planar, or has no joints.
    """
    normal = plane(m)
    if normal is None or not m.joints:
        raise CompileError(
            f"{m.name!r} is not a planar linkage: its joints do not move all bodies in one plane;"
            " drawings are made of planar linkages"
        )
    pins = _pins(m, q, np.array(plane_of(normal)))
    whole = np.array([p for own in pins.values() for _, p, _ in own])
    size = float(np.ptp(whole, axis=0).max()) or 1.0
    found = Drawing(m.name)
    for body, own in pins.items():
        _link(found, body, own, size)
    return found


def _pins(m: Mechanism, q: Any, axes: np.ndarray) -> dict[str, list[tuple[str, Any, Any]]]:
    """Return {body: [(joint or frame, place (2,) in mm, direction of a slide or None)]}."""
    machine = compile(m)
    pins: dict[str, list[tuple[str, Any, Any]]] = {b: [] for b in (GROUND, *_names(m))}
    values = m.parameters
    for j in (*m.joints, *m.loops):
        for body, X in ((j.parent, j.placement), (j.child, j.offset)):
            X_WB = np.eye(4) if body == GROUND else machine.pose(np.asarray(q, float), body)
            p = np.array([value_of(x, values) for x in X.position], float)
            R = np.array([[value_of(x, values) for x in row] for row in X.rotation], float)
            slide = next((f for f in j.freedoms if f.motion == Motion.SLIDE), None)
            along = None if slide is None else axes @ X_WB[:3, :3] @ R @ np.array(slide.axis)
            place = MM * (axes @ (X_WB[:3, :3] @ p + X_WB[:3, 3]))
            pins[body].append((j.name, place, along))
    for f in m.frames:
        X_WB = np.eye(4) if f.body == GROUND else machine.pose(np.asarray(q, float), f.body)
        p = np.array([value_of(x, values) for x in f.pose.position], float)
        pins[f.body].append((f.name, MM * (axes @ (X_WB[:3, :3] @ p + X_WB[:3, 3])), None))
    return {body: own for body, own in pins.items() if own}


def _names(m: Mechanism) -> list[str]:
    return [b.name for b in m.bodies]


def _link(d: Drawing, body: str, pins: Sequence[tuple[str, Any, Any]], size: float) -> None:
    """Add the drawing of one link."""
    places = _different([p for _, p, _ in pins], size)
    radius = PIN * size
    for p in places:
        d.circles.append(("pins", p, radius))
        if body == GROUND:
            corners = [p, p + radius * np.array([-2, -3]), p + radius * np.array([2, -3]), p]
            d.lines.append(("ground", np.array(corners)))
    for _, p, along in pins:
        if along is not None:
            d.lines.append(("ground", np.array([p - 5 * radius * along, p + 5 * radius * along])))
    ring = [*places, places[0]] if len(places) > 2 else places
    if body != GROUND and len(ring) > 1:
        d.lines.append(("links", np.array(ring)))
    for a, b in pairwise(places if body == GROUND else ring):
        d.texts.append(_dimension(a, b, size))


def _different(places: Sequence[Any], size: float) -> list[Any]:
    """Return positions without those that coincide with another."""
    found: list[Any] = []
    for p in places:
        if all(np.linalg.norm(p - o) > 1e-9 * size for o in found):
            found.append(p)
    return found


def _dimension(a: Any, b: Any, size: float) -> tuple[str, np.ndarray, float, str]:
    length = float(np.linalg.norm(b - a))
    across = np.array([a[1] - b[1], b[0] - a[0]]) / (length or 1.0)
    drop = np.array([0.0, 0.35 * TEXT * size])  # texts stand on their place, half a letter above
    return "dimensions", (a + b) / 2 + CLEAR * size * across - drop, TEXT * size, f"{length:.4g}"


def svg(d: Drawing) -> str:
    """Return the drawing as SVG, in millimetres."""
    low, high = d.box
    margin = MARGIN * float((high - low).max())
    (x0, y0), (x1, y1) = low - margin, high + margin
    thin = 0.003 * float((high - low).max())
    style = {"links": 2.5 * thin, "pins": thin, "ground": thin}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{x1 - x0:.6g}mm" height="{y1 - y0:.6g}mm"'
        f' viewBox="{x0:.6g} {-y1:.6g} {x1 - x0:.6g} {y1 - y0:.6g}">',
        f"<title>{escape(d.name)}</title>",
    ]
    for layer, line in d.lines:
        points = " ".join(f"{x:.6g},{-y:.6g}" for x, y in line)
        parts.append(
            f'<polyline class="{layer}" points="{points}" fill="none" stroke="black"'
            f' stroke-width="{style[layer]:.4g}" stroke-linejoin="round"/>'
        )
    parts += [
        f'<circle class="{layer}" cx="{c[0]:.6g}" cy="{-c[1]:.6g}" r="{r:.4g}" fill="white"'
        f' stroke="black" stroke-width="{style[layer]:.4g}"/>'
        for layer, c, r in d.circles
    ]
    parts += [
        f'<text class="{layer}" x="{p[0]:.6g}" y="{-p[1]:.6g}" font-size="{h:.4g}"'
        f' font-family="sans-serif" text-anchor="middle">{escape(text)}</text>'
        for layer, p, h, text in d.texts
    ]
    return "\n".join([*parts, "</svg>", ""])


def dxf(d: Drawing) -> str:
    """Return the drawing as DXF of AutoCAD release 12, in millimetres: LINE, CIRCLE and TEXT."""
    pairs: list[tuple[int, Any]] = [
        (0, "SECTION"),
        (2, "HEADER"),
        (9, "$ACADVER"),
        (1, "AC1009"),
        (0, "ENDSEC"),
        (0, "SECTION"),
        (2, "ENTITIES"),
    ]
    for layer, line in d.lines:
        for a, b in pairwise(line):
            pairs += [(0, "LINE"), (8, layer), *_at(a), *_at(b, 1)]
    for layer, c, r in d.circles:
        pairs += [(0, "CIRCLE"), (8, layer), *_at(c), (40, f"{r:.9g}")]
    for layer, p, h, text in d.texts:
        pairs += [(0, "TEXT"), (8, layer), *_at(p), (40, f"{h:.9g}"), (1, text)]
    pairs += [(0, "ENDSEC"), (0, "EOF")]
    return "".join(f"{code:3}\n{value}\n" for code, value in pairs)


def _at(p: Any, k: int = 0) -> list[tuple[int, str]]:
    return [(10 + k, f"{p[0]:.9g}"), (20 + k, f"{p[1]:.9g}"), (30 + k, "0.0")]


WRITERS: dict[str, Callable[[Drawing], str]] = {"svg": svg, "dxf": dxf}
