"""Expressions: a string such as "m1*l1^2/12" as a SymPy expression, and a SymPy expression as a
value of any scalar.

    string --parse--> SymPy expression --evaluate--> a float, a NumPy array, a CasADi symbol
         <--write--

`expression_syntax.py` defines which strings are allowed; SymPy is imported when the first
expression is met.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from functools import cache, reduce
from operator import add, mul
from typing import Any

from ..errors import ExpressionError, unknown
from .expression_functions import FUNCTIONS, OURS, apply
from .expression_syntax import MAX_BITS, MAX_EXPONENT, build, lift, shown
from .pose import Scalar

_REAL = {"re", "conjugate"}  # SymPy puts these round symbols it does not know to be real; ours are


# --- from text
def parse(text: str, names: Collection[str]) -> Scalar:
    """Return the SymPy expression of a string in the given names (plain symbols), pi, + - * / ** ^
    and FUNCTIONS.

    >>> parse("m*l^2/12", ["m", "l"])
    l**2*m/12
    >>> parse("m*length", ["m", "l"])
    Traceback (most recent call last):
    catena.errors.ExpressionError: 'm*length': no name 'length'; names are: m, l.
    """
    import sympy

    expression = lift(build(text, names, sympy.Symbol, sympy.pi))
    if expression.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo, sympy.I):
        raise ExpressionError(
            f"{shown(text)} has no finite real value: it divides by zero or takes the root of less"
        )
    return expression


def constant(text: str) -> float:
    """Return the value of a string that contains numbers, pi and functions, but no other name.

    >>> constant("3*pi/4")
    2.356194490192345
    """
    return float(build(text, (), None, math.pi))


# --- to text
def write(expression: Scalar) -> str:
    """Return the text of a number or an expression, for which `parse` gives the same expression
    again.

    >>> write(parse("max(m, 0.1)^2*sqrt(2)", ["m"]))
    'sqrt(2)*max(0.1, m)**2'
    """
    return (
        repr(float(expression))
        if isinstance(expression, (int, float))
        else _printer().doprint(expression)
    )


@cache
def _printer() -> Any:
    from sympy.printing.str import StrPrinter

    class FilePrinter(StrPrinter):
        """SymPy's printer of strings, with all digits of floats and with catena's names of
        functions.
        """

        def _print_Float(self, x: Any) -> str:
            return repr(float(x))

        def _print_Rational(self, x: Any) -> str:
            short = (
                max(abs(x.p), x.q).bit_length() <= MAX_BITS
            )  # a longer one would be read as a float
            return super()._print_Rational(x) if short else repr(float(x))

        def _print_Exp1(self, x: Any) -> str:
            return "exp(1)"

        def _print_NumberSymbol(self, x: Any) -> str:
            return "pi" if str(x) == "pi" else repr(float(x))

        def _print_Function(self, x: Any) -> str:
            name = OURS.get(x.func.__name__, x.func.__name__)
            written = [self._print(a) for a in x.args]
            if name in _REAL:
                return f"({written[0]})"
            if name == "cot":
                return f"(1/tan({written[0]}))"
            if name not in FUNCTIONS:
                raise ExpressionError(
                    f"{name!r} of {shown(str(x))} cannot be written; {', '.join(FUNCTIONS)} can"
                )
            return f"{name}({', '.join(sorted(written) if FUNCTIONS[name] == 0 else written)})"

        _print_Abs = _print_Max = _print_Min = _print_sign = _print_Function

        def emptyPrinter(self, x: Any) -> str:
            raise ExpressionError(f"{shown(str(x))} cannot be written as an expression of a file")

    return FilePrinter()


# --- to a value
def evaluate(expression: Scalar, table: Mapping[str, Scalar]) -> Scalar:
    """Return the value of a number or a SymPy expression with the values of names in `table`.

    The values may be floats, NumPy arrays or CasADi symbols; the result is of their kind. With
    floats, a value that is not finite raises ExpressionError.

    >>> evaluate(parse("m*l^2/12", ["m", "l"]), {"m": 3.0, "l": 2.0})
    1.0
    """
    if isinstance(expression, (int, float)):
        return float(expression)
    try:
        value = _value(expression, table)
    except ExpressionError:
        raise
    except (ArithmeticError, ValueError) as why:
        raise ExpressionError(
            f"{shown(str(expression))} has no value {_where(expression, table)} ({why})"
        ) from None
    if isinstance(value, float) and not math.isfinite(value):
        raise ExpressionError(f"{shown(str(expression))} is {value} {_where(expression, table)}")
    return value


def _where(expression: Scalar, table: Mapping[str, Scalar]) -> str:
    used = sorted(str(s) for s in expression.free_symbols if str(s) in table)
    return (
        "where " + ", ".join(f"{name} = {table[name]}" for name in used[:6]) if used else "at all"
    )


def _value(x: Scalar, table: Mapping[str, Scalar]) -> Scalar:
    if x.is_Symbol:
        if x.name not in table:
            raise ExpressionError(unknown("name", x.name, table))
        return table[x.name]
    if x.is_Rational or x.is_Float or x.is_NumberSymbol:
        return float(x)
    if not x.args:
        raise ExpressionError(f"{x} is not a finite real number")
    if x.is_Pow:
        return _power(_value(x.args[0], table), x.args[1], table)
    name = OURS.get(x.func.__name__, x.func.__name__)
    if not (x.is_Add or x.is_Mul or name in FUNCTIONS or name in _REAL or name == "cot"):
        raise ExpressionError(
            f"{name!r} of {shown(str(x))} cannot be evaluated; {', '.join(FUNCTIONS)} can"
        )
    values = [_value(a, table) for a in x.args]
    if x.is_Add or x.is_Mul:
        return reduce(add if x.is_Add else mul, values)
    if name in _REAL:
        return values[0]
    return 1.0 / apply("tan", values) if name == "cot" else apply(name, values)


def _power(base: Scalar, exponent: Scalar, table: Mapping[str, Scalar]) -> Scalar:
    """Return base ** exponent. Small whole powers, roots and reciprocals become products, square
    roots and divisions, which are exact and need few operations.
    """
    if exponent.is_Integer and abs(int(exponent)) <= MAX_EXPONENT:
        power = base ** abs(int(exponent))
        return power if exponent.is_positive else 1.0 / power
    if exponent.is_Rational and exponent.q == 2 and abs(exponent.p) == 1:
        root = apply("sqrt", [base])
        return root if exponent.is_positive else 1.0 / root
    value = _value(exponent, table)
    if isinstance(base, float) and isinstance(value, float):
        return math.pow(base, value)
    return base**value
