"""The true values of sensors, as expressions of the tracer's symbols q, v, a, tau: one function for
each kind of `model.SENSOR_KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from ..compiler import Tracer, elements, vector
from ..errors import QuestionError, UnknownNameError
from ..model import GROUND, Sensor, Shape, value_of

FAR = np.inf  # what a ray that meets nothing measures


# --- coordinates
def _place(s: Tracer, sensor: Sensor) -> tuple[int, int]:
    """Return the places in q and v of the coordinate that a sensor names, or of a joint's only
    one.
    """
    m = s.layout.mechanism
    for j in m.moving:
        names = j.coordinate_names
        if sensor.at in names or (sensor.at == j.name and len(names) == 1):
            name = sensor.at if sensor.at in names else names[0]
            k = list(m.coordinate_names).index(name)
            own = list(names).index(name)
            if len(names) == len(j.speed_names):
                return k, list(m.speed_names).index(j.speed_names[own])
    known = [
        n
        for j in m.moving
        if len(j.coordinate_names) == len(j.speed_names)
        for n in j.coordinate_names
    ]
    raise UnknownNameError("coordinate", sensor.at, known, f"sensor {sensor.name!r}")


def coordinate(s: Tracer, sensor: Sensor) -> list[Any]:
    """Return q of a coordinate."""
    return [s.q[_place(s, sensor)[0]]]


def speed(s: Tracer, sensor: Sensor) -> list[Any]:
    """Return the rate of a coordinate."""
    return [s.v[_place(s, sensor)[1]]]


def current(s: Tracer, sensor: Sensor) -> list[Any]:
    """Return tau over the constant of the motor."""
    return [s.tau[_place(s, sensor)[1]] / sensor.constant]


# --- frames
def _rotation(s: Tracer, sensor: Sensor) -> ca.SX:
    return s.pose(sensor.at)[:, :3]


def specific_force(s: Tracer, sensor: Sensor) -> list[Any]:
    """Return R' (a - g)."""
    g = vector([s.value(x) for x in s.layout.mechanism.gravity])
    return elements(_rotation(s, sensor).T @ (s.frame_acceleration(sensor.at, "world")[3:] - g))


def angular_velocity(s: Tracer, sensor: Sensor) -> list[Any]:
    """Return the angular velocity in the axes of the frame."""
    return elements(s.frame_velocity(sensor.at, "body")[:3])


def velocity(s: Tracer, sensor: Sensor) -> list[Any]:
    """Return the velocity of the origin in the axes of the frame."""
    return elements(s.frame_velocity(sensor.at, "body")[3:])


def attitude(s: Tracer, sensor: Sensor) -> list[Any]:
    """Return the unit quaternion of R, with the largest of its four entries computed first, and the
    scalar not below zero.
    """
    R = _rotation(s, sensor)
    t = [
        1 + R[0, 0] + R[1, 1] + R[2, 2],
        1 + R[0, 0] - R[1, 1] - R[2, 2],
        1 - R[0, 0] + R[1, 1] - R[2, 2],
        1 - R[0, 0] - R[1, 1] + R[2, 2],
    ]
    a, b, c = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    d, e, f = R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1]
    rows = [
        ca.vertcat(t[0], a, b, c),
        ca.vertcat(a, t[1], d, e),
        ca.vertcat(b, d, t[2], f),
        ca.vertcat(c, e, f, t[3]),
    ]
    found, best = rows[0], t[0]
    for row, size in zip(rows[1:], t[1:], strict=False):
        found = ca.if_else(size > best, row, found)
        best = ca.fmax(best, size)
    found = found / (2 * ca.sqrt(best))
    return elements(found * ca.if_else(found[0] < 0, -1, 1))


def pose(s: Tracer, sensor: Sensor) -> list[Any]:
    """Return position and quaternion."""
    return [*elements(s.pose(sensor.at)[:, 3]), *attitude(s, sensor)]


def force_torque(s: Tracer, sensor: Sensor) -> list[Any]:
    """Return the wrench of the joint that carries the body, about the frame's origin."""
    m = s.layout.mechanism
    if m.constrained:
        raise QuestionError(
            f"sensor {sensor.name!r}: mechanism {m.name!r} has closed loops or speed rows, whose"
            " forces are not a part of this sensor; ask catena.analysis.reactions"
        )
    frame = m.frame(sensor.at)
    if frame.body == GROUND:
        raise QuestionError(
            f"sensor {sensor.name!r} is at {sensor.at!r}, which is on the ground; a force-torque"
            " sensor is on a body that a joint carries"
        )
    k = [j.child for j in m.ordered].index(frame.body)
    wrench = s.reactions()[k, :].T
    pose = frame.pose if frame.name != frame.body else None
    R = ca.SX.eye(3) if pose is None else ca.SX([[s.value(x) for x in r] for r in pose.rotation])
    p = ca.SX.zeros(3) if pose is None else vector([s.value(x) for x in pose.position])
    torque, force = wrench[:3], wrench[3:]
    return elements(ca.vertcat(R.T @ force, R.T @ (torque - ca.cross(p, force))))


def force(s: Tracer, sensor: Sensor) -> list[Any]:
    """Return the force of `force_torque`."""
    return force_torque(s, sensor)[:3]


def torque(s: Tracer, sensor: Sensor) -> list[Any]:
    """Return the torque of `force_torque`."""
    return force_torque(s, sensor)[3:]


