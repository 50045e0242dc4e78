"""Pose: position and orientation of a frame relative to another. `X_PC = X_PB @ X_BC`: adjacent
letters cancel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import spatial
from ..errors import MechanismError

Scalar = Any  # a float, or a SymPy expression of named parameters
Vector = tuple[Scalar, Scalar, Scalar]
Matrix = tuple[Vector, Vector, Vector]

IDENTITY: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
ORIGIN: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Pose:
    """The pose X_PC of a frame C in a frame P: a rotation and a position.

    Poses are composed with `@`: X_PC = X_PB @ X_BC.

    Parameters
    ----------
    rotation : 3 rows of 3 scalars, default identity
        R_PC: R_PC times a vector in the axes of C is that vector in the axes of P.
    position : 3 scalars, default zero
        p_PC, the origin of C in P, m. A scalar is a number or a SymPy expression of named
        parameters.

    Raises
    ------
    MechanismError
        Where the rotation is not 3 x 3 or the position not 3 numbers. Whether the rotation is
        orthogonal is checked by `Mechanism.validate`.

    Examples
    --------
    >>> quarter = Pose.turn("z", math.pi / 2, position=(1, 0, 0))
    >>> [round(x, 12) for x in quarter.point((1, 0, 0))]
    [1.0, 1.0, 0.0]
    """

    rotation: Matrix = IDENTITY
    position: Vector = ORIGIN

    def __post_init__(self) -> None:
        try:
            rotation, position = tuple(vector(row) for row in self.rotation), vector(self.position)
        except (TypeError, ValueError):
            raise MechanismError(
                f"a pose has rotation {self.rotation!r} and position {self.position!r}; a rotation"
                " is three rows of three numbers, a position three numbers: Pose(position=(1, 0,"
                " 0)), or Pose.turn and Pose.rpy for a rotation by angles"
            ) from None
        if len(rotation) != 3:
            raise MechanismError(
                f"a pose has a rotation of {len(rotation)} rows; it is three rows of three numbers"
            )
        object.__setattr__(self, "rotation", rotation)
        object.__setattr__(self, "position", position)

    def scalars(self) -> tuple[Scalar, ...]:
        """Return the twelve numbers or expressions of the pose.

        Returns
        -------
        tuple
            The position (m), then the rows of the rotation matrix.
        """
        return (*self.position, *(x for row in self.rotation for x in row))

    def __matmul__(self, other: Pose) -> Pose:
        if self == Pose():  # so that expressions stay as they are written
            return other
        if other == Pose():
            return self
        R = spatial.product(self.rotation, other.rotation)
        return Pose(R, spatial.add(self.position, spatial.rotate(self.rotation, other.position)))

    def inverse(self) -> Pose:
        """Return the inverse of the pose X_PC.

        Returns
        -------
        Pose
            X_CP, the pose of P in C.
        """
        return Pose(
            spatial.transpose(self.rotation),
            spatial.neg(spatial.unrotate(self.rotation, self.position)),
        )

    def point(self, p: Sequence[Scalar]) -> Vector:
        """Transform a point from C to P.

        Parameters
        ----------
        p : sequence of 3 scalars
            The point in the axes of C, relative to its origin, m.

        Returns
        -------
        tuple of 3 scalars
            The same point in the axes of P, relative to its origin, m.
        """
        return spatial.add(self.position, spatial.rotate(self.rotation, vector(p)))

    def matrix(self) -> np.ndarray:
        """Return the homogeneous matrix of the pose.

        Returns
        -------
        numpy.ndarray
            (4, 4): the rotation, the position (m), and the row 0, 0, 0, 1.
        """
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = self.rotation, self.position
        return X

    def roll_pitch_yaw(self) -> Vector:
        """Return the three angles for which `Pose.rpy` gives this rotation.

        Returns
        -------
        tuple of 3 scalars
            Roll, pitch and yaw, rad.

        Notes
        -----
        Where the pitch is 90 degrees, yaw is zero and roll is the whole turn. Roll and pitch are
        computed from the yaw that was found first, so that the three angles stay consistent near 90
        degrees of pitch.
        """
        (r00, r01, r02), (r10, r11, r12), (r20, _, _) = self.rotation
        yaw = math.atan2(r10, r00) if math.hypot(r10, r00) > 1e-12 else 0.0
        c, s = math.cos(yaw), math.sin(yaw)
        return (
            math.atan2(s * r02 - c * r12, c * r11 - s * r01),
            math.atan2(-r20, c * r00 + s * r10),
            yaw,
        )

    @staticmethod
    def turn(
        axis: str | Sequence[float], angle: Scalar, position: Sequence[Scalar] = ORIGIN
    ) -> Pose:
        """Return a rotation about one axis (Rodrigues' formula).

        Parameters
        ----------
        axis : str or sequence of 3 floats
            "x", "y", "z", or a vector of any length above zero.
        angle : scalar
            The angle, rad.
        position : sequence of 3 scalars, default zero
            The position of the pose, m; it is not rotated.

        Returns
        -------
        Pose

        Raises
        ------
        ValueError
            Where the axis is another word or has no direction.

        Examples
        --------
        >>> Pose.turn("x", 0.0) == Pose()
        True
        """
        known = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
        if isinstance(axis, str) and axis not in known:
            raise ValueError(f"axis {axis!r} is not known; it is 'x', 'y', 'z' or three numbers")
        x, y, z = unit(known[axis] if isinstance(axis, str) else axis)
        c = function("cos", angle)
        s = function("sin", angle)
        k = 1 - c
        R = (
            (c + x * x * k, x * y * k - z * s, x * z * k + y * s),
            (y * x * k + z * s, c + y * y * k, y * z * k - x * s),
            (z * x * k - y * s, z * y * k + x * s, c + z * z * k),
        )
        return Pose(R, vector(position))

    @staticmethod
    def rpy(roll: Scalar, pitch: Scalar, yaw: Scalar, position: Sequence[Scalar] = ORIGIN) -> Pose:
        """Return a rotation by roll, pitch and yaw, as URDF defines them.

        R = Rot(z, yaw) Rot(y, pitch) Rot(x, roll): turns about the fixed axes x, y, z in this
        order.

        Parameters
        ----------
        roll, pitch, yaw : scalar
            Angles, rad.
        position : sequence of 3 scalars, default zero
            The position of the pose, m.

        Returns
        -------
        Pose
        """
        R = Pose.turn("z", yaw) @ Pose.turn("y", pitch) @ Pose.turn("x", roll)
        return Pose(R.rotation, vector(position))

    @staticmethod
    def quaternion(
        w: float, x: float, y: float, z: float, position: Sequence[Scalar] = ORIGIN
    ) -> Pose:
        """Return the rotation of a quaternion, scalar first.

        Parameters
        ----------
        w, x, y, z : float
            The quaternion; one of another length than 1 is normalised.
        position : sequence of 3 scalars, default zero
            The position of the pose, m.

        Returns
        -------
        Pose

        Raises
        ------
        ValueError
            Where the quaternion is zero or not finite.
        """
        n = math.sqrt(w * w + x * x + y * y + z * z)
        if not (math.isfinite(n) and n > 0):
            raise ValueError(
                f"the quaternion ({w}, {x}, {y}, {z}) is no rotation; give four finite numbers that"
                " are not all zero"
            )
        return Pose(spatial.quaternion_matrix(w / n, x / n, y / n, z / n), vector(position))

    @staticmethod
    def denavit_hartenberg(
        a: Scalar, alpha: Scalar, d: Scalar, theta: Scalar, *, custom: str
    ) -> Pose:
        """Return the pose of link i in link i-1 from Denavit-Hartenberg parameters.

        Parameters
        ----------
        a, d : scalar
            Displacements along x and z, m.
        alpha, theta : scalar
            Turns about x and z, rad.
        custom : str
            "modified" (Craig; [Merwe1995] eq. 2.18-2.19): Rot(x, alpha) Disp(x, a) Rot(z, theta)
            Disp(z, d), the frame sits at the near end of its link. "standard": Rot(z, theta)
            Disp(z, d) Rot(x, alpha) Disp(x, a), the frame sits at the far end. There is no default,
            since the two give different robots.

        Returns
        -------
        Pose

        Raises
        ------
        ValueError
            Where `custom` is another word.
        """
        about_x = Pose.turn("x", alpha, position=(a, 0.0, 0.0))
        about_z = Pose.turn("z", theta, position=(0.0, 0.0, d))
        if custom == "modified":
            return about_x @ about_z
        if custom == "standard":
            return about_z @ about_x
        raise ValueError(
            f"Denavit-Hartenberg custom {custom!r} is not known; allowed are 'modified' and"
            " 'standard'"
        )


def as_pose(given: Pose | Sequence[Scalar], what: str) -> Pose:
    """Return a pose as it is, or three numbers (or expressions) as a pose without rotation at that
    position, m.

    what: the name of the value, for the MechanismError that anything else raises.

    >>> as_pose((1, 0, 0), "the placement of joint 'elbow'") == Pose(position=(1, 0, 0))
    True
    """
    if isinstance(given, Pose):
        return given
    try:
        return Pose(position=vector(given))
    except (TypeError, ValueError):
        raise MechanismError(
            f"{what} is {given!r}; it is a Pose, or three numbers: a position, m"
        ) from None


def require_texts(what: str, record: object, *attributes: str) -> None:
    """Raise a MechanismError where one of these attributes of a record is no text. what: the kind
    of the record, for the message.
    """
    for attribute in attributes:
        given = getattr(record, attribute)
        if not isinstance(given, str):
            raise MechanismError(
                f"a {what} has the {attribute} {given!r:.60}, a {type(given).__name__}; it is a"
                " text"
            )


def vector(a: Sequence[Scalar]) -> Vector:
    """Return three scalars as a tuple of floats, or of expressions if they contain named
    parameters.
    """
    x, y, z = a
    return (scalar(x), scalar(y), scalar(z))


def scalar(x: Scalar) -> Scalar:
    """Return a number as a float, and an expression of parameters as it is."""
    if isinstance(x, float):
        return x
    if symbols := getattr(x, "free_symbols", None):
        return _plain(x, symbols)
    return float(x)


def _plain(x: Scalar, symbols: Any) -> Scalar:
    """Return the expression with each symbol replaced by the symbol of the same name without
    assumptions. In SymPy, Symbol("m", positive=True) and Symbol("m") are different symbols; catena
    identifies symbols by name only.
    """
    import sympy

    named = {s: sympy.Symbol(s.name) for s in symbols}
    return x.xreplace({s: plain for s, plain in named.items() if s != plain})


def unit(axis: Sequence[float]) -> Vector:
    """Return the axis scaled to length one; an axis whose length is 1 to 1e-15 is returned as
    given.

    Raise ValueError where it is zero or not finite.
    """
    x, y, z = (float(k) for k in axis)
    size = max(abs(x), abs(y), abs(z))
    if not (size > 0 and all(map(math.isfinite, (x, y, z)))):
        raise ValueError(f"an axis needs a direction, found ({x}, {y}, {z})")
    if abs(math.hypot(x, y, z) - 1.0) <= 1e-15:
        return (x, y, z)
    # its square is then neither too small nor too large
    x = x / size
    y = y / size
    z = z / size
    n = math.sqrt(x * x + y * y + z * z)
    return (x / n, y / n, z / n)


def function(name: str, x: Scalar) -> Scalar:
    """Return the sin, cos or sqrt (`name`) of a number or of an expression of parameters."""
    if isinstance(x, (int, float)):
        return getattr(math, name)(x)
    import sympy

    return getattr(sympy, name)(x)
