"""Poses: a position and one of four ways to write a rotation."""

from __future__ import annotations

import math
from collections.abc import Callable

from ...model import IDENTITY, ORIGIN, Matrix, Pose
from .schema import ROTATION, ROTATIONS
from .tables import Table

UNIT_SLACK = 1e-3  # a quaternion written with four digits has the length one to this


def read_pose(t: Table, at: str = "at", rotate: str = "rotate") -> Pose:
    """Return a position and a rotation as a pose, both zero where they are not given."""
    turned = t.table(rotate)
    return Pose(_rotation(turned) if turned else IDENTITY, t.vector(at, "length", default=ORIGIN))


def _rotation(t: Table) -> Matrix:
    t.only(ROTATION.names)
    given = [keys for keys in ROTATIONS if any(key in t for key in keys)]
    if len(given) != 1:
        found = " and ".join(key for keys in given for key in keys) or "none"
        t.fault(f"one of rpy, quaternion, axis with angle, matrix is wanted; found {found}")
        return IDENTITY
    return _READERS[given[0][0]](t)


def _rpy(t: Table) -> Matrix:
    roll, pitch, yaw = t.vector("rpy", "angle", names=("roll", "pitch", "yaw"))
    return Pose.rpy(roll, pitch, yaw).rotation


def _quaternion(t: Table) -> Matrix:
    before = t.faults
    w, x, y, z = t.vector("quaternion", "number", names="wxyz", symbolic=False)
    length = math.hypot(w, x, y, z)
    if t.faults > before:
        return IDENTITY
    if not abs(length - 1) <= UNIT_SLACK:
        t.fault(
            f"quaternion [w, x, y, z] has the length {length:.6g}; a rotation is a quaternion of"
            " length one"
        )
        return IDENTITY
    return Pose.quaternion(w, x, y, z).rotation


def _axis_angle(t: Table) -> Matrix:
    before = t.faults
    axis = t.vector("axis", "number", symbolic=False)
    angle = t.number("angle", "angle")
    if t.faults > before:
        return IDENTITY
    try:
        return Pose.turn(axis, angle).rotation
    except (ValueError, OverflowError):
        t.fault(f"axis is {list(axis)}; it needs a direction, three numbers that are not all zero")
        return IDENTITY


def _matrix(t: Table) -> Matrix:
    rows = t.items("matrix")
    if len(rows) != 3:
        t.fault(f"matrix has {len(rows)} rows; 3 rows of 3 numbers are wanted")
        return IDENTITY
    before = t.faults
    a, b, c = (
        t.components(row, "matrix", "number", [i + j for j in "xyz"]) for i, row in zip("xyz", rows)
    )
    return (a, b, c) if t.faults == before else IDENTITY  # three components each


_READERS: dict[str, Callable[[Table], Matrix]] = {
    "rpy": _rpy,
    "quaternion": _quaternion,
    "axis": _axis_angle,
    "matrix": _matrix,
}
