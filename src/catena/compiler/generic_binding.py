"""The generic kernels' machine code, compiled once for any mechanism, and bound to the tables of one."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from . import cache as disk
from . import emit, host
from .generic import INPUTS, KERNELS, Structure, scratch, text
from .lanes import LaneKernel, SingleKernel
from .machine_function import sources
from .single_state import Single


@functools.cache
def library(name: str, width: int) -> Any:
    """A generic kernel's machine code; from the disk where it was compiled before."""
    key = disk.key("generic", sources(), *host.description(), name, str(width))
    code = disk.load(key)
    if code is None:
        code = host.assemble(text(name, width), optimise=2)
        disk.store(key, code)
    return host.link(code, "kernel")


def bind(name: str, structure: Structure, width: int | None = None, node: int = -1, X: np.ndarray | None = None) -> LaneKernel:
    """The kernel of one mechanism over lanes: as if compiled for it, but in a few milliseconds."""
    width = host.default_width() if width is None else width
    inputs, output, around, keep = _bound(name, structure, width, node, X, None)
    better = functools.partial(host.assemble, around)
    return LaneKernel(name, inputs, (output,), width, host.assemble(around, quick=True), cost=300 * structure.sizes["n"], keep=keep, better=better)


def bind_single(name: str, structure: Structure, single: Single) -> SingleKernel:
    """The kernel of one mechanism as the call for one state."""
    _, _, around, keep = _bound(name, structure, 1, -1, None, single)
    return SingleKernel(name, host.assemble(around), single, keep)


def _bound(name: str, structure: Structure, width: int, node: int, X: np.ndarray | None, single: Single | None) -> tuple[Any, Any, str, Any]:
    """The sizes of the inputs and of the output, the LLVM text around the kernel, and what must live as long as it."""
    generic, X = KERNELS[name], np.eye(3, 4) if X is None else np.ascontiguousarray(X, dtype=float)
    table, code = structure.table(node, X), library(name, width)
    inputs = tuple((int(np.prod(structure.shape(INPUTS[p]))), 1) for p in generic.inputs)
    out = structure.shape(generic.out)
    output = (out[0], int(np.prod(out[1:])))
    size = sum(int(np.prod(structure.shape(shape))) for _, shape in scratch(generic.kernel))
    piece = f"inttoptr (i64 {code['kernel']} to ptr)(ptr inttoptr (i64 {table.ctypes.data} to ptr), "
    around = emit.around(piece, [r for r, _ in inputs], [output[0] * output[1]], size, width, single)
    return inputs, output, around, (structure, table, X, code)
