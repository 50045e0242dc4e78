"""Shapes of your own as Chebyshev series: how far they can be followed, and whether they differ
from each other.

Each shape is sampled at the Chebyshev points of one degree. The coefficients of a smooth shape fall
until they meet the rounding errors of the samples and stay level from there on; that level is
measured in the last quarter of the coefficients, and what stands above it is kept ([Aurentz2017]
has the idea). All levels are relative to the shape's largest coefficient.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev

from ...errors import MechanismError

Array = np.ndarray
DEGREE = 256
FOLLOWED = 1e-8  # the level below which a series must come for the shape to be smooth
EXACT = 1e-15  # the level of a series that loses nothing but rounding
# the least singular value of normalised shapes: its square is what the mass matrix has left of its
# 16 digits
ALIKE = 1e-7
CLOSE = 1e-4  # below it, shapes are so alike that dynamics lose half of their digits: a doubt


@dataclass(frozen=True)
class Series:
    """n shapes as Chebyshev series (degree + 1, n) on 0 to 1.

    level (n,): the rounding errors of their values, relative. apart: the least singular value of
    the shapes, normalised.
    """

    c: Array
    level: Array
    apart: float

    def __call__(self, s: Array, order: int = 0) -> Array:
        """The derivative of that order at s, (n, k)."""
        return chebyshev.chebval(
            2 * np.asarray(s, float) - 1, chebyshev.chebder(self.c, order, scl=2.0)
        )

    @property
    def points(self) -> int:
        """Gauss points that integrate the product of any two of them, or of their derivatives, to
        rounding.
        """
        return len(self.c) + 1

    def rounding(self, order: int) -> Array:
        """The rounding errors (n,) of the derivative of that order: by Markov each order costs a
        square of the degree.
        """
        return 4 * self.level * np.abs(self.c).max(axis=0) * len(self.c) ** (2 * order)


def samples() -> Array:
    """Where shapes are sampled, s (DEGREE + 1,) from 0 to 1."""
    return 0.5 * (1 + chebyshev.chebpts1(DEGREE + 1))


def fitted(what: str, names: list[str], values: Array) -> Series:
    """The series of shapes by their values (n, DEGREE + 1) at `samples`. what, names: whose and
    which they are, for messages.
    """
    at = 2 * samples() - 1
    # the points make the polynomials orthogonal
    c = 2 / len(at) * chebyshev.chebvander(at, DEGREE).T @ values.T
    c[0] /= 2
    c /= (size := np.abs(c).max(axis=0))
    level = np.maximum(np.abs(c[3 * DEGREE // 4 :]).max(axis=0), EXACT)
    for name, found in zip(names, level):
        if found > FOLLOWED:
            raise MechanismError(
                f"{what}: shape {name} is not smooth: a polynomial of degree {DEGREE} follows it to"
                f" {found:.1g} of its size, and {FOLLOWED:g} is needed; give a smooth shape, and"
                " one whose terms do not cancel each other's digits (exp(-b*x) in place of"
                " cosh(b*x) - sinh(b*x))"
            )
    c[np.abs(c) < 4 * level] = 0.0  # rounding, which differentiating would magnify
    apart = _apart(what, c, float(level.max()))
    return Series((c * size)[: int(np.flatnonzero(c.any(axis=1))[-1]) + 1], level, apart)


def _apart(what: str, c: Array, level: float) -> float:
    """The least singular value of the shapes, each of size one; shapes that make up each other are
    refused.
    """
    apart = float(np.linalg.svd(c / np.linalg.norm(c, axis=0), compute_uv=False)[-1])
    if apart < 10 * level * c.shape[1]:
        raise MechanismError(
            f"{what}: its shapes are not independent of each other; leave out those that others"
            " make up"
        )
    if apart < ALIKE:
        raise MechanismError(
            f"{what}: its {c.shape[1]} shapes are too alike: a combination of them is {apart:.1g}"
            " of their size, and the mass matrix, which has its square, would be singular to"
            f" rounding; it must be at least {ALIKE:g}. Give fewer, or ones that differ more, such"
            " as Legendre polynomials times (x/L)^2 in place of powers"
        )
    return apart
