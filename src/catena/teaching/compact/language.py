"""Vector algebra that is printed and evaluated from one tree, so that what is printed is what was
checked.

    omega(i) == omega(p) + u(i) * q_rate(i)        written so in a statement, printed as text and
                                                   LaTeX, evaluated in numbers

An expression is a tree of the nodes below. Its indices are letters: i is a frame, p the frame that
carries i, j a frame with respect to whose coordinate something is taken, k a row of a loop with its
two frames P and C, c a frame that i carries. `evaluation` gives letters and symbols their values,
which may be complex: derivatives are found by complex steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

At = Mapping[str, int]  # letters of indices -> what they stand for


class Values(Protocol):
    """The interface that provides the numbers at which expressions are evaluated."""

    def value(self, name: str, index: tuple[str, ...], at: At) -> Any:
        """Return the value of a symbol."""

    def members(self, over: Over, at: At) -> list[int]:
        """Return the members of the set that the letter of a sum runs over."""

    def slope(self, of: Expr, along: str, at: At) -> Any:
        """Return the derivative with respect to the coordinate of a frame."""

    def rate(self, of: Expr, at: At) -> Any:
        """Return the derivative in time."""


class Expr:
    """A node of an expression. level: its precedence, 1 for sums, 2 for products, 3 for expressions
    that need no brackets.
    """

    level = 3

    def __add__(self, other: Expr) -> Expr:
        return Sum((*_terms(self), *_terms(other)))

    def __sub__(self, other: Expr) -> Expr:
        return Sum((*_terms(self), *((-sign, x) for sign, x in _terms(other))))

    def __neg__(self) -> Expr:
        return Sum(tuple((-sign, x) for sign, x in _terms(self)))

    def __mul__(self, other: Expr) -> Expr:
        left, right = (x.factors if isinstance(x, Product) else (x,) for x in (self, other))
        return Product((*left, *right))

    @property
    def T(self) -> Expr:
        """The transpose."""
        return Transpose(self)

    def parts(self) -> list[Expr]:
        """Return the operands of the expression."""
        found = [getattr(self, x.name) for x in fields(self)]  # type: ignore[arg-type]
        for _ in range(2):  # terms are pairs in a tuple
            found = [y for x in found for y in (x if isinstance(x, tuple) else (x,))]
        return [x for x in found if isinstance(x, Expr)]

    def symbols(self) -> Iterator[Symbol]:
        """Yield all symbols in the expression."""
        if isinstance(self, Symbol):
            yield self
        for x in self.parts():
            yield from x.symbols()

    def open_letters(self) -> set[str]:
        """Return the letters of indices that are not the index of a sum inside the expression."""
        if isinstance(self, Symbol):
            return set(self.index)
        found = {letter for x in self.parts() for letter in x.open_letters()}
        return found - {self.over.letter} if isinstance(self, Total) else found

    def at(self, v: Values, at: At) -> Any:
        """Return the value of the expression. at: {letter of an index: its number}."""
        raise NotImplementedError

    def magnitude(self, v: Values, at: At) -> Any:
        """Return, entry by entry, the sum of the absolute values of all terms and products in it,
        relative to which rounding is measured.
        """
        return np.abs(self.at(v, at))

    def text(self) -> str:
        """Return the expression as plain text."""
        raise NotImplementedError

    def latex(self) -> str:
        """Return the expression as LaTeX."""
        raise NotImplementedError

    def show(self, how: str, least: int = 1) -> str:
        """Return the expression as "text" or "latex", in brackets if its level is below `least`."""
        shown = getattr(self, how)()
        if self.level >= least:
            return shown
        return f"({shown})" if how == "text" else rf"\left({shown}\right)"


def _terms(x: Expr) -> tuple[tuple[int, Expr], ...]:
    return x.terms if isinstance(x, Sum) else ((1, x),)


@dataclass(frozen=True)
class Symbol(Expr):
    """A named quantity with indices. letter: in LaTeX. primes: the number of derivatives with
    respect to time, which are written after the indices in text.

    own: the name by which it is evaluated, if another quantity has the same letter.
    """

    name: str
    letter: str
    index: tuple[str, ...] = ()
    primes: int = 0
    own: str = ""

    @property
    def key(self) -> str:
        """The name by which it is evaluated."""
        return (self.own or self.name) + "'" * self.primes

    def at(self, v: Values, at: At) -> Any:
        return v.value(self.key, self.index, at)

    def text(self) -> str:
        return self.name + (f"_{','.join(self.index)}" if self.index else "") + "'" * self.primes

    def latex(self) -> str:
        head = (self.letter, rf"\dot{{{self.letter}}}", rf"\ddot{{{self.letter}}}")[self.primes]
        return head + (
            f"_{{{','.join(self.index) if len(self.index) > 1 else self.index[0]}}}"
            if self.index
            else ""
        )


@dataclass(frozen=True)
class Family:
    """Symbols with one letter. A call with indices returns one of them."""

    name: str
    letter: str
    primes: int = 0
    own: str = ""

    def __call__(self, *index: str) -> Symbol:
        return Symbol(self.name, self.letter, index, self.primes, self.own)


@dataclass(frozen=True)
class Number(Expr):
    """A constant."""

    number: Fraction

    def at(self, v: Values, at: At) -> Any:
        return float(self.number)

    def text(self) -> str:
        return str(self.number)

    def latex(self) -> str:
        n = self.number
        return str(n) if n.denominator == 1 else rf"\tfrac{{{n.numerator}}}{{{n.denominator}}}"


HALF, TWO, ZERO = (Number(Fraction(x)) for x in ("1/2", "2", "0"))


@dataclass(frozen=True)
class Sum(Expr):
    """A sum of terms with signs."""

    terms: tuple[tuple[int, Expr], ...]
    level = 1

    def at(self, v: Values, at: At) -> Any:
        total: Any = 0.0
        for sign, x in self.terms:
            total = total + sign * x.at(v, at)
        return total

    def magnitude(self, v: Values, at: At) -> Any:
        return sum((x.magnitude(v, at) for _, x in self.terms), 0.0)

    def _joined(self, how: str) -> str:
        (sign, first), *rest = self.terms
        shown = ("-" if sign < 0 else "") + first.show(how, 2)
        return shown + "".join(f" {'-' if sign < 0 else '+'} {x.show(how, 2)}" for sign, x in rest)

    def text(self) -> str:
        return self._joined("text")

    def latex(self) -> str:
        return self._joined("latex")


@dataclass(frozen=True)
class Product(Expr):
    """A product of numbers, or of matrices and vectors."""

    factors: tuple[Expr, ...]
    level = 2

    def at(self, v: Values, at: At) -> Any:
        return _multiplied([x.at(v, at) for x in self.factors])

    def magnitude(self, v: Values, at: At) -> Any:
        return _multiplied([x.magnitude(v, at) for x in self.factors])

    def text(self) -> str:
        return " ".join(x.show("text", 3) for x in self.factors)

    def latex(self) -> str:
        return r"\,".join(x.show("latex", 3) for x in self.factors)


def _multiplied(factors: list[Any]) -> Any:
    """Return the product of numbers, vectors and matrices."""
    total = factors[0]
    for x in factors[1:]:
        total = total * x if np.ndim(total) == 0 or np.ndim(x) == 0 else total @ x
    return total


@dataclass(frozen=True)
class Cross(Expr):
    """a x b. If a has columns, the product is taken with each."""

    a: Expr
    b: Expr
    level = 2

    def at(self, v: Values, at: At) -> Any:
        a = self.a.at(v, at)
        b = self.b.at(v, at)
        return -skew(b) @ a if np.ndim(a) == 2 else skew(a) @ b

    def magnitude(self, v: Values, at: At) -> Any:
        a = self.a.magnitude(v, at)
        b = self.b.magnitude(v, at)
        return np.abs(skew(b)) @ a if np.ndim(a) == 2 else np.abs(skew(a)) @ b

    def text(self) -> str:
        return f"{self.a.show('text', 3)} x {_second(self.b, 'text')}"

    def latex(self) -> str:
        return rf"{self.a.show('latex', 3)}\times {_second(self.b, 'latex')}"


def _second(x: Expr, how: str) -> str:
    """Return the second factor of a cross product as text or LaTeX; a plain product needs no
    brackets.
    """
    return x.show(how, 2 if isinstance(x, Product) else 3)


@dataclass(frozen=True)
class Dot(Expr):
    """a . b; one number for each column of a, if it has columns."""

    a: Expr
    b: Expr
    level = 2

    def at(self, v: Values, at: At) -> Any:
        a = self.a.at(v, at)
        b = self.b.at(v, at)
        return a * b if np.ndim(a) == 0 else a.T @ b

    def magnitude(self, v: Values, at: At) -> Any:
        a = self.a.magnitude(v, at)
        b = self.b.magnitude(v, at)
        return a * b if np.ndim(a) == 0 else a.T @ b

    def text(self) -> str:
        return f"{self._side(self.a, 'text')} . {self._side(self.b, 'text')}"

    def latex(self) -> str:
        return rf"{self._side(self.a, 'latex')}\cdot {self._side(self.b, 'latex')}"

    @staticmethod
    def _side(x: Expr, how: str) -> str:
        return x.show(how, 2 if isinstance(x, Product) else 3)


@dataclass(frozen=True)
class Transpose(Expr):
    """The transpose of a matrix."""

    of: Expr

    def at(self, v: Values, at: At) -> Any:
        return np.transpose(self.of.at(v, at))

    def text(self) -> str:
        return f"{self.of.show('text', 3)}^T"

    def latex(self) -> str:
        return f"{self.of.show('latex', 3)}^{{T}}"


@dataclass(frozen=True)
class Over:
    """A set that the index of a sum or equation runs over: its name for `Values.members`, and its
    form below a sum sign in text and LaTeX.

    said: a word for the set, printed before equations that hold only for it.
    """

    letter: str
    name: str
    text: str
    latex: str
    said: str = ""


@dataclass(frozen=True)
class Total(Expr):
    """The sum of a term over the members of a set."""

    over: Over
    of: Expr
    level = 2

    def at(self, v: Values, at: At) -> Any:
        return sum(
            (self.of.at(v, {**at, self.over.letter: x}) for x in v.members(self.over, at)), 0.0
        )

    def magnitude(self, v: Values, at: At) -> Any:
        return sum(
            (self.of.magnitude(v, {**at, self.over.letter: x}) for x in v.members(self.over, at)),
            0.0,
        )

    def text(self) -> str:
        return f"sum_{{{self.over.text}}} {self.of.show('text', 2)}"

    def latex(self) -> str:
        return rf"{{\textstyle\sum_{{{self.over.latex}}}}}\,{self.of.show('latex', 2)}"


@dataclass(frozen=True)
class Slope(Expr):
    """The derivative of a number with respect to the coordinate of a frame; for a ball, along its
    three angular velocities.
    """

    of: Expr
    along: str

    def at(self, v: Values, at: At) -> Any:
        return v.slope(self.of, self.along, at)

    def text(self) -> str:
        return f"d{self.of.show('text', 3)}/dq_{self.along}"

    def latex(self) -> str:
        return rf"\tfrac{{\partial {self.of.show('latex', 3)}}}{{\partial q_{{{self.along}}}}}"


@dataclass(frozen=True)
class Rate(Expr):
    """The derivative in time, along the motion."""

    of: Expr
    level = 2

    def at(self, v: Values, at: At) -> Any:
        return v.rate(self.of, at)

    def magnitude(self, v: Values, at: At) -> Any:
        if not isinstance(self.of, Total):
            return super().magnitude(v, at)
        return sum(
            (
                Rate(self.of.of).magnitude(v, {**at, self.of.over.letter: x})
                for x in v.members(self.of.over, at)
            ),
            0.0,
        )

    def text(self) -> str:
        return f"d/dt {self.of.show('text', 2)}"

    def latex(self) -> str:
        return rf"\tfrac{{d}}{{dt}}\,{self.of.show('latex', 2)}"


@dataclass(frozen=True)
class Equation:
    """left = right, for each member of a set. An equation with a single symbol on the left defines
    it; any other equation is a row, which must hold.
    """

    left: Expr
    right: Expr
    each: Over | None = None
    row: bool = False

    @property
    def letters(self) -> tuple[str, ...]:
        """Return the letters of the indices of the symbol that the equation defines."""
        return self.left.index if isinstance(self.left, Symbol) else ()


def skew(a: Any) -> np.ndarray:
    """Return the matrix of the cross product with a."""
    x, y, z = a
    zero = 0.0 * x
    return np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]])
