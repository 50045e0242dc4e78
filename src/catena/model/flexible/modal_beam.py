"""The record of a beam by modes: its shapes, and how its places move with their amplitudes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..motions import Shift
from ..pose import Scalar
from ..values import value_of
from .integrals import Integrals, X, Y, Z

SHAPE_ROUNDING = 1e-12  # a smaller value of a shape, relative to one, is rounding and becomes zero


@dataclass(frozen=True)
class Modal:
    """A beam by modes. body: the name of the body in whose frame the shapes are defined. joint: the
    name of the joint that has the amplitudes.

    integrals: dimensionless. length (m), rhoA (kg/m), rhoJ (kg m): about x, y and z.
    """

    body: str
    joint: str
    integrals: Integrals
    length: Scalar
    rhoA: Scalar
    rhoJ: tuple[Scalar, Scalar, Scalar]

    def amplitudes(self, e: Any, L: Any) -> list[Any]:
        """Return c (m,), m, the amplitudes of the fields: L, e, and -e_i e_j / L of each pair, half
        of it for i = j.
        """
        basis = self.integrals.basis
        return [
            L,
            *(e[i] for i in basis.moving),
            *(-(0.5 if i == j else 1.0) * e[i] * e[j] / L for i, j in basis.pairs),
        ]

    def sizes(self, parameters: Any) -> dict[str, float]:
        """Return {coordinate: a typical amplitude}, m or rad: a tenth of the length or of a radian,
        less for higher shapes.
        """
        found = {}
        L = float(value_of(self.length, parameters))
        for label in self.integrals.basis.labels:
            kind = label.rstrip("0123456789")
            found[f"{self.body}.{label}"] = (
                0.1 * (1.0 if kind == "twist" else L) / int(label.removeprefix(kind)) ** 2
            )
        return found

    def shifts(self, s: float) -> tuple[Shift, ...]:
        """Return how the amplitudes move the place s = x/L: displacements, then rotations about z,
        y and x.
        """
        basis = self.integrals.basis
        L = self.length
        at = basis.at(s)
        n = len(basis.directions)
        a = np.zeros((3, n))
        B = np.zeros((n, n))
        chi = at.chi[..., 0]
        for field, i in enumerate(basis.moving, start=1):
            a[basis.axes[field], i] = at.B[field, 0]
        for (i, j), g in zip(basis.pairs, at.B[len(basis.moving) + 1 :, 0]):
            B[i, j] = B[j, i] = -g
        shifts_of_place = [
            Shift("Dx", _row(a[X]), _rows(B, 1 / L)),
            Shift("Dy", _row(a[Y])),
            Shift("Dz", _row(a[Z])),
        ]
        shifts_of_place += [Shift(f"R{'xyz'[d]}", self._turn(d, chi[d])) for d in (Z, Y)]
        shifts_of_place += [
            Shift("Rx", self._turn(X, chi[X]), _rows(basis.twisting(s), 1 / (L * L)))
        ]
        return tuple(
            x
            for x in shifts_of_place
            if any(y != 0.0 for y in (*x.a, *(b for row in x.B for b in row)))
        )

    def _turn(self, d: int, chi: np.ndarray) -> tuple[Scalar, ...]:
        """Return radians per unit of each amplitude: 1 for twist, the slope divided by the length
        for bending.
        """
        return tuple(scaled(x, 1.0 if d == X else 1 / self.length) for x in chi)


def _row(a: np.ndarray) -> tuple[Scalar, ...]:
    return tuple(scaled(x, 1.0) for x in a)


def _rows(B: np.ndarray, unit: Scalar) -> tuple[tuple[Scalar, ...], ...]:
    return (
        tuple(tuple(scaled(x, unit) for x in row) for row in B)
        if np.abs(B).max(initial=0.0) > SHAPE_ROUNDING
        else ()
    )


def scaled(x: float, unit: Scalar) -> Scalar:
    """Return x times `unit`, with zero in place of rounding errors."""
    return 0.0 if abs(x) < SHAPE_ROUNDING else float(x) * unit
