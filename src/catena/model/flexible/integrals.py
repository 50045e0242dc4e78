"""The mass integrals of a beam by modes, computed once, as dimensionless numbers: the beam has
length one and mass one.

With s = x/L, amplitudes e of the shapes phi, and ' = d/ds, a point of the beam lies in the beam's
own frame at

    r = L s x + sum_i e_i phi_i axis_i - 1/(2 L) sum_ij e_i e_j g_ij x,
        g_ij(s) = integral_0^s phi_i' phi_j' ds

The last term is the foreshortening: the displacement along x by which a beam keeps its length when
it bends. It is exact to second order in e, and it is the only term by which centrifugal and axial
forces act on bending. So r is a sum of fixed fields B_a(s), each along one axis, with amplitudes
c_a(e):

    r = sum_a c_a B_a axis_a;      S_a = integral B_a ds,   P_ab = integral B_a B_b ds

and every integral over the mass is S or P times amplitudes. A section also turns, to first order,
by chi_d.e about the axes d = x, y, z: twist, -phi_z'/L, phi_y'/L. All integrals are sums over
Gauss-Legendre points, more than enough for the waves in them (1e-13). The smallest rule that
reproduces P to rounding gives the sections that represent the beam where a sum over points is
needed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.polynomial.legendre import leggauss

from .shapes import Shapes

Array = np.ndarray
X, Y, Z = range(3)
AXES = {"y": Y, "z": Z, "x": X}  # of the directions that displace; twist only turns
# relative to the diagonal of P: a quadrature rule whose P differs by less is as good as the exact
# integrals
QUADRATURE_TOLERANCE = 1e-13


@dataclass(frozen=True)
class FieldValues:
    """The fields at places s (k,) of the beam: B (m, k), and chi (3, n, k)."""

    s: Array
    B: Array
    chi: Array


@dataclass(frozen=True)
class Basis:
    """The modes of a beam, by direction: y, z, x, twist, in this order. stiffening: whether bending
    shortens it.
    """

    shapes: Mapping[str, Shapes]
    counts: Mapping[str, int]
    stiffening: bool

    @cached_property
    def directions(self) -> tuple[str, ...]:
        """The direction of each mode, (n,)."""
        return tuple(name for name in self.shapes for _ in range(self.counts[name]))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels of the modes: y1, y2, ... z1, ... x1, ... twist1, ..."""
        return tuple(f"{name}{k + 1}" for name in self.shapes for k in range(self.counts[name]))

    @cached_property
    def moving(self) -> tuple[int, ...]:
        """The indices of the modes that displace (all but twist); they are the fields 1, 2, ..."""
        return tuple(i for i, name in enumerate(self.directions) if name in AXES)

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs i <= j of the foreshortening fields g_ij, which come last among the fields."""
        d = self.directions
        n = len(self.directions)
        same = [
            (i, j) for i in range(n) for j in range(i, n) if d[i] == d[j] and d[i] in ("y", "z")
        ]
        return tuple(same) if self.stiffening else ()

    @cached_property
    def axes(self) -> Array:
        """The axis of each field, (m,): 0, 1 or 2."""
        return np.array(
            [X, *(AXES[self.directions[i]] for i in self.moving), *(X for _ in self.pairs)]
        )

    @cached_property
    def points(self) -> int:
        """The number of Gauss points that integrate the product of two shapes."""
        return max((f.points for f in self.shapes.values()), default=2)

    def values(self, s: Array, order: int = 0) -> Array:
        """Return the shapes of the modes at s (k,), or their derivatives of that order, (n, k)."""
        return np.concatenate(
            [
                np.zeros((0, len(s))),
                *(f(s, order)[: self.counts[name]] for name, f in self.shapes.items()),
            ]
        )

    def at(self, s: Any) -> FieldValues:
        """Return the fields at places s."""
        s = np.atleast_1d(np.asarray(s, float))
        phi = self.values(s)
        slope = self.values(s, 1)
        B = np.concatenate([s[None], phi[list(self.moving)], self._shortening(s)])
        chi = np.zeros((3, *phi.shape))
        for i, name in enumerate(self.directions):
            d, turn = {
                "twist": (X, phi[i]),
                "z": (Y, -slope[i]),
                "y": (Z, slope[i]),
                "x": (X, 0.0),
            }[name]
            chi[d, i] = turn
        return FieldValues(s, B, chi)

    def twisting(self, s: float) -> Array:
        """Return h (n, n) at s, the twist of a section that follows from bending in two planes:
        h_ij = h_ji = -integral_0^s phi_i'' phi_j' ds, i along y, j along z.
        """
        t, w = rule(self.points)
        curved = self.values(s * t, 2)
        slope = self.values(s * t, 1)
        is_y, is_z = (np.array([name == k for name in self.directions], float) for k in "yz")
        h = -s * np.einsum("ik,jk,k,i,j->ij", curved, slope, w, is_y, is_z)
        return (h + h.T) if self.stiffening else np.zeros_like(h)

    def _shortening(self, s: Array) -> Array:
        """Return g (pairs, k) at s (k,): cumulative sums of Gauss rules from each place to the
        next, with as many points as the longest interval needs.
        """
        if not self.pairs:
            return np.zeros((0, len(s)))
        order = np.argsort(s)
        ways = np.diff(s[order], prepend=0.0)
        t, w = rule(min(self.points, 12 + math.ceil(self.points * np.abs(ways).max())))
        at = (s[order] - ways)[:, None] + np.outer(ways, t)
        slopes = self.values(at.ravel(), 1).reshape(-1, *at.shape).swapaxes(0, 1)  # (k, n, points)
        g = np.cumsum(ways[:, None, None] * ((slopes * w) @ slopes.swapaxes(1, 2)), axis=0)[
            np.argsort(order)
        ]
        i, j = np.array(self.pairs).T
        return g[:, i, j].T


@dataclass(frozen=True)
class Integrals:
    """The integrals of a basis: S (m,), P (m, m); chi1 (3, n) and chi2 (3, n, n), the first and
    second moments of chi; bent (n, n), of the curvatures.

    bent: integral of phi_i'' phi_j'' for bending, of phi_i' phi_j' for stretching and twist; zero
    between directions. points, weights: the quadrature sections that reproduce P.
    """

    basis: Basis
    S: Array
    P: Array
    chi1: Array
    chi2: Array
    bent: Array
    points: Array
    weights: Array


def integrals(basis: Basis) -> Integrals:
    """Return the integrals, by as many Gauss points as they need."""
    # a field g has the waves of two shapes, and a product of two fields those of four
    s, w = rule(2 * basis.points + 4)
    at = basis.at(s)
    P = _products(basis, s, w)
    orders = [2 if name in ("y", "z") else 1 for name in basis.directions]
    by_order = {d: basis.values(s, d) for d in (1, 2)}
    strain = np.array([by_order[d][i] for i, d in enumerate(orders)]).reshape(len(orders), -1)
    alike = np.equal.outer(np.array(basis.directions), np.array(basis.directions))
    points, weights = _sections(basis, P, len(s))
    return Integrals(
        basis,
        at.B @ w,
        P,
        at.chi @ w,
        (at.chi * w) @ at.chi.swapaxes(1, 2),
        _cleaned(alike * ((strain * w) @ strain.T)),
        points,
        weights,
    )


@cache
def rule(n: int) -> tuple[Array, Array]:
    """Return n Gauss-Legendre points and weights on 0 to 1."""
    t, w = leggauss(n)
    return 0.5 * (t + 1), 0.5 * w


def _products(basis: Basis, s: Array, w: Array) -> Array:
    B = basis.at(s).B
    return (B * w) @ B.T


def _sections(basis: Basis, P: Array, most: int) -> tuple[Array, Array]:
    """Return the smallest Gauss rule, with an even number of points, that reproduces P. It is found
    by bisection, because more points are always more accurate.
    """
    low, high = 1, most // 2
    while low < high:
        middle = (low + high) // 2
        enough = _change(_products(basis, *rule(2 * middle)), P) < QUADRATURE_TOLERANCE
        low, high = (low, middle) if enough else (middle + 1, high)
    return rule(2 * high)


def _change(P: Array, Q: Array) -> float:
    """Return the largest difference of entries of P and Q, relative to the diagonal of Q."""
    size = np.sqrt(np.diag(Q))
    return float(np.abs((P - Q) / np.outer(size, size)).max())


def _cleaned(K: Array) -> Array:
    """Return K with entries set to zero that are below 1e-12 relative to its diagonal: rounding
    between orthogonal shapes.
    """
    size = np.sqrt(np.abs(np.diag(K)))
    return np.where(np.abs(K) < 1e-12 * np.outer(size, size), 0.0, K)
