"""The generic life: the kernels compiled once by Numba for any mechanism, over rows of states, in threads.

It owns its handles (the mechanism's arrays with scratch memory, one per thread) and the lock that gives them to one batch at
a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..compiler import generic
from ..compiler.threads import in_threads
from .generic_kernels import Array, rows
from .request import Answer, Request
from .spec import Spec

WORTH_THREADS = 2000  # nodes times states; below this a thread costs more than it saves


class GenericLife:
    """Answers every quantity that has a generic kernel, at the mechanism's own parameters."""

    name = "generic"

    def __init__(self, spec: Spec):
        self.spec = spec
        self.single = generic.Handle(spec.layout, spec.snap)  # for calls that hold the interpreter's lock
        self._handles: list[generic.Handle] = []
        self._turn = threading.Lock()

    def can(self, request: Request) -> bool:
        """Quantities with a generic kernel, where it knows everything that acts in the mechanism."""
        known = request.quantity.generic is not None and request.quantity.name not in self.spec.traces
        return known and self.spec.generic and request.parameters is None

    def call(self, request: Request) -> Answer:
        """The answer for rows of states."""
        request = request._replace(states=tuple(rows(x, request.lead, request.batch) for x in request.states))
        kernel, springs = request.quantity.generic, self.spec.springs
        assert kernel is not None
        out = kernel(self, request) if springs is None else springs.around(lambda x: kernel(self, x), request)
        given = (*request.states, *(() if request.forces is None else (request.forces,)))
        return Answer(self._parts(request, out), all(np.isfinite(x).all() for x in (out, *given)))

    def _parts(self, request: Request, out: Array) -> Sequence[Array]:
        """The results of a quantity that stand side by side in one array."""
        shapes = [y.size(self.spec.sizes) for y in request.quantity.outputs_of(self.spec.sizes)]
        flat = out.reshape(request.batch, -1)
        return tuple(np.split(flat, np.cumsum([int(np.prod(s)) for s in shapes])[:-1], axis=1))

    def run(self, name: str, arguments: Sequence[Any], out: Array, common: Array | None = None) -> Array:
        """Run a compiled function over the rows of `out`, in threads where there are enough of them.

        common: the one argument, if any, that is a matrix for all states alike and not a row for each.
        """
        function, batch = generic.compiled(name), len(out)
        by_row = [isinstance(x, np.ndarray) and x is not common and len(x) == batch for x in arguments]
        with self._turn:
            self._shared(function, arguments, by_row, out)
        return out

    def _shared(self, function: Callable[..., Any], arguments: Sequence[Any], by_row: list[bool], out: Array) -> None:
        """The same, while nobody else uses the scratch memory."""
        batch, spec = len(out), self.spec
        threads = 1 if batch * len(spec.layout.nodes) < WORTH_THREADS else min(spec.threads, batch)
        while len(self._handles) < threads:
            self._handles.append(self.single.again())
        edges = np.linspace(0, batch, threads + 1).astype(int)

        def part(k: int) -> None:
            own = slice(edges[k], edges[k + 1])
            function(self._handles[k].address, *(x[own] if row else x for x, row in zip(arguments, by_row)), out[own])

        in_threads(part, range(threads))
