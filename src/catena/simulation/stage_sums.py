"""The two things that every stage does, as instructions for whole registers: a weighted sum of stages, and a kernel's call.

Numba's own loops over so few numbers spend more on their beginnings and ends than on the sums.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

BLOCKS = ((8, 4), (8, 1), (4, 1), (1, 1))  # (numbers in a register, registers at once), tried in this order
FUSED = ("contract",)  # multiply and add may be one instruction
INTEGER = ir.IntType(64)


@intrinsic
def call_row(typing_context: Any, address: Any, x: Any, K: Any, i: Any) -> Any:
    """Call `void block(const double* x, double* y)` at an address with y the row i of K (rows, n)."""
    if not (_doubles(x) and _doubles(K, 2) and isinstance(address, types.Integer) and isinstance(i, types.Integer)):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = cgutils.voidptr_t
        function = ir.FunctionType(ir.VoidType(), [pointer, pointer])
        target = builder.inttoptr(arguments[0], function.as_pointer())
        reads, _ = _array(context, builder, signature, arguments, 1)
        writes, (_, width) = _array(context, builder, signature, arguments, 2)
        row = builder.gep(writes, [builder.mul(arguments[3], width)])
        builder.call(target, [builder.bitcast(reads, pointer), builder.bitcast(row, pointer)])
        return context.get_dummy_value()

    return types.void(types.intp, x, K, types.intp), generate


@intrinsic
def weighted(typing_context: Any, x: Any, K: Any, w: Any, row: Any, count: Any, h: Any, out: Any, offset: Any) -> Any:
    """out[offset + n] = x[n] + h sum_i w[row, i] K[i, n], over i < count and all n of x. `out` may be x itself."""
    if not (_doubles(x, 1) and _doubles(K, 2) and _doubles(w, 2) and _doubles(out, 1)):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, (size,) = _array(context, builder, signature, arguments, 0)
        K, (_, width) = _array(context, builder, signature, arguments, 1)
        w, (_, columns) = _array(context, builder, signature, arguments, 2)
        out, _ = _array(context, builder, signature, arguments, 6)
        row, count, h, offset = (arguments[k] for k in (3, 4, 5, 7))
        weights, out = builder.gep(w, [builder.mul(row, columns)]), builder.gep(out, [offset])
        begin = INTEGER(0)
        for lanes, registers in BLOCKS:
            step = INTEGER(lanes * registers)
            end = builder.sub(size, builder.urem(builder.sub(size, begin), step))
            with cgutils.for_range_slice(builder, begin, end, step) as (n, _):
                _sum(builder, lanes, registers, n, x, K, width, weights, count, h, out)
            begin = end
        return context.get_dummy_value()

    return types.void(x, K, w, types.intp, types.intp, types.float64, out, types.intp), generate


def _sum(builder: Any, lanes: int, registers: int, n: Any, x: Any, K: Any, width: Any, w: Any, count: Any, h: Any, out: Any) -> None:
    """The sum for lanes * registers numbers from n on, kept in registers from the first stage to the last."""
    kind = ir.VectorType(ir.DoubleType(), lanes) if lanes > 1 else ir.DoubleType()
    totals = [cgutils.alloca_once(builder, kind) for _ in range(registers)]
    for total in totals:
        builder.store(kind([0.0] * lanes) if lanes > 1 else kind(0.0), total)
    with cgutils.for_range(builder, count) as loop:
        factor = _spread(builder, kind, builder.load(builder.gep(w, [loop.index])))
        k = builder.gep(K, [builder.add(builder.mul(loop.index, width), n)])
        for r, total in enumerate(totals):
            term = builder.fmul(factor, _read(builder, kind, k, INTEGER(r * lanes)), flags=FUSED)
            builder.store(builder.fadd(builder.load(total), term, flags=FUSED), total)
    h = _spread(builder, kind, h)
    for r, total in enumerate(totals):
        place = builder.add(n, INTEGER(r * lanes))
        moved = builder.fmul(h, builder.load(total), flags=FUSED)
        found = builder.fadd(_read(builder, kind, x, place), moved, flags=FUSED)
        builder.store(found, builder.bitcast(builder.gep(out, [place]), kind.as_pointer()), align=8)


def _read(builder: Any, kind: Any, pointer: Any, place: Any) -> Any:
    return builder.load(builder.bitcast(builder.gep(pointer, [place]), kind.as_pointer()), align=8)


def _spread(builder: Any, kind: Any, value: Any) -> Any:
    """One number in all lanes."""
    if not isinstance(kind, ir.VectorType):
        return value
    first = builder.insert_element(kind(ir.Undefined), value, ir.IntType(32)(0))
    return builder.shuffle_vector(first, kind(ir.Undefined), ir.VectorType(ir.IntType(32), kind.count)([0] * kind.count))


def _doubles(x: Any, ndim: int | None = None) -> bool:
    return isinstance(x, types.Array) and x.dtype == types.float64 and x.layout == "C" and ndim in (None, x.ndim)


def _array(context: Any, builder: Any, signature: Any, arguments: Any, k: int) -> tuple[Any, tuple[Any, ...]]:
    """The address of an array argument's numbers, and its sizes."""
    made = context.make_array(signature.args[k])(context, builder, arguments[k])
    return made.data, tuple(cgutils.unpack_tuple(builder, made.shape, signature.args[k].ndim))
