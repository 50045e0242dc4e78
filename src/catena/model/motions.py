"""Elementary motions: turns, slides, screws and balls. Every joint is a sequence of them, root to
leaf (`joint_kinds`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from .pose import Pose, Scalar, Vector, unit

X = (1.0, 0.0, 0.0)
Y = (0.0, 1.0, 0.0)
Z = (0.0, 0.0, 1.0)
# rad/s or m/s: the default speed over which smoothed Coulomb friction changes its sign
SMOOTH = 1e-3
# [Merwe1995] section 2.5.2, in its order
GENERAL = {"Rx": X, "Ry": Y, "Rz": Z, "Dx": X, "Dy": Y, "Dz": Z}


SHAPES = {"y": Y, "z": Z, "x": X, "twist": X}  # the directions of a flexible body's shapes


class Motion(IntEnum):
    """The kinds of elementary motions. The axis of a motion is the z axis of its node; a ball has
    none.
    """

    TURN = 0
    SLIDE = 1
    SCREW = 2
    BALL = 3


@dataclass(frozen=True)
class Freedom:
    """One elementary motion of a joint: its kind, its axis in the joint's frame, and the labels of
    its coordinates and speeds.
    """

    motion: Motion
    axis: Vector
    labels: tuple[str, ...]  # of the coordinates
    speeds: tuple[str, ...]  # of the speeds
    pitch: Scalar = 0.0

    @property
    def nq(self) -> int:
        """The number of coordinates."""
        return len(self.labels)

    @property
    def nv(self) -> int:
        """The number of speeds."""
        return len(self.speeds)


@dataclass(frozen=True)
class Shift:
    """An elementary motion as a function of the amplitudes e of a flexible body: z = a.e + 1/2 e'B
    e, m or rad. motion: one of GENERAL. B: its rows, or None.
    """

    motion: str
    a: tuple[Scalar, ...]
    B: tuple[tuple[Scalar, ...], ...] = ()


@dataclass(frozen=True)
class Deflection:
    """The motion of a place of a flexible body relative to the body's frame: displacements, then
    rotations, in the order of `shifts`.
    """

    body: str
    shifts: tuple[Shift, ...]

    def pose(self, e: Sequence[float]) -> Pose:
        """Return the pose of the place at amplitudes e, in its frame at rest."""
        X = Pose()
        for shift in self.shifts:
            z = sum(a * x for a, x in zip(shift.a, e))
            z += 0.5 * sum(b * x * y for row, x in zip(shift.B, e) for b, y in zip(row, e))
            X = X @ displacement((elementary(shift.motion),), (z,))
        return X


def elementary(name: str) -> Freedom:
    """Return the elementary motion of one of GENERAL."""
    return (turn if name[0] == "R" else slide)(GENERAL[name], name)


def turn(axis: Vector, label: str) -> Freedom:
    """Return a turn about an axis of the joint's frame whose coordinate and speed have the
    label.
    """
    return Freedom(Motion.TURN, axis, (label,), (label,))


def slide(axis: Vector, label: str) -> Freedom:
    """Return a slide along an axis of the joint's frame whose coordinate and speed have the
    label.
    """
    return Freedom(Motion.SLIDE, axis, (label,), (label,))


BALL = Freedom(Motion.BALL, Z, ("qw", "qx", "qy", "qz"), ("wx", "wy", "wz"))


def plane_of(n: Vector) -> tuple[Vector, Vector]:
    """Return two directions that make a right-handed frame with the normal n; x and y for n = z."""
    x = np.cross(Y if abs(n[1]) < 0.9 else Z, n)
    x /= np.linalg.norm(x)
    x, y = x + 0.0, np.cross(n, x) + 0.0  # + 0.0 turns -0.0 into 0.0
    return (float(x[0]), float(x[1]), float(x[2])), (float(y[0]), float(y[1]), float(y[2]))


def onto_z(axis: Sequence[float]) -> Pose:
    """Return a pose whose z axis is the given axis: a signed permutation where possible."""
    z = unit(axis)
    x, y = plane_of(z)
    return Pose(((x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2])))


def displacement(freedoms: Sequence[Freedom], q: Sequence[float]) -> Pose:
    """Return the pose of the child's side of a joint in the parent's side, at coordinates q."""
    X, k = Pose(), 0
    for f in freedoms:
        if f.motion == Motion.BALL:
            w, x, y, z = q[k : k + 4]
            X = X @ Pose.quaternion(w, x, y, z)
        elif f.motion == Motion.SLIDE:
            X = X @ Pose(position=tuple(q[k] * a for a in f.axis))
        else:
            X = X @ Pose.turn(f.axis, q[k], position=tuple(f.pitch * q[k] * a for a in f.axis))
        k += f.nq
    return X


def motion_subspace(freedoms: Sequence[Freedom], q: Sequence[float]) -> np.ndarray:
    """Return phi (6, nv), the free directions of a joint in the child's axes at its origin, angular
    rows first ([Merwe1995] eq. 2.9).

    >>> motion_subspace((turn(Z, "angle"), slide(Z, "distance")), [0.3, 0.1]).T.tolist()
    [[0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]
    """
    columns, k = [], 0
    for i, f in enumerate(freedoms):
        k += f.nq
        below = displacement(freedoms[i + 1 :], q[k:])  # what moves after this motion
        R: np.ndarray = np.array(below.rotation)
        p: np.ndarray = np.array(below.position)
        for axis in np.eye(3) if f.motion == Motion.BALL else [np.array(f.axis)]:
            turning = 0 * axis if f.motion == Motion.SLIDE else axis
            sliding = axis if f.motion == Motion.SLIDE else float(f.pitch) * axis
            columns.append(np.concatenate([R.T @ turning, R.T @ (sliding + np.cross(turning, p))]))
    return np.array(columns).T.reshape(6, len(columns))
