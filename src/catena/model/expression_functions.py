"""The functions that expressions may use, and their values for any scalar: floats, NumPy arrays,
CasADi symbols.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, reduce
from typing import Any

from .pose import Scalar

FUNCTIONS: dict[str, int] = {  # and how many arguments each takes; 0: two or more
    "sin": 1,
    "cos": 1,
    "tan": 1,
    "asin": 1,
    "acos": 1,
    "atan": 1,
    "atan2": 2,
    "sqrt": 1,
    "exp": 1,
    "log": 1,
    "abs": 1,
    "tanh": 1,
    "sign": 1,
    "min": 0,
    "max": 0,
}
_SYMPY = {"abs": "Abs", "min": "Min", "max": "Max"}  # where others call them differently
_NUMPY = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "atan2": "arctan2",
    "min": "minimum",
    "max": "maximum",
}
_CASADI = {"abs": "fabs", "min": "fmin", "max": "fmax"}
_FLOAT: dict[str, Callable[..., float]] = {
    "abs": abs,
    "min": min,
    "max": max,
    "sign": lambda x: float((x > 0) - (x < 0)),
}
OURS = {theirs: ours for ours, theirs in _SYMPY.items()}


def apply(name: str, values: list[Scalar]) -> Scalar:
    """Return the value of one of FUNCTIONS at values of any scalar kind. Floats outside its domain
    raise ValueError or OverflowError.
    """
    if all(isinstance(v, (int, float)) for v in values):
        return (_FLOAT.get(name) or getattr(math, name))(*values)
    module: Any
    if any(base.__module__.startswith("casadi") for v in values for base in type(v).__mro__):
        import casadi as module

        function = getattr(module, _CASADI.get(name, name))
    else:
        import numpy as module

        function = getattr(module, _NUMPY.get(name, name))
    return reduce(function, values) if FUNCTIONS[name] == 0 else function(*values)


@cache
def sympy_function(name: str) -> Any:
    """Return SymPy's function for one of FUNCTIONS."""
    import sympy

    return getattr(sympy, _SYMPY.get(name, name))
