"""Fingerprints: whether a run that is resumed is the run that was begun. Everything that the run
depends on is hashed, by name.
"""

from __future__ import annotations

import hashlib
import types
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import casadi as ca
import numpy as np

from ...results import versions
from ..planning.plan import RunPlan

DEEPEST_NESTING = 40  # records within records that are deeper do not count


def key(plan: RunPlan) -> dict[str, str | float]:
    """Return what a run depends on, by name: values that messages can show where they differ, and
    fingerprints of larger things.
    """
    how: dict[str, str | float] = {
        "catena": versions()["catena"],
        "formulation": plan.system.by,
        "integrator": plan.how.name,
        "start": plan.start,
        "until": plan.until,
        "tolerance": plan.tolerance,
        "step": plan.step,
        "snap": plan.system.snap,
    }
    more = {
        "mechanism": plan.machine.mechanism,
        "output": plan.times,
        "initial state": plan.x0,
        "parameters": plan.p,
        "state names": plan.system.state_names,
        "options": plan.options.of_formulation if plan.own is None else plan.own.derivative,
    }
    # what the plan has made of an option, such as the times of the rows, stands in its place; of
    # `by` it has made the formulation
    given = {name.replace("_", " "): x for name, x in plan.options.deciding.items()}
    more |= {name: x for name, x in given.items() if name not in {*how, *more, "by"}}
    return how | {name: fingerprint(x) for name, x in more.items()}


def fingerprint(x: Any) -> str:
    """Return a text that is the same for equal values, in this process and in others."""
    digest = hashlib.sha256()
    for part in _parts(x, 0):
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()[:16]


def _parts(x: Any, depth: int) -> Iterator[bytes]:
    """Yield the bytes of a value: those of the fields of a record, those of the code of a function
    and of what it closes over.
    """
    yield type(x).__qualname__.encode()
    if depth > DEEPEST_NESTING:
        return
    if x is None or isinstance(x, (bool, int, float, complex, str, bytes)):
        yield repr(x).encode()
    elif isinstance(x, (np.ndarray, np.generic)):
        yield repr((x.shape, x.dtype.str)).encode()
        yield np.ascontiguousarray(x).tobytes() if x.dtype != object else repr(x.tolist()).encode()
    elif isinstance(x, Mapping):
        yield from (
            part
            for name in sorted(x, key=repr)
            for value in (name, x[name])
            for part in _parts(value, depth + 1)
        )
    elif isinstance(x, (set, frozenset)):
        yield from (part for value in sorted(x, key=repr) for part in _parts(value, depth + 1))
    elif isinstance(x, (list, tuple)):
        yield from (part for value in x for part in _parts(value, depth + 1))
    elif is_dataclass(x):
        yield from (
            part for f in fields(x) if f.compare for part in _parts(getattr(x, f.name), depth + 1)
        )
    elif isinstance(x, types.FunctionType):
        closed = [cell.cell_contents for cell in x.__closure__ or ()]
        named = {
            name: x.__globals__[name]
            for name in x.__code__.co_names
            if _plain(x.__globals__.get(name))
        }
        yield from _parts(
            [x.__code__, x.__defaults__, x.__kwdefaults__, closed, named, vars(x)], depth + 1
        )
    elif isinstance(x, types.CodeType):
        yield from _parts([x.co_code, list(x.co_consts), x.co_names], depth + 1)
    elif isinstance(x, types.MethodType):
        yield from _parts([x.__func__, x.__self__], depth + 1)
    elif type(x).__module__.partition(".")[0] == "sympy":
        # an expression of parameters, which has no __dict__
        from sympy import srepr

        yield srepr(x).encode()
    elif isinstance(x, ca.Function):
        yield x.serialize().encode()
    elif isinstance(x, (ca.SX, ca.MX, ca.DM, type, types.ModuleType, types.BuiltinFunctionType)):
        yield str(x).encode()
    else:
        yield from _parts(getattr(x, "__dict__", None), depth + 1)


def _plain(x: Any) -> bool:
    """Whether a global that a function reads is a value, not another function or module."""
    return isinstance(x, (bool, int, float, str, np.ndarray, list, tuple, dict))
