"""The backend "lanes": machine code that is compiled for this mechanism and runs over several
states at once.
"""

from __future__ import annotations

from functools import partial

import casadi as ca
import numpy as np

from ..compiler import PACKAGE, LaneKernel, Tracer, compile_lanes, tape_on_disk
from .generic_kernels import rows
from .quantities import Quantity
from .request import Answer, Request
from .spec import Spec, Trace
from .state_check import nan_off_rows


def tape(
    spec: Spec,
    quantity: Quantity,
    which: tuple[str, ...] = (),
    wrenches: tuple[tuple[str, str], ...] = (),
    on_rows: bool = False,
) -> ca.Function:
    """Return the traced expression of a quantity: a CasADi function of its inputs, wrenches,
    parameters and time, as far as it depends on them. on_rows: whether its first output is NaN
    where the state violates the constraint rows. Expressions of catena's own quantities are cached
    on disk: reading one takes a hundredth of the time of tracing it.
    """
    trace = spec.traces.get(quantity.name, quantity.trace)
    on_rows = on_rows and bool(spec.rows)
    make = partial(_traced, spec, quantity, trace, which, wrenches, on_rows)
    if quantity.name in spec.traces or not str(getattr(trace, "__module__", "")).startswith(
        f"{PACKAGE}."
    ):
        return make()
    return tape_on_disk(
        spec.structure, f"quantity {quantity.name}", [spec.snap, which, wrenches, on_rows], make
    )


def _traced(
    spec: Spec,
    quantity: Quantity,
    trace: Trace,
    which: tuple[str, ...],
    wrenches: tuple[tuple[str, str], ...],
    on_rows: bool,
) -> ca.Function:
    """Trace the expression of a quantity, and return it as a CasADi function."""
    s = Tracer(spec.layout, spec.snap, wrenches)
    result = trace(s, *which)
    outputs = list(result) if isinstance(result, tuple) else [result]
    if on_rows:
        outputs = ca.cse(nan_off_rows(s, [ca.SX(x) for x in outputs], spec.resting))
    inputs = [getattr(s, name) for name in quantity.inputs]
    inputs += (
        ([s.w] if wrenches else [])
        + ([s.p] if spec.parameter_names else [])
        + ([s.t] if spec.timed else [])
    )
    # `tape.read` numbers values
    return ca.Function(
        quantity.name, inputs, [ca.densify(ca.SX(x)) for x in outputs], {"allow_free": False}
    )


class LanesLife:
    """Evaluates every quantity. A quantity is compiled when it is first evaluated, and cached."""

    name = "lanes"

    def __init__(self, spec: Spec):
        self.spec = spec
        self.kernels: dict[
            tuple[str, tuple[tuple[str, str], ...], tuple[str, ...], bool], LaneKernel
        ] = {}

    def can(self, request: Request) -> bool:
        """Return whether this backend can evaluate a request: always, because every quantity has an
        expression.
        """
        return True

    def call(self, request: Request) -> Answer:
        """Evaluate a request. An input that is the same for all states is passed once."""
        p = request.parameters
        if p is None and self.spec.parameter_names:
            p = np.array(list(self.spec.mechanism.parameters.values()))
        given = (*request.states, request.forces, p, request.time)
        flat = [
            np.ascontiguousarray(x) if x.ndim == 1 else rows(x, request.lead, request.batch)
            for x in given
            if x is not None
        ]
        return Answer(*self.kernel(request)(flat, request.batch, threads=self.spec.threads))

    def kernel(self, request: Request) -> LaneKernel:
        """Return the compiled kernel of a quantity, from a cache after the first call."""
        key = (request.quantity.name, request.keys, request.which, request.on_rows)
        if key not in self.kernels:
            self.kernels[key] = compile_lanes(
                tape(self.spec, request.quantity, request.which, request.keys, request.on_rows)
            )
        return self.kernels[key]
