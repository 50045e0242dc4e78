"""Loads as they are drawn: by a registry of glyphs for kinds of loads and constraints. A kind
without a glyph is not drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ...model import Joint, Motion
from ...registry import Registry
from .drawing import DARK, MOTOR, SPRING, STEEL, Drawing, along, glass
from .elements import draw_belt, draw_rack, draw_wheels
from .geometry import arrow, ball, box, coil, cylinder, joined, spiral

Array = np.ndarray
WATER = glass((0.25, 0.60, 0.90), 0.25)


@dataclass(frozen=True)
class LoadGlyph:
    """How a load is drawn: draw(drawing, load). name: of the kind of load, as in files."""

    name: str
    draw: Callable[[Drawing, Any], None]


GLYPHS: Registry[LoadGlyph] = Registry("load glyph")
register = GLYPHS.register


def draw_loads(d: Drawing, motors: tuple[str, ...] = ()) -> None:
    """Draw every load and constraint that has a glyph, and a motor at each driven coordinate."""
    for load in (*d.mechanism.loads, *d.mechanism.constraints):
        glyph = GLYPHS.get(load.kind)
        if glyph is not None:
            glyph.draw(d, load)
    draw_wheels(d)
    for name in motors:
        draw_motor(d, name)


def draw_motor(d: Drawing, coordinate: str) -> None:
    """Draw a motor at a driven coordinate: a can around the axis of a turn, along the axis of a
    slide.
    """
    found = _of(d, coordinate)
    if found is None:
        return
    j, k = found
    f = j.freedoms[min(k, len(j.freedoms) - 1)]
    u = d.unit
    can = joined(
        [
            cylinder(2.1 * u, 2.2 * u, 28).moved(_up(2.6 * u)),
            cylinder(1.5 * u, 0.5 * u, 28).moved(_up(3.9 * u)),
        ]
    )
    d.put(
        j.parent,
        "motor",
        lambda: can,
        d.matrix(j.placement) @ along(f.axis),
        MOTOR,
        "loads",
        coordinate,
    )


def _of(d: Drawing, coordinate: str) -> tuple[Joint, int] | None:
    """Return the joint of a coordinate or speed, and the index of the degree of freedom in it."""
    for j in d.mechanism.joints:
        for names in (j.coordinate_names, j.speed_names):
            if coordinate in names or coordinate == j.name:
                return (
                    (j, names.index(coordinate) if coordinate in names else 0)
                    if j.freedoms
                    else None
                )
    return None


def _between(d: Drawing, start: str, end: str) -> tuple[str, Array, str, Array]:
    (a, X), (b, Y) = d.frame(start), d.frame(end)
    return a, X[:3, 3], b, Y[:3, 3]


def _spring(d: Drawing, load: Any) -> None:
    ends = _between(d, load.start, load.end)
    u = d.unit
    if d.number(load.stiffness) or not d.number(load.damping):
        d.stretch(ends, "coil", coil, 1.1 * u, SPRING, "loads", load.name)
    if d.number(load.damping):
        d.stretch(
            ends,
            "thin",
            lambda: cylinder(1.0, 1.0, 10).moved(_up(0.5)),
            0.22 * u,
            STEEL,
            "loads",
            load.name,
        )
        d.stretch(
            ends,
            "damper",
            lambda: cylinder(1.0, 0.45, 16).moved(_up(0.4)),
            0.62 * u,
            DARK,
            "loads",
            load.name,
        )


def _cable(d: Drawing, load: Any) -> None:
    for a, b in pairwise(load.frames):
        d.stretch(
            _between(d, a, b),
            "thin",
            lambda: cylinder(1.0, 1.0, 10).moved(_up(0.5)),
            0.2 * d.unit,
            DARK,
            "loads",
            load.name,
        )
    for name in load.frames[1:-1]:
        body, X = d.frame(name)
        d.put(body, "eye", lambda: ball(0.6 * d.unit), X, STEEL, "loads", load.name)


def _bushing(d: Drawing, load: Any) -> None:
    body, X = d.frame(load.start)
    d.put(body, "bushing", lambda: ball(1.8 * d.unit), X, glass(SPRING, 0.45), "loads", load.name)


def _joint_spring(d: Drawing, load: Any) -> None:
    _spring_of(d, load.coordinate, load.name)


def _coordinate_spring(d: Drawing, load: Any) -> None:
    for coordinate in load.coordinates:
        _spring_of(d, coordinate, load.name)


def _spring_of(d: Drawing, coordinate: str, name: str) -> None:
    found = _of(d, coordinate)
    if found is None:
        return
    j, k = found
    f = j.freedoms[min(k, len(j.freedoms) - 1)]
    if f.motion == Motion.SLIDE:
        ends = (j.parent, d.matrix(j.placement)[:3, 3], j.child, d.matrix(j.offset)[:3, 3])
        d.stretch(ends, "coil", coil, 1.1 * d.unit, SPRING, "loads", name)
    else:
        X = d.matrix(j.placement) @ along(f.axis) @ _up(1.9 * d.unit)
        d.put(j.parent, "spiral", lambda: spiral(2.6 * d.unit), X, SPRING, "loads", name)


def _tension(d: Drawing, load: Any) -> None:
    """Draw a muscle or cylinder as a thin rod along its path, thicker in the middle of each
    part.
    """
    for a, b in pairwise(load.frames):
        d.stretch(
            _between(d, a, b),
            "thin",
            lambda: cylinder(1.0, 1.0, 10).moved(_up(0.5)),
            0.3 * d.unit,
            STEEL,
            "loads",
            load.name,
        )
        d.stretch(
            _between(d, a, b),
            "barrel",
            lambda: cylinder(1.0, 0.5, 18).moved(_up(0.35)),
            0.8 * d.unit,
            MOTOR,
            "loads",
            load.name,
        )


def _clutch(d: Drawing, load: Any) -> None:
    """Draw two lined discs about the axis of each side."""
    u = d.unit
    for coordinate in (load.coordinate, *load.other):
        if found := _of(d, coordinate):
            j = found[0]
            f = found[0].freedoms[min(found[1], len(found[0].freedoms) - 1)]
            X = d.matrix(j.placement) @ along(f.axis)
            d.put(
                j.parent,
                "plate",
                lambda: cylinder(2.6 * u, 0.4 * u, 32),
                X @ _up(2.0 * u),
                DARK,
                "loads",
                load.name,
            )
            d.put(
                j.parent,
                "lining",
                lambda: cylinder(2.4 * u, 0.4 * u, 32),
                X @ _up(2.5 * u),
                SPRING,
                "loads",
                load.name,
            )


def _screw(d: Drawing, load: Any) -> None:
    """Draw a thread between spindle and nut."""
    ends = _between(d, load.spindle, load.nut)
    d.stretch(
        ends,
        "thin",
        lambda: cylinder(1.0, 1.0, 10).moved(_up(0.5)),
        0.7 * d.unit,
        STEEL,
        "loads",
        load.name,
    )
    d.stretch(ends, "thread", lambda: coil(18), 0.75 * d.unit, DARK, "loads", load.name)


def _coupling(d: Drawing, load: Any) -> None:
    """Draw a thin rod between the joints that a constraint couples."""
    places = [
        (j.parent, d.matrix(j.placement)[:3, 3])
        for name in load.coordinates
        if (found := _of(d, name))
        for j in found[:1]
    ]
    for (a, x), (b, y) in pairwise(places):
        d.stretch(
            (a, x, b, y),
            "thin",
            lambda: cylinder(1.0, 1.0, 10).moved(_up(0.5)),
            0.2 * d.unit,
            MOTOR,
            "loads",
            load.name,
        )


def _fluid(d: Drawing, load: Any) -> None:
    body, X = d.frame(load.frame)
    sides = [max(d.number(x), 0.1 * d.unit) for x in load.size]
    d.put(body, f"fluid {sides}", lambda: box(*sides), X, WATER, "loads", load.name)


def _drag(d: Drawing, load: Any) -> None:
    body, X = d.frame(load.frame)
    d.put(body, "drag", lambda: ball(1.6 * d.unit), X, WATER, "loads", load.name)


def _force(d: Drawing, load: Any) -> None:
    """Draw an arrow along a constant force or torque; a force that varies is drawn along its first
    axis that is not zero.
    """
    body, X = d.frame(load.frame)
    for values, colour in (
        (load.force, (0.80, 0.16, 0.16, 1.0)),
        (load.torque, (0.50, 0.20, 0.65, 1.0)),
    ):
        direction = [
            (
                float(x)
                if isinstance(x, (int, float))
                else 1.0
                if str(x).strip() not in ("0", "0.0")
                else 0.0
            )
            for x in values
        ]
        if any(direction):
            d.put(
                body,
                "force",
                lambda: arrow(8 * d.unit, 0.42 * d.unit),
                X @ along(direction),
                colour,
                "loads",
                load.name,
            )


def _compliant(d: Drawing, load: Any) -> None:
    body, X = d.frame(load.sphere)
    radius = d.number(load.radius) or 0.6 * d.unit
    d.put(
        body,
        f"sphere {radius:.6g}",
        lambda: ball(radius),
        X,
        glass(STEEL, 0.5),
        "contacts",
        load.name,
    )


def _up(z: float) -> Array:
    X = np.eye(4)
    X[2, 3] = z
    return X


for _kind, _draw in {
    "spring": _spring,
    "cable": _cable,
    "bushing": _bushing,
    "joint_spring": _joint_spring,
    "force": _force,
    "coordinate_spring": _coordinate_spring,
    "tension": _tension,
    "clutch": _clutch,
    "freewheel": _clutch,
    "screw": _screw,
    "coupling": _coupling,
    "fluid": _fluid,
    "drag": _drag,
    **dict.fromkeys(("joint_force", "drive"), lambda d, load: draw_motor(d, load.coordinate)),
    "compliant_contact": _compliant,
    "belt": draw_belt,
    "rack_and_pinion": draw_rack,
}.items():
    register(LoadGlyph(_kind, _draw))
