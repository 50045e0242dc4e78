"""The nonlinear program of a motion in the form that Ipopt asks for: its values, sparse Jacobian and Hessian, all intervals in one call.

CasADi's interface to Ipopt is given functions of its kind (`Callback`) whose insides are our machine code over lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from .transcription import Interval

Array = NDArray[np.float64]
Places = NDArray[np.int64]


class _Compiled(ca.Callback):
    """A function of CasADi that writes its outputs by a function of arrays."""

    def __init__(self, name: str, inputs: Sequence[ca.Sparsity], outputs: dict[str, ca.Sparsity], fill: Callable[..., None]):
        ca.Callback.__init__(self)
        self._names = list(outputs)
        self._inputs, self._outputs, self._fill = list(inputs), list(outputs.values()), fill
        self.construct(name, {})

    def get_n_in(self) -> int:
        return len(self._inputs)

    def get_n_out(self) -> int:
        return len(self._outputs)

    def get_name_in(self, i: int) -> str:
        return ("x", "p", "lam_f", "lam_g")[i]

    def get_name_out(self, i: int) -> str:
        return self._names[i]

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        return self._inputs[i]

    def get_sparsity_out(self, i: int) -> ca.Sparsity:
        return self._outputs[i]

    def has_eval_buffer(self) -> bool:
        return True

    def eval_buffer(self, given: Any, results: Any) -> int:
        arrays = [np.frombuffer(x, np.float64) if x is not None else np.zeros(0) for x in given]
        self._fill(arrays, [np.frombuffer(x, np.float64) if x is not None and len(x) else None for x in results])
        return 0


class Program:
    """The program of N intervals: variables z (n,), constraints g (N nx,), all of them zero."""

    def __init__(self, interval: Interval):
        self.i = i = interval
        N, nx, nu, nw = i.count, i.nx, i.nu, i.nw
        self.size, self.rows = N * (nx + nu) + nx + nw, N * nx
        first = np.arange(N)[:, None] * (nx + nu)
        own = np.arange(2 * nx + nu)[None, :]
        self.places = np.hstack([first + own, np.tile(self.size - nw + np.arange(nw), (N, 1))])  # (N, ny): where y of each interval stands in z
        self.s = (np.arange(N) / N)[:, None]
        self._kept: dict[str, tuple[bytes, Any]] = {}
        self._sparse()

    def _sparse(self) -> None:
        """The sparsities of the whole, and where the entries of each interval go."""
        i, N, nx = self.i, self.i.count, self.i.nx
        r, c = (np.array(x) for x in i.jacobian_sparsity.get_triplet())
        rows, columns = np.arange(N)[:, None] * nx + r, self.places[:, c]
        self.jacobian_sparsity, self.jacobian_at = _scattered(self.rows, self.size, rows, columns)
        r, c = (np.array(x, int) for x in i.hessian_sparsity.get_triplet())
        a, b = self.places[:, r], self.places[:, c]
        self.hessian_sparsity, self.hessian_at = _scattered(self.size, self.size, np.minimum(a, b), np.maximum(a, b))

    def compile(self) -> None:
        """Make the machine code now, not at the first call."""
        for name in ("value", "slope", "curvature"):
            getattr(self.i, name)

    # ------------------------------------------------------------------------------------------------ values
    def _once(self, name: str, z: Array, make: Callable[[Array], Any]) -> Any:
        """What was computed last at these very variables, or is now: Ipopt asks for parts of one thing by several calls."""
        key = z.tobytes()
        if name not in self._kept or self._kept[name][0] != key:
            self._kept[name] = key, make(np.ascontiguousarray(z[self.places]))
        return self._kept[name][1]

    def values(self, z: Array) -> tuple[Array, Array]:
        """Defects (N, nx) and costs (N, 1)."""
        return self._once("values", z, lambda y: self.i.value([y, self.s], len(y))[0])

    def slopes(self, z: Array) -> tuple[Array, Array]:
        """The entries of the Jacobians of the intervals, and the gradients of their costs."""
        return self._once("slopes", z, lambda y: self.i.slope([y, self.s], len(y))[0])

    def gradient(self, z: Array) -> Array:
        """Of the cost, (n,)."""
        return np.bincount(self.places.ravel(), self.slopes(z)[1].ravel(), self.size).astype(float)

    def jacobian(self, z: Array) -> Array:
        """The entries of d g / dz."""
        out = np.zeros(self.jacobian_sparsity.nnz())
        out[self.jacobian_at] = self.slopes(z)[0]
        return out

    def hessian(self, z: Array, sigma: float, lam: Array) -> Array:
        """The entries of the upper half of the Hessian of sigma cost + lam g."""
        y = np.ascontiguousarray(z[self.places])
        given = [y, self.s, np.ascontiguousarray(lam.reshape(self.i.count, -1)), np.full((len(y), 1), sigma)]
        nnz = self.hessian_sparsity.nnz()
        if not nnz:
            return np.zeros(0)
        return np.bincount(self.hessian_at.ravel(), self.i.curvature(given, len(y))[0][0].ravel(), nnz).astype(float)

    # ------------------------------------------------------------------------------------------------ as CasADi takes it
    def solver(self, options: dict[str, Any]) -> tuple[ca.Function, list[Any]]:
        """Ipopt for this program, and what must live as long as it."""
        dense, none = ca.Sparsity.dense, ca.Sparsity.dense(0, 1)
        z, g, one = dense(self.size, 1), dense(self.rows, 1), dense(1, 1)

        def both(given: list[Array], out: list[Array | None]) -> None:
            defects, costs = self.values(given[0])
            _put(out[0], costs.sum())
            _put(out[1], defects.ravel())

        def grad(given: list[Array], out: list[Array | None]) -> None:
            _put(out[0], self.values(given[0])[1].sum())
            _put(out[1], self.gradient(given[0]))

        def jac(given: list[Array], out: list[Array | None]) -> None:
            _put(out[0], self.values(given[0])[0].ravel())
            _put(out[1], self.jacobian(given[0]))

        def hess(given: list[Array], out: list[Array | None]) -> None:
            _put(out[0], self.hessian(given[0], float(given[2][0]), given[3]))

        nlp = _Compiled("nlp", [z, none], {"f": one, "g": g}, both)
        parts = {"grad_f": _Compiled("nlp_grad_f", [z, none], {"f": one, "grad_f_x": z}, grad), "jac_g": _Compiled("nlp_jac_g", [z, none], {"g": g, "jac_g_x": self.jacobian_sparsity}, jac),
                 "hess_lag": _Compiled("nlp_hess_l", [z, none, one, g], {"hess": self.hessian_sparsity}, hess)}  # fmt: skip
        return ca.nlpsol("motion", "ipopt", nlp, {"no_nlp_grad": True, "calc_lam_p": False, **options, **parts}), [nlp, *parts.values()]


def _put(out: Array | None, value: Any) -> None:
    if out is not None:
        out[:] = value


def _scattered(rows: int, columns: int, r: Places, c: Places) -> tuple[ca.Sparsity, Places]:
    """The sparsity with entries at these places, which may repeat, and the number of the entry of each, of the shape of r."""
    key = c.ravel().astype(np.int64) * rows + r.ravel()
    found, at = np.unique(key, return_inverse=True)
    starts = np.searchsorted(found // rows, np.arange(columns + 1))
    return ca.Sparsity(rows, columns, starts.tolist(), (found % rows).tolist()), np.asarray(at.reshape(r.shape), np.int64)
