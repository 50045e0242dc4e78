"""Marks: frames, centres of mass, inertia ellipsoids and contact points of a mechanism, each in a
layer of its own.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ... import collision
from ...errors import CatenaError
from ...model import GROUND, Body
from .drawing import Drawing, along, glass, scaled
from .geometry import arrow, ball, box, half_ball

if TYPE_CHECKING:
    from ...collision import ContactPoint

AXES = (
    ((1.0, 0.0, 0.0), (0.84, 0.22, 0.18, 1.0)),
    ((0.0, 1.0, 0.0), (0.18, 0.62, 0.25, 1.0)),
    ((0.0, 0.0, 1.0), (0.16, 0.40, 0.86, 1.0)),
)


def draw_marks(d: Drawing) -> None:
    """Draw all marks."""
    m = d.mechanism
    for b in m.bodies:
        _triad(d, b.name, np.eye(4), b.name)
        _mass(d, b)
    for f in m.frames:
        _triad(d, f.body, d.matrix(f.pose), f.name)
    try:
        points = collision.contact_points(m) if m.contacts else []
    except CatenaError:
        points = []  # validation reports what is wrong with them
    for p in points:
        _contact(d, p)


def _contact(d: Drawing, p: ContactPoint) -> None:
    """Draw the sphere of a contact point, unless the body has that sphere, or a capsule with its
    radius, among its drawn shapes; and the ground plane that it touches, unless that is drawn.
    """
    X = np.eye(4)
    radius = d.number(p.radius)
    m = d.mechanism
    X[:3, 3] = [d.number(x) for x in p.centre]
    own = [s for s in m.body(p.body).shapes if s.drawn] if p.body in m._bodies else []
    sphere = p.shape is None or p.shape.kind == "sphere"
    if sphere and not any(
        s.kind in ("sphere", "capsule") and np.isclose(d.number(s.size[0]), radius) for s in own
    ):
        size = radius or 0.55 * d.unit
        d.put(
            p.body,
            f"contact {size:.6g}",
            partial(ball, size),
            X,
            glass((0.85, 0.33, 0.10), 0.6),
            "contacts",
            p.name,
        )
    Y = d.matrix(p.pose)
    there = [q for q in d.parts if q.geometry == "contact plane" and np.allclose(q.pose, Y)]
    if (
        p.surface == "plane"
        and p.other == GROUND
        and not there
        and not any(s.drawn and s.kind == "plane" for s in m.ground)
    ):
        wide = 300 * d.unit
        d.put(
            GROUND,
            "contact plane",
            lambda: box(wide, wide, 0.1 * d.unit).moved(_below(0.05 * d.unit)),
            Y,
            glass((0.55, 0.60, 0.66), 0.3),
            "contacts",
            p.name,
        )


def _below(z: float) -> np.ndarray:
    X = np.eye(4)
    X[2, 3] = -z
    return X


def _triad(d: Drawing, body: str, X: np.ndarray, name: str) -> None:
    for axis, colour in AXES:
        d.put(
            body,
            "triad",
            lambda: arrow(5 * d.unit, 0.2 * d.unit),
            X @ along(axis),
            colour,
            "frames",
            name,
        )


def _mass(d: Drawing, b: Body) -> None:
    mass = d.number(b.mass)
    if not mass > 0:
        return
    X = np.eye(4)
    X[:3, 3] = [d.number(x) for x in b.com]
    for odd, colour in ((True, (0.10, 0.10, 0.12, 1.0)), (False, (0.98, 0.80, 0.15, 1.0))):
        d.put(
            b.name,
            f"mass {odd}",
            partial(half_ball, 1.35 * d.unit, odd),
            X,
            colour,
            "masses",
            b.name,
        )
    xx, xy, xz, yy, yz, zz = (d.number(x) for x in b.inertia)
    moments, R = np.linalg.eigh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    # of the half axes of a solid ellipsoid of this mass
    squares = np.maximum(2.5 / mass * (moments.sum() - 2 * moments), 0.0)
    half = np.maximum(np.sqrt(squares), 0.15 * d.unit)
    if np.linalg.det(R) < 0:
        R[:, 0] = -R[:, 0]
    Y = X.copy()
    Y[:3, :3] = R
    d.put(
        b.name,
        "ellipsoid",
        lambda: ball(1.0, 16),
        Y @ scaled(*half),
        (0.45, 0.30, 0.75, 0.28),
        "inertia",
        b.name,
    )
