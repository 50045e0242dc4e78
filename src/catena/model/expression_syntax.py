"""Syntax: a string with numbers, names, operators and a few functions, and nothing else.

A model file is data, so nothing here executes it. The string is split into tokens, and a recursive
descent parser builds a value from them; no other operator or function exists. Nothing is ever
passed to `eval` or `sympify`.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Collection
from fractions import Fraction
from itertools import pairwise
from keyword import iskeyword
from unicodedata import normalize

from ..errors import ExpressionError, unknown
from .expression_functions import FUNCTIONS, apply, sympy_function
from .pose import Scalar

RESERVED = frozenset({"pi", *FUNCTIONS})
# limits of an expression, so that a text cannot ask for unbounded time or memory
MAX_LENGTH = 10_000  # characters
MAX_DEPTH = 100  # nested parentheses and signs
MAX_EXPONENT = 100  # the magnitude of a constant exponent
MAX_BITS = 256  # of an exact integer, or of both parts of a fraction; longer ones become floats
MAX_ARGUMENTS = 20  # of min and max

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*)|(?P<op>\*\*|[-+*/^(),]))"
)
_OPERATORS: dict[str, Callable[[Scalar, Scalar], Scalar]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_PYTHON = (int, float, Fraction)


# --- words
def names_in(text: str) -> set[str]:
    """Return the names in a string, whether it is a valid expression or not."""
    return set(re.findall(r"[^\W\d]\w*", text))


def fit_name(name: str) -> bool:
    """Whether a name can be used in an expression."""
    return (
        name.isidentifier()
        and not iskeyword(name)
        and name not in RESERVED
        and normalize("NFKC", name) == name
    )


def shown(text: str) -> str:
    """Return the string in quotation marks, shortened where it is long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def tokens(text: str) -> list[tuple[str, str]]:
    """Return the string as (sort, token) pairs, the sorts being "number", "name" and "op"; raise
    ExpressionError at anything else.
    """
    if len(text) > MAX_LENGTH:
        raise ExpressionError(
            f"{shown(text)} has {len(text)} letters; an expression has at most {MAX_LENGTH}"
        )
    found, at, text = [], 0, text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            bad = text[at:].lstrip()[0]
            raise ExpressionError(
                f"{shown(text)} holds {bad!r}; numbers, names, + - * / ^ and ( ) are allowed"
            )
        found.append((str(match.lastgroup), match.group(match.lastgroup or 0)))
        at = match.end()
    return found


# --- trees
def build(
    text: str, names: Collection[str], symbol: Callable[[str], Scalar] | None, pi: Scalar
) -> Scalar:
    """Return the value of a string: a Python number (exact where possible), or the expression that
    `symbol` makes of its names.
    """
    pieces = tokens(text)
    for (sort, word), (next_sort, next_word) in pairwise(pieces):
        if sort != "op" and next_sort != "op":
            raise ExpressionError(
                f"{shown(text)}: an operator is missing between {word!r} and {next_word!r}"
            )
    for sort, word in pieces:
        if sort == "name" and word not in names and word not in RESERVED:
            raise ExpressionError(f"{shown(text)}: {unknown('name', word, names)}")
    try:
        return _Builder(text, pieces, symbol, pi).whole()
    except ExpressionError:
        raise
    except (ArithmeticError, ValueError, TypeError, RecursionError) as why:
        raise ExpressionError(f"{shown(text)} has no finite real value ({why})") from None


