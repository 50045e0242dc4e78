"""Derived: a Machine whose forward dynamics are those of one formulation's own equations, in lanes like everything else.

Accelerations and multipliers come from the formulation; what is the same in all of them (kinematics, the mass matrix, the
forces of a motion, derivatives) stays the mechanism's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca

from ..compiler.trace import Tracer
from ..equations.equations import Equations
from ..equations.formulations import derive
from ..model.mechanism import Mechanism
from .machine import INPUTS, Machine


class Derived(Machine):
    """A Machine that moves by its `equations`."""

    _own = frozenset({"forward_dynamics", "multipliers"})

    def __init__(self, equations: Equations, **options: Any):
        super().__init__(equations.mechanism, **options)
        self.equations = equations

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, by {self.equations.formulation})"

    def __reduce__(self) -> tuple:
        """As a Machine's: made anew, the equations too."""
        return _again, (self.mechanism, self.equations.formulation, self.threads, self.snap, self.life)

    def function(self, quantity: str, *which: str, wrenches: Sequence[tuple[str, str]] = ()) -> ca.Function:
        """The tape of a quantity: the formulation's own where it has one. External wrenches join tau by virtual work."""
        f = {"forward_dynamics": self.equations.acceleration, "multipliers": self.equations.multipliers}.get(quantity)
        if f is None:
            return super().function(quantity, *which, wrenches=wrenches)
        s = Tracer(self.layout, self.snap, wrenches)
        tau = s.tau
        if wrenches:
            bare = Tracer(self.layout, self.snap)
            still = ca.Function("bias", [bare.q, bare.v, bare.p, bare.t], [bare.bias()])
            tau = tau + still(s.q, s.v, s.p, s.t) - s.bias()
        inputs = [{"q": s.q, "v": s.v, "t": s.tau}[k] for k in INPUTS[quantity]]
        inputs += ([s.w] if wrenches else []) + ([s.p] if self.parameter_names else []) + ([s.t] if self._traced_only else [])
        t = s.t if self._traced_only else ca.SX(0)
        return ca.Function(quantity, inputs, ca.cse([ca.densify(f(t, s.q, s.v, tau, s.p))]), {"allow_free": False})


def _again(mechanism: Mechanism, by: str, threads: int, snap: float, life: str) -> Derived:
    return Derived(derive(mechanism, by), threads=threads, snap=snap, life=life)
