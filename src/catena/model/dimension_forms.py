"""Forms: the dimension of an expression as a product of powers of the names in it.

    "density*l^3/12"  ->  density^1 l^3          "sqrt(d^2 - x^2)"  ->  d, if d^2 and x^2 are alike

A form holds no units: `dimension_analysis` inserts those of the names. Conditions that an
expression implies wherever it is used (the terms of a sum have one dimension, the argument of a
sine is a plain number) are returned with the form, as `Alike`.

The dimension of a number without unit cannot be known from the number. Three rules apply:

    in a sum, or alone        it is a quantity in SI of the dimension that is needed: "l + 0.1"
    a factor 2, 1/12, pi      a whole number, a ratio of whole numbers or pi is a plain number
    a factor 0.25, 9.81       a decimal may be a quantity in SI: "density*0.25" may be a mass. The
                              product is then `loose`, and implies nothing about dimensions

In a law, an expression of time and coordinates, whole numbers are often gains ("-12*q_elbow"), so
there every factor but -1 is loose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from .expression_functions import OURS
from .pose import Scalar


class Form(NamedTuple):
    """A product of powers of names. loose: a decimal number among its factors may hide a unit.
    plain: it has no names outside of functions, so that it is a number.
    """

    names: tuple[tuple[str, Fraction], ...] = ()
    loose: bool = False

    @property
    def plain(self) -> bool:
        return not self.names

    def power(self, k: Fraction) -> Form:
        return Form(tuple((name, p * k) for name, p in self.names), self.loose)


PLAIN = Form()


class Alike(NamedTuple):
    """A condition: two parts of an expression have the same dimension; without `second`, the first
    part is a plain number. how: the operation that requires it, as the beginning of a sentence.
    """

    first: Form
    second: Form | None
    how: str
    texts: tuple[str, ...]


class Dimensioned(NamedTuple):
    """The form of an expression, and the conditions that it implies."""

    form: Form
    alike: tuple[Alike, ...]


@lru_cache(20_000)  # a mechanism is validated many times, and SymPy's expressions are slow to walk
def dimensioned(x: Scalar, law: bool = False) -> Dimensioned:
    """Return the form of a SymPy expression. law: whether it is an expression of time and
    coordinates.
    """
    walk = _Walk(law)
    form = walk.form(x)
    return Dimensioned(form, tuple(walk.alike))


class _Walk:
    """A traversal of an expression, which collects the conditions `alike`."""

    def __init__(self, law: bool):
        self.law = law
        self.alike: list[Alike] = []

    def form(self, x: Scalar) -> Form:
        if x.is_Symbol:
            return Form(((str(x), Fraction(1)),))
        if x.is_Number or x.is_NumberSymbol:
            return Form(loose=bool(x.is_Float) or (self.law and x not in (1, -1)))
        if x.is_Add:
            return self.same(x.args, "it adds")
        if x.is_Mul:
            return _product([self.form(a) for a in x.args])
        if x.is_Pow:
            return self.raised(*x.args)
        return self.called(OURS.get(x.func.__name__, x.func.__name__), x.args)

    def same(self, parts: Iterable[Scalar], how: str) -> Form:
        """Return the common form of parts that must have one dimension, and add that condition.
        Numbers and loose products are exempt.
        """
        found = [(self.form(a), str(a)) for a in parts]
        tight = [(f, text) for f, text in found if not f.plain and not f.loose]
        for f, text in tight[1:]:
            self.alike.append(Alike(tight[0][0], f, how, (tight[0][1], text)))
        if tight:
            return tight[0][0]
        return next((f for f, _ in found if not f.plain), found[0][0] if found else PLAIN)

    def number(self, x: Scalar, how: str) -> Form:
        """Add the condition that x is a plain number or an angle, and return the form of a plain
        number.
        """
        form = self.form(x)
        if not (form.plain or form.loose):
            self.alike.append(Alike(form, None, how, (str(x),)))
        return PLAIN

    def raised(self, base: Scalar, exponent: Scalar) -> Form:
        form = self.form(base)
        if exponent.is_Rational or exponent.is_Float:
            k = (
                Fraction(int(exponent.p), int(exponent.q))
                if exponent.is_Rational
                else Fraction(float(exponent)).limit_denominator(1000)
            )
            return form.power(k)
        self.number(exponent, "its exponent is")
        return self.number(base, "it raises to a power that is not a number")

    def called(self, name: str, arguments: tuple[Scalar, ...]) -> Form:
        how = _FUNCTIONS.get(name)
        return how(self, name, arguments) if how else self.each(name, arguments)

    def each(self, name: str, arguments: tuple[Scalar, ...]) -> Form:
        for a in arguments:
            self.number(a, f"it takes the {name} of")
        return PLAIN


def _product(forms: list[Form]) -> Form:
    found: dict[str, Fraction] = {}
    for f in forms:
        for name, k in f.names:
            found[name] = found.get(name, Fraction(0)) + k
    left = tuple(sorted((name, k) for name, k in found.items() if k))
    return Form(left, any(f.loose for f in forms))


def _sign(walk: _Walk, name: str, arguments: tuple[Scalar, ...]) -> Form:
    walk.form(arguments[0])
    return PLAIN


def _atan2(walk: _Walk, name: str, arguments: tuple[Scalar, ...]) -> Form:
    walk.same(arguments, "it takes the angle of")
    return PLAIN


_FUNCTIONS: dict[str, Callable[[_Walk, str, tuple[Scalar, ...]], Form]] = {
    **dict.fromkeys(("abs", "re", "conjugate"), lambda walk, name, x: walk.form(x[0])),
    **dict.fromkeys(("min", "max"), lambda walk, name, x: walk.same(x, "it compares")),
    "sign": _sign,
    "atan2": _atan2,
}
