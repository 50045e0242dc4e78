"""A first-order system and its exact derivatives as functions: along directions (tangent), and
transposed (pullback).

    tangent  (x, dx)' = (f, f_x dx + f_u du + f_p dp)  pullback  lam -> f_x' lam, f_p' lam, f_u' lam

f is the system's own function, with the rates of requested integrals appended to the state. The
directions of a forward run, and the outputs of an adjoint one, are in lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..compiler import LaneKernel, compile_lanes
from ..simulation.system import System

Array = NDArray[np.float64]


class Linearised:
    """The functions of a system whose derivatives are computed.

    places: the indices of the parameters that vary. integrals: expressions of the system's symbols
    t, q, v, p and forces u, whose integrals are appended to the state. size: of the state with
    these.
    """

    def __init__(self, system: System, places: Sequence[int], integrals: Sequence[ca.SX] = ()):
        self.system, self.places, self.integrals = system, tuple(places), tuple(integrals)
        self.t, x, self.U, self.P = system.inputs
        self.X = ca.vertcat(x, ca.SX.sym("z", len(self.integrals)))
        self.size, self.nv, self.nu, self.np = (
            self.X.numel(),
            system.nv,
            system.nu,
            system.p.numel(),
        )
        self._x = x
        self._kernels: dict[tuple[str, int], LaneKernel] = {}
        # by the index of the guard: the tapes of its slopes that `saltation` has made
        self.of_guards: dict[int, ca.Function] = {}

    @property
    def inputs(self) -> list[ca.SX]:
        """The symbols on which the functions depend: the time t, the state, forces and modes as one
        vector, and the parameters.
        """
        return [self.t, self.X, self.U, self.P]

    @cached_property
    def flow(self) -> ca.Function:
        """The function (t, x, u, p) -> x', the rate of the state."""
        if not self.integrals:
            return self.system.derivative
        rate = self.system.derivative(self.t, self._x, self.U, self.P)
        return ca.Function(
            "flow", self.inputs, [ca.cse(ca.densify(ca.vertcat(rate, *self.integrals)))]
        )

    @cached_property
    def settle(self) -> ca.Function | None:
        """The function (t, x, u, p) -> x projected onto the constraints; None where there are
        none.
        """
        own = self.system.settle
        if own is None or not self.integrals:
            return own
        x = own(self.t, self._x, self.U, self.P)
        return ca.Function(
            "settle", self.inputs, [ca.densify(ca.vertcat(x, self.X[self._x.numel() :]))]
        )

    def tangent(self, f: ca.Function) -> ca.Function:
        """Return the function (t, (x, dx), u, (p, dp, du)) -> (f, df): the value of f and its
        directional derivative.
        """
        dx = ca.SX.sym("dx", self.size)
        dp = ca.SX.sym("dp", self.np)
        du = ca.SX.sym("du", self.nv)
        out = f(*self.inputs)
        along = ca.vertcat(dx, dp, du, ca.SX.zeros(self.nu - self.nv))
        d = ca.jtimes(out, ca.vertcat(self.X, self.P, self.U), along)
        inputs = [self.t, ca.vertcat(self.X, dx), self.U, ca.vertcat(self.P, dp, du)]
        return ca.Function(f"tangent_{f.name()}", inputs, [ca.cse(ca.densify(ca.vertcat(out, d)))])

    def pullback(self, f: ca.Function) -> ca.Function:
        """Return the function (t, x, u, p, lam) -> f' lam along state, varied parameters and joint
        forces. The row of the work is left out, because nothing depends on it.
        """
        lam = ca.SX.sym("lam", self.size)
        rows = [k for k in range(self.size) if k != self.system.size - 1]
        w = ca.vertcat(self.X, *(self.P[k] for k in self.places), self.U[: self.nv])
        g = ca.jtimes(f(*self.inputs)[rows], w, lam[rows], True)
        return ca.Function(f"pullback_{f.name()}", [*self.inputs, lam], [ca.cse(ca.densify(g))])

    def kernel(self, name: str, width: int) -> LaneKernel | None:
        """Return a compiled function by its name: "flow", "settle", "tangent flow", "pullback flow"
        and so on. None where there is no such function.
        """
        derivative, _, of = name.rpartition(" ")
        f = getattr(self, of)
        if f is None:
            return None
        if (name, width) not in self._kernels:
            make: Callable[[ca.Function], ca.Function] = (
                getattr(self, derivative) if derivative else lambda f: f
            )
            self._kernels[name, width] = compile_lanes(make(f), width=width, quick=False)
        return self._kernels[name, width]

    def address(self, name: str, width: int) -> int:
        """Return the address of the machine code of a function, 0 where there is none."""
        kernel = self.kernel(name, width)
        return 0 if kernel is None else kernel.block_address

    def evaluate(self, f: ca.Function, *given: Any) -> Array:
        """Return the value of a function that is not compiled."""
        return np.array(f(*given))
