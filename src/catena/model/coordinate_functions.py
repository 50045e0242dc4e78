"""Coordinate functions: smooth functions of one coordinate, by which a joint follows another.

polynomial   y = c0 + c1 x + c2 x^2 + ...
spline       cubics through points (x, y) with two continuous derivatives. At both ends the third
             derivative is that of the cubic through the four points there ([Forsythe1977] section
             4.4, as in OpenSim's SimmSpline); beyond the ends it is a straight line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import MechanismError

KINDS = ("polynomial", "spline")


@dataclass(frozen=True)
class CoordinateFunction:
    """A function of one coordinate. kind: "polynomial" with coefficients y, lowest first, or
    "spline" through points (x, y).

    >>> CoordinateFunction("polynomial", y=(1.0, 0.0, 2.0))(3.0)
    (19.0, 12.0, 4.0)
    """

    kind: str
    x: tuple[float, ...] = ()
    y: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for key in ("x", "y"):
            object.__setattr__(self, key, tuple(map(float, getattr(self, key))))
        if faults := list(self._faults()) or list(self._too_large()):
            raise MechanismError(f"a function of a coordinate: {'; '.join(faults)}")

    def _too_large(self) -> Any:
        with np.errstate(all="ignore"):
            try:
                found = self.pieces
            except np.linalg.LinAlgError:
                found = ((math.nan, ()),)
        if not all(math.isfinite(x) for o, c in found for x in (o, *c)):
            yield "its points are too far apart or too near each other for a spline"

    def _faults(self) -> Any:
        if self.kind not in KINDS:
            yield f"kind is {self.kind!r}; it is one of {', '.join(KINDS)}"
        elif self.kind == "polynomial" and (self.x or not self.y):
            yield f"a polynomial has coefficients y and no x; found {len(self.y)} and {len(self.x)}"
        elif self.kind == "spline" and (len(self.x) != len(self.y) or len(self.x) < 2):
            yield (
                "a spline goes through points, as many x as y and two at least; found"
                f" {len(self.x)} and {len(self.y)}"
            )
        elif any(b <= a for a, b in pairwise(self.x)):
            yield "x of a spline rises from point to point"
        if not all(map(np.isfinite, (*self.x, *self.y))):
            yield "x and y are finite numbers"

    @cached_property
    def pieces(self) -> tuple[tuple[float, tuple[float, ...]], ...]:
        """(origin o, coefficients c) of each piece, y = sum c_k (x - o)^k. The first and last
        pieces of a spline are its straight ends.
        """
        if self.kind == "polynomial":
            return ((0.0, self.y),)
        x = np.array(self.x)
        y = np.array(self.y)
        second, h = _seconds(x, y), np.diff(x)
        slope = np.diff(y) / h - h * (2 * second[:-1] + second[1:]) / 6
        third = np.diff(second) / h
        last = slope[-1] + h[-1] * (second[-2] + second[-1]) / 2
        inner = [
            (float(x[i]), tuple(map(float, (y[i], slope[i], second[i] / 2, third[i] / 6))))
            for i in range(len(h))
        ]
        return (
            (float(x[0]), (float(y[0]), float(slope[0]))),
            *inner,
            (float(x[-1]), (float(y[-1]), float(last))),
        )

    def __call__(self, q: Any, select: Any = None) -> tuple[Any, Any, Any]:
        """Return y, dy/dq and d2y/dq2 at a number q, or, with a `select(condition, a, b)`, at a
        symbol q.
        """
        return piecewise(self.pieces, q, select)

    @property
    def affine(self) -> bool:
        """Whether the function has the form c0 + c1 x."""
        return self.kind == "polynomial" and len(self.y) <= 2

    def after(self, inner: CoordinateFunction) -> CoordinateFunction | None:
        """Return the composition self(inner(x)) as one function. None where it is neither a
        polynomial nor a spline: for a spline of a function that is not affine, and for a polynomial
        of degree 2 or more of a spline.

        >>> square = CoordinateFunction("polynomial", y=(0.0, 0.0, 1.0))
        >>> square.after(CoordinateFunction("polynomial", y=(1.0, 2.0))).y
        (1.0, 4.0, 4.0)
        """
        if self.affine and inner.kind == "spline":
            offset, slope = (*self.y, 0.0)[:2]
            return CoordinateFunction("spline", inner.x, tuple(offset + slope * y for y in inner.y))
        if self.kind == inner.kind == "polynomial":
            return CoordinateFunction("polynomial", y=_composed(self.y, inner.y))
        if not inner.affine:
            return None
        offset, slope = (*inner.y, 0.0)[:2]
        if not slope:
            return CoordinateFunction("polynomial", y=(self(offset)[0],))
        points = sorted(((x - offset) / slope, y) for x, y in zip(self.x, self.y))
        return CoordinateFunction("spline", *zip(*points))


def _composed(outer: Sequence[float], inner: Sequence[float]) -> tuple[float, ...]:
    """Return the coefficients of outer(inner(x)) of two polynomials, by Horner's rule."""
    found = np.zeros(1)
    for c in reversed(outer):
        found = np.convolve(found, inner)
        found[0] += c
    return tuple(map(float, np.trim_zeros(found, "b"))) or (0.0,)


