"""Syntax: a text as numbers, names, operators and a few functions, and nothing else.

A model file is data, so nothing here runs it. The text is cut into tokens, Python's own parser makes a tree of them, and
only the nodes and functions listed here are built into a value. Nothing is ever given to `eval` or `sympify`.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Collection
from fractions import Fraction
from itertools import pairwise
from keyword import iskeyword
from typing import Any
from unicodedata import normalize

from ..errors import ExpressionError, unknown
from .expression_functions import FUNCTIONS, apply, sympy_function

RESERVED = frozenset({"pi", *FUNCTIONS})
LENGTH, DEPTH, POWER, BITS, TERMS = 1000, 100, 100, 256, 20  # limits: letters, nesting, exponents, integers, min and max

_TOKEN = re.compile(r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*)|(?P<op>\*\*|[-+*/^(),]))")
_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow,
}  # fmt: skip
_PYTHON = (int, float, Fraction)


# ---------------------------------------------------------------------------------------------------- words
def names_in(text: str) -> set[str]:
    """The names a text holds, whether it is a good expression or not."""
    return set(re.findall(r"[^\W\d]\w*", text))


def fit_name(name: str) -> bool:
    """Whether a name can stand in an expression."""
    return name.isidentifier() and not iskeyword(name) and name not in RESERVED and normalize("NFKC", name) == name


def shown(text: str) -> str:
    """The text in quotation marks, shortened when it is long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def tokens(text: str) -> list[tuple[str, str]]:
    """The text as (sort, token) pairs, sorts being "number", "name" and "op"; an ExpressionError at anything else."""
    if len(text) > LENGTH:
        raise ExpressionError(f"{shown(text)} has {len(text)} letters; an expression has at most {LENGTH}")
    found, at, text = [], 0, text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            bad = text[at:].lstrip()[0]
            raise ExpressionError(f"{shown(text)} holds {bad!r}; numbers, names, + - * / ^ and ( ) are allowed")
        found.append((str(match.lastgroup), match.group(match.lastgroup or 0)))
        at = match.end()
    return found


# ---------------------------------------------------------------------------------------------------- trees
def build(text: str, names: Collection[str], symbol: Callable[[str], Any] | None, pi: Any) -> Any:
    """The value of a text: a Python number (exact where it can be), or what `symbol` of the names makes of it."""
    pieces = tokens(text)
    for (sort, word), (next_sort, next_word) in pairwise(pieces):
        if sort != "op" and next_sort != "op":
            raise ExpressionError(f"{shown(text)}: an operator is missing between {word!r} and {next_word!r}")
    for sort, word in pieces:
        if sort == "name" and word not in names and word not in RESERVED:
            raise ExpressionError(f"{shown(text)}: {unknown('name', word, names)}")
    clean = " ".join("**" if word == "^" else word for _, word in pieces)
    try:
        return _Builder(text, symbol, pi).build(ast.parse(clean, mode="eval").body, 0)
    except (SyntaxError, MemoryError, RecursionError):
        raise ExpressionError(f"{shown(text)} is not an expression: check its operators and parentheses") from None
    except ExpressionError:
        raise
    except (ArithmeticError, ValueError, TypeError) as why:
        raise ExpressionError(f"{shown(text)} has no finite real value ({why})") from None


class _Builder:
    """Builds a value from a syntax tree. Exact numbers stay exact (int, Fraction); symbols make SymPy expressions."""

    def __init__(self, text: str, symbol: Callable[[str], Any] | None, pi: Any):
        self.text, self.symbol, self.pi = text, symbol, pi

    def refuse(self, why: str) -> ExpressionError:
        return ExpressionError(f"{shown(self.text)}: {why}")

    def build(self, node: ast.AST, depth: int) -> Any:
        if depth > DEPTH:
            raise self.refuse(f"it is nested more than {DEPTH} deep")
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return self.bounded(node.value)
        if isinstance(node, ast.Name):
            return self.name(node.id)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.UAdd, ast.USub)):
            value = self.build(node.operand, depth + 1)
            return -value if isinstance(node.op, ast.USub) else value
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return self.operate(node.op, self.build(node.left, depth + 1), self.build(node.right, depth + 1))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self.call(node.func.id, [self.build(a, depth + 1) for a in node.args])
        what = "a comma outside a function" if isinstance(node, ast.Tuple) else type(node).__name__
        raise self.refuse(f"{what} is not allowed; + - * / ^ and {', '.join(FUNCTIONS)} are")

    def name(self, name: str) -> Any:
        if name in FUNCTIONS:
            raise self.refuse(f"the function {name!r} needs its argument in parentheses")
        return self.pi if name == "pi" else self.symbol(name)  # type: ignore[misc]  # without symbol there are no names

    def operate(self, op: ast.operator, a: Any, b: Any) -> Any:
        if isinstance(op, ast.Pow):
            if _is_number(b) and abs(float(b)) > POWER:
                raise self.refuse(f"an exponent is {float(b):.3g}; exponents go from {-POWER} to {POWER}")
            if isinstance(a, (int, Fraction)) and isinstance(b, int) and abs(b) * _bits(a) > BITS:
                a = float(a)
        elif isinstance(op, ast.Div) and isinstance(a, int) and isinstance(b, int):
            a = Fraction(a)
        if not (isinstance(a, _PYTHON) and isinstance(b, _PYTHON)):
            a, b = lift(a), lift(b)
        return self.bounded(_OPERATORS[type(op)](a, b))

    def call(self, name: str, arguments: list[Any]) -> Any:
        wanted, found = FUNCTIONS.get(name, -1), len(arguments)
        if wanted < 0:
            raise self.refuse(f"{name!r} is not a function; functions are: {', '.join(FUNCTIONS)}")
        if found != wanted if wanted else not 2 <= found <= TERMS:
            count = f"{wanted}" if wanted else f"2 to {TERMS}"
            raise self.refuse(f"{name} takes {count} argument{'s' * (wanted != 1)}, found {found}")
        if name == "sqrt" and self.symbol and isinstance(arguments[0], (int, Fraction)) and arguments[0] >= 0:
            return sympy_function(name)(lift(arguments[0]))  # sqrt(2) stays exact
        if all(_is_number(x) for x in arguments):
            return self.bounded(apply(name, [float(x) for x in arguments]))
        return sympy_function(name)(*map(lift, arguments))

    def bounded(self, x: Any) -> Any:
        """A number that is finite, real and not too long; an integer of very many digits becomes a float."""
        if isinstance(x, complex) or (isinstance(x, float) and not math.isfinite(x)):
            raise self.refuse("it has no finite real value")
        return float(x) if isinstance(x, (int, Fraction)) and _bits(x) > BITS else x


def _bits(x: int | Fraction) -> int:
    return max(x.numerator.bit_length(), x.denominator.bit_length())


def _is_number(x: Any) -> bool:
    """Whether x has a value now: a Python number, or an expression of numbers and pi."""
    return isinstance(x, _PYTHON) or not x.free_symbols


def lift(x: Any) -> Any:
    """A Python number as a SymPy one; an expression as it is."""
    import sympy

    if isinstance(x, Fraction):
        return sympy.Rational(x.numerator, x.denominator)
    return sympy.Integer(x) if isinstance(x, int) else sympy.Float(x) if isinstance(x, float) else x
