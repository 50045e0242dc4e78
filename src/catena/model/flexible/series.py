"""The user's shapes as Chebyshev series: whether they are smooth, and whether they are linearly
independent.

Each shape is sampled at the Chebyshev points of one degree. The coefficients of a smooth shape
decrease until they reach the rounding errors of the samples, and stay at that level; it is measured
in the last quarter of the coefficients, and only coefficients above it are kept ([Aurentz2017] has
the idea). All levels are relative to the shape's largest coefficient.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev

from ...errors import MechanismError

Array = np.ndarray
SERIES_DEGREE = 256  # of the Chebyshev series by which a shape is followed
# relative to the shape's largest coefficient: the level below which the last coefficients must come
# for the shape to count as smooth, and the level of a series that loses nothing but rounding
SMOOTH_LEVEL = 1e-8
ROUNDING_LEVEL = 1e-15
# the least singular value of the normalised shapes, whose square is what remains of the 16 digits
# of the mass matrix: below the first they are refused as linearly dependent, below the second a
# warning says so
DEPENDENT_SHAPES = 1e-7
NEARLY_DEPENDENT_SHAPES = 1e-4


@dataclass(frozen=True)
class Series:
    """n shapes as Chebyshev series (degree + 1, n) on 0 to 1.

    level (n,): the rounding errors of their values, relative to the largest coefficient. apart: the
    least singular value of the normalised shapes.
    """

    c: Array
    level: Array
    apart: float

    def __call__(self, s: Array, order: int = 0) -> Array:
        """Return the derivatives (n, k) of that order of all shapes at s = x/L (k,)."""
        return chebyshev.chebval(
            2 * np.asarray(s, float) - 1, chebyshev.chebder(self.c, order, scl=2.0)
        )

    @property
    def points(self) -> int:
        """The number of Gauss points that integrate the product of any two of them, or of their
        derivatives, to rounding.
        """
        return len(self.c) + 1

    def rounding(self, order: int) -> Array:
        """Return the rounding errors (n,) of the derivative of that order: by Markov's inequality
        each order multiplies them by the square of the degree.
        """
        return 4 * self.level * np.abs(self.c).max(axis=0) * len(self.c) ** (2 * order)


def samples() -> Array:
    """Return the places at which shapes are sampled, s (SERIES_DEGREE + 1,) from 0 to 1."""
    return 0.5 * (1 + chebyshev.chebpts1(SERIES_DEGREE + 1))


def fitted(what: str, names: list[str], values: Array) -> Series:
    """Return the series of shapes given by their values (n, SERIES_DEGREE + 1) at `samples`; raise
    MechanismError where one is not smooth. what, names: the names of the beam and of the shapes,
    for messages.
    """
    at = 2 * samples() - 1
    # the points make the polynomials orthogonal
    c = 2 / len(at) * chebyshev.chebvander(at, SERIES_DEGREE).T @ values.T
    c[0] /= 2
    c /= (size := np.abs(c).max(axis=0))
    level = np.maximum(np.abs(c[3 * SERIES_DEGREE // 4 :]).max(axis=0), ROUNDING_LEVEL)
    for name, found in zip(names, level):
        if found > SMOOTH_LEVEL:
            raise MechanismError(
                f"{what}: shape {name} is not smooth: a polynomial of degree {SERIES_DEGREE}"
                f" follows it to {found:.1g} of its size, and {SMOOTH_LEVEL:g} is needed; give a"
                " smooth shape, and one whose terms do not cancel each other's digits (exp(-b*x) in"
                " place of cosh(b*x) - sinh(b*x))"
            )
    c[np.abs(c) < 4 * level] = 0.0  # rounding, which differentiating would magnify
    apart = _apart(what, c, float(level.max()))
    return Series((c * size)[: int(np.flatnonzero(c.any(axis=1))[-1]) + 1], level, apart)


def _apart(what: str, c: Array, level: float) -> float:
    """Return the least singular value of the normalised shapes; raise MechanismError where they are
    linearly dependent.
    """
    apart = float(np.linalg.svd(c / np.linalg.norm(c, axis=0), compute_uv=False)[-1])
    if apart < 10 * level * c.shape[1]:
        raise MechanismError(
            f"{what}: its shapes are not independent of each other; leave out those that others"
            " make up"
        )
    if apart < DEPENDENT_SHAPES:
        raise MechanismError(
            f"{what}: its {c.shape[1]} shapes are too alike: a combination of them is {apart:.1g}"
            " of their size, and the mass matrix, which has its square, would be singular to"
            f" rounding; it must be at least {DEPENDENT_SHAPES:g}. Give fewer, or ones that"
            " differ more, such as Legendre polynomials times (x/L)^2 in place of powers"
        )
    return apart
