"""Ratios of harmonic sums, for expressions in which a denominator cancels: the point in which a
disc touches the ground is R (n - (n.e) e)/|n - (n.e) e|, and in Euler angles the root is a cosine.

Sums with a generator E_k for each exp(i x_k) are polynomials; exact division and square roots are
those of polynomials over the Gaussian rationals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.polys.rings import PolyElement, PolyRing

from .harmonics import Harmonics, NotHarmonic

LARGEST_DIVISOR = 24  # terms of a denominator or a radicand: longer ones are not read anyway


@dataclass(frozen=True)
class Ratio:
    """The quotient of two harmonic sums; arithmetic cancels the denominator where it divides."""

    top: Harmonics
    below: Harmonics

    def __mul__(self, other: Harmonics | Ratio) -> Harmonics | Ratio:
        top, below = _parts(other)
        return cancelled(self.top * top, self.below * below)

    __rmul__ = __mul__

    def __add__(self, other: Harmonics | Ratio) -> Harmonics | Ratio:
        top, below = _parts(other)
        return cancelled(self.top * below + top * self.below, self.below * below)

    __radd__ = __add__

    def __neg__(self) -> Ratio:
        return Ratio(-self.top, self.below)

    def __sub__(self, other: Harmonics | Ratio) -> Harmonics | Ratio:
        return self + -other

    def __rsub__(self, other: Harmonics | Ratio) -> Harmonics | Ratio:
        return -self + other

    def cleaned(self) -> Harmonics:
        """Raise NotHarmonic, because a denominator is left at the end."""
        raise NotHarmonic("a quotient whose denominator does not cancel")


def _parts(x: Harmonics | Ratio) -> tuple[Harmonics, Harmonics]:
    if isinstance(x, Ratio):
        return x.top, x.below
    return x, x._new({x.still: x.ring.one})


def cancelled(top: Harmonics, below: Harmonics) -> Harmonics | Ratio:
    """Return top / below as a sum if the division is exact, else as a Ratio."""
    if not top.parts:
        return top
    if below.terms > LARGEST_DIVISOR:
        raise NotHarmonic("a quotient with a long denominator")
    _, (P, Q), shifts = _polynomials(top, below)
    top.budget.spend(len(P) * len(Q))
    quotient, rest = P.div(Q)
    if rest:
        return Ratio(top, below)
    return _harmonics(quotient, top, [a - b for a, b in zip(*shifts)])


def root(x: Harmonics) -> Harmonics:
    """Return the square root of a sum that is the square of another one. Its sign is that of the
    root at zero angles; angles must stay in the range where it keeps that sign.
    """
    if x.terms > LARGEST_DIVISOR:
        raise NotHarmonic("the operation sqrt")
    ring, (P,), (shift,) = _polynomials(x)
    _, factors = P.sqf_list()
    if any(k % 2 for _, k in factors) or any(s % 2 for s in shift):
        raise NotHarmonic("the operation sqrt")
    found = ring.one
    for factor, k in factors:
        found = found * factor ** (k // 2)
    value = sp.sqrt(ring.domain.to_sympy(P.LC) / ring.domain.to_sympy((found**2).LC))
    if not (value.is_rational or (value / sp.I).is_rational):
        raise NotHarmonic("the operation sqrt")
    y = _harmonics(found.mul_ground(ring.domain.from_sympy(value)), x, [s // 2 for s in shift])
    return y if _at_zero(y) >= 0 else -y


def _at_zero(x: Harmonics) -> float:
    """Return the value where every angle is zero and every symbol one."""
    return float(
        sum(sp.re(x.ring.domain.to_sympy(c)) for p in x.parts.values() for c in p.values())
    )


def _polynomials(
    *sums: Harmonics,
) -> tuple[PolyRing, list[PolyElement], list[list[int]]]:
    """Return the sums as polynomials, in the symbols and in exp(i x), times exp(i shift.x)."""
    n = sums[0].ring.ngens
    modes = [mode for x in sums for mode in x.parts]
    if any(int(k) != k for mode in modes for k in mode):
        raise NotHarmonic("a quotient of half angles")
    ring = PolyRing([f"x{k}" for k in range(2 * n)], sums[0].ring.domain, sp.lex)
    found, shifts = [], []
    for x in sums:
        shift = [min((int(mode[k]) for mode in x.parts), default=0) for k in range(n)]
        terms = {
            (*powers, *(int(m) - s for m, s in zip(mode, shift))): c
            for mode, poly in x.parts.items()
            for powers, c in poly.items()
        }
        found.append(ring.from_dict(terms))
        shifts.append(shift)
    return ring, found, shifts


def _harmonics(poly: PolyElement, like: Harmonics, shift: list[int]) -> Harmonics:
    """Return a polynomial in symbols and exp(i x) as a harmonic sum."""
    n = like.ring.ngens
    parts: dict[tuple[Any, ...], dict[tuple[int, ...], Any]] = {}
    for powers, c in poly.items():
        mode = tuple(p + s for p, s in zip(powers[n:], shift))
        parts.setdefault(mode, {})[powers[:n]] = c
    return like._new({mode: like.ring.from_dict(terms) for mode, terms in parts.items()})
