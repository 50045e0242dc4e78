"""A Machine whose forward dynamics are the equations of one formulation.

Accelerations and multipliers come from the formulation. What is the same for all formulations
(kinematics, the mass matrix, inverse dynamics, derivatives) is computed as in any Machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import casadi as ca

from ..compiler import Tracer
from ..equations import Equations
from ..equations.formulations import derive
from ..model import Mechanism
from .machine import Machine
from .spec import Trace


class EquationMachine(Machine):
    """A Machine whose forward dynamics are its `equations`."""

    def __init__(self, equations: Equations, **options: Any):
        self.equations = equations
        super().__init__(equations.mechanism, **options)

    def _traces(self) -> Mapping[str, Trace]:
        own = {
            "forward_dynamics": self.equations.acceleration,
            "multipliers": self.equations.multipliers,
        }
        return {name: partial(_trace, f) for name, f in own.items() if f is not None}

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, by {self.equations.formulation})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the function and arguments that rebuild the machine, with the equations derived
        again, for copies and pickles.
        """
        return _again, (
            self.mechanism,
            self.equations.formulation,
            self.equations.options,
            self.threads,
            self.snap,
            self.life,
        )


def _trace(f: ca.Function, s: Tracer) -> ca.SX:
    """Return a formulation's function f(t, q, v, tau, p) as an expression of the tracer's symbols.
    External wrenches are added to tau by virtual work.
    """
    m, tau = s.layout.mechanism, s.tau
    if s.wrenches:
        bare = Tracer(s.layout, s.snap)
        still = ca.Function("bias", [bare.q, bare.v, bare.p, bare.t], [bare.bias()])
        tau = tau + still(s.q, s.v, s.p, s.t) - s.bias()
    return ca.densify(f(s.t if m.loads or m.row_records else ca.SX(0), s.q, s.v, tau, s.p))


def _again(
    mechanism: Mechanism,
    by: str,
    options: dict[str, Any],
    threads: int,
    snap: float,
    life: str,
) -> EquationMachine:
    equations = derive(mechanism, by, **options)
    return EquationMachine(equations, threads=threads, snap=snap, life=life)
