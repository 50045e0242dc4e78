"""An optimal motion as a problem of many variables: states at N + 1 instants, constant forces between them, duration and parameters.

    z = (x_0, u_0, x_1, u_1, ..., x_N, w),     w = (T, unknown parameters),     h = T / N

    collocation   Hermite and Simpson: x_m = (x_0 + x_1)/2 + h/8 (f_0 - f_1),   x_1 - x_0 - h/6 (f_0 + 4 f_m + f_1) = 0
    shooting      x_1 - RK4(x_0, u, h) = 0, in STEPS steps

All intervals have the same tape. It is compiled with its exact Jacobian and the Hessian of its part of the Lagrangian, and all intervals
are evaluated at once, in lanes. A transcription is a function (f, rate, h) -> (defect, cost) of one interval; they are a registry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..compiler.lanes import LaneKernel, compile_lanes
from ..errors.registry import Registry
from ..simulation.system import System

Array = NDArray[np.float64]
Flow = Callable[[ca.SX, ca.SX], Any]  # (t, x) -> x', the rate of the cost
STEPS = 4  # of RK4 in an interval


@dataclass(frozen=True)
class Transcription:
    """How an interval is discretised: name; defect(flow, t, h, x0, x1) -> what must vanish, and the cost of the interval; one line."""

    name: str
    defect: Callable[[Flow, ca.SX, ca.SX, ca.SX, ca.SX], tuple[ca.SX, ca.SX]]
    doc: str


def _collocation(flow: Flow, t: ca.SX, h: ca.SX, x0: ca.SX, x1: ca.SX) -> tuple[ca.SX, ca.SX]:
    (f0, l0), (f1, l1) = flow(t, x0), flow(t + h, x1)
    fm, lm = flow(t + h / 2, (x0 + x1) / 2 + h / 8 * (f0 - f1))
    return x1 - x0 - h / 6 * (f0 + 4 * fm + f1), h / 6 * (l0 + 4 * lm + l1)


def _shooting(flow: Flow, t: ca.SX, h: ca.SX, x0: ca.SX, x1: ca.SX) -> tuple[ca.SX, ca.SX]:
    x, cost, d = x0, ca.SX(0), h / STEPS
    for n in range(STEPS):
        at = t + n * d
        k1, l1 = flow(at, x)
        k2, l2 = flow(at + d / 2, x + d / 2 * k1)
        k3, l3 = flow(at + d / 2, x + d / 2 * k2)
        k4, l4 = flow(at + d, x + d * k3)
        x, cost = x + d / 6 * (k1 + 2 * k2 + 2 * k3 + k4), cost + d / 6 * (l1 + 2 * l2 + 2 * l3 + l4)
    return x1 - x, cost


TRANSCRIPTIONS: Registry[Transcription] = Registry("transcription", [
    Transcription("collocation", _collocation, "Hermite and Simpson: fourth order, implicit, forgiving"),
    Transcription("shooting", _shooting, "multiple shooting: four steps of RK4 in each interval"),
])  # fmt: skip


class Interval:
    """The tapes of one interval, of y = (x0, u, x1, w) and its place s = k / N.

    actuated: the speeds whose forces are free. unknown: the parameters that are, by their place; p: the values of all. free_time:
    whether w begins with the duration T, otherwise it is `until` (s).
    """

    def __init__(self, system: System, rate: ca.SX, transcription: Transcription, count: int, *, actuated: list[int], unknown: list[int], p: Array,
                 free_time: bool, until: float):  # fmt: skip
        self.nx, self.nu, self.count = system.nq + system.nv, len(actuated), count
        self.nw = int(free_time) + len(unknown)
        x0, x1, u, w, s = (ca.SX.sym(name, n) for name, n in (("x0", self.nx), ("x1", self.nx), ("u", self.nu), ("w", self.nw), ("s", 1)))
        T = w[0] if free_time else ca.SX(until)
        h = T / count
        forces, own = ca.SX.zeros(system.nv), ca.SX(p)
        for k, place in enumerate(actuated):
            forces[place] = u[k]
        for k, place in enumerate(unknown):
            own[place] = w[int(free_time) + k]
        f = ca.Function("flow", [system.t, system.x, system.u, system.p], [_smooth_rate(system), rate])
        defect, cost = transcription.defect(lambda t, x: tuple(f.call([t, x, forces, own])), s * T, h, x0, x1)
        self.y, self.s, self.defect, self.cost = ca.vertcat(x0, u, x1, w), s, ca.densify(defect), ca.densify(cost)

    @cached_property
    def tape(self) -> ca.Function:
        """(y, s) -> defect (nx,), cost."""
        return ca.Function("interval", [self.y, self.s], ca.cse([self.defect, self.cost]))

    @cached_property
    def value(self) -> LaneKernel:
        """The same, compiled."""
        return compile_lanes(self.tape)

    @cached_property
    def jacobian_sparsity(self) -> ca.Sparsity:
        """Of d defect / dy."""
        return ca.jacobian(self.defect, self.y).sparsity()

    @cached_property
    def slope(self) -> LaneKernel:
        """(y, s) -> the entries of d defect / dy, d cost / dy."""
        J = ca.jacobian(self.defect, self.y)
        outputs = [_entries(J), ca.densify(ca.gradient(self.cost, self.y))]
        return compile_lanes(ca.Function("slope", [self.y, self.s], ca.cse([ca.densify(x) for x in outputs])))

    @cached_property
    def _curvature(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        lam, sigma = ca.SX.sym("lam", self.nx), ca.SX.sym("sigma")
        H, _ = ca.hessian(ca.cse(ca.dot(lam, self.defect) + sigma * self.cost), self.y)
        return lam, sigma, ca.triu(H)

    @cached_property
    def hessian_sparsity(self) -> ca.Sparsity:
        """Of the upper half of the Hessian of lam defect + sigma cost."""
        return self._curvature[2].sparsity()

    @cached_property
    def curvature(self) -> LaneKernel:
        """(y, s, lam, sigma) -> the entries of that Hessian."""
        lam, sigma, H = self._curvature
        entries = _entries(H) if H.nnz() else ca.SX.zeros(1)
        return compile_lanes(ca.Function("curvature", [self.y, self.s, lam, sigma], [ca.cse(ca.densify(entries))]))


def _entries(x: ca.SX) -> ca.SX:
    """The entries of a sparse matrix that are there, by columns."""
    found: Any = x.nonzeros()
    return ca.SX(ca.vertcat(*found))


def _smooth_rate(system: System) -> ca.SX:
    """The rate of (q, v) under the joint forces u."""
    return ca.densify(system._rate)
