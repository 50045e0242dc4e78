"""Values: the number of an expression at given parameter values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

from .pose import Scalar


def value_of(x: Scalar, parameters: Mapping[str, float]) -> Scalar:
    """The number of a scalar at given parameter values; None where a parameter has no value."""
    if isinstance(x, (int, float)):
        return x
    names = _names_in(x)
    values = tuple(parameters.get(name) for name in names)
    return None if None in values else _number(x, names, values)


@lru_cache(100_000)
def _names_in(x: Scalar) -> tuple[str, ...]:
    return tuple(str(s) for s in x.free_symbols)


@lru_cache(100_000)  # a mechanism of many alike pieces asks the same again and again, and SymPy is slow to answer
def _number(x: Scalar, names: tuple[str, ...], values: tuple[float, ...]) -> float:
    try:
        return float(x.subs(dict(zip(names, values))))
    except TypeError:  # the root of a negative number, a division by zero
        return math.nan
