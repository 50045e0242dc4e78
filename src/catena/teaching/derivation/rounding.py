"""Rounding: the size of the numbers that cancel in an expression, and the removal of terms that are
only rounding.

An oblique axis, (0.658, 0, 0.753), is a unit vector to sixteen digits. A term that would cancel
with exact numbers, such as the velocity of a point on the axis, then leaves 1e-17, which is
rounding relative to the numbers that cancelled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
import sympy as sp

from ...compiler import OPERATIONS
from ...equations.readable import EquationRow, Term

# A term is rounding below this, relative to the numbers that cancel in its row or sum.
ROUNDING_RATIO = 1e-14
# Rows are examined for rounding only if they have a number below this, relative to their largest
# (or to one).
SUSPECT_RATIO = 1e-10
Array = np.ndarray


def magnitudes(f: ca.Function, inputs: Sequence[Array]) -> Array:
    """Return the values that the entries of all outputs of a function would have at one state if no
    terms cancelled: sums and products of absolute values, in their own units.
    """
    value: dict[int, float] = {}
    size: dict[int, float] = {}
    found = [np.zeros(f.numel_out(k)) for k in range(f.n_out())]
    for n in range(f.n_instructions()):
        op = OPERATIONS[f.instruction_id(n)]
        source = f.instruction_input(n)
        target = f.instruction_output(n)
        if op == "OUTPUT":
            found[target[0]][target[1]] = size[source[0]]
            continue
        if op in ("INPUT", "CONST"):
            x = float(inputs[source[0]][source[1]]) if op == "INPUT" else f.instruction_constant(n)
            value[target[0]], size[target[0]] = x, abs(x)
            continue
        xs = [value[k] for k in source]
        sizes = [size[k] for k in source]
        x = _value(op, xs)
        value[target[0]], size[target[0]] = (
            x,
            max(abs(x), _SIZES[op](xs, sizes) if op in _SIZES else 0.0),
        )
    return np.concatenate(found)


_SIZES: Mapping[str, Callable[[list[float], list[float]], float]] = {
    "ADD": lambda x, s: s[0] + s[1],
    "SUB": lambda x, s: s[0] + s[1],
    "MUL": lambda x, s: s[0] * s[1],
    "SQ": lambda x, s: s[0] ** 2,
    "NEG": lambda x, s: s[0],
    "TWICE": lambda x, s: 2 * s[0],
    "ASSIGN": lambda x, s: s[0],
    "FABS": lambda x, s: s[0],
    "SQRT": lambda x, s: math.sqrt(s[0]),
    "DIV": lambda x, s: s[0] / abs(x[1]) if x[1] else math.inf,
}


def _value(op: str, xs: list[float]) -> float:
    """Evaluate one operation of a CasADi function on numbers."""
    symbols = [ca.SX(x) for x in xs]
    made = (
        ca.SX.unary(getattr(ca, f"OP_{op}"), *symbols)
        if len(xs) == 1
        else ca.SX.binary(getattr(ca, f"OP_{op}"), *symbols)
    )
    return float(made)


def without_rounding(
    rows: list[EquationRow], sizes: Callable[[], Array], states: Sequence[Mapping[Any, float]]
) -> list[EquationRow]:
    """Return the rows without terms that are rounding. sizes: a function that returns (states,
    rows), the value that each row would have if nothing cancelled.
    """
    numbers = [
        abs(float(x))
        for row in rows
        for term in (*row.left, *row.right)
        for x in sp.sympify(term.coefficient).atoms(sp.Float)
    ]
    if not numbers or min(numbers) > SUSPECT_RATIO * max(*numbers, 1.0):
        return rows
    size = sizes()
    return [
        EquationRow(*(_significant(side, size[:, k], states) for side in (row.left, row.right)))
        for k, row in enumerate(rows)
    ]


def _significant(
    terms: tuple[Term, ...], size: Array, states: Sequence[Mapping[Any, float]]
) -> tuple[Term, ...]:
    """Return the terms whose values exceed rounding at some state. size (states,): that of the
    row.
    """
    shown = []
    for term in terms:
        head = _at(term.of, states)
        parts = [
            x
            for x in sp.Add.make_args(term.coefficient)
            if np.any(_at(x, states) * head > ROUNDING_RATIO * size)
        ]
        if parts:
            shown.append(term._replace(coefficient=sp.Add(*(_inside(x, states) for x in parts))))
    return tuple(shown)


def _inside(e: Any, states: Sequence[Mapping[Any, float]]) -> Any:
    """Return an expression without those addends of its inner sums that are only rounding relative
    to the others.
    """
    if not e.args:
        return e
    parts = e.args
    if e.is_Add:
        sizes = [_at(x, states) for x in parts]
        parts = tuple(x for x, s in zip(parts, sizes) if np.any(s > ROUNDING_RATIO * sum(sizes)))
    return e.func(*(_inside(x, states) for x in parts))


def _at(e: Any, states: Sequence[Mapping[Any, float]]) -> Array:
    return np.abs([float(sp.sympify(e).xreplace(state)) for state in states])
