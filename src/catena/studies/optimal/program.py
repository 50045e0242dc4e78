"""The nonlinear program that copies of one tape make, as solvers ask for it: its values, sparse Jacobian and Hessian, all copies in one call.

    least  sum of c(y_k, s_k)     with  y_k = z[places_k],     low <= g(y_k, s_k) <= high,     rows of constants that join the copies = 0
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from .copies import Copies

Array = NDArray[np.float64]
Places = NDArray[np.int64]


class Program:
    """A program: size, how many unknowns z; places (N, ny) of each copy's among them; rows (N, nr) of each copy's among `count`; joins: the entries
    (row, column, factor) of the rows that join copies. symmetric: give the whole Hessian, not its upper half."""

    def __init__(self, copies: Copies, size: int, places: Places, rows: Places, count: int, joins: tuple[Places, Places, Array], symmetric: bool = False):
        self.copies, self.size, self.places, self.rows, self.count, self.joins = copies, size, places, rows, count, joins
        self._kept: dict[str, tuple[bytes, Any]] = {}
        r, c = (np.array(x, np.int64) for x in copies.jacobian_sparsity.get_triplet())
        entry, column = np.concatenate([rows[:, r].ravel(), joins[0]]), np.concatenate([places[:, c].ravel(), joins[1]])
        self.jacobian_sparsity, at = _scattered(count, size, entry, column)
        self._jacobian_at, self._joins_at = at[: r.size * len(rows)], at[r.size * len(rows) :]
        self._entry, self._column = entry, column
        r, c = (np.array(x, np.int64) for x in copies.hessian_sparsity.get_triplet())
        self._mirrored = r != c if symmetric else np.zeros(len(r), bool)
        a, b = places[:, r], places[:, c]
        if not symmetric:
            a, b = np.minimum(a, b), np.maximum(a, b)
        both = np.hstack([a, b[:, self._mirrored]]), np.hstack([b, a[:, self._mirrored]])
        self.hessian_sparsity, self._hessian_at = _scattered(size, size, *(x.ravel() for x in both))

    # ------------------------------------------------------------------------------------------------ values
    def _once(self, name: str, z: Array, make: Callable[[Array], Any]) -> Any:
        """What was computed last at these very unknowns, or is now: solvers ask for parts of one thing by several calls."""
        key = z.tobytes()
        if name not in self._kept or self._kept[name][0] != key:
            self._kept[name] = key, make(np.ascontiguousarray(z[self.places]))
        return self._kept[name][1]

    def values(self, z: Array) -> tuple[Array, Array]:
        """Rows (N, nr) and costs (N, 1) of the copies."""
        c = self.copies
        return self._once("values", z, lambda y: c.value([y, c.given], len(y))[0])

    def slopes(self, z: Array) -> tuple[Array, Array]:
        """The entries of the Jacobians of the copies, and the gradients of their costs."""
        c = self.copies
        return self._once("slopes", z, lambda y: c.slope([y, c.given], len(y))[0])

    def cost(self, z: Array) -> float:
        """The sum of all costs."""
        return float(self.values(z)[1].sum())

    def constraints(self, z: Array) -> Array:
        """g (count,)."""
        row, column, factor = self.joins
        g = np.bincount(row, factor * z[column], self.count).astype(float) if len(row) else np.zeros(self.count)
        g[self.rows] = self.values(z)[0]
        return g

    def gradient(self, z: Array) -> Array:
        """Of the cost, (n,)."""
        return np.bincount(self.places.ravel(), self.slopes(z)[1].ravel(), self.size).astype(float)

    def jacobian(self, z: Array) -> Array:
        """The entries of d g / dz."""
        out = np.zeros(self.jacobian_sparsity.nnz())
        out[self._joins_at] = self.joins[2]
        if self._jacobian_at.size:
            out[self._jacobian_at] = self.slopes(z)[0].ravel()
        return out

    def lagrangian_gradient(self, z: Array, sigma: float, lam: Array) -> Array:
        """Of sigma cost + lam g, (n,)."""
        entries = np.concatenate([self.slopes(z)[0].ravel()[: self._jacobian_at.size], self.joins[2]])
        return sigma * self.gradient(z) + np.bincount(self._column, entries * lam[self._entry], self.size)

    def hessian(self, z: Array, sigma: float, lam: Array) -> Array:
        """The entries of the Hessian of sigma cost + lam g."""
        nnz, c = self.hessian_sparsity.nnz(), self.copies
        if not nnz:
            return np.zeros(0)
        y = np.ascontiguousarray(z[self.places])
        given = [y, c.given, np.ascontiguousarray(lam[self.rows]), np.full((len(y), 1), sigma)]
        entries = c.curvature(given, len(y))[0][0]
        if self._mirrored.any():
            entries = np.hstack([entries, entries[:, self._mirrored]])
        return np.bincount(self._hessian_at, entries.ravel(), nnz).astype(float)


def _scattered(rows: int, columns: int, r: Places, c: Places) -> tuple[ca.Sparsity, Places]:
    """The sparsity with entries at these places, which may repeat, and the number of the entry of each."""
    found, at = np.unique(c.astype(np.int64) * rows + r, return_inverse=True)
    starts = np.searchsorted(found // max(1, rows), np.arange(columns + 1))
    return ca.Sparsity(rows, columns, starts.tolist(), (found % max(1, rows)).tolist()), np.asarray(at.ravel(), np.int64)
