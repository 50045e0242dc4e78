"""The terms of the equations of motion at one state, loops included.

M a + b = tau + A' lam,      A a = gamma
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import SingularError
from .constraint_rows import Rows, Spaces, metric, rows_at, spaces
from .lookup import where

if TYPE_CHECKING:
    from .machine import Machine

Array = np.ndarray
# An eigenvalue of the mass matrix, scaled to a unit diagonal, is zero below this, relative to the
# largest: it is rounding.
SINGULAR_EIGENVALUE_RATIO = 1e-13
# Rounding of accelerations that cancel, relative to those by the forces that act.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Terms:
    """M (nv, nv). b (nv,): Coriolis, centrifugal and gravity terms, less loads and external
    wrenches. rows: all constraint rows. spaces: their rank and null spaces.
    """

    M: Array
    b: Array
    rows: Rows
    spaces: Spaces

    @property
    def A(self) -> Array:
        """The constraint Jacobian (m, nv), every row of every loop."""
        return self.rows.A


def terms(machine: Machine, q: Array, v: Array, wrenches: Any = None, t: float = 0.0) -> Terms:
    """Return the terms of the equations of motion at a state (q, v) and time t (s)."""
    rows = rows_at(machine, q, v, t)
    return Terms(
        machine.mass_matrix(q),
        machine.bias(q, v, wrenches, t=t),
        rows,
        spaces(rows.A, metric(machine, acting=False)),
    )


def accelerated(machine: Machine, M: Array, forces: Array) -> Array:
    """Return M^-1 forces (nv, k). Where M is singular (gimbal lock) and no force acts along the
    motion without inertia, return the solution of least norm. Both are first scaled by the diagonal
    of M, so that neither units nor ratios of inertia decide what is singular. A SingularError is
    raised where a force acts along a motion without inertia.
    """
    size = np.sqrt(np.maximum(np.diagonal(M), 0.0))
    size = np.where(size > 0.0, size, 1.0)
    S = M / np.outer(size, size)
    f = forces / size[:, None]
    values = np.linalg.eigvalsh(S)
    if not len(values) or values[0] > SINGULAR_EIGENVALUE_RATIO * values[-1]:
        return np.linalg.solve(S, f) / size[:, None]
    found = np.linalg.lstsq(S, f, rcond=10.0 * SINGULAR_EIGENVALUE_RATIO)[0]
    left = np.abs(S @ found - f).max(axis=1)
    if left.max() > 1e-8 * np.abs(f).max():
        name = (*machine.speed_names, *["the target"] * 6)[int(left.argmax())]
        raise SingularError(
            f"a force acts on {name!r} of {where(machine)}, which has no inertia here: its axes"
            " have come into one line, or it carries no mass",
            name,
        )
    return found / size[:, None]


def name_of(machine: Machine, residual: Array) -> tuple[str, float]:
    """Return the name of the speed with the largest residual, and the residual."""
    k = int(np.abs(residual).argmax())
    return machine.speed_names[k], float(residual[k])


def torn_row(machine: Machine, t: Terms, a: Array, ratio: float) -> int | None:
    """Return the row that the accelerations a (nv,) violate most; None where they violate none.

        |A a - gamma| <= ratio (|A| |a| + |gamma|) + ROUNDING |A| |M^-1 b|

    b are all forces but those of motors; their accelerations M^-1 b are the scale of rounding. Rows
    are scaled by the lengths of their loops, so that neither units nor slow motions decide.
    """
    if not len(t.A):
        return None
    by = metric(machine, acting=False)
    left = by.relative(np.abs(t.A @ a - t.rows.gamma), t.A)
    terms = by.relative(np.abs(t.A) @ np.abs(a) + np.abs(t.rows.gamma), t.A)
    forced = np.abs(np.linalg.lstsq(t.M, t.b, rcond=None)[0])
    rounding = ROUNDING * by.relative(np.abs(t.A) @ forced, t.A)
    worst = int(left.argmax())
    return worst if left[worst] > ratio * terms.max() + rounding.max() else None
