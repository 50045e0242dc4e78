"""Functions in the compiled subset of Python (`kernel_compiler`) that are called with NumPy arrays:
the drivers of the time loop.

    @machine_function("W")                          # W is known at compile time; everything else
    def advance(address, x, buffer, t, h, W): ...   # at run time

Each is compiled at its first call for the kinds of its arguments (integers, floats, arrays of one
to three dimensions), stored on disk, and run without the interpreter's lock. It returns integers
and floats. A function that is called many times for parts of the work is compiled quickly at first,
and optimised when it has run for some time: the results have the same bits.
"""

from __future__ import annotations

import ast
import ctypes
import functools
import inspect
import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import CompileError
from . import cache as disk
from . import host
from .kernel_compiler import Module
from .kernel_intrinsics import intrinsic
from .kernel_text import Array, Value

_CALL = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p)
# s that quick code runs before it is optimised, about as long as that takes
WORTH_OPTIMISING = 0.2


def machine_function(
    *known: str, quick: bool = False
) -> Callable[[Callable[..., Any]], MachineFunction]:
    """Return a decorator that compiles a function at its first call. known: the parameters for
    whose values the code is specialised. quick: the function is compiled quickly at first, and
    optimised after it has run for WORTH_OPTIMISING seconds.
    """
    return lambda function: MachineFunction(function, known, quick)


class _Code(NamedTuple):
    library: Any
    call: Any
    given: struct.Struct
    results: struct.Struct


