"""Joints as they are drawn: by a registry of glyphs for elementary motions. A joint is drawn as the
sum of those of its degrees of freedom.

    turn   a pin along its axis
    slide  a block on a rail
    screw  a threaded spindle
    ball   a ball in a socket
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...model import CATALOGUE, GROUND, Freedom, Joint, Motion
from ...model import SHAPE_KINDS as KINDS
from ...registry import Registry
from .drawing import DARK, GROUND_COLOUR, STEEL, Drawing, along
from .geometry import arrow, ball, box, cylinder, joined, lathe, pedestal, pin

Array = np.ndarray
Draw = Callable[[Drawing, Joint, Freedom, int], None]


@dataclass(frozen=True)
class MotionGlyph:
    """How an elementary motion is drawn: draw(drawing, joint, freedom, index of the degree of
    freedom in the joint).
    """

    name: str
    draw: Draw


GLYPHS: Registry[MotionGlyph] = Registry("motion glyph")
register = GLYPHS.register


def draw_joints(d: Drawing) -> None:
    """Draw every joint that its kind says is drawn, its axes, and pedestals below those on the
    ground.
    """
    m = d.mechanism
    inner = {j.name for j in m.elastic}
    # their joints are seen already
    meshed = {
        b.name for b in m.bodies if any(s.drawn and KINDS[s.kind].from_file for s in b.shapes)
    }
    for j in (*m.joints, *m.loops):
        if j.name in inner or j.deflection is not None or not CATALOGUE[j.kind].drawn:
            continue
        for k, freedom in enumerate(j.freedoms):
            glyph = GLYPHS.get(freedom.motion.name.lower())
            if glyph is not None and not {j.parent, j.child} <= meshed:
                glyph.draw(d, j, freedom, k)
            _axis(d, j, freedom)
    for at in d.bones.ground:
        if not _buried(d, at):
            X = along(d.up, at - 1.0 * d.unit * d.up)
            d.put(
                GROUND,
                "pedestal",
                lambda: pedestal(1.9 * d.unit),
                X,
                GROUND_COLOUR,
                "joints",
                "ground",
            )


def _buried(d: Drawing, at: Array) -> bool:
    """Return whether only sliding joints begin at this point of the ground, where their rail is
    drawn instead of a pedestal.
    """
    slides = [
        j
        for j in (*d.mechanism.joints, *d.mechanism.loops)
        if any(f.motion == Motion.SLIDE for f in j.freedoms)
    ]
    spots = [d.matrix(j.placement)[:3, 3] for j in slides if j.parent == GROUND]
    others = [j for j in (*d.mechanism.joints, *d.mechanism.loops) if j not in slides]
    turning = [d.matrix(j.placement)[:3, 3] for j in others if j.parent == GROUND] + [
        d.matrix(j.offset)[:3, 3] for j in others if j.child == GROUND
    ]
    near = lambda points: any(np.linalg.norm(at - p) < 1e-9 for p in points)  # noqa: E731
    return near(spots) and not near(turning)


def _axis(d: Drawing, j: Joint, f: Freedom) -> None:
    if f.motion == Motion.BALL:
        return
    u = d.unit
    X = d.matrix(j.placement) @ along(f.axis)
    d.put(
        j.parent, "axis", lambda: arrow(9 * u, 0.28 * u), X, (0.82, 0.20, 0.36, 1.0), "axes", j.name
    )


def _turn(d: Drawing, j: Joint, f: Freedom, k: int) -> None:
    u = d.unit
    long = 3.4 if k == 0 else 2.6
    d.put(
        j.parent if j.kind == "revolute" else j.child,
        f"pin {k}",
        lambda: pin(1.12 * u, long * u),
        _place(d, j, j.kind == "revolute") @ along(f.axis),
        DARK,
        "joints",
        j.name,
    )


def _slide(d: Drawing, j: Joint, f: Freedom, k: int) -> None:
    """Draw a block on the child, unless the child has solids of its own, and a rail on the parent
    along its range.
    """
    u = d.unit
    if not _solid(d, j.child):
        frame = joined(
            [
                box(3.4 * u, 0.8 * u, 4.4 * u).moved(_shifted(0, 1.5 * u)),
                box(3.4 * u, 0.8 * u, 4.4 * u).moved(_shifted(0, -1.5 * u)),
                box(0.8 * u, 2.2 * u, 4.4 * u).moved(_shifted(1.3 * u, 0)),
                box(0.8 * u, 2.2 * u, 4.4 * u).moved(_shifted(-1.3 * u, 0)),
            ]
        )
        d.put(
            j.child,
            "block",
            lambda: frame,
            _place(d, j, False) @ along(f.axis),
            DARK,
            "joints",
            j.name,
        )
    low, high = _reach(d, j, k)
    X = _place(d, j, True) @ along(f.axis)
    for key, n in ((f"rail {j.name} {k}", low), (f"rail+ {j.name} {k}", high)):
        if abs(n) > 1e-12:
            d.put(
                j.parent,
                key,
                partial(cylinder, 0.5 * u, abs(n)),
                X @ _shifted(0, 0, n / 2),
                STEEL,
                "joints",
                j.name,
            )


def _reach(d: Drawing, j: Joint, k: int) -> tuple[float, float]:
    """Return how far a rail extends on both sides, m: to the limits of the joint; without limits a
    few rod radii, or zero where both bodies have solids. A joint without both limits also gets a
    span that follows the child.
    """
    lower, upper = (j.lower[k], j.upper[k]) if j.sound and len(j.lower) > k else (-np.inf, np.inf)
    free = 0.0 if _solid(d, j.parent) and _solid(d, j.child) else 8 * d.unit
    if not (np.isfinite(lower) and np.isfinite(upper)):
        ends = (j.parent, _place(d, j, True)[:3, 3], j.child, _place(d, j, False)[:3, 3])
        d.stretch(
            ends,
            "guide",
            lambda: cylinder(1.0, 1.0, 12).moved(_shifted(0, 0, 0.5)),
            0.5 * d.unit,
            STEEL,
            "joints",
            j.name,
        )
    return (max(lower, -400 * d.unit) if np.isfinite(lower) else -free), (
        min(upper, 400 * d.unit) if np.isfinite(upper) else free
    )


def _solid(d: Drawing, body: str) -> bool:
    """Whether a body has solids of its own."""
    return any(limb.body == body and limb.solids for limb in d.bones.limbs)


def _screw(d: Drawing, j: Joint, f: Freedom, k: int) -> None:
    u = d.unit
    threads = [(0.55 * u if i % 2 else 0.8 * u, (i - 12) * 0.5 * u) for i in range(25)]
    spindle = lathe([(0, -6.1 * u), *threads, (0, 6.1 * u)], 16)
    d.put(
        j.parent,
        "spindle",
        lambda: spindle,
        _place(d, j, True) @ along(f.axis),
        STEEL,
        "joints",
        j.name,
    )
    d.put(
        j.child,
        "nut",
        lambda: cylinder(1.5 * u, 2.2 * u, 6),
        _place(d, j, False) @ along(f.axis),
        DARK,
        "joints",
        j.name,
    )


def _ball(d: Drawing, j: Joint, f: Freedom, k: int) -> None:
    d.put(
        j.child,
        "ball joint",
        lambda: ball(1.45 * d.unit, 14),
        _place(d, j, False),
        DARK,
        "joints",
        j.name,
    )


def _place(d: Drawing, j: Joint, parent: bool) -> Array:
    return d.matrix(j.placement if parent else j.offset)


def _shifted(x: float, y: float, z: float = 0.0) -> Array:
    X = np.eye(4)
    X[:3, 3] = x, y, z
    return X


for _name, _draw in (("turn", _turn), ("slide", _slide), ("screw", _screw), ("ball", _ball)):
    register(MotionGlyph(_name, _draw))
