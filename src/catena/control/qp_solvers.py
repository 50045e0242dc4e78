"""Solvers of quadratic programmes: a registry of those that may be installed.

    minimise 1/2 x' P x + c' x,      A x = b,      low <= G x <= high,      x_low <= x <= x_high

The function `make` of a record returns a function that solves programmes of one size, one after
another; this may reuse memory, and start from the last solution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from ..errors import QuestionError
from ..registry import Registry

Array = np.ndarray


@dataclass(frozen=True)
class QP:
    """A quadratic programme: P (n, n), c (n,), A (e, n), b (e,), G (m, n), low, high (m,), x_low,
    x_high (n,); bounds may be infinite.
    """

    P: Array
    c: Array
    A: Array
    b: Array
    G: Array
    low: Array
    high: Array
    x_low: Array
    x_high: Array


Solve = Callable[[QP], Array]


@dataclass(frozen=True)
class QPSolver:
    """A solver. package: what must be installed. doc: its method. make(tolerance): a function that
    solves programmes of one size, and raises QuestionError where there is no solution.
    """

    name: str
    package: str
    doc: str
    make: Callable[[float], Solve]


def qp_solver(name: str | None, tolerance: float = 1e-9) -> Solve:
    """Return a function that solves quadratic programmes, by the solver of that name, or the first
    one that is installed.

    Raises QuestionError where it is not installed.
    """
    if name is not None:
        record = QP_SOLVERS.find(name)
        try:
            return record.make(tolerance)
        except ImportError:
            raise QuestionError(
                f"the solver {name!r} needs the package {record.package!r}, which is not installed:"
                f" pip install {record.package}"
            ) from None
    for record in QP_SOLVERS.values():
        try:
            return record.make(tolerance)
        except ImportError:
            continue
    raise QuestionError(
        "no solver of quadratic programmes is installed; pip install 'catena[control]' brings"
        f" {', '.join(QP_SOLVERS)}"
    )


def _piqp(tolerance: float) -> Solve:
    piqp: Any = import_module("piqp")
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = tolerance
    solver.settings.eps_rel = 0.0
    size: list[tuple[int, int, int]] = []

    def solve(p: QP) -> Array:
        given = (p.P, p.c, p.A, p.b, p.G, p.low, p.high, p.x_low, p.x_high)
        shape = (len(p.c), len(p.b), len(p.low))
        if size == [shape]:
            solver.update(*given)
        else:
            size[:] = [shape]
            solver.setup(*given)
        status = solver.solve()
        if status != piqp.PIQP_SOLVED:
            raise _unsolved("piqp", status)
        return np.array(solver.result.x)

    return solve


def _proxqp(tolerance: float) -> Solve:
    dense: Any = import_module("proxsuite").proxqp.dense
    solved: Any = import_module("proxsuite").proxqp.PROXQP_SOLVED
    held: dict[tuple[int, int, int], Any] = {}

    def solve(p: QP) -> Array:
        C = np.vstack([p.G, np.eye(len(p.c))])
        low, high = np.append(p.low, p.x_low), np.append(p.high, p.x_high)
        shape = (len(p.c), len(p.b), len(low))
        given = (p.P, p.c, p.A, p.b, C, low, high)
        if shape in held:
            held[shape].update(*given)
        else:
            held.clear()
            held[shape] = dense.QP(*shape)
            held[shape].settings.eps_abs = tolerance
            held[shape].init(*given)
        qp = held[shape]
        qp.solve()
        if qp.results.info.status != solved:
            raise _unsolved("proxqp", qp.results.info.status)
        return np.array(qp.results.x)

    return solve


def _quadprog(tolerance: float) -> Solve:
    quadprog: Any = import_module("quadprog")

    def solve(p: QP) -> Array:
        n = len(p.c)
        rows = [(p.G, p.low), (-p.G, -p.high), (np.eye(n), p.x_low), (-np.eye(n), -p.x_high)]
        C = np.vstack([p.A, *(G[np.isfinite(b)] for G, b in rows)])
        b = np.concatenate([p.b, *(b[np.isfinite(b)] for _, b in rows)])
        try:
            return quadprog.solve_qp(p.P, -p.c, C.T, b, len(p.b))[0]
        except ValueError as why:
            raise _unsolved("quadprog", why) from None

    return solve


def _unsolved(name: str, status: Any) -> QuestionError:
    return QuestionError(
        f"the solver {name!r} found no solution of a quadratic programme ({status}); its"
        " constraints contradict each other, or it needs more damping"
    )


QP_SOLVERS: Registry[QPSolver] = Registry(
    "solver of quadratic programmes",
    (
        QPSolver("proxqp", "proxsuite", "augmented Lagrangian [Bambade2022]", _proxqp),
        QPSolver("piqp", "piqp", "proximal interior point [Schwan2023]", _piqp),
        QPSolver("quadprog", "quadprog", "dual active set [Goldfarb1983]", _quadprog),
    ),
    error=QuestionError,
)
