"""The nonlinear program that consists of copies of one function, with values, sparse Jacobian and
Hessian of all copies in one call.

least sum of c(y_k, s_k) with y_k = z[places_k], low <= g(y_k, s_k) <= high
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
    """A nonlinear program.

    size: the number of unknowns z. places: (N, ny), the indices in z of each copy's unknowns. Its
    rows (N nr,) are those of the copies.
    """

    def __init__(self, copies: Copies, size: int, places: Places):
        self.copies = copies
        self.size = size
        self.places = places
        self.count = copies.count * copies.nr
        self._cache: dict[str, tuple[bytes, Any]] = {}
        r, c = (np.array(x, np.int64) for x in copies.jacobian_sparsity.get_triplet())
        rows = np.arange(self.count).reshape(copies.count, copies.nr)
        self.jacobian_sparsity, self._jacobian_at = _scattered(
            self.count, size, rows[:, r].ravel(), places[:, c].ravel()
        )
        r, c = (np.array(x, np.int64) for x in copies.hessian_sparsity.get_triplet())
        a = places[:, r].ravel()
        b = places[:, c].ravel()
        self.hessian_sparsity, self._hessian_at = _scattered(
            size, size, np.minimum(a, b), np.maximum(a, b)
        )

    # --- values
    def _once(self, name: str, z: Array, make: Callable[[Array], Any]) -> Any:
        """Return the value of this name at z, cached if it was last computed there, because solvers
        request parts of one evaluation by several calls.
        """
        key = z.tobytes()
        if name not in self._cache or self._cache[name][0] != key:
            self._cache[name] = key, make(np.ascontiguousarray(z[self.places]))
        return self._cache[name][1]

    def values(self, z: Array) -> tuple[Array, Array]:
        """Return rows (N, nr) and costs (N, 1) of the copies."""
        c = self.copies
        return self._once("values", z, lambda y: c.value([y, c.given], len(y))[0])

    def slopes(self, z: Array) -> tuple[Array, Array]:
        """Return the entries of the Jacobians of the copies, and the gradients of their costs."""
        c = self.copies
        return self._once("slopes", z, lambda y: c.slope([y, c.given], len(y))[0])

    def cost(self, z: Array) -> float:
        """Return the sum of all costs."""
        return float(self.values(z)[1].sum())

    def constraints(self, z: Array) -> Array:
        """Return the values g (N nr,) of all constraint rows."""
        return self.values(z)[0].ravel()

    def gradient(self, z: Array) -> Array:
        """Return the gradient (n,) of the total cost."""
        return np.bincount(self.places.ravel(), self.slopes(z)[1].ravel(), self.size).astype(float)

    def jacobian(self, z: Array) -> Array:
        """Return the entries of the sparse Jacobian d g / dz of the constraint rows."""
        out = np.zeros(self.jacobian_sparsity.nnz())
        if self._jacobian_at.size:
            out[self._jacobian_at] = self.slopes(z)[0].ravel()
        return out

    def hessian(self, z: Array, sigma: float, lam: Array) -> Array:
        """Return the entries of the upper half of the Hessian of sigma cost + lam g."""
        nnz = self.hessian_sparsity.nnz()
        c = self.copies
        if not nnz:
            return np.zeros(0)
        y = np.ascontiguousarray(z[self.places])
        given = [
            y,
            c.given,
            np.ascontiguousarray(lam.reshape(c.count, -1)),
            np.full((len(y), 1), sigma),
        ]
        return np.bincount(self._hessian_at, c.curvature(given, len(y))[0][0].ravel(), nnz).astype(
            float
        )


def _scattered(rows: int, columns: int, r: Places, c: Places) -> tuple[ca.Sparsity, Places]:
    """Return the sparsity pattern with entries at (r, c), which may repeat, and the index of each
    entry in it.
    """
    found, at = np.unique(c.astype(np.int64) * rows + r, return_inverse=True)
    starts = np.searchsorted(found // max(1, rows), np.arange(columns + 1))
    return ca.Sparsity(rows, columns, starts.tolist(), (found % max(1, rows)).tolist()), np.asarray(
        at.ravel(), np.int64
    )
