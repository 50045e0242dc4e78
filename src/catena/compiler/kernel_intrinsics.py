"""Functions that kernels call and that become instructions of their own. `intrinsic` adds one."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .kernel_text import Array, KernelText, Value


def _length(m: KernelText, x: Any) -> Any:
    return x.shape[0] if isinstance(x, Array) else len(x)


def _range(m: KernelText, *given: Any) -> Any:
    if not any(isinstance(x, Value) for x in given):
        return range(*given)
    start, stop, step = (0, *given, 1) if len(given) == 1 else (*given, 1)[:3]
    return [start, stop, step]


def _extreme(op: type) -> Callable[..., Any]:
    def of(m: KernelText, *given: Any) -> Any:
        found = given[0]
        for x in given[1:]:
            found = m.selected(m.compared(op, x, found), x, found)
        return found

    return of


def _absolute(m: KernelText, x: Any) -> Any:
    return m.unary("fabs", x) if isinstance(x, Value) else abs(x)


def _finite(m: KernelText, x: Any) -> Any:
    return m.compared(ast.Eq, m.floats(ast.Sub, m.later(x, "float"), m.later(x, "float")), 0.0)


INTRINSICS: dict[Any, Callable[..., Any]] = {
    len: _length,
    range: _range,
    abs: _absolute,
    max: _extreme(ast.Gt),
    min: _extreme(ast.Lt),
    np.isfinite: _finite,
}
PLAIN = {math.sqrt, float, int, bool}


def intrinsic(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that registers how a function is written as instructions: `of(module,
    *arguments)`.
    """

    def register(of: Callable[..., Any]) -> Callable[..., Any]:
        INTRINSICS[function] = of
        return of

    return register
