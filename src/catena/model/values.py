"""Values: the number of an expression at given parameter values, and records whose expressions are
replaced by other scalars.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

from .pose import Scalar

Record = TypeVar("Record")


def with_scalars(record: Record, change: Callable[[Scalar], Scalar]) -> Record:
    """Return a record, including the records it contains, with every expression of parameters
    replaced by `change(expression)`.
    """
    return _changed(record, change)


def _changed(x: Any, change: Callable[[Scalar], Scalar]) -> Any:
    if isinstance(x, tuple):
        return tuple(_changed(y, change) for y in x)
    if is_dataclass(x) and not isinstance(x, type):
        new = {
            f.name: new
            for f in fields(x)
            if f.init
            and (new := _changed(old := getattr(x, f.name), change)) is not old
            and new != old
        }
        return replace(x, **new) if new else x
    return change(x) if getattr(x, "free_symbols", None) else x


def value_of(x: Scalar, parameters: Mapping[str, float]) -> Scalar:
    """Return the number of a scalar at given parameter values; None where a parameter has no
    value.
    """
    if isinstance(x, (int, float)):
        return x
    names = _names_in(x)
    values = tuple(parameters.get(name) for name in names)
    return None if None in values else _number(x, names, values)


@lru_cache(100_000)
def _names_in(x: Scalar) -> tuple[str, ...]:
    return tuple(str(s) for s in x.free_symbols)


# a mechanism of many alike pieces asks the same again and again, and SymPy is slow to answer
@lru_cache(100_000)
def _number(x: Scalar, names: tuple[str, ...], values: tuple[float, ...]) -> float:
    try:
        return float(x.subs(dict(zip(names, values))))
    except TypeError:  # the root of a negative number, a division by zero
        return math.nan
