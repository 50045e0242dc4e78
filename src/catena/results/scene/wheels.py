"""Wheels: gears, pulleys, pinions and cams of the constraints of a mechanism, as they sit on their
bodies, from the constraints alone.

Teeth and radii of a gear pair say a ratio; what is drawn touches, so the pitch radii come from the
distance of the axes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...kernels import BALL, layout
from ...model import (
    GROUND,
    Joint,
    Mechanism,
    closed_spline,
    evaluate,
    parse,
    piecewise,
    travel,
    value_of,
)
from .placement import placement

Array = np.ndarray
TURN = 2 * np.pi


@dataclass(frozen=True)
class Wheel:
    """A disc on a body. pose: X_BW, with its axis along z. outline (n,): radii at equal angles from
    x, over one turn. teeth: their number, 0 for none. ring: whether its teeth are inside. name: of
    the constraint.
    """

    body: str
    pose: Array
    outline: Array
    teeth: int
    ring: bool
    name: str

    @property
    def radius(self) -> float:
        """The largest radius, m."""
        return float(self.outline.max())


class Axes:
    """The axes of the bodies of a mechanism with all coordinates zero."""

    def __init__(self, m: Mechanism):
        laid_out = layout(m)
        q = np.zeros(laid_out.nq)
        q[[c.qi for c in laid_out.coordinates if c.motion == BALL]] = 1.0
        self.mechanism, self.at = m, placement(m).at(q)
        self.carried = {j.child: j for j in m.joints}

    def of(
        self, body: str, carrier: str | None = None, sort: str = "turning"
    ) -> tuple[str, Array, Array, Array]:
        """Return the body of a frame, its axis in it as a point and a direction, and X_WB.

        carrier: of the wheel, or of the sliding body (`sort`); the axis is that of the joints
        between the two. (A ring that is fixed has no moving joint, and the ground none at all.)
        Without a carrier, the axis of the body's own joint.
        """
        m = self.mechanism
        name = m.frame(body).body
        j = self.carried[name] if carrier is None else travel(m, body, carrier, sort).terms[0][1]
        X = np.linalg.inv(self.at[name]) @ self.at[j.child] @ matrix(m, j.offset)
        axis = np.array(j.freedoms[0].axis if j.freedoms else (0, 0, 1), float)
        return name, X[:3, 3], X[:3, :3] @ axis, self.at[name]

    def line(
        self, body: str, carrier: str | None = None, sort: str = "turning"
    ) -> tuple[Array, Array]:
        """Return the axis in the ground: a point and a direction."""
        _, p, n, X = self.of(body, carrier, sort)
        return X[:3, :3] @ p + X[:3, 3], X[:3, :3] @ n

    def distance(self, first: str, second: str, carrier: str | None = None) -> float:
        """Return the distance between two axes, m."""
        (p, n), (o, _) = self.line(first, carrier), self.line(second, carrier)
        return float(np.linalg.norm(np.cross(p - o, n)))


def wheels(m: Mechanism) -> list[Wheel]:
    """Return all wheels of a mechanism."""
    if not any(x.kind in MAKERS for x in m.constraints):
        return []
    axes = Axes(m)
    found = [w for x in m.constraints if x.kind in MAKERS for w in MAKERS[x.kind](axes, x)]
    # a planet meshes twice, and is one wheel
    return list({(w.body, round(w.radius, 9), w.ring): w for w in reversed(found)}.values())[::-1]


def matrix(m: Mechanism, X: Any) -> Array:
    """Return a pose as a matrix of numbers."""
    made = np.eye(4)
    made[:3, :3] = [[float(value_of(x, m.parameters)) for x in row] for row in X.rotation]
    made[:3, 3] = [float(value_of(x, m.parameters)) for x in X.position]
    return made


def facing(n: Array, x: Array, at: Array) -> Array:
    """Return a pose whose z axis is along n, and whose x axis is as close as possible to x."""
    X, z = np.eye(4), n / np.linalg.norm(n)
    side = x - z * (x @ z)
    if np.linalg.norm(side) < 1e-12:
        side = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    X[:3, 0] = side / np.linalg.norm(side)
    X[:3, 1], X[:3, 2], X[:3, 3] = np.cross(z, X[:3, 0]), z, at
    return X


def _round(
    axes: Axes, body: str, x: Any, radius: float, teeth: int = 0, ring: bool = False
) -> Wheel:
    owner, p, n, _ = axes.of(body, x.carrier)
    return Wheel(
        owner, facing(n, np.array([1.0, 0.0, 0.0]), p), np.full(48, radius), teeth, ring, x.name
    )


def _gears(axes: Axes, x: Any) -> Iterator[Wheel]:
    m = axes.mechanism
    z = [float(value_of(t, m.parameters)) for t in x.teeth]
    apart = axes.distance(x.first, x.second, x.carrier)
    total = abs(z[1] - z[0]) if x.mesh == "internal" else z[0] + z[1]
    pitch = apart / total if apart > 1e-12 and total > 1e-12 and x.mesh != "bevel" else 0.0
    for body, own in zip((x.first, x.second), z):
        size = own * pitch if pitch else _usual(m) * own / max(z)
        whole = int(own) if own == int(own) and 6 <= own <= 160 else 0
        yield _round(axes, body, x, size, whole, x.mesh == "internal" and own == max(z))


def _usual(m: Mechanism) -> float:
    """Return a radius for use where nothing else defines one, m: a fifth of the extent of the
    mechanism's joints.
    """
    spots = np.array([matrix(m, j.placement)[:3, 3] for j in m.joints])
    return 0.2 * float(np.ptp(spots, axis=0).max()) or 0.1


def _pulleys(axes: Axes, x: Any) -> Iterator[Wheel]:
    for body, r in zip((x.first, x.second), x.radii):
        yield _round(axes, body, x, float(value_of(r, axes.mechanism.parameters)))


def _pinion(axes: Axes, x: Any) -> Iterator[Wheel]:
    yield _round(axes, x.pinion, x, abs(float(value_of(x.radius, axes.mechanism.parameters))), 18)


def _cam(axes: Axes, x: Any) -> Iterator[Wheel]:
    """Return the outline of a cam: the curve on which the follower's point rolls, base circle plus
    lift.
    """
    m = axes.mechanism
    cam, follower = (_joint(m, name) for name in (x.cam, x.follower))
    if cam is None or follower is None or cam.child == GROUND:
        return
    angle = np.linspace(0.0, TURN, 240, endpoint=False)
    lift = np.array([_lift(m, x, a) for a in angle])
    owner, p, n, X = axes.of(cam.child)
    (o, _), (at, s) = axes.line(cam.child), axes.line(follower.child)
    slides = follower.kind == "prismatic"
    base = float((at - o) @ s) if slides else float(np.linalg.norm(at - o)) / 2
    lift = lift if slides else lift * base
    base = base if base > np.ptp(lift) else 1.5 * max(float(np.ptp(lift)), 1e-6)
    toward = X[:3, :3].T @ (s if slides else at - o)
    yield Wheel(owner, facing(n, toward, p), base + np.roll(lift[::-1], 1), 0, False, x.name)


def _joint(m: Mechanism, coordinate: str) -> Joint | None:
    return next((j for j in m.joints if coordinate in j.coordinate_names and j.freedoms), None)


def _lift(m: Mechanism, x: Any, angle: float) -> float:
    if x.profile:
        return float(
            evaluate(parse(x.profile, ["angle", *m.parameters]), {**m.parameters, "angle": angle})
        )
    return float(
        piecewise(
            closed_spline(x.angles, [float(value_of(y, m.parameters)) for y in x.lifts]), angle
        )[0]
    )


MAKERS = {"gear_pair": _gears, "belt": _pulleys, "rack_and_pinion": _pinion, "cam": _cam}
