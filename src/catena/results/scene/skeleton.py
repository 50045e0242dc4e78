"""Skeleton: a mechanism as lines and solids, found from its joints, frames and shapes.

A body is lines from the joint that carries it to the joints it carries; the last body of a chain
continues to its frames, or to the far end of its shapes, or to its centre of mass. Shapes are
solids. A joint that slides is a guide between two bodies. The joints inside a flexible body are not
drawn: its pieces make one bent line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...machine import Machine
from ...model import CATALOGUE, GROUND, Body, Joint, Mechanism, Motion, Pose, Shape, value_of
from ...model import SHAPE_KINDS as KINDS
from .curves import curved, pieces
from .placement import placement
from .wheels import wheels

Array = np.ndarray
ROD_RADIUS_RATIO = 0.045  # radius of a rod, relative to the typical length of the mechanism


@dataclass(frozen=True)
class Solid:
    """A shape as the corners of its hull (n, 3), or a ball: one corner and a radius."""

    corners: Array
    radius: float = 0.0
    colour: tuple[float, ...] = ()


@dataclass(frozen=True)
class Limb:
    """The drawing of a body in its own frame: lines (n, 2, 3), places of joints (k, 3), solids."""

    body: str
    lines: Array
    pins: Array
    solids: tuple[Solid, ...]


@dataclass(frozen=True)
class Guide:
    """A thin line between a point of one body and a point of another."""

    start: str
    at: Array
    end: str
    to: Array


@dataclass(frozen=True)
class Skeleton:
    """The limbs, the guides, and the places of the joints on the ground (k, 3)."""

    limbs: tuple[Limb, ...]
    guides: tuple[Guide, ...]
    ground: Array


def skeleton(m: Mechanism) -> Skeleton:
    """Return the skeleton of a mechanism at its own parameter values."""
    joints = (*m.joints, *m.loops)
    carriers = {j.child: j for j in reversed(m.joints)}
    inner = {j.name for j in m.elastic}
    ends = _ends(m, joints)
    limbs = tuple(
        _limb(m, body, carriers[body.name], ends.get(body.name, []), inner) for body in m.bodies
    )
    limbs = tuple(_wheeled(m, limbs))
    none = np.zeros((0, 3))
    limbs += tuple(
        Limb(name, np.array([[[0, 0, 0], [length, 0, 0]]]), none, ())
        for name, length in pieces(m).items()
    )
    seen = [j for j in joints if j.name not in inner and CATALOGUE[j.kind].drawn]
    sliding = [j for j in seen if any(f.motion in (Motion.SLIDE, Motion.SCREW) for f in j.freedoms)]
    guides = tuple(Guide(j.parent, _at(m, j.placement), j.child, _at(m, j.offset)) for j in sliding)
    ground = [_at(m, j.placement) for j in joints if j.parent == GROUND and CATALOGUE[j.kind].drawn]
    ground += [_at(m, j.offset) for j in m.loops if j.child == GROUND]
    return Skeleton(limbs, guides, _unique(ground))


def _wheeled(m: Mechanism, limbs: tuple[Limb, ...]) -> Iterator[Limb]:
    """Return the limbs with the outlines of the gears, pulleys and cams added."""
    found: dict[str, list[Solid]] = {}
    for w in wheels(m):
        angle = np.linspace(0, 2 * np.pi, len(w.outline), endpoint=False)
        rim = np.stack([w.outline * np.cos(angle), w.outline * np.sin(angle), 0 * angle], axis=1)
        found.setdefault(w.body, []).append(Solid(moved(w.pose, rim)))
    if GROUND in found:  # a ring that is part of the housing
        yield Limb(GROUND, np.zeros((0, 2, 3)), np.zeros((0, 3)), tuple(found[GROUND]))
    for limb in limbs:
        yield (
            replace(limb, solids=(*limb.solids, *found[limb.body])) if limb.body in found else limb
        )


def tips(m: Mechanism) -> list[tuple[str, Array]]:
    """Return (body, point) of the far ends: the named frames, else the last point of each last
    body's lines.
    """
    if m.frames:
        return [(f.body, _at(m, f.pose)) for f in m.frames]
    carrying = {j.parent for j in (*m.joints, *m.loops)} | {j.child for j in m.loops}
    ends = [limb for limb in skeleton(m).limbs if limb.body not in carrying]
    return [(limb.body, limb.lines[-1, 1] if len(limb.lines) else np.zeros(3)) for limb in ends]


def tip_names(m: Mechanism) -> list[str]:
    """Return the names of the tips: those of the frames, else of the bodies."""
    return [f.name for f in m.frames] or [body for body, _ in tips(m)]


def placed(machine: Machine, q: Array, parameters: Array | None = None) -> dict[str, Array]:
    """Return {body: (..., 4, 4)}: the poses of all bodies, of the ground and of the pieces of modal
    flexible bodies.
    """
    return bodies_at(machine.mechanism, np.asarray(q, float), parameters)


def bodies_at(m: Mechanism, q: Array, parameters: Array | None = None) -> dict[str, Array]:
    """Return the poses of `placed` for a mechanism that is not compiled."""
    found = placement(m, parameters).at(q)
    return found | curved(m, q, found)


def moved(X: Array, points: Array) -> Array:
    """Return points (n..., 3) of a body at poses X (..., 4, 4) in the ground, (..., n..., 3)."""
    flat = points.reshape(-1, 3)
    world = np.einsum("...ij,nj->...ni", X[..., :3, :3], flat) + X[..., None, :3, 3]
    return world.reshape(*X.shape[:-2], *points.shape)


# --- one body
def _ends(m: Mechanism, joints: tuple[Joint, ...]) -> dict[str, list[tuple[str, Array]]]:
    """Return {body: (joint, place)} of the joints that lead from each body to its children."""
    found: dict[str, list[tuple[str, Array]]] = {}
    for j in joints:
        if j.deflection is None:
            found.setdefault(j.parent, []).append((j.name, _at(m, j.placement)))
    for j in m.loops:
        found.setdefault(j.child, []).append((j.name, _at(m, j.offset)))
    return found


def _limb(
    m: Mechanism, body: Body, carried: Joint, carries: list[tuple[str, Array]], inner: set[str]
) -> Limb:
    start = _at(m, carried.offset)
    ends = [place for _, place in carries]
    pins = (
        [start]
        if carried.nv and CATALOGUE[carried.kind].drawn and carried.name not in inner
        else []
    )
    pins += [place for name, place in carries if name not in inner]
    shown = [s for s in body.shapes if s.drawn]
    drawn = [_line(m, s) for s in shown if s.kind == "line"]
    # its curve is drawn instead
    bent = any(flexed.modal and flexed.body == body.name for flexed in m.beams)
    lines = drawn + [
        (start, end) for end in ends or ([] if drawn or bent else _far(m, body, start))
    ]
    kept = [pair for pair in lines if np.linalg.norm(pair[1] - pair[0]) > 1e-9]
    solids = tuple(x for s in shown if (x := _solid(m, s)) is not None)
    return Limb(body.name, _unique_lines(kept), _unique(pins), solids)


def _far(m: Mechanism, body: Body, start: Array) -> list[Array]:
    """Return the far end of a body that carries no other body, where its line ends."""
    frames = [_at(m, f.pose) for f in m.frames if f.body == body.name]
    away = [p for p in frames if np.linalg.norm(p - start) > 1e-9]
    if away:
        return away
    corners = [
        solid.corners
        for s in body.shapes
        if s.drawn and (solid := _solid(m, s)) is not None and not solid.radius
    ]
    if corners:
        middle = np.concatenate(corners).mean(axis=0)
        return [start + 2 * (middle - start)]
    com = np.array([float(value_of(x, m.parameters)) for x in body.com])
    return [com]


# --- shapes
def _line(m: Mechanism, s: Shape) -> tuple[Array, Array]:
    X = _matrix(m, s.pose)
    return X[:3, 3], X[:3, :3] @ _size(m, s) + X[:3, 3]


def _solid(m: Mechanism, s: Shape) -> Solid | None:
    kind = KINDS[s.kind]
    if kind.hull is None:
        return None  # a line is a line already; a mesh is in a file of its own
    size = _size(m, s)
    return Solid(
        moved(_matrix(m, s.pose), kind.hull(size)), float(size[0]) if kind.ball else 0.0, s.colour
    )


# --- numbers
def _size(m: Mechanism, s: Shape) -> Array:
    return np.array([float(value_of(x, m.parameters)) for x in s.size])


def _at(m: Mechanism, X: Pose) -> Array:
    return _matrix(m, X)[:3, 3]


def _matrix(m: Mechanism, X: Pose) -> Array:
    made = np.eye(4)
    made[:3, :3] = [[float(value_of(x, m.parameters)) for x in row] for row in X.rotation]
    made[:3, 3] = [float(value_of(x, m.parameters)) for x in X.position]
    return made


def _unique(points: list[Array]) -> Array:
    kept: list[Array] = []
    for p in points:
        if not any(np.linalg.norm(p - other) < 1e-9 for other in kept):
            kept.append(p)
    return np.array(kept).reshape(-1, 3)


def _unique_lines(lines: list[tuple[Array, Array]]) -> Array:
    kept: list[Array] = []
    for line in map(np.array, lines):
        if not any(
            np.abs(line - other).max() < 1e-9 or np.abs(line[::-1] - other).max() < 1e-9
            for other in kept
        ):
            kept.append(line)
    return np.array(kept).reshape(-1, 2, 3)


def typical_length(m: Mechanism, bones: Skeleton | None = None) -> float:
    """Return a typical length of a mechanism, m: the median length of its lines, or of its solids;
    0.44 where it has none.
    """
    bones = bones or skeleton(m)
    lengths = [float(np.linalg.norm(b - a)) for limb in bones.limbs for a, b in limb.lines]
    spread = [
        np.ptp(points, axis=0).max()
        for limb in bones.limbs
        for s in limb.solids
        if len(points := s.corners) > 1
    ]
    balls = [2 * s.radius for limb in bones.limbs for s in limb.solids if s.radius]
    ground = float(np.ptp(bones.ground, axis=0).max()) if len(bones.ground) > 1 else 0.0
    found = [x for x in (*lengths, *spread, *balls, ground) if x > 1e-9]
    if not found:
        return 0.02 / ROD_RADIUS_RATIO
    typical = (
        float(np.median(found))
        if not lengths
        else float(np.median([x for x in lengths if x > 1e-9] or found))
    )
    return max(typical, 0.12 * max(found))
