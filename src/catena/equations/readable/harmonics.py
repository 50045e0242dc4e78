"""Harmonics: sums of cosines and sines of angles, with polynomials for coefficients. Their normal
form is the textbook's form.

What mechanics writes down without solving anything is a polynomial in masses, lengths, distances,
speeds and accelerations, and in sines and cosines of whole sums of angles. Written with exp(i n.q),
as a Fourier sum

    x = sum over modes n of c_n exp(i n.q),      c_n a polynomial, c_-n its conjugate

every such expression has exactly one form: products of cosines become cosines of sums by
themselves, cos^2 + sin^2 is 1 without a simplification, and two expressions are equal if their
coefficients are. There is no search and there are no rewriting rules: each operation of the CasADi
function is one operation here, the polynomials are SymPy's, and a budget can end the conversion
after any of them.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp
from sympy.polys.rings import PolyElement, PolyRing

from .convert import LARGEST

# a coefficient this much smaller than the largest is what rounding left of zero
ROUNDING = Fraction(1, 10**13)


class NotHarmonic(Exception):
    """An operation whose result is not a harmonic sum; its message says which."""


class OutOfBudget(Exception):
    """The budget of operations or terms is exhausted; its message is a sentence that says which."""


@dataclass
class Budget:
    """The limits of a simplification: the total number of products of polynomials, weighted by
    their terms, and the number of terms in one expression.

    It counts operations and not time, so that the same equations are written the same way on every
    machine.
    """

    effort: int
    terms: int
    spent: int = 0

    def spend(self, cost: int = 1, terms: int = 0) -> None:
        """Count an amount of work, and check the size of an expression. Raise OutOfBudget where a
        limit is exceeded.
        """
        self.spent += cost
        if terms > self.terms:
            raise OutOfBudget(f"an expression grew beyond {self.terms} terms")
        if self.spent > self.effort:
            raise OutOfBudget(f"the limit of {self.effort} operations ran out")


Mode = tuple[int | Fraction, ...]  # how often each generator of the ring occurs in the angle


@dataclass(frozen=True)
class Harmonics:
    """A Fourier sum {mode: polynomial over the Gaussian rationals} whose value is real;
    immutable.
    """

    ring: PolyRing
    parts: dict[Mode, PolyElement]
    budget: Budget

    # --- making
    def _new(self, parts: dict[Mode, PolyElement]) -> Harmonics:
        made = Harmonics(
            self.ring, {mode: poly for mode, poly in parts.items() if poly}, self.budget
        )
        self.budget.spend(0, made.terms)
        return made

    def constant(self, x: Fraction) -> Harmonics:
        """Return the number x as a harmonic sum."""
        return self._new({self.still: self.ring(sp.QQ_I(sp.QQ(x.numerator, x.denominator), 0))})

    def generator(self, k: int) -> Harmonics:
        """Return the k-th symbol of the polynomial ring as a sum."""
        return self._new({self.still: self.ring.gens[k]})

    @property
    def still(self) -> Mode:
        """The mode of the terms that do not depend on angles."""
        return (0,) * self.ring.ngens

    # --- arithmetic
    def __add__(self, other: Harmonics) -> Harmonics:
        if not isinstance(other, Harmonics):
            return NotImplemented
        total = dict(self.parts)
        for mode, poly in other.parts.items():
            total[mode] = total[mode] + poly if mode in total else poly
        return self._new(total)

    def __neg__(self) -> Harmonics:
        return self._new({mode: -poly for mode, poly in self.parts.items()})

    def __sub__(self, other: Harmonics) -> Harmonics:
        if not isinstance(other, Harmonics):
            return NotImplemented
        return self + -other

    def __mul__(self, other: Harmonics) -> Harmonics:
        if not isinstance(other, Harmonics):
            return NotImplemented
        total: dict[Mode, PolyElement] = {}
        for m, a in self.parts.items():
            for n, b in other.parts.items():
                self.budget.spend(len(a) * len(b))
                mode = tuple(x + y for x, y in zip(m, n))
                product = a * b
                total[mode] = total[mode] + product if mode in total else product
        return self._new(total)

    def __pow__(self, n: int) -> Harmonics:
        result = self.constant(Fraction(1))
        for _ in range(n):
            result = result * self
        return result

    def scaled(self, x: Any) -> Harmonics:
        """Return the sum times a Gaussian rational."""
        return self._new({mode: poly.mul_ground(x) for mode, poly in self.parts.items()})

    def reduced(self, first: int, others: Sequence[int]) -> Harmonics:
        """Return the sum with the square of the first symbol replaced by 1 - (the sum of the
        squares of the others), because a quaternion has length one.
        """
        rest = self.ring.one - sum((self.ring.gens[k] ** 2 for k in others), self.ring.zero)
        parts = {}
        for mode, poly in self.parts.items():
            parts[mode] = self.ring.zero
            for powers, c in poly.terms():
                kept = tuple(e % 2 if k == first else e for k, e in enumerate(powers))
                self.budget.spend(4 ** (powers[first] // 2))
                parts[mode] += self.ring.from_dict({kept: c}) * rest ** (powers[first] // 2)
        return self._new(parts)

    # --- angles
    def turned(self) -> Harmonics:
        """Return exp(i x), for a sum x of symbols with rational factors and a number."""
        mode, phase = list(self.still), 0.0
        for other, poly in self.parts.items():
            if other != self.still:
                raise NotHarmonic("the sine of a sine")
            for powers, c in poly.terms():
                if sum(powers) > 1:
                    raise NotHarmonic("the sine of a product")
                factor = fraction(c.x)
                if sum(powers) == 0:
                    phase = float(factor)
                else:
                    mode[powers.index(1)] = factor.numerator if factor.denominator == 1 else factor
        unit = sp.QQ_I(
            *(
                sp.QQ(z.numerator, z.denominator)
                for z in (exact(math.cos(phase)), exact(math.sin(phase)))
            )
        )
        return self._new({tuple(mode): self.ring(unit)})

    def conjugate(self) -> Harmonics:
        """Return the sum with every term c_n exp(i n.q) replaced by its complex conjugate."""
        parts = {}
        for mode, poly in self.parts.items():
            parts[tuple(-x for x in mode)] = self.ring.from_dict(
                {m: sp.QQ_I(c.x, -c.y) for m, c in poly.items()}
            )
        return self._new(parts)

    def cos(self) -> Harmonics:
        """Return the cosine of the sum, (exp(ix) + exp(-ix)) / 2."""
        e = self.turned()
        return (e + e.conjugate()).scaled(sp.QQ_I(sp.QQ(1, 2), 0))

    def sin(self) -> Harmonics:
        """Return the sine of the sum, (exp(ix) - exp(-ix)) / 2i."""
        e = self.turned()
        return (e - e.conjugate()).scaled(sp.QQ_I(0, sp.QQ(-1, 2)))

    # --- looking
    @property
    def terms(self) -> int:
        """The number of terms of all polynomials."""
        return sum(map(len, self.parts.values()))

    def number(self) -> Fraction | None:
        """Return the value of a constant; None where symbols remain."""
        if not self.parts:
            return Fraction(0)
        poly = self.parts.get(self.still)
        if len(self.parts) > 1 or poly is None or not poly.is_ground:
            return None
        return fraction(poly.LC.x)

    def cleaned(self) -> Harmonics:
        """Return the sum without coefficients that are only rounding errors."""
        sizes = [
            abs(fraction(z))
            for poly in self.parts.values()
            for c in poly.values()
            for z in (c.x, c.y)
        ]
        least = max(sizes, default=Fraction(0)) * ROUNDING

        def kept(c: Any) -> Any:
            return sp.QQ_I(*(z if abs(fraction(z)) > least else sp.QQ(0) for z in (c.x, c.y)))

        rounded = {mode: {m: kept(c) for m, c in poly.items()} for mode, poly in self.parts.items()}
        return self._new(
            {
                mode: self.ring.from_dict({m: c for m, c in poly.items() if c})
                for mode, poly in rounded.items()
            }
        )


def fraction(x: Any) -> Fraction:
    """Return a rational of SymPy's ground types as Python's."""
    return Fraction(int(x.numerator), int(x.denominator))


def exact(x: float) -> Fraction:
    """Return the fraction that a float most likely stands for: a small one that rounds to it, else
    its shortest decimal.
    """
    if not math.isfinite(x):
        raise NotHarmonic(f"the number {x}")
    near = Fraction(x).limit_denominator(LARGEST)
    return near if float(near) == x else Fraction(repr(x))


OPERATIONS: dict[str, Callable[..., Harmonics]] = {
    "ADD": operator.add,
    "SUB": operator.sub,
    "MUL": operator.mul,
    "NEG": operator.neg,
    "SQ": lambda a: a * a,
    "TWICE": lambda a: a + a,
    "SIN": Harmonics.sin,
    "COS": Harmonics.cos,
}