class _Builder:
    """Recursive descent parser: a sum of products of powers. Exact numbers stay exact (int,
    Fraction); symbols make SymPy expressions.
    """

    def __init__(
        self,
        text: str,
        pieces: list[tuple[str, str]],
        symbol: Callable[[str], Scalar] | None,
        pi: Scalar,
    ):
        self.text = text
        self.pieces = [*pieces, ("end", "")]
        self.symbol = symbol
        self.pi = pi
        self.at = self.depth = 0

    def refuse(self, why: str) -> ExpressionError:
        return ExpressionError(f"{shown(self.text)}: {why}")

    def whole(self) -> Scalar:
        value = self.sum()
        if self.pieces[self.at][0] != "end":
            raise self.broken()
        return value

    def broken(self) -> ExpressionError:
        if self.pieces[self.at][1] == ",":
            return self.refuse("a comma outside a function is not allowed")
        return ExpressionError(
            f"{shown(self.text)} is not an expression: check its operators and parentheses"
        )

    def took(self, *words: str) -> str:
        """Consume and return the next token if it is one of these operators; else return ""."""
        sort, word = self.pieces[self.at]
        if sort != "op" or word not in words:
            return ""
        self.at += 1
        return word

    # --- the grammar
    def deeper(self, part: Callable[[], Scalar]) -> Scalar:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.refuse(f"it is nested more than {MAX_DEPTH} deep")
        value = part()
        self.depth -= 1
        return value

    def sum(self) -> Scalar:
        return self.deeper(lambda: self.chain(self.product, "+", "-"))

    def product(self) -> Scalar:
        return self.chain(self.signed, "*", "/")

    def signed(self) -> Scalar:
        sign = 1
        while op := self.took("+", "-"):
            sign = -sign if op == "-" else sign
        value = self.power()
        return -value if sign < 0 else value

    def power(self) -> Scalar:
        base = self.atom()
        return self.raised(base, self.deeper(self.signed)) if self.took("^", "**") else base

    def atom(self) -> Scalar:
        sort, word = self.pieces[self.at]
        if sort == "end" or (sort == "op" and word != "("):
            raise self.broken()
        self.at += 1
        if sort == "number":
            return self.bounded(int(word) if word.isdecimal() else float(word))
        if sort == "op":
            return self.closed([self.sum()])[0]
        if word in FUNCTIONS:
            if not self.took("("):
                raise self.refuse(f"the function {word!r} needs its argument in parentheses")
            return self.call(word, self.arguments())
        if self.pieces[self.at] == ("op", "("):
            raise self.refuse(f"{word!r} is not a function; functions are: {', '.join(FUNCTIONS)}")
        return self.pi if word == "pi" else self.symbol(word)  # type: ignore[misc]  # without symbol there are no names

    def arguments(self) -> list[Scalar]:
        if self.took(")"):
            return []
        found = [self.sum()]
        while self.took(","):
            found.append(self.sum())
        return self.closed(found)

    def closed(self, values: list[Scalar]) -> list[Scalar]:
        if not self.took(")"):
            raise self.broken()
        return values

    # --- values
    def chain(self, part: Callable[[], Scalar], *operators: str) -> Scalar:
        """Parse a sum or a product of parts: numbers are combined one after the other, and from the
        first expression on all remaining parts at once.
        """
        total, rest = part(), []
        while op := self.took(*operators):
            rest.append((op, part()))
        for k, (op, value) in enumerate(rest):
            if not (isinstance(total, _PYTHON) and isinstance(value, _PYTHON)):
                import sympy

                others = (
                    lift(x) if o in "+*" else -lift(x) if o == "-" else 1 / lift(x)
                    for o, x in rest[k:]
                )
                return (sympy.Add if op in "+-" else sympy.Mul)(lift(total), *others)
            exact = op == "/" and isinstance(total, int) and isinstance(value, int)
            total = self.bounded(_OPERATORS[op](Fraction(total) if exact else total, value))
        return total

    def raised(self, a: Scalar, b: Scalar) -> Scalar:
        if _is_number(b) and abs(float(b)) > MAX_EXPONENT:
            raise self.refuse(
                f"an exponent is {float(b):.3g}; exponents go from {-MAX_EXPONENT} to"
                f" {MAX_EXPONENT}"
            )
        if isinstance(a, (int, Fraction)) and isinstance(b, int) and abs(b) * _bits(a) > MAX_BITS:
            a = float(a)
        if not (isinstance(a, _PYTHON) and isinstance(b, _PYTHON)):
            a, b = lift(a), lift(b)
        return self.bounded(
            (Fraction(a) if isinstance(a, int) and isinstance(b, int) and b < 0 else a) ** b
        )

    def call(self, name: str, arguments: list[Scalar]) -> Scalar:
        wanted = FUNCTIONS[name]
        found = len(arguments)
        if found != wanted if wanted else not 2 <= found <= MAX_ARGUMENTS:
            count = f"{wanted}" if wanted else f"2 to {MAX_ARGUMENTS}"
            raise self.refuse(f"{name} takes {count} argument{'s' * (wanted != 1)}, found {found}")
        if (
            name == "sqrt"
            and self.symbol
            and isinstance(arguments[0], (int, Fraction))
            and arguments[0] >= 0
        ):
            return sympy_function(name)(lift(arguments[0]))  # sqrt(2) stays exact
        if all(_is_number(x) for x in arguments):
            return self.bounded(apply(name, [float(x) for x in arguments]))
        # SymPy would compare every two arguments of min and max, nested ones too, for minutes
        how = {} if FUNCTIONS[name] else {"evaluate": False}
        return sympy_function(name)(*map(lift, arguments), **how)

    def bounded(self, x: Scalar) -> Scalar:
        """Return a number that is finite, real and not too long; an integer of more than MAX_BITS
        becomes a float.
        """
        if isinstance(x, complex) or (isinstance(x, float) and not math.isfinite(x)):
            raise self.refuse("it has no finite real value")
        return float(x) if isinstance(x, (int, Fraction)) and _bits(x) > MAX_BITS else x


def _bits(x: int | Fraction) -> int:
    return max(x.numerator.bit_length(), x.denominator.bit_length())


def _is_number(x: Scalar) -> bool:
    """Whether x has a value without symbols: a Python number, or an expression of numbers and
    pi.
    """
    return isinstance(x, _PYTHON) or not x.free_symbols


def lift(x: Scalar) -> Scalar:
    """Return a Python number as a SymPy number, and an expression as it is."""
    import sympy

    if isinstance(x, Fraction):
        return sympy.Rational(x.numerator, x.denominator)
    return sympy.Integer(x) if isinstance(x, int) else sympy.Float(x) if isinstance(x, float) else x
