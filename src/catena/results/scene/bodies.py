"""Bodies as they are drawn: their shapes, by a registry of glyphs for kinds of shapes; or, without
shapes, tapered rods between their joints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...errors import CatenaError
from ...model import GROUND, Shape
from ...model import SHAPE_KINDS as KINDS
from ...registry import Registry, loaded
from . import meshes
from .drawing import BODY_COLOURS, DARK, STEEL, Colour, Drawing, along, glass, scaled
from .geometry import Geometry, ball, box, capsule, creased, cylinder, hull, rod
from .skeleton import Limb

Array = np.ndarray
PLANE: Colour = (0.80, 0.82, 0.85, 0.55)


@dataclass(frozen=True)
class ShapeGlyph:
    """How a kind of shape is drawn. name: of the kind. solid(sizes in metres, unit): its geometry.
    mark(shape, sizes): what is drawn on it in a darker shade, so that a rotation is visible; None
    for nothing.
    """

    name: str
    solid: Callable[[Sequence[float], float], Geometry]
    mark: Callable[[Shape, Sequence[float]], Geometry | None] = lambda s, size: None


GLYPHS: Registry[ShapeGlyph] = Registry("shape glyph")
register = GLYPHS.register


def draw_bodies(d: Drawing) -> None:
    """Draw every body: its shapes that are drawn; rods where it has none; a ball where it has
    nothing else.
    """
    m = d.mechanism
    shaped = {b.name for b in m.bodies if any(s.drawn and s.kind != "line" for s in b.shapes)}
    for k, b in enumerate(m.bodies):
        colour = BODY_COLOURS[k % len(BODY_COLOURS)]
        for n, s in enumerate(s for s in b.shapes if s.drawn and s.kind != "line"):
            _shape(d, b.name, f"{b.name} {n}", s, colour)
    for limb in d.bones.limbs:
        k = next(
            (
                i
                for i, b in enumerate(m.bodies)
                if b.name == limb.body or limb.body.startswith(f"{b.name} ")
            ),
            0,
        )
        colour = BODY_COLOURS[k % len(BODY_COLOURS)]
        if limb.body in shaped:  # a bob hangs on a rod
            meshed = (
                any(KINDS[s.kind].from_file and s.drawn for s in m.body(limb.body).shapes)
                if limb.body in m._bodies
                else False
            )
            _rods(
                d,
                limb.body,
                np.array(
                    [line for line in limb.lines if not meshed and _bare(limb, line.mean(axis=0))]
                ),
                STEEL,
                0.5,
            )
        else:
            _rods(d, limb.body, limb.lines, colour)
            if not len(limb.lines) and not len(limb.pins):
                d.put(
                    limb.body,
                    "lump",
                    lambda: ball(1.6 * d.unit),
                    np.eye(4),
                    colour,
                    "bodies",
                    limb.body,
                )
    for f in m.frames:
        _strut(d, f.body, d.matrix(f.pose)[:3, 3], shaped)
    for n, s in enumerate(m.ground):
        if s.drawn:
            _shape(d, GROUND, f"ground {n}", s, STEEL)


def _strut(d: Drawing, body: str, at: Array, shaped: set[str]) -> None:
    """Draw a thin rod from the lines of a body to a frame that lies at some distance from them."""
    limb = next((x for x in d.bones.limbs if x.body == body), None)
    if limb is None or body in shaped or not len(limb.lines):
        return
    near = min(
        (_nearest(a, b, at) for a, b in limb.lines), key=lambda p: float(np.linalg.norm(p - at))
    )
    length = float(np.linalg.norm(at - near))
    if length > 1.5 * d.unit:
        d.put(
            body,
            f"strut {length:.9g}",
            lambda: rod(0.45 * d.unit, 0.45 * d.unit, length),
            along(at - near, near),
            STEEL,
            "bodies",
            body,
        )


def _nearest(a: Array, b: Array, p: Array) -> Array:
    """Return the point on the line from a to b that is nearest to p."""
    s = float((p - a) @ (b - a) / ((b - a) @ (b - a)))
    return a + min(1.0, max(0.0, s)) * (b - a)


def _bare(limb: Limb, point: Array) -> bool:
    """Return whether a point of a body lies outside the bounding boxes of all of its solids."""
    for s in limb.solids:
        low = s.corners.min(axis=0) - s.radius
        high = s.corners.max(axis=0) + s.radius
        if ((point >= low - 1e-9) & (point <= high + 1e-9)).all():
            return False
    return True


def _rods(d: Drawing, body: str, lines: Array, colour: Colour, thick: float = 1.0) -> None:
    """Draw tapered rods along lines. thick: relative to the usual radius."""
    u = thick * d.unit
    for start, end in lines:
        length = float(np.linalg.norm(end - start))
        key = f"rod {thick} {length:.9g}"
        d.put(
            body,
            key,
            partial(rod, 1.0 * u, 0.72 * u, length),
            along(end - start, start),
            colour,
            "bodies",
            body,
        )


def _shape(d: Drawing, body: str, key: str, s: Shape, colour: Colour) -> None:
    """Draw one shape of a body, with its mark; a box in place of a mesh file that cannot be
    read.
    """
    size = [d.number(x) for x in s.size]
    X = d.matrix(s.pose)
    shade = (*map(float, s.colour), 1.0)[:4] if s.colour else colour
    kind = KINDS[s.kind]
    if kind.from_file:
        try:
            made = meshes.mesh(s.file, size, d.folders)
            key = f"mesh {s.file} {size}"
        except (meshes.MeshError, OSError) as why:
            d.notes.append(f"{body}: {why}; a box stands in")
            made = meshes.stand_in(4 * d.unit)
            shade = glass(DARK, 0.4)
        shade = shade if s.colour or shade[3] < 1 else (0.80, 0.81, 0.83, 1.0)
    elif kind.triangles:
        try:
            made = creased(*loaded(kind.triangles)(s, size))
        except CatenaError as why:
            d.notes.append(f"{body}: {why}; it is not drawn")
            return
    elif s.kind in GLYPHS:
        made = GLYPHS[s.kind].solid(size, d.unit)
    elif kind.hull is not None and len(kind.hull(size)) > 3:
        made = hull(kind.hull(size))
    else:
        return
    d.put(body, key, lambda: made, X, PLANE if s.kind == "plane" else shade, "bodies", body)  # type: ignore[arg-type]  # four numbers
    mark = GLYPHS[s.kind].mark(s, size) if s.kind in GLYPHS else None
    if mark is not None:
        d.put(
            body,
            f"{key} mark",
            lambda: mark,
            X,
            (*(0.62 * x for x in shade[:3]), shade[3]),  # type: ignore[arg-type]
            "bodies",
            body,
        )  # four numbers


def _sectors(g: Geometry, odd: bool) -> Geometry:
    """Return the triangles of a solid in every other of six equal sectors about z. odd: whether in
    the second, fourth and sixth.
    """
    x, y, _ = g.points[g.faces].mean(axis=1).T
    sector = np.floor(np.arctan2(y, x) % (2 * np.pi) / (np.pi / 3)).astype(int) % 2 == 1
    return Geometry(g.points, g.normals, g.faces[sector == odd])


def _disc(size: Sequence[float], unit: float) -> Geometry:
    """Return a cylinder; for a flat one, only the sectors that its darker mark does not cover."""
    made = cylinder(size[0], size[1], 48)
    return _sectors(made, False) if size[1] <= size[0] else made


def _on_disc(s: Shape, size: Sequence[float]) -> Geometry | None:
    """Return the coloured sectors on a flat cylinder, which make its rotation visible; None for
    others.
    """
    return _sectors(cylinder(size[0], size[1], 48), True) if size[1] <= size[0] else None


def _on_ball(s: Shape, size: Sequence[float]) -> Geometry | None:
    """Return the coloured sectors on a sphere that can collide, which make its rotation visible;
    None for others.
    """
    return _sectors(ball(1.006 * size[0], 18), True) if s.collides else None


for _glyph in (
    ShapeGlyph("box", lambda size, u: box(*size)),
    ShapeGlyph("sphere", lambda size, u: ball(size[0], 18), _on_ball),
    ShapeGlyph("capsule", lambda size, u: capsule(size[0], size[1], 16)),
    ShapeGlyph("cylinder", _disc, _on_disc),
    ShapeGlyph("ellipsoid", lambda size, u: ball(1.0, 18).moved(scaled(*size))),
    ShapeGlyph(
        "plane",
        lambda size, u: box(120 * u, 120 * u, 0.2 * u).moved(
            np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, -0.12 * u], [0, 0, 0, 1.0]])
        ),
    ),
):
    register(_glyph)
