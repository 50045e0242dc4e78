"""Numbers as MuJoCo writes and stores them: all digits, quaternions scalar first, inertias by their
principal axes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...model import IDENTITY, ORIGIN, Matrix, Pose


def number(x: float) -> str:
    """Return the number as a string with all its digits."""
    return repr(float(x))


def numbers(values: Sequence[float]) -> str:
    """Return several numbers as one string, separated by spaces."""
    return " ".join(map(number, values))


def quaternion(R: Matrix) -> tuple[float, ...]:
    """Return the unit quaternion of a rotation, scalar first, with a scalar part that is not
    negative.
    """
    r = np.array(R, float)
    K = (
        np.array(
            [
                [r[0, 0] - r[1, 1] - r[2, 2], 0, 0, 0],
                [r[0, 1] + r[1, 0], r[1, 1] - r[0, 0] - r[2, 2], 0, 0],
                [r[0, 2] + r[2, 0], r[1, 2] + r[2, 1], r[2, 2] - r[0, 0] - r[1, 1], 0],
                [r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1], np.trace(r)],
            ]
        )
        / 3
    )
    x, y, z, w = np.linalg.eigh(K)[1][:, -1]  # of its lower half
    sign = -1.0 if w < 0 else 1.0
    return tuple(float(sign * c) + 0.0 for c in (w, x, y, z))


def attitude(R: Matrix) -> dict[str, str]:
    """Return the attribute that expresses a rotation; an empty mapping for the identity."""
    return {} if R == IDENTITY else {"quat": numbers(quaternion(R))}


def placed(X: Pose) -> dict[str, str]:
    """Return the attributes that express a pose."""
    return ({} if X.position == ORIGIN else {"pos": numbers(X.position)}) | attitude(X.rotation)


def principal(I: Sequence[float]) -> tuple[tuple[float, ...], Matrix]:
    """Return the principal moments of an inertia (xx, xy, xz, yy, yz, zz), and R_BP, the axes that
    they belong to.
    """
    xx, xy, xz, yy, yz, zz = map(float, I)
    if not (xy or xz or yz):
        return (xx, yy, zz), IDENTITY
    values, R = np.linalg.eigh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    R = R if np.linalg.det(R) > 0 else -R
    return tuple(map(float, values)), tuple(tuple(map(float, row)) for row in R)  # type: ignore[return-value]
