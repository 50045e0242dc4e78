"""Fingerprints: whether a file that is resumed belongs to the same run. Everything that the run
depends on is hashed, by name.
"""

from __future__ import annotations

import types
from dataclasses import fields, is_dataclass
from typing import Any

import casadi as ca
import numpy as np

from ...compiler import digest
from ...results import versions
from ..planning.plan import RunPlan

# globals that a function reads and that are values, not other functions or modules
PLAIN = (bool, int, float, str, np.ndarray, list, tuple, dict)


def key(plan: RunPlan) -> dict[str, str | float]:
    """Return everything that a run depends on, by name: plain values, which messages can show where
    they differ, and fingerprints of larger things.
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
    given = {name.replace("_", " "): x for name, x in plan.options.affecting_results.items()}
    more |= {name: x for name, x in given.items() if name not in {*how, *more, "by"}}
    return how | {name: fingerprint(x) for name, x in more.items()}


def fingerprint(x: Any) -> str:
    """Return a string that is equal for equal values, in this process and in others."""
    return digest(x, _substitute)[:16]


def _substitute(x: Any) -> Any:
    """Return the value that represents x in its fingerprint: for a record its compared fields, for
    a function its code with the variables that it captures and the plain globals that it reads.
    """
    if isinstance(x, np.ndarray):
        return x.tolist()
    if is_dataclass(x) and not isinstance(x, type):
        return {f.name: getattr(x, f.name) for f in fields(x) if f.compare}
    if isinstance(x, types.FunctionType):
        closed = [cell.cell_contents for cell in x.__closure__ or ()]
        named = {name: x.__globals__.get(name) for name in x.__code__.co_names}
        plain = {name: value for name, value in named.items() if isinstance(value, PLAIN)}
        return [x.__code__, x.__defaults__, x.__kwdefaults__, closed, plain, vars(x)]
    if isinstance(x, types.CodeType):
        return [x.co_code, list(x.co_consts), x.co_names]
    if isinstance(x, types.MethodType):
        return [x.__func__, x.__self__]
    if isinstance(x, ca.Function):
        return x.serialize()
    if isinstance(x, (ca.SX, ca.MX, ca.DM, type, types.ModuleType, types.BuiltinFunctionType)):
        return str(x)
    return getattr(x, "__dict__", None)