def piecewise(
    pieces: Sequence[tuple[float, tuple[Any, ...]]], q: Any, select: Any = None
) -> tuple[Any, Any, Any]:
    """Return y, dy/dq and d2y/dq2 of a piecewise polynomial; each piece is valid from its origin
    on. The coefficients of the piece are selected first, and one polynomial is evaluated, so that
    the expression of many pieces, and its derivatives, are short.
    """
    pick = select or (lambda condition, a, b: a if condition else b)
    degree = max(len(c) for _, c in pieces)
    rows = [(o, *c, *(0.0,) * (degree - len(c))) for o, c in pieces]
    found = rows[0]
    for row in rows[1:]:
        here = q >= row[0]
        found = tuple(pick(here, a, b) for a, b in zip(row, found))
    return _polynomial((found[0], found[1:]), q)


def _polynomial(piece: tuple[float, tuple[Any, ...]], q: Any) -> tuple[Any, Any, Any]:
    """Return a polynomial and its first two derivatives at q, by Horner's rule."""
    s = q - piece[0]
    y: Any = 0.0
    dy: Any = 0.0
    half: Any = 0.0
    for c in reversed(piece[1]):
        half = half * s + dy
        dy = dy * s + y
        y = y * s + c
    return y, dy, 2.0 * half


def _seconds(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the second derivatives of the spline at its points, (n,)."""
    n = len(x)
    h = np.diff(x)
    d = np.diff(y) / np.diff(x)
    if n == 2:
        return np.zeros(2)
    A, b = np.zeros((n, n)), np.zeros(n)
    for i in range(1, n - 1):
        A[i, i - 1 : i + 2], b[i] = (h[i - 1], 2 * (h[i - 1] + h[i]), h[i]), 6 * (d[i] - d[i - 1])
    # third derivatives at the ends
    A[0, :2], A[-1, -2:] = (-1 / h[0], 1 / h[0]), (-1 / h[-1], 1 / h[-1])
    if n > 3:
        b[0], b[-1] = (6 * _third_difference(x[k], y[k]) for k in (slice(0, 4), slice(n - 4, n)))
    return np.linalg.solve(A, b)


def _third_difference(x: np.ndarray, y: np.ndarray) -> float:
    """Return the leading coefficient of the cubic through four points."""
    for k in range(1, 4):
        y = np.diff(y) / (x[k:] - x[:-k])
    return float(y[0])


def closed_spline(
    x: Sequence[float], y: Sequence[Any]
) -> tuple[tuple[float, tuple[Any, ...]], ...]:
    """Return the pieces of the periodic cubic spline, with two continuous derivatives, through
    points of one period.

    x (n,): numbers, increasing. y (n,): numbers or symbols, in which the pieces are linear; the
    last is taken to be equal to the first.
    """
    from scipy.interpolate import CubicSpline

    unit = np.eye(len(y))
    unit[-1] = unit[0]
    c = CubicSpline(np.array(x), unit, bc_type="periodic").c[::-1]  # (power, piece, point)
    return tuple(
        (
            float(o),
            tuple(_combined(c[power, i], y) for power in range(4)),
        )
        for i, o in enumerate(x[:-1])
    )


# points whose weight in a piece, relative to the largest weight, is smaller are dropped: they are
# below the rounding of the sum, since a spline hardly depends on points far away
NEGLIGIBLE_WEIGHT = 1e-18


def _combined(weights: np.ndarray, y: Sequence[Any]) -> Any:
    """Return the sum of weight times y, without terms whose weight is negligible."""
    least = NEGLIGIBLE_WEIGHT * float(np.abs(weights).max())
    return sum((float(k) * z for k, z in zip(weights, y) if abs(k) > least), 0.0)
