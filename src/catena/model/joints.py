"""The joint catalogue. Each joint is a sequence of elementary motions; this file is the only one that knows the kinds.

    kind          motions, in the joint's own frame                        coordinates, then speeds
    fixed         none                                                     -
    revolute      turn about the axis                                      angle
    prismatic     slide along the axis                                     distance
    helical       turn about the axis and slide along it by pitch          angle
    cylindrical   turn about the axis, slide along it                      angle, distance
    universal     turn about the first axis, then about the second         two angles
    gimbal        turns about three axes, by default x, y, z               three angles
    ball          any rotation, no singularity                             quaternion; angular velocity in the child
    planar        slides along the plane's two directions, turn about n    x, y, angle
    free          slides along x, y, z of the parent, then a ball          position, quaternion; velocity in the parent,
                                                                           angular velocity in the child
    general       any of Rx Ry Rz Dx Dy Dz in this order ([Merwe1995] 2.5.2): turns about x, the turned y, the twice
                  turned z, then displacements along the turned axes       one each
    modal         the shapes of a flexible body, which carry a place of    amplitudes y1, y2, ..., z1, ..., x1, ...,
                  it along and round; made by `catena.model.flexible`            twist1, ...
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from .pose import Pose, Scalar, Vector, unit

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
SMOOTH = 1e-3  # speed (rad/s or m/s) over which smoothed Coulomb friction changes its sign
GENERAL = {"Rx": X, "Ry": Y, "Rz": Z, "Dx": X, "Dy": Y, "Dz": Z}  # [Merwe1995] section 2.5.2, in its order


SHAPES = {"y": Y, "z": Z, "x": X, "twist": X}  # the directions of a flexible body's shapes


class Motion(IntEnum):
    """An elementary motion. Its axis is the z axis of its node; a ball has none."""

    TURN = 0
    SLIDE = 1
    SCREW = 2
    BALL = 3


@dataclass(frozen=True)
class Freedom:
    """One elementary motion of a joint: what it is, about which axis of the joint's frame, and how it is called."""

    motion: Motion
    axis: Vector
    labels: tuple[str, ...]  # of the coordinates
    speeds: tuple[str, ...]  # of the speeds
    pitch: Scalar = 0.0

    @property
    def nq(self) -> int:
        """How many coordinates."""
        return len(self.labels)

    @property
    def nv(self) -> int:
        """How many speeds."""
        return len(self.speeds)


@dataclass(frozen=True)
class Shift:
    """An elementary motion that amplitudes e cause: z = a.e + 1/2 e'B e, m or rad. motion: one of GENERAL. B: none, or rows."""

    motion: str
    a: tuple[Scalar, ...]
    B: tuple[tuple[Scalar, ...], ...] = ()


@dataclass(frozen=True)
class Deflection:
    """How a place of a flexible body moves in the body's frame: slides, then turns, in the order they are made."""

    body: str
    shifts: tuple[Shift, ...]

    def pose(self, e: Sequence[float]) -> Pose:
        """Where the place is, seen from where it rests, at amplitudes e."""
        X = Pose()
        for shift in self.shifts:
            z = sum(a * x for a, x in zip(shift.a, e))
            z += 0.5 * sum(b * x * y for row, x in zip(shift.B, e) for b, y in zip(row, e))
            X = X @ displacement((elementary(shift.motion),), (z,))
        return X


def elementary(name: str) -> Freedom:
    """The motion of one of GENERAL."""
    return (_turn if name[0] == "R" else _slide)(GENERAL[name], name)


def _turn(axis: Vector, label: str) -> Freedom:
    return Freedom(Motion.TURN, axis, (label,), (label,))


def _slide(axis: Vector, label: str) -> Freedom:
    return Freedom(Motion.SLIDE, axis, (label,), (label,))


_BALL = Freedom(Motion.BALL, Z, ("qw", "qx", "qy", "qz"), ("wx", "wy", "wz"))


def _plane(n: Vector) -> tuple[Vector, Vector]:
    """Two directions that make a right-handed frame with the normal n; x and y for n = z."""
    x = np.cross(Y if abs(n[1]) < 0.9 else Z, n)
    x /= np.linalg.norm(x)
    x, y = x + 0.0, np.cross(n, x) + 0.0  # + 0.0 turns -0.0 into 0.0
    return (float(x[0]), float(x[1]), float(x[2])), (float(y[0]), float(y[1]), float(y[2]))


def _planar(axes: Sequence[Vector], pitch: Scalar, sequence: Sequence[str]) -> tuple[Freedom, ...]:
    x, y = _plane(axes[0])
    return _slide(x, "x"), _slide(y, "y"), _turn(axes[0], "angle")


def _free(axes: Sequence[Vector], pitch: Scalar, sequence: Sequence[str]) -> tuple[Freedom, ...]:
    slides = (Freedom(Motion.SLIDE, axis, (label,), (f"v{label}",)) for axis, label in ((X, "x"), (Y, "y"), (Z, "z")))
    return (*slides, _BALL)


