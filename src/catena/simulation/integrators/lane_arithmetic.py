"""Arithmetic over lanes, for drivers: sums over stages, dense output, choices among lanes.

Arrays of lanes are flat, entry k of lane l at k W + l. Functions that are `lanewise` are written
over one lane; every entry of an array that they read or write is a vector of W of them.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

from ...compiler import Array, Module, Value, call_block, intrinsic, rows_of_lanes
from ..terms.error_scales import FAR, FAST, NEAR, OTHER, ROUND, SPEED, TINY, WORK


def lanewise(*same: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Mark a function over arrays of lanes, which machine functions then expand over vectors. same:
    the names of those arrays that all lanes share; the last parameter of the function is W.
    """

    def over(function: Callable[..., None]) -> Callable[..., None]:
        names = list(inspect.signature(function).parameters)

        def only(*given: Any) -> None:
            raise TypeError(f"{function.__name__} is for machine functions")

        def part(name: str, x: Any) -> Any:
            return (
                Array(x.pointer, x.shape, "double" if name in same else "window")
                if isinstance(x, Array) and x.item != "int"
                else x
            )

        @intrinsic(only)
        def expanded(m: Module, *given: Any) -> None:
            with m.lanes(given[-1]):
                m.call(function, *(part(name, x) for name, x in zip(names, given, strict=True)))

        return only

    return over


def lane_sums(x: Any, K: Any, w: Any, count: Any, h: Any, out: Any, offset: Any, W: Any) -> None:
    """out[offset + n] = x[n] + h_l sum_i w_i K[i, n] over i < count, with l = n mod W. w: (count,),
    or (count, W) for weights of each lane.
    """
    raise TypeError("lane_sums is for machine functions")


@intrinsic(lane_sums)
def _lane_sums(
    m: Module, x: Array, K: Array, w: Array, count: Any, h: Array, out: Array, offset: Any, W: int
) -> None:
    own = len(w.shape) == 2
    name = f"lane_sums{W}{'own' if own else ''}"
    if name not in m.helpers:
        m.helpers[name] = _sums_text(m, name, W, own)
    target = m.place(out, (offset,))
    size, width = (m.later(s, "int").name for s in (x.shape[0], K.shape[1]))
    given = (
        f"ptr {x.pointer}, ptr {K.pointer}, i64 {width}, ptr {w.pointer}, i64"
        f" {m.later(count, 'int').name}"
    )
    m.do(f"call void @{name}({given}, ptr {h.pointer}, ptr {target.pointer}, i64 {size})")


def _sums_text(m: Module, name: str, W: int, own: bool) -> list[str]:
    """Return the LLVM code of `lane_sums` for W lanes. own: whether each lane has its own
    weights.
    """
    inner = Module(1, m.fused)
    inner.text.lines = []
    parameters = "ptr x", "ptr K", "i64 width", "ptr w", "i64 count", "ptr h", "ptr out", "i64 size"
    with inner.function(name, *parameters, linkage="internal ") as (
        x,
        K,
        width,
        w,
        count,
        h,
        out,
        size,
    ):
        begin: Any = 0
        n = Value("int", size)
        total = Value("int", count)
        for registers in (4, 1):
            with inner.lanes(W):
                begin = inner.call(
                    _summed,
                    Array(x, (n,), "window"),
                    Array(K, (total, Value("int", width)), "window"),
                    Array(w, (total,), "window" if own else "double"),
                    W if own else 1,
                    total,
                    Array(h, (W,), "window"),
                    Array(out, (n,), "window"),
                    begin,
                    W,
                    registers,
                )
    return inner.text.lines


def _summed(x, K, w, stride, count, h, out, n, lanes, registers):  # over lanes
    """Compute the sums for blocks of lanes * registers numbers from number n on. Return the number
    after the last complete block.
    """
    while n + lanes * registers <= len(x):
        if registers == 4:
            a, b, c, d = 0.0, 0.0, 0.0, 0.0
            for i in range(count):
                a += w[i * stride] * K[i, n]
                b += w[i * stride] * K[i, n + lanes]
                c += w[i * stride] * K[i, n + 2 * lanes]
                d += w[i * stride] * K[i, n + 3 * lanes]
            out[n] = x[n] + h[0] * a
            out[n + lanes] = x[n + lanes] + h[0] * b
            out[n + 2 * lanes] = x[n + 2 * lanes] + h[0] * c
            out[n + 3 * lanes] = x[n + 3 * lanes] + h[0] * d
        else:
            total = 0.0
            for i in range(count):
                total += w[i * stride] * K[i, n]
            out[n] = x[n] + h[0] * total
        n += lanes * registers
    return n


# --- lanes
@lanewise()
def take(into, values, chosen, W):
    """Copy `values` into `into` in those lanes for which `chosen` is above zero."""
    for n in range(0, len(into), W):
        into[n] = values[n] if chosen[0] > 0.0 else into[n]


