"""CasADi functions as SymPy expressions: `sx_to_sympy` converts the instructions of an SX function,
one SymPy operation for each. Truth values in CasADi are 1 and 0, and everything but zero is true. A
fraction such as 0.5 or 0.08333333333333333 becomes 1/2 or 1/12; a decimal such as 9.81 stays one.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import casadi as ca
import sympy as sp

from ...compiler import Node, Tape, read

HALF = sp.Rational(1, 2)
# numerator times denominator of a fraction that is written as one; its primes are those of
# fractions
LARGEST = 144


def _truth(condition: Any) -> Any:
    return sp.Piecewise((1, condition), (0, True))


def _is(x: Any) -> Any:
    return sp.Ne(x, 0)


SAME_NAME = (
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "sqrt",
    "exp",
    "log",
    "erf",
    "sign",
    "floor",
)
OPERATIONS: dict[str, Callable[..., Any]] = {
    **{name.upper(): getattr(sp, name) for name in SAME_NAME},
    "ADD": operator.add,
    "SUB": operator.sub,
    "MUL": operator.mul,
    "DIV": operator.truediv,
    "NEG": operator.neg,
    "POW": operator.pow,
    "CONSTPOW": operator.pow,
    "SQ": lambda a: a**2,
    "TWICE": lambda a: 2 * a,
    "INV": lambda a: 1 / a,
    "LOG1P": lambda a: sp.log(1 + a),
    "EXPM1": lambda a: sp.exp(a) - 1,
    "HYPOT": lambda a, b: sp.sqrt(a**2 + b**2),
    "CEIL": sp.ceiling,
    "FABS": sp.Abs,
    "FMIN": sp.Min,
    "FMAX": sp.Max,
    "FMOD": lambda a, b: a - b * sp.sign(a / b) * sp.floor(sp.Abs(a / b)),
    "REMAINDER": lambda a, b: a - b * sp.floor(a / b + HALF),
    "COPYSIGN": lambda a, b: sp.Piecewise((sp.Abs(a), b >= 0), (-sp.Abs(a), True)),
    "LT": lambda a, b: _truth(a < b),
    "LE": lambda a, b: _truth(a <= b),
    "EQ": lambda a, b: _truth(sp.Eq(a, b)),
    "NE": lambda a, b: _truth(sp.Ne(a, b)),
    "NOT": lambda a: _truth(sp.Eq(a, 0)),
    "AND": lambda a, b: _truth(sp.And(_is(a), _is(b))),
    "OR": lambda a, b: _truth(sp.Or(_is(a), _is(b))),
    "IF_ELSE_ZERO": lambda a, b: sp.Piecewise((b, _is(a)), (0, True)),
}


def sx_to_sympy(
    f: ca.Function, names: Sequence[Sequence[Any]], shared: str = ""
) -> tuple[list[Any], list[tuple[Any, Any]]]:
    """Return the outputs of an SX function as SymPy matrices, and intermediate variables.

    names: for each input a symbol or a name for each of its entries, by rows. shared: when given,
    every value that is used more than once gets a name of its own, this letter with a number, and
    the list of (symbol, expression) is in the order of computation; otherwise the list is empty and
    the outputs hold everything.

    >>> x = ca.SX.sym("x")
    >>> sx_to_sympy(ca.Function("f", [x], [ca.sin(x) * ca.sin(x) + 0.5]), [["x"]])[0]
    [Matrix([[sin(x)**2 + 1/2]])]
    """
    tape = read(f)
    inputs = [sp.Symbol(x) if isinstance(x, str) else x for group in names for x in group]
    often = uses(tape) if shared else {}
    values: list[Any] = []
    named: list[tuple[Any, Any]] = []
    out: dict[int, Any] = {}
    for n, node in enumerate(tape.nodes):
        if node.op == "OUTPUT":
            out[node.at] = values[node.args[0]]
            values.append(None)
            continue
        value = expression(node, [values[a] for a in node.args], inputs)
        if often.get(n, 0) > 1 and value.args and not (-value).is_Symbol:
            named.append((sp.Symbol(f"{shared}{len(named) + 1}"), value))
            value = named[-1][0]
        values.append(value)
    return _shaped(out, tape.output_shapes), named


def expression(node: Node, arguments: Sequence[Any], inputs: Sequence[Any]) -> Any:
    """Return the value of one instruction as a SymPy expression, from its arguments and the
    function's inputs.
    """
    if node.op == "INPUT":
        return inputs[node.at]
    if node.op == "CONST":
        return number(constant(node))
    return OPERATIONS[node.op](*arguments)


def constant(node: Node) -> float:
    """Return the value of a constant instruction."""
    return struct.unpack("<d", struct.pack("<Q", node.at & (2**64 - 1)))[0]


def number(x: float | Fraction) -> Any:
    """Return a whole number or a small fraction in halves and thirds exactly, any other number as a
    float.
    """
    if not math.isfinite(x):
        return sp.sympify(float(x))
    near = Fraction(x).limit_denominator(LARGEST)
    small = near.denominator == 1 or abs(near.numerator) * near.denominator <= LARGEST
    if float(near) == float(x) and small and LARGEST**7 % near.denominator == 0:
        return sp.Rational(near.numerator, near.denominator)
    return sp.Float(float(x))


def uses(tape: Tape) -> dict[int, int]:
    """Return how often the value of each instruction is used."""
    count: dict[int, int] = {}
    for node in tape.nodes:
        for a in node.args:
            count[a] = count.get(a, 0) + 1
    return count


def _shaped(out: dict[int, Any], shapes: Sequence[tuple[int, int]]) -> list[Any]:
    matrices, start = [], 0
    for rows, columns in shapes:
        matrices.append(sp.Matrix(rows, columns, lambda i, j: out[start + i * columns + j]))  # noqa: B023
        start += rows * columns
    return matrices
