"""The backend "generic": kernels that are compiled once for all mechanisms, and run over several
states at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ..compiler import LaneKernel, generic, generic_binding
from .generic_kernels import Array, rows
from .request import Answer, Request
from .spec import Spec


class GenericLife:
    """Evaluates every quantity that has a generic kernel, at the mechanism's own parameters."""

    name = "generic"

    def __init__(self, spec: Spec):
        self.spec = spec
        self._kernels: dict[tuple[str, int, bytes], LaneKernel] = {}

    @cached_property
    def structure(self) -> generic.Structure:
        """The arrays of the mechanism, as the kernels read them."""
        return generic.Structure(self.spec.layout, self.spec.snap)

    def can(self, request: Request) -> bool:
        """Return whether this backend can evaluate a request: the quantity has a generic kernel,
        the kernels cover everything in the mechanism, and no parameters are given.
        """
        known = (
            request.quantity.generic is not None and request.quantity.name not in self.spec.traces
        )
        return known and self.spec.generic and request.parameters is None

    def call(self, request: Request) -> Answer:
        """Evaluate a request."""
        request = request._replace(
            states=tuple(rows(x, request.lead, request.batch) for x in request.states)
        )
        kernel = request.quantity.generic
        springs = self.spec.springs
        runs = Runs(self)
        assert kernel is not None
        out = (
            kernel(runs, request)
            if springs is None
            else springs.around(lambda x: kernel(runs, x), request)
        )
        unseen = [] if runs.ran else list(request.states)
        unseen += [x for x in (request.forces, None if springs is None else out) if x is not None]
        return Answer(
            self._parts(request, out), runs.finite and all(np.isfinite(x).all() for x in unseen)
        )

    def _parts(self, request: Request, out: Array) -> Sequence[Array]:
        """Return the outputs of a quantity as separate arrays, from an array that stores them next
        to each other.
        """
        shapes = [y.size(self.spec.sizes) for y in request.quantity.outputs_of(self.spec.sizes)]
        flat = out.reshape(request.batch, -1)
        return tuple(np.split(flat, np.cumsum([int(np.prod(s)) for s in shapes])[:-1], axis=1))

    def kernel(self, name: str, node: int, X: Array | None) -> LaneKernel:
        """Return a generic kernel bound to this mechanism, from a cache after the first call."""
        key = (name, node, b"" if X is None else X.tobytes())
        if key not in self._kernels:
            self._kernels[key] = generic_binding.bind(name, self.structure, node=node, X=X)
        return self._kernels[key]


class Runs:
    """Runs compiled kernels for one request, and records whether all numbers in their inputs and
    outputs were finite.
    """

    def __init__(self, life: GenericLife):
        self.life = life
        self.spec = life.spec
        self.finite = True
        self.ran = False

    def run(
        self, name: str, states: Sequence[Array], node: int = -1, X: Array | None = None
    ) -> Array:
        """Return the results (batch, ...) of a generic kernel for its inputs (batch, n). node, X:
        node and pose of a frame, for quantities of a frame.
        """
        batch = len(states[0])
        (out,), finite = self.life.kernel(name, node, X)(states, batch, threads=self.spec.threads)
        self.finite = self.finite and finite
        self.ran = True
        return out.reshape(batch, *self.life.structure.shape(generic.KERNELS[name].out))