def position(s: Tracer, sensor: Sensor) -> list[Any]:
    """Return the origin in the ground."""
    return elements(s.pose(sensor.at)[:, 3])


# --- rays
def ray_distance(s: Tracer, sensor: Sensor) -> list[Any]:
    """Return the least distance along z of the frame to a shape of another body."""
    m = s.layout.mechanism
    own = m.frame(sensor.at).body
    X = s.pose(sensor.at)
    o, d = X[:, 3], X[:, 2]
    best: Any = ca.SX(FAR)
    shapes = [(GROUND, x) for x in m.ground] + [(b.name, x) for b in m.bodies for x in b.shapes]
    for body, shape in shapes:
        if body == own or not shape.collides:
            continue
        if shape.kind not in RAYS:
            raise QuestionError(
                f"sensor {sensor.name!r}: a ray does not see shapes of kind {shape.kind!r}, of"
                f" which {body!r} has one that collides; kinds are {', '.join(RAYS)}"
            )
        P, p = _shape_pose(s, body, shape)
        size = [float(value_of(x, m.parameters)) for x in shape.size]
        best = ca.fmin(best, RAYS[shape.kind](P.T @ (o - p), P.T @ d, size))
    return [best]


def _shape_pose(s: Tracer, body: str, shape: Shape) -> tuple[ca.SX, ca.SX]:
    """Return rotation and origin of a shape in the ground."""
    X = ca.SX.eye(4)[:3, :] if body == GROUND else s.pose(body)
    R = ca.SX([[s.value(x) for x in r] for r in shape.pose.rotation])
    p = vector([s.value(x) for x in shape.pose.position])
    return X[:, :3] @ R, X[:, :3] @ p + X[:, 3]


def _first(near: Any, far: Any, hit: Any) -> Any:
    """Return the nearer of two crossings that is ahead, where there are any."""
    ahead = ca.if_else(near >= 0, near, ca.if_else(far >= 0, far, FAR))
    return ca.if_else(hit, ahead, FAR)


def _sphere(o: Any, d: Any, size: list[float]) -> Any:
    b, c = ca.dot(o, d), ca.dot(o, o) - size[0] ** 2
    root = b**2 - c
    far = ca.sqrt(ca.fmax(root, 0))
    return _first(-b - far, -b + far, root >= 0)


def _ellipsoid(o: Any, d: Any, size: list[float]) -> Any:
    o, d = o / ca.DM(size), d / ca.DM(size)
    a, b, c = ca.dot(d, d), ca.dot(o, d), ca.dot(o, o) - 1
    root = b**2 - a * c
    far = ca.sqrt(ca.fmax(root, 0))
    return _first((-b - far) / a, (-b + far) / a, root >= 0)


def _plane(o: Any, d: Any, size: list[float]) -> Any:
    """The half-space below, seen from above."""
    return ca.if_else(ca.logic_and(o[2] >= 0, d[2] < 0), -o[2] / d[2], FAR)


def _box(o: Any, d: Any, size: list[float]) -> Any:
    near, far = ca.SX(-FAR), ca.SX(FAR)
    for k in range(3):
        one, other = (-0.5 * size[k] - o[k]) / d[k], (0.5 * size[k] - o[k]) / d[k]
        near, far = ca.fmax(near, ca.fmin(one, other)), ca.fmin(far, ca.fmax(one, other))
    return _first(near, far, near <= far)


def _round_side(o: Any, d: Any, r: float, half: float) -> Any:
    """The side of a cylinder, from outside or from inside."""
    a = d[0] ** 2 + d[1] ** 2
    b, c = o[0] * d[0] + o[1] * d[1], o[0] ** 2 + o[1] ** 2 - r**2
    root = b**2 - a * c
    far = ca.sqrt(ca.fmax(root, 0))
    found: Any = ca.SX(FAR)
    for t in ((-b - far) / a, (-b + far) / a):
        on = ca.logic_and(ca.logic_and(t >= 0, root >= 0), ca.fabs(o[2] + t * d[2]) <= half)
        found = ca.fmin(found, ca.if_else(on, t, FAR))
    return found


def _cylinder(o: Any, d: Any, size: list[float]) -> Any:
    r, half = size[0], 0.5 * size[1]
    found = _round_side(o, d, r, half)
    for end in (-half, half):
        t = (end - o[2]) / d[2]
        x, y = o[0] + t * d[0], o[1] + t * d[1]
        on = ca.logic_and(t >= 0, x**2 + y**2 <= r**2)
        found = ca.fmin(found, ca.if_else(on, t, FAR))
    return found


def _capsule(o: Any, d: Any, size: list[float]) -> Any:
    """The side and the outer halves of two balls."""
    r, half = size[0], 0.5 * size[1]
    found = _round_side(o, d, r, half)
    for sign in (-1, 1):
        at = o - ca.DM([0, 0, sign * half])
        b, c = ca.dot(at, d), ca.dot(at, at) - r**2
        root = b**2 - c
        far = ca.sqrt(ca.fmax(root, 0))
        for t in (-b - far, -b + far):
            outer = sign * (at[2] + t * d[2]) >= 0
            on = ca.logic_and(ca.logic_and(t >= 0, root >= 0), outer)
            found = ca.fmin(found, ca.if_else(on, t, FAR))
    return found


RAYS: dict[str, Callable[[Any, Any, list[float]], Any]] = {
    "plane": _plane,
    "sphere": _sphere,
    "ellipsoid": _ellipsoid,
    "box": _box,
    "cylinder": _cylinder,
    "capsule": _capsule,
}
