"""The symbols of one mechanism: a kernel that is called with them returns expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from ..kernels import BALL, SNAP, Layout, Lift, Work, active_rows, constraints
from .scalar import Scalar

# (frame, "body" or "world") pairs: where external wrenches act, in whose axes
Wrenches = Sequence[tuple[str, str]]


def elements(x: Any) -> list[Any]:
    """Return the entries of a CasADi vector; structural zeros become numbers, which NumPy can keep
    in arrays.
    """
    x = ca.vec(ca.densify(ca.SX(x)))
    return [Scalar.of(y) for y in ca.vertsplit(x)] if x.numel() else []


def entries(x: ca.SX) -> np.ndarray:
    """Return the entries of a CasADi matrix as an array that kernels take."""
    return np.array([elements(row) for row in ca.vertsplit(x)], dtype=object).reshape(x.shape)


def matrix(rows: Any) -> ca.SX:
    """Return a nested sequence of scalars as a dense CasADi matrix."""
    return ca.densify(ca.vertcat(*(ca.horzcat(*row) for row in rows)))


def vector(values: Any) -> ca.SX:
    """Return a sequence of scalars as a dense CasADi column."""
    return ca.densify(ca.vertcat(*values)) if len(values) else ca.SX.zeros(0)


class Symbols:
    """The symbols q, v, a, tau, p of a mechanism, w of external wrenches, t of the time, and its
    tree as expressions of p.

    Q, V, A: coordinates, speeds and accelerations of all nodes; `zeros`: the accelerations for a =
    0. They have more entries than q, v, a where nodes follow others; `lift` maps what kernels
    compute along them back to the mechanism's own speeds.
    """

    def __init__(self, layout: Layout, snap: float = SNAP, wrenches: Wrenches = ()):
        self.layout, self.snap, self.wrenches = layout, snap, tuple(wrenches)
        nq = layout.nq
        nv = layout.nv
        names = list(layout.mechanism.parameters)
        self.q, self.v, self.a = ca.SX.sym("q", nq), ca.SX.sym("v", nv), ca.SX.sym("a", nv)
        self.tau, self.p = ca.SX.sym("tau", nv), ca.SX.sym("p", len(names))
        self.w, self.t = ca.SX.sym("w", 6 * len(self.wrenches)), ca.SX.sym("t")
        self._table = dict(zip(names, elements(self.p)))
        self.tree = layout.tree(self.value, snap)
        self.OWN, self.TAU = (
            tuple(elements(x) for x in (self.q, self.v, self.a)),
            elements(self.tau),
        )
        q, v, a = self.OWN
        self.lift = Lift(layout, self.value, q)
        self.still = [0.0] * nv
        self.Q, self.V, self.A, self.zeros = (
            self.lift.q,
            self.lift.v(v),
            self.lift.a(v, a),
            self.lift.a(v, self.still),
        )
        self.con = constraints(layout, self.value, active_rows(layout))

    def value(self, x: Any) -> Any:
        """Return a scalar of the mechanism: a number as it is, an expression of parameters as
        symbols.
        """
        if isinstance(x, float):
            return x
        from ..model import evaluate

        return evaluate(x, self._table)

    def work(self) -> Work:
        """Return scratch memory for symbols."""
        return Work.empty(len(self.layout.nodes), object)

    def blank(self, *shape: int) -> np.ndarray:
        """Return an array of zeros that can hold symbols."""
        return np.full(shape, 0.0, dtype=object)

    def coordinate_rate(self, v: Any = None) -> ca.SX:
        """Return the rates of the coordinates, qdot = N(q) v (nq,)."""
        v = self.V if v is None else v
        rate = self.blank(self.layout.nq)
        for c in self.layout.coordinates:
            k, l = c.qi, c.vi
            if c.motion == BALL:
                w, x, y, z = self.Q[k : k + 4]
                a, b, d = v[l : l + 3]
                rate[k] = -0.5 * (x * a + y * b + z * d)
                rate[k + 1] = 0.5 * (w * a + y * d - z * b)
                rate[k + 2] = 0.5 * (w * b + z * a - x * d)
                rate[k + 3] = 0.5 * (w * d + x * b - y * a)
            else:
                rate[k] = v[l]
        return vector(rate)