class MachineFunction:
    """A function that is compiled to machine code when it is first called; other such functions can
    call it too.
    """

    def __init__(self, function: Callable[..., Any], known: tuple[str, ...], quick: bool = False):
        self.function = function
        self.known = known
        self.quick = quick
        self.__doc__ = function.__doc__
        self.names = tuple(inspect.signature(function).parameters)
        self._codes: dict[tuple[Any, ...], _Code] = {}
        # code that was made quickly, which another thread may still run; how long it has run, s
        self._quick_codes: dict[tuple[Any, ...], _Code] = {}
        self._run_times: dict[tuple[Any, ...], float] = {}
        self._making = threading.Lock()
        intrinsic(self)(lambda m, *given: m.call(function, *given))

    def __call__(self, *given: Any) -> tuple[Any, ...]:
        """Run it. Arrays are float64 or int64 and contiguous."""
        kinds: list[Any] = []
        flat: list[Any] = []
        for name, x in zip(self.names, given, strict=True):
            if name in self.known:
                kinds.append(x)
            elif isinstance(x, np.ndarray):
                if not x.flags.c_contiguous or x.dtype not in (np.float64, np.int64):
                    raise CompileError(
                        f"{self.function.__name__}: {name} is an array of {x.dtype}, which is not"
                        " float64 and contiguous"
                    )
                kinds.append(f"{x.dtype.kind}{x.ndim}")
                flat += (x.ctypes.data, *x.shape)
            else:
                kinds.append("f" if isinstance(x, float) else "i")
                flat.append(x)
        key = tuple(kinds)
        code = self._codes.get(key) or self._first(key)
        results = ctypes.create_string_buffer(code.results.size)
        began = time.perf_counter()
        code.call(code.given.pack(*flat), results)
        self._run_times[key] = self._run_times.get(key, 0.0) + time.perf_counter() - began
        return code.results.unpack(results.raw)

    def _layout(self, kind: Any, name: str) -> str:
        if name in self.known:
            return ""
        return "d" if kind == "f" else "q" if kind == "i" else "q" * (1 + int(kind[1]))

    def _first(self, kinds: tuple[Any, ...]) -> _Code:
        """Return code that was compiled quickly, or optimised code after that has run for some
        time; other threads that call the function wait for it.
        """
        with self._making:
            if kinds in self._codes:
                return self._codes[kinds]
            if kinds in self._quick_codes and self._run_times[kinds] < WORTH_OPTIMISING:
                return self._quick_codes[kinds]
            optimised, quickly = (self._key(kinds, how) for how in ("driver", "quick driver"))
            if self.quick and kinds not in self._quick_codes and disk.load(optimised) is None:
                self._quick_codes[kinds] = self._linked(
                    kinds, disk.load_or_make(quickly, lambda: self._assembled(kinds, quick=True))
                )
                self._run_times[kinds] = 0.0
                return self._quick_codes[kinds]
            self._codes[kinds] = self._linked(
                kinds, disk.load_or_make(optimised, lambda: self._assembled(kinds))
            )
            return self._codes[kinds]

    def _key(self, kinds: tuple[Any, ...], how: str) -> str:
        return disk.key(
            how,
            sources(),
            *host.description(),
            self.function.__module__,
            self.function.__qualname__,
            repr(kinds),
        )

    def _assembled(self, kinds: tuple[Any, ...], quick: bool = False) -> bytes:
        """Return the layout of the results on one line, and after it the object code."""
        layout, text = self.text(kinds)
        return (
            layout.encode() + b"\n" + host.assemble(text, optimise=0 if quick else 2, quick=quick)
        )

    def _linked(self, kinds: tuple[Any, ...], kept: bytes) -> _Code:
        results, _, code = kept.partition(b"\n")
        library = host.link(code, "driver")
        given = "".join(self._layout(kind, name) for kind, name in zip(kinds, self.names))
        return _Code(
            library, _CALL(library["driver"]), struct.Struct(given), struct.Struct(results.decode())
        )

    def text(self, kinds: tuple[Any, ...]) -> tuple[str, str]:
        """Return the layout of the results on one line, and after it the LLVM text."""
        m = Module(1, host.has_fma())
        at = 0
        given = []
        m.text.lines += ["declare ptr @calloc(i64, i64)", "declare void @free(ptr)"]
        with m.function("driver", "ptr table", "ptr results") as (table, results):

            def cell(kind: str) -> str:
                nonlocal at
                at += 1
                return m.new(
                    f"load {kind}, ptr {m.new(f'getelementptr i64, ptr {table}, i64 {at - 1}')}"
                )

            for kind, name in zip(kinds, self.names):
                if name in self.known:
                    given.append(kind)
                elif kind == "i":
                    given.append(Value("int", cell("i64")))
                elif kind == "f":
                    given.append(m.spread(cell("double")))
                else:
                    pointer = cell("ptr")
                    shape = tuple(Value("int", cell("i64")) for _ in range(int(kind[1])))
                    given.append(Array(pointer, shape, "int" if kind[0] == "i" else "lanes"))
            found = m.call(self.function, *given)
            layout = ""
            for k, x in enumerate(
                found if isinstance(found, tuple) else (found,) if found is not None else ()
            ):
                place = m.new(f"getelementptr i64, ptr {results}, i64 {k}")
                real = m.kind(x) == "float"
                layout += "d" if real else "q"
                value = m.later(x) if real else m.later(x, "int")
                m.do(
                    f"store {f'double {m.first(value)}' if real else f'i64 {value.name}'}, ptr"
                    f" {place}"
                )
            for pointer in m.heap:
                m.do(f"call void @free(ptr {pointer})")
        m.text.table()
        return layout, str(m)


# where functions may stand that are compiled from their source
COMPILED_ROOMS = ("kernels", "compiler", "collision", "contact", "simulation")


@functools.cache
def sources() -> str:
    """Return the hash of all files that compiled code may come from."""
    root = Path(__file__).resolve().parent.parent
    files = [root / "spatial.py"]
    for room in COMPILED_ROOMS:
        files += sorted((root / room).rglob("*.py"))
    return disk.key(
        *(part for f in files for part in (f.relative_to(root).as_posix(), f.read_bytes()))
    )


# --- what drivers use
def call_block(address: Any, x: Any, y: Any) -> None:
    """Call `void block(const double* x, double* y)` at an address, a kernel's `block_address`."""
    raise TypeError("call_block is for machine functions")


@intrinsic(call_block)
def _call_block(m: Module, address: Value, x: Array, y: Array) -> None:
    target = m.new(f"inttoptr i64 {address.name} to ptr")
    m.do(f"call void {target}(ptr {x.pointer}, ptr {y.pointer})")


