"""The machine code of the generic kernels, compiled once for any mechanism, and bound to the tables
of one.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from . import cache as disk
from . import emit, host
from .generic import INPUTS, KERNELS, Structure, scratch, text
from .lanes import LaneKernel, SingleKernel
from .machine_function import sources
from .single_state import Single


@functools.cache
def library(name: str, width: int) -> Any:
    """Return a generic kernel's machine code, from the disk where it was compiled before."""
    key = disk.key("generic", sources(), *host.description(), name, str(width))
    return host.link(
        disk.load_or_make(key, lambda: host.assemble(text(name, width), optimise=2)), "kernel"
    )


def bind(
    name: str,
    structure: Structure,
    width: int | None = None,
    node: int = -1,
    X: np.ndarray | None = None,
) -> LaneKernel:
    """Return the kernel of one mechanism over lanes. It takes a few milliseconds, and behaves as if
    it were compiled for this mechanism.
    """
    width = host.default_width() if width is None else width
    b = _bound(name, structure, width, node, X)
    code = _around(*b.sizes, width, None, True)
    better = functools.partial(_around, *b.sizes, width, None, False)
    inputs = tuple((n, 1) for n in b.sizes[0])
    return LaneKernel(
        name,
        inputs,
        (b.output,),
        width,
        code,
        cost=300 * structure.sizes["n"],
        keep=b.keep,
        better=better,
        symbols=b.symbols,
    )


def bind_single(name: str, structure: Structure, single: Single) -> SingleKernel:
    """Return the kernel of one mechanism as the function for one state."""
    b = _bound(name, structure, 1, -1, None)
    return SingleKernel(name, _around(*b.sizes, 1, single, False), single, b.keep, b.symbols)


class _Bound(NamedTuple):
    """The numbers of inputs, outputs and scratch entries; the shape of the output; the addresses of
    symbols that the code around the kernel does not define, and the objects that must live as long
    as it.
    """

    sizes: tuple[tuple[int, ...], tuple[int, ...], int]
    output: tuple[int, int]
    symbols: dict[str, int]
    keep: Any


def _bound(name: str, structure: Structure, width: int, node: int, X: np.ndarray | None) -> _Bound:
    generic = KERNELS[name]
    X = np.eye(3, 4) if X is None else np.ascontiguousarray(X, dtype=float)
    table = structure.table(node, X)
    code = library(name, width)
    inputs = tuple(int(np.prod(structure.shape(INPUTS[p]))) for p in generic.inputs)
    out = structure.shape(generic.out)
    output = (out[0], int(np.prod(out[1:])))
    slots = sum(int(np.prod(structure.shape(shape))) for _, shape in scratch(generic.kernel))
    symbols = {"generic_kernel": code["kernel"], "generic_table": table.ctypes.data}
    return _Bound(
        (inputs, (output[0] * output[1],), slots), output, symbols, (structure, table, X, code)
    )


@functools.lru_cache(256)
def _around(
    n_in: tuple[int, ...],
    n_out: tuple[int, ...],
    slots: int,
    width: int,
    single: Single | None,
    quick: bool,
) -> bytes:
    """Return the code around a kernel. It is the same for all frames of a mechanism, and for all
    mechanisms of the same sizes.
    """
    text = emit.around(n_in, n_out, slots, width, single)
    return disk.load_or_make(
        disk.key("around", *host.description(), text, str(quick)),
        lambda: host.assemble(text, quick=quick),
    )
