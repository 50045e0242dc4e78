"""Motion generation: dyads that guide a body through four or five poses.

A point p of the body lies at d_j + R_j p in pose j. It stays on a circle a0 |X|^2 + 2 a.X + a3 = 0
if

    c1 |d|^2 + 2 (R'd).(c2, c3) + 2 d.(c4, c5) + 2 c6 cos t + 2 c7 sin t + c8 = 0

for every pose (d, t), with c1 = a0, (c2, c3) = a0 p, (c4, c5) = a, c6 = a.p, c7 = a x p reversed,
c8 = a0 |p|^2 + a3. These are linear in c, and the eight numbers obey two quadratic conditions,

    c1 c6 = c2 c4 + c3 c5,      c1 c7 = c2 c5 - c3 c4.

Five poses leave a plane of c, in which two conics meet in at most four points: Burmester's points.
Four poses leave a space, in which two quadrics meet in Burmester's curves. [Burmester1888],
[Ravani1983], [Ge2012]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import QuestionError

Array = NDArray[np.float64]
REAL_ROOT = 1e-7  # the imaginary part of a solution, relative to its size, below which it is real
# a0 relative to the largest coefficient, below which the circle is a line
LINE_CURVATURE = 1e-9


@dataclass(frozen=True)
class Dyad:
    """A link from a pivot on the ground to a point of the guided body.

    centre: the pivot, complex, m. point: the point in the body's frame, complex, m. length: m.
    """

    centre: complex
    point: complex
    length: float


def poses_array(poses: ArrayLike) -> Array:
    """Return poses as (n, 3): x, y (m) and the angle (rad)."""
    found = np.asarray(poses, float)
    if found.ndim != 2 or found.shape[1] != 3 or not np.isfinite(found).all():
        raise QuestionError(
            f"motion generation: poses have shape {found.shape}; give one row per pose: x, y (m)"
            " and the angle (rad)"
        )
    return found


def dyads(poses: ArrayLike, samples: int = 60) -> list[Dyad]:
    """Return links that guide a body through four or five poses.

    Parameters
    ----------
    poses : array (4 or 5, 3)
        Each pose of the body: x, y (m) and the angle (rad).
    samples : int, default 60
        For four poses: the number of planes with which Burmester's curve is cut.

    Returns
    -------
    list of Dyad
        At most four for five poses; for four poses points of Burmester's curve.

    Raises
    ------
    QuestionError
        For another number of poses, or poses that leave more than these solutions.

    Examples
    --------
    >>> found = dyads([[0, 0, 0], [1, 0.2, 0.3], [1.8, 0.7, 0.8], [2.1, 1.5, 1.4], [1.9, 2, 2]])
    >>> len(found) in (0, 2, 4)
    True
    """
    P = poses_array(poses)
    if len(P) not in (4, 5):
        raise QuestionError(
            f"motion generation: {len(P)} poses were given; dyads are exact for four or five"
        )
    scale = float(np.abs(P[:, :2] - P[0, :2]).max()) or 1.0
    # relative to the first pose and the size of the motion, for the conditioning of the null space
    origin = complex(P[0, 0], P[0, 1])
    d = (P[:, 0] + 1j * P[:, 1] - origin) / scale
    _, s, Vt = np.linalg.svd(_rows(d, P[:, 2]))
    if s[-1] < 1e-10 * s[0]:
        raise QuestionError(
            "motion generation: the poses are not independent (two are equal, or all have the same"
            " angle); change one of them"
        )
    basis = Vt[len(P) :]
    points = (
        _conics_meet(basis)
        if len(P) == 5
        else [c for plane in _planes(basis, samples) for c in _conics_meet(plane)]
    )
    found = [_dyad(c, d, P[:, 2]) for c in points]
    return [Dyad(x.centre * scale + origin, x.point * scale, x.length * scale) for x in found if x]


def _rows(d: NDArray[np.complex128], t: Array) -> Array:
    """Return the coefficients (n, 8) of the unknowns c, one linear equation for each pose."""
    back = d * np.exp(-1j * t)  # R'd
    return np.stack(
        [
            np.abs(d) ** 2,
            2 * back.real,
            2 * back.imag,
            2 * d.real,
            2 * d.imag,
            2 * np.cos(t),
            2 * np.sin(t),
            np.ones(len(d)),
        ],
        axis=1,
    )


def _planes(basis: Array, samples: int) -> list[Array]:
    """Return three-dimensional subspaces of the four-dimensional space of dyads, each as a basis
    (3, 8). They all contain the same two directions; the third one turns in equal steps.

    basis (4, 8): of the space, in the eight coefficients of a dyad.
    """
    angles = np.pi * (np.arange(samples) + 0.5) / samples
    mixed, _ = np.linalg.qr(np.random.default_rng(7).standard_normal((4, 4)))
    b = mixed @ basis
    return [np.stack([b[0], b[1], np.cos(a) * b[2] + np.sin(a) * b[3]]) for a in angles]


def _forms(basis: Array) -> tuple[Array, Array]:
    """Return the two quadratic conditions as symmetric matrices (3, 3) over the plane."""
    Q = np.zeros((2, 8, 8))
    Q[0, 0, 5], Q[0, 1, 3], Q[0, 2, 4] = 1.0, -1.0, -1.0
    Q[1, 0, 6], Q[1, 1, 4], Q[1, 2, 3] = 1.0, -1.0, 1.0
    whole = basis @ (Q + np.swapaxes(Q, 1, 2)) @ basis.T
    return whole[0], whole[1]


def _conics_meet(basis: Array) -> list[Array]:
    """Return the real points c (8,) of a plane at which both conditions hold.

    With the plane's coordinates (x, y, 1) after a rotation, the resultant of the two quadratics in
    x is a polynomial of degree four in y.
    """
    turn, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))
    basis = turn @ basis
    A, B = _forms(basis)
    p = [_in_y(M) for M in (A, B)]
    (a2, a1, a0), (b2, b1, b0) = p
    mul, sub = np.polymul, np.polysub
    first = sub(mul(a2, b0), mul(b2, a0))
    resultant: Array = sub(
        mul(first, first), mul(sub(mul(a2, b1), mul(b2, a1)), sub(mul(a1, b0), mul(b1, a0)))
    )
    found = []
    for y in np.roots(resultant):
        if abs(y.imag) > REAL_ROOT * (1 + abs(y)):
            continue
        over = np.polyval(sub(mul(a2, b1), mul(b2, a1)), y.real)
        if over == 0:
            continue
        x = -np.polyval(first, y.real) / over
        c = _polished(np.array([x, y.real, 1.0]), A, B)
        if c is not None:
            found.append(c @ basis)
    return found


def _in_y(M: Array) -> tuple[Array, Array, Array]:
    """Return the quadratic form z'Mz with z = (x, y, 1) as a polynomial in x: its coefficients of
    x^2, x and 1 are polynomials in y.
    """
    return (
        np.array([M[0, 0]]),
        np.array([2 * M[0, 1], 2 * M[0, 2]]),
        np.array([M[1, 1], 2 * M[1, 2], M[2, 2]]),
    )


def _polished(z: Array, A: Array, B: Array) -> Array | None:
    """Return a root after Newton steps on the unit sphere; None where they do not converge."""
    z = z / np.linalg.norm(z)
    for _ in range(8):
        f = np.array([z @ A @ z, z @ B @ z, z @ z - 1.0])
        J = 2 * np.stack([A @ z, B @ z, z])
        try:
            z = z - np.linalg.solve(J, f)
        except np.linalg.LinAlgError:
            return None
    return z if abs(z @ A @ z) + abs(z @ B @ z) < 1e-12 else None


def _dyad(c: Array, d: NDArray[np.complex128], t: Array) -> Dyad | None:
    """Return the dyad of eight coefficients; None for a straight line, which no link with pins
    draws, and for solutions that satisfy the conditions without being a circle.
    """
    if abs(c[0]) < LINE_CURVATURE * np.abs(c).max():
        return None
    c = c / c[0]
    point, centre = complex(c[1], c[2]), -complex(c[3], c[4])
    lengths = np.abs(d + np.exp(1j * t) * point - centre)
    if np.ptp(lengths) > 1e-8 * (1 + lengths.max()):
        return None
    return Dyad(centre, point, float(lengths.mean()))
