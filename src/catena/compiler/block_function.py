"""A function in the kernels' Python as machine code over lanes, `void block(const double* x, double* y)`: what the drivers call.

    x, y    inputs and outputs, one vector of lanes for each number, one record after the other; scratch memory is on the stack
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import cache as disk
from . import generic, host  # generic has the scalars that kernels use
from .kernel_compiler import Module
from .kernel_text import Array
from .machine_function import sources


class Record(NamedTuple):
    """A record of arrays, and the shape of each."""

    kind: Callable[..., Any]
    shapes: Sequence[tuple[int, ...]]

    @property
    def size(self) -> int:
        """Of all its arrays."""
        return sum(int(np.prod(shape)) for shape in self.shapes)

    def arrays(self, m: Module, pointer: str) -> Any:
        """The record of arrays that begin at a pointer, one after another."""
        ends = np.cumsum([0, *(int(np.prod(shape)) for shape in self.shapes)])
        return self.kind(*(Array(m.new(f"getelementptr {m.V}, ptr {pointer}, i64 {at}"), tuple(shape)) for at, shape in zip(ends, self.shapes)))


class BlockFunction:
    """The machine code of `function(inputs, outputs, scratch, *known)`, where `known` are numbers that the code is made for."""

    def __init__(self, function: Callable[..., Any], inputs: Record, outputs: Record, scratch: Record, width: int, *known: float):
        self.width, self.inputs, self.outputs = width, inputs, outputs
        shapes = repr((inputs.shapes, outputs.shapes, scratch.shapes))
        key = disk.key("block", sources(), *host.description(), function.__module__, function.__qualname__, shapes, repr((width, known)))
        code = disk.kept(key, lambda: host.assemble(text(function, inputs, outputs, scratch, width, known), optimise=2))
        self._library = host.link(code, "block")
        self.block_address: int = self._library["block"]


def text(function: Callable[..., Any], inputs: Record, outputs: Record, scratch: Record, width: int, known: Sequence[float]) -> str:
    """The LLVM text."""
    m = Module(width, host.has_fma())
    with m.function("block", "ptr x", "ptr y") as (x, y):
        m.call(function, inputs.arrays(m, x), outputs.arrays(m, y), scratch.arrays(m, m.room(scratch.size)), *known)
    m.text.table()
    return str(m)


__all__ = ["BlockFunction", "Record", "generic"]