@intrinsic(np.zeros)
def _zeros(m: Module, shape: Any) -> Array:
    shape = shape if isinstance(shape, tuple) else (shape,)
    pointer = m.new(f"call ptr @calloc(i64 {m.later(m.product(shape), 'int').name}, i64 8)")
    m.heap.append(pointer)
    return Array(pointer, shape)


intrinsic(np.sqrt)(lambda m, x: m.unary("sqrt", x))


@intrinsic(np.spacing)
def _spacing(m: Module, x: Value) -> Value:
    """Return the distance to the next double, for x >= 0."""
    bits = m.new(f"bitcast double {m.first(m.later(x, 'float'))} to i64")
    above = m.spread(m.new(f"bitcast i64 {m.new(f'add i64 {bits}, 1')} to double"))
    return m.arithmetic(ast.Sub, above, x)


def weighted(x: Any, K: Any, w: Any, row: Any, count: Any, h: Any, out: Any, offset: Any) -> None:
    """Compute out[offset + n] = x[n] + h sum_i w[row, i] K[i, n], over i < count and all n of x.
    `out` may be x itself.
    """
    raise TypeError("weighted is for machine functions")


# (numbers in a register, registers at once), tried in this order
BLOCKS = ((8, 4), (8, 1), (4, 1), (1, 1))


@intrinsic(weighted)
def _weighted(
    m: Module, x: Array, K: Array, w: Array, row: Any, count: Any, h: Any, out: Array, offset: Any
) -> None:
    """Write a call of `weighted`, of which the module contains one copy."""
    if "weighted" not in m.helpers:
        m.helpers["weighted"] = _weighted_text(m)
    weights = m.place(w, (row,))
    target = m.place(out, (offset,))
    size, width = (m.later(s, "int").name for s in (x.shape[0], K.shape[1]))
    given = (
        f"ptr {x.pointer}, ptr {K.pointer}, i64 {width}, ptr {weights.pointer}, i64"
        f" {m.later(count, 'int').name}"
    )
    m.do(
        f"call void @weighted({given}, double {m.first(m.later(h, 'float'))}, ptr {target.pointer},"
        f" i64 {size})"
    )


def _weighted_text(m: Module) -> list[str]:
    """Return `weighted` as the text of an LLVM function. It computes blocks of several registers as
    long as enough numbers are left.
    """
    inner = Module(1, m.fused)
    inner.text.lines = []
    parameters = (
        "ptr x",
        "ptr K",
        "i64 width",
        "ptr w",
        "i64 count",
        "double h",
        "ptr out",
        "i64 size",
    )
    with inner.function("weighted", *parameters, linkage="internal ") as (
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
        for lanes, registers in BLOCKS:
            with inner.lanes(lanes):
                begin = inner.call(
                    _blocks,
                    Array(x, (Value("int", size),), "window"),
                    Array(K, (Value("int", count), Value("int", width)), "window"),
                    Array(w, (Value("int", count),), "double"),
                    inner.spread(h),
                    Array(out, (Value("int", size),), "window"),
                    begin,
                    lanes,
                    registers,
                )
    return inner.text.lines


def _blocks(x, K, w, h, out, n, lanes, registers):  # type: ignore[no-untyped-def]  # over numbers and over lanes of them
    """Compute the sums for whole blocks of lanes * registers numbers from n on, and return where
    they end.
    """
    while n + lanes * registers <= len(x):
        if registers == 4:
            a, b, c, d = 0.0, 0.0, 0.0, 0.0
            for i in range(len(w)):
                a += w[i] * K[i, n]
                b += w[i] * K[i, n + lanes]
                c += w[i] * K[i, n + 2 * lanes]
                d += w[i] * K[i, n + 3 * lanes]
            out[n] = x[n] + h * a
            out[n + lanes] = x[n + lanes] + h * b
            out[n + 2 * lanes] = x[n + 2 * lanes] + h * c
            out[n + 3 * lanes] = x[n + 3 * lanes] + h * d
        else:
            total = 0.0
            for i in range(len(w)):
                total += w[i] * K[i, n]
            out[n] = x[n] + h * total
        n += lanes * registers
    return n
