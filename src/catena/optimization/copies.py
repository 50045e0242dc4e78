"""Copies: one function that a nonlinear program contains many times, with its exact Jacobian and
Hessian, compiled.

    rows g(y, s) (nr,) and a cost c(y, s) of unknowns y (ny,) and given numbers s (ns,) of a copy

All copies are evaluated at once, in lanes.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..compiler import LaneKernel, compile_lanes

Array = NDArray[np.float64]


class Copies:
    """A function and the data of its copies.

    y, s: its symbols. rows, cost: its expressions. given: (N, ns), the numbers s of each copy.
    """

    def __init__(self, y: ca.SX, s: ca.SX, rows: ca.SX, cost: ca.SX, given: Array):
        self.y, self.s, self.rows, self.cost = y, s, ca.densify(rows), ca.densify(cost)
        self.given = np.ascontiguousarray(given, float)
        self.count, self.nr = len(given), self.rows.numel()

    def compile(self) -> None:
        """Compile the machine code now, instead of at the first call."""
        for name in ("value", "slope", "curvature"):
            getattr(self, name)

    @cached_property
    def tape(self) -> ca.Function:
        """The function that computes the values of the rows (nr,) and the cost of one copy from its
        unknowns y and its given numbers s.
        """
        return ca.Function("copy", [self.y, self.s], ca.cse([self.rows, self.cost]))

    @cached_property
    def value(self) -> LaneKernel:
        """The function of `tape`, compiled for many copies at once."""
        return compile_lanes(self.tape)

    @cached_property
    def _jacobian(self) -> ca.SX:
        """The Jacobian of the rows with respect to the unknowns y, sparse."""
        return ca.jacobian(self.rows, self.y)

    @property
    def jacobian_sparsity(self) -> ca.Sparsity:
        """The sparsity of the Jacobian of the rows with respect to the unknowns y."""
        return self._jacobian.sparsity()

    @cached_property
    def slope(self) -> LaneKernel:
        """The compiled function of y and s that computes the entries of the Jacobian of the rows
        (by columns) and the gradient of the cost.
        """
        outputs = [_entries(self._jacobian), ca.densify(ca.gradient(self.cost, self.y))]
        return compile_lanes(
            ca.Function("slope", [self.y, self.s], ca.cse([ca.densify(x) for x in outputs]))
        )

    @cached_property
    def _curvature(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """The symbols of the multipliers lam and sigma, and the upper half of the Hessian of lam
        rows + sigma cost.
        """
        lam = ca.SX.sym("lam", self.nr)
        sigma = ca.SX.sym("sigma")
        H, _ = ca.hessian(ca.cse(ca.dot(lam, self.rows) + sigma * self.cost), self.y)
        return lam, sigma, ca.triu(H)

    @property
    def hessian_sparsity(self) -> ca.Sparsity:
        """The sparsity of the upper half of the Hessian of lam rows + sigma cost."""
        return self._curvature[2].sparsity()

    @cached_property
    def curvature(self) -> LaneKernel:
        """The compiled function of (y, s, lam, sigma) that computes the entries of the upper half
        of the Hessian, by columns.
        """
        lam, sigma, H = self._curvature
        return compile_lanes(
            ca.Function(
                "curvature", [self.y, self.s, lam, sigma], [ca.cse(ca.densify(_entries(H)))]
            )
        )


def _entries(x: ca.SX) -> ca.SX:
    """Return the entries of a sparse matrix by columns; one zero where it has none."""
    found: Any = x.nonzeros()
    return ca.SX(ca.vertcat(*found)) if found else ca.SX.zeros(1)
