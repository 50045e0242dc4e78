"""A CasADi scalar with fast arithmetic, for kernels that are traced.

CasADi's operators test for each operand whether it is a number, a matrix of numbers or one of
symbols, which takes seven times as long as the operation itself. `SX.binary` and `SX.unary` are the
same operations between symbols. An operation with a Scalar among its operands gives a Scalar;
operands that are neither numbers nor symbols are left to CasADi.

>>> x, y = (Scalar.of(ca.SX.sym(name)) for name in "xy")
>>> 2.0 * x + y.sin()
SX(((2.*x)+sin(y)))
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, cast

import casadi as ca
import numpy as np

NUMBERS = (float, int, np.floating, np.integer)
REFLECTED = {
    "add": "__radd__",
    "subtract": "__rsub__",
    "multiply": "__rmul__",
    "divide": "__rtruediv__",
    "true_divide": "__rtruediv__",
}


@functools.lru_cache(maxsize=4096)
def _constant(x: float) -> ca.SX:
    return ca.SX(x)


def _symbol(x: Any) -> Any:
    """Return x as an operand between symbols; None where it is neither a symbol nor a number."""
    if type(x) is Scalar or isinstance(x, ca.SX):
        return x
    if isinstance(x, NUMBERS):
        # zeros of both signs are one key of a cache
        return _constant(float(x)) if x else ca.SX(float(x))
    return None


def _binary(operation: int, inherited: str) -> Callable[[Any, Any], Any]:
    """Return the method of an operation between x and y, or of the reflected one, between y and
    x.
    """
    binary = ca.SX.binary
    otherwise = getattr(ca.SX, inherited)
    reflected = inherited.startswith("__r")

    def method(x: Any, y: Any) -> Any:
        other = _symbol(y)
        if other is None:
            return otherwise(x, y)
        result = binary(operation, other, x) if reflected else binary(operation, x, other)
        result.__class__ = Scalar
        return result

    return method


def _unary(operation: int) -> Callable[[Any], Any]:
    def method(x: Any) -> Any:
        return Scalar.of(ca.SX.unary(operation, x))

    return method


class Scalar(ca.SX):
    """A symbol of one row and one column, result by `Scalar.of`."""

    __add__ = __iadd__ = _binary(ca.OP_ADD, "__add__")
    __radd__ = _binary(ca.OP_ADD, "__radd__")
    __sub__ = __isub__ = _binary(ca.OP_SUB, "__sub__")
    __rsub__ = _binary(ca.OP_SUB, "__rsub__")
    __mul__ = __imul__ = _binary(ca.OP_MUL, "__mul__")
    __rmul__ = _binary(ca.OP_MUL, "__rmul__")
    __truediv__ = __itruediv__ = _binary(ca.OP_DIV, "__truediv__")
    __rtruediv__ = _binary(ca.OP_DIV, "__rtruediv__")
    sin, cos, sqrt, floor = (
        _unary(operation) for operation in (ca.OP_SIN, ca.OP_COS, ca.OP_SQRT, ca.OP_FLOOR)
    )

    @staticmethod
    def of(x: ca.SX) -> Scalar:
        """Turn x itself into a Scalar, and return it."""
        x.__class__ = Scalar
        return cast("Scalar", x)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Handle NumPy's numbers on the left of an operator as Python's are."""
        if (
            method == "__call__"
            and isinstance(inputs[0], np.generic)
            and (name := REFLECTED.get(ufunc.__name__))
        ):
            return getattr(self, name)(inputs[0])
        return super().__array_ufunc__(ufunc, method, *inputs, **options)