def _general(axes: Sequence[Vector], pitch: Scalar, sequence: Sequence[str]) -> tuple[Freedom, ...]:
    return tuple(elementary(name) for name in sequence)


def _modal(axes: Sequence[Vector], pitch: Scalar, sequence: Sequence[str]) -> tuple[Freedom, ...]:
    """One freedom a shape, as its label says: a displacement, or a turn for twist."""
    kinds = [(label, label.rstrip("0123456789")) for label in sequence]
    return tuple((_turn if kind == "twist" else _slide)(SHAPES[kind], label) for label, kind in kinds)


@dataclass(frozen=True)
class Kind:
    """A row of the catalogue: the default axes (their number is how many the kind takes) and the motions."""

    axes: tuple[Vector, ...]
    freedoms: Callable[[Sequence[Vector], Scalar, Sequence[str]], tuple[Freedom, ...]]


KINDS: dict[str, Kind] = {
    "fixed": Kind((), lambda a, h, s: ()),
    "revolute": Kind((Z,), lambda a, h, s: (_turn(a[0], "angle"),)),
    "prismatic": Kind((Z,), lambda a, h, s: (_slide(a[0], "distance"),)),
    "helical": Kind((Z,), lambda a, h, s: (Freedom(Motion.SCREW, a[0], ("angle",), ("angle",), h),)),
    "cylindrical": Kind((Z,), lambda a, h, s: (_turn(a[0], "angle"), _slide(a[0], "distance"))),
    "universal": Kind((X, Y), lambda a, h, s: (_turn(a[0], "first"), _turn(a[1], "second"))),
    "gimbal": Kind((X, Y, Z), lambda a, h, s: (_turn(a[0], "rx"), _turn(a[1], "ry"), _turn(a[2], "rz"))),
    "ball": Kind((), lambda a, h, s: (_BALL,)),
    "planar": Kind((Z,), _planar),
    "free": Kind((), _free),
    "general": Kind((), _general),
}
MADE = {"modal": Kind((), _modal)}  # of joints that are not written in files


def kind_of(name: str) -> Kind | None:
    """The row of a kind, written or made."""
    return KINDS.get(name) or MADE.get(name)


def freedoms(kind: str, axes: Sequence[Vector], pitch: Scalar, sequence: Sequence[str]) -> tuple[Freedom, ...]:
    """The elementary motions of a joint, root to leaf."""
    return (KINDS | MADE)[kind].freedoms(axes, pitch, sequence)


def along_z(kind: str, sequence: Sequence[str]) -> bool:
    """Whether every motion of a joint with its default axes is about or along z; so are those of an unknown kind."""
    if kind not in KINDS or not set(sequence) <= set(GENERAL):
        return True  # validate() refuses it by name
    motions = freedoms(kind, KINDS[kind].axes, 0.0, sequence)
    return len(motions) > 0 and all(f.axis == Z and f.motion != Motion.BALL for f in motions)


def onto_z(axis: Sequence[float]) -> Pose:
    """A pose whose z axis is the given one, by a signed permutation where that is possible."""
    z = unit(axis)
    x, y = _plane(z)
    return Pose(((x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2])))


def displacement(freedoms: Sequence[Freedom], q: Sequence[float]) -> Pose:
    """The pose of the child's side of a joint in the parent's side, at coordinates q."""
    X, k = Pose(), 0
    for f in freedoms:
        if f.motion == Motion.BALL:
            w, x, y, z = q[k : k + 4]
            X = X @ Pose.quaternion(w, x, y, z)
        elif f.motion == Motion.SLIDE:
            X = X @ Pose(position=tuple(q[k] * a for a in f.axis))  # type: ignore[arg-type]
        else:
            X = X @ Pose.turn(f.axis, q[k], position=tuple(f.pitch * q[k] * a for a in f.axis))
        k += f.nq
    return X


def motion_subspace(freedoms: Sequence[Freedom], q: Sequence[float]) -> np.ndarray:
    """phi, the free modes of a joint in the child's axes at its origin, 6 x nv, angular first ([Merwe1995] eq. 2.9).

    >>> motion_subspace(freedoms("cylindrical", [Z], 0.0, ()), [0.3, 0.1]).T.tolist()
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


def dual_bases(phi: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(phi_c, psi, psi_c) of a motion subspace phi: [psi psi_c]' [phi phi_c] = 1 ([Merwe1995] eq. 2.10-2.15).

    phi_c (6 x 6-n) completes phi to a basis, psi (6 x n) is the dual of the free modes, psi_c (6 x 6-n) spans the
    constraint forces: phi' psi_c = 0.
    """
    n = phi.shape[1]
    U, _, _ = np.linalg.svd(phi, full_matrices=True)
    phi_c = U[:, n:]
    dual = np.linalg.inv(np.hstack([phi, phi_c])).T
    return phi_c, dual[:, :n], dual[:, n:]
