"""Calling compiled lanes from Numba, by address.

    @numba.njit(nogil=True, cache=True)
    def rollout(address, x, y, steps):
        for _ in range(steps):
            call_block(address, x, y)
            ...

    rollout(kernel.block_address, x, y, 1000)

The address is an ordinary integer that is known when the program runs: such a driver is compiled once, is kept by
Numba's own cache, and serves every kernel. Nothing is allocated and the interpreter is not needed. Whoever holds an
address must hold its `LaneKernel` too: the code lives as long as that.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def call_block(typing_context: Any, address: Any, x: Any, y: Any) -> Any:
    """Call `void block(const double* x, double* y)` at an address: `call_block(address, x, y)`.

    address: integer, a kernel's `block_address`. x: float64 array of sum(input_sizes) * width entries, entry k of lane
    l at k * width + l; shape (n, width) or flat, contiguous. y: likewise for the outputs; it is overwritten.
    """
    arrays = all(isinstance(a, types.Array) and a.dtype == types.float64 and a.layout == "C" and a.aligned for a in (x, y))
    if not (isinstance(address, types.Integer) and arrays and y.mutable):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = cgutils.voidptr_t
        function = ir.FunctionType(ir.VoidType(), [pointer, pointer])
        target = builder.inttoptr(arguments[0], function.as_pointer())
        data = [
            builder.bitcast(context.make_array(kind)(context, builder, value).data, pointer)
            for kind, value in zip(signature.args[1:], arguments[1:])
        ]
        builder.call(target, data)
        return context.get_dummy_value()

    return types.void(types.intp, x, y), generate