@lanewise("table", "limits")
def motion(x, origin, rate, table, limits, far, fast, step, reach, pace, base, W):
    """Update how far (`far`) and how fast (`fast`) each lane has been, and predict both for the end
    of the step (`reach`, `pace`) from the present rates. base: the length of the motion, relative
    to which rounding is judged; see `error_scales.py`.
    """
    moved, place, speed, gain = 0.0, 0.0, 0.0, 0.0
    for n in range(0, len(x), W):
        place = max(place, table[FAR, n // W] * abs(x[n]))
        moved = max(moved, table[FAR, n // W] * abs(x[n] - origin[n]))
        speed = max(speed, table[FAST, n // W] * abs(x[n]))
        gain = max(gain, table[FAST, n // W] * abs(rate[n]))
    far[0] = max(far[0], moved)
    fast[0] = max(fast[0], speed)
    pace[0] = max(fast[0], step[0] * gain)
    reach[0] = max(far[0], step[0] * pace[0])
    base[0] = max(limits[3], (1.0 - limits[3]) * max(reach[0], place))


@lanewise("table", "limits")
def allowed(x, new, origin, table, limits, reach, pace, base, step, inverse_allowed, W):
    """Compute `inverse_allowed`, 1 over the error that each number may have; see `error_scales.py`.
    limits: rtol, the upper bounds of far and fast, whether the mechanism has a length, the pace.
    The code contains no sum of two products, because either product could be fused with the sum,
    and lanes and single runs would then differ in their last bits. Every number is of one kind, so
    that the largest of the terms is its size.
    """
    rtol = limits[0]
    near = min(reach[0], limits[1])
    fast = min(pace[0], limits[2])
    place = ROUND * base[0]
    slow = base[0] * min(ROUND / step[0], rtol * limits[4])
    for n in range(0, len(x), W):
        k = n // W
        size = max(
            near * table[NEAR, k],
            fast * table[SPEED, k],
            fast * fast * table[WORK, k],
            table[OTHER, k],
        )
        least = max(
            place * table[NEAR, k],
            slow * table[SPEED, k],
            slow * base[0] * limits[4] * table[WORK, k],
            ROUND * abs(x[n]),
            ROUND * abs(new[n]),
            TINY,
        )
        own = max(abs(x[n] - origin[n]), abs(new[n] - origin[n]))
        inverse_allowed[n] = 1.0 / max(rtol * (own + size), least)


@lanewise()
def squares(e, inverse_allowed, sums, W):
    """Compute for each lane the sum of the squares of the errors e, each relative to the allowed
    one.
    """
    total = 0.0
    for n in range(0, len(e), W):
        part = e[n] * inverse_allowed[n]
        total += part * part
    sums[0] = total


def finite(x: Any, W: Any) -> bool:
    """Whether all numbers are finite."""
    raise TypeError("finite is for machine functions")


@intrinsic(finite)
def _finite(m: Module, x: Array, W: int) -> Any:
    with m.lanes(W):
        total = m.call(_total, Array(x.pointer, x.shape, "window"), W)
        return m.inverted(
            m.any_lane(m.compared(ast.NotEq, m.arithmetic(ast.Sub, total, total), 0.0))
        )


def _total(x, W):  # over lanes
    """Return the sum of all numbers of a lane, by four independent partial sums, which the
    processor adds in parallel.
    """
    a, b, c, d, n = 0.0, 0.0, 0.0, 0.0, 0
    while n + 4 * W <= len(x):
        a += x[n]
        b += x[n + W]
        c += x[n + 2 * W]
        d += x[n + 3 * W]
        n += 4 * W
    while n < len(x):
        a += x[n]
        n += W
    return (a + b) + (c + d)


def write(out: Any, row: Any, x: Any, W: Any) -> None:
    """Write the states of W runs to an output row of each run: out (W, rows, size)."""
    raise TypeError("write is for machine functions")


@intrinsic(write)
def _write(m: Module, out: Array, row: Any, x: Array, W: int) -> None:
    name = f"write{W}"
    if name not in m.helpers:
        m.helpers[name] = rows_of_lanes(name, W)
    apart, size = (
        m.later(m.product(shape), "int").name for shape in (out.shape[1:], out.shape[2:])
    )
    m.do(
        f"call void @{name}(ptr {x.pointer}, ptr {m.place(out, (0, row)).pointer}, i64 {apart}, i64"
        f" {size})"
    )


@lanewise("P")
def weights(P, part, w, W):
    """Compute the weights of dense output at the fraction `part` of each lane's step: w_i = sum_d
    P_id part^d.
    """
    for i in range(P.shape[0]):
        total, power = 0.0, part[0]
        for d in range(P.shape[1]):
            total += P[i, d] * power
            power *= part[0]
        w[i, 0] = total


@lanewise()
def times_of(buffer, t, part, step, W):
    """Put the time at the fraction `part` of each lane's step into the buffer."""
    buffer[0] = t[0] + part[0] * step[0]


def dense(P, part, w, x, K, step, out, offset, W):
    """Compute the states at the fraction `part` of each lane's step: x + step sum_i w_i k_i."""
    weights(P, part, w, W)
    lane_sums(x, K, w, P.shape[0], step, out, offset, W)


def put(buffer, x, t, part, step, W):
    """Copy states into the buffer, each with the time at the fraction `part` of its step."""
    times_of(buffer, t, part, step, W)
    for n in range(len(x)):
        buffer[W + n] = x[n]


@lanewise("C")
def stage_times(buffer, t, C, i, step, W):
    """Put the time of stage i into the buffer."""
    buffer[0] = t[0] + C[i] * step[0]


def stage(address, buffer, x, K, A, C, i, t, step, W):
    """Compute k_i, the derivative at x + step sum_j A_ij k_j."""
    lane_sums(x, K, A[i], i, step, buffer, W, W)
    stage_times(buffer, t, C, i, step, W)
    call_block(address, buffer, K[i])


def settled(settle, buffer, x, t, part, step, rounds, W):
    """Project states onto their constraints `rounds` times."""
    if settle != 0:
        for _ in range(rounds):
            put(buffer, x, t, part, step, W)
            call_block(settle, buffer, x)
