"""Speeds that move no inertia, but whose motion constraint rows determine.

    M a - A' lam = f,        A a = gamma

has a unique solution a also where M is singular, as long as no motion that the rows allow is
without inertia: a massless rod between two bodies, a linkage without any mass whose motion is
prescribed. A' W (A a - gamma) is zero there, so that adding it changes neither a nor lam:

    (M + A' W A) a - A' lam = f + A' W gamma

and this matrix is regular for any positive weights W. Each row is weighted by an inertia over its
size N of `kernels.rank`, so that units do not matter.

Where the rows leave a motion free that is without inertia, the matrix is singular but for rounding:
no force determines that motion, and its factor is NaN, so that whoever asks refuses by name.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np

from ..kernels import Layout, dynamics, usual_length
from ..model import value_of
from .symbols import Symbols

# a pivot of the mass matrix with the weighted rows, relative to the diagonal: a smaller one is
# rounding of zero
PIVOT_ROUNDING = 1e-14


def massless_speeds(layout: Layout, mass_matrix: Callable[[], ca.SX]) -> list[int]:
    """Return the indices of the speeds that move no inertia in any configuration, where the
    mechanism has constraint rows; none where it has no rows.
    """
    m = layout.mechanism
    if not m.constrained or all(b.flexible or b.mass != 0.0 for b in m.bodies):
        return []
    M = mass_matrix()
    return [k for k in range(layout.nv) if M[k, k].is_zero()]


def factored_or_nan(M: np.ndarray) -> np.ndarray:
    """Return the factor of a symmetric matrix of symbols in its own memory, NaN where a pivot is
    rounding of its diagonal.
    """
    diagonal = [M[k, k] for k in range(len(M))]
    dynamics.factor(M)
    regular = ca.SX(1.0)
    for k, own in enumerate(diagonal):
        regular = ca.logic_and(regular, PIVOT_ROUNDING * own * M[k, k] < 1.0)
    for k in range(len(M)):
        M[k, k] = ca.if_else(ca.logic_and(regular, M[k, k] > 0.0), M[k, k], np.nan)
    return M


def row_inertia(s: Symbols, A: ca.SX, sizes: list[float], speeds: list[int] | None = None) -> ca.SX:
    """Return A' W (n, m) for rows A (m, n), with inertias along these speeds, by default all.
    sizes: the scales N of the rows, 0 for a row that is scaled by its entries.
    """
    column = ca.SX(np.asarray(s.con.column, float)[slice(None) if speeds is None else speeds])
    inertia = whole_inertia(s.layout)
    weights = []
    for k, size in enumerate(sizes):
        own = ca.dot(A[k, :].T ** 2, column) if size == 0.0 else ca.SX(size)
        weights.append(inertia / ca.if_else(own > 0.0, own, 1.0))
    return A.T @ ca.diag(ca.vertcat(*weights))


def whole_inertia(layout: Layout) -> float:
    """Return the mass of all rigid bodies times the squared length of the mechanism, kg m^2, at its
    own parameters; with a mass of one kilogram for a mechanism without mass.
    """
    m = layout.mechanism
    mass = sum(float(value_of(b.mass, m.parameters)) for b in m.bodies if not b.flexible)
    return (mass or 1.0) * usual_length(layout) ** 2
