"""From a CasADi SX function to machine code over lanes, and how to call it.

    Function -> tape.read -> tape.plan -> emit.module -> host.assemble -> host.link -> LaneKernel
                                                            (disk cache)

Each instruction of the code serves W states at once, one in each lane of a vector register.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.metadata
import struct
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..errors import CompileError, StateError
from . import cache as disk
from . import emit, host, operations, sincos, single_state, tape, text, transpose
from .single_state import Single
from .threads import invite

Array = NDArray[np.float64]

WORTH_A_THREAD = 500_000  # instructions times states, about 20 microseconds, as long as it takes to wake a thread: for less it sleeps on
PIECE = 200_000  # instructions times states that a thread takes at once
LOOKS = 20_000  # at the end, for what another thread still has in hand: some 20 microseconds, before this one sleeps

_BATCH = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 3, *[ctypes.c_void_p] * 3)
_SHARE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * 2, *[ctypes.c_void_p] * 3)
_SETTLED = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
_BLOCK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_DOUBLE = np.dtype(np.float64)
_from_buffer, _addressof = ctypes.c_char.from_buffer, ctypes.addressof


def compile_lanes(f: ca.Function, *, width: int | None = None, cache: bool = True, single: Single | None = None) -> LaneKernel:
    """Compile a dense SX function to machine code over lanes of `width` states.

    width: a power of two, by default what the processor's registers hold. If code for several lanes cannot be made, one
    lane is tried, with a warning. cache: look on disk first, and keep the code there. single: make the call for one state too,
    of one lane.

    >>> x = ca.SX.sym("x", 2)
    >>> kernel = compile_lanes(ca.Function("f", [x], [ca.sin(x[0]) * x]))
    >>> (y,), finite = kernel([np.array([[0.0, 1.0], [0.5, 2.0], [1.0, 3.0]])], 3)
    >>> y.shape, finite
    ((3, 2), True)
    """
    width = host.default_width() if width is None else width
    if width < 1 or width & (width - 1):
        raise CompileError(f"function '{f.name()}': lanes of {width} states were asked; the width is a power of two")
    try:
        return _kernel(f, width, cache, single)
    except CompileError:
        raise
    except RuntimeError as error:  # LLVM's
        if width == 1:
            raise CompileError(f"LLVM cannot compile function '{f.name()}': {error}") from error
        kernel = compile_lanes(f, width=1, cache=cache, single=single)
        warnings.warn(f"function '{f.name()}' is compiled to one lane only, not {width}: {error}", stacklevel=2)
        return kernel


def _kernel(f: ca.Function, width: int, cache: bool, single: Single | None) -> LaneKernel:
    """Load from the cache, or compile and keep. Code that does not link is not better than damaged code."""
    key = disk.key(*_origin(), *host.description(), str(width), repr(single), f.serialize()) if cache else ""
    code = disk.load(key) if cache else None
    if code is not None:
        try:
            return _of(f, width, code, single)
        except RuntimeError:
            pass
    code = object_code(f, width, single=single)
    kernel = _of(f, width, code, single)
    if cache:
        disk.store(key, code)
    return kernel


def _of(f: ca.Function, width: int, code: bytes, single: Single | None) -> LaneKernel:
    """The kernel of a function that was compiled."""
    shapes = tuple(f.size_in(k) for k in range(f.n_in())), tuple(f.size_out(k) for k in range(f.n_out()))
    return LaneKernel(f.name(), *shapes, width, code, cost=f.n_instructions(), single=single)


def object_code(f: ca.Function, width: int, chunk: int = 0, single: Single | None = None) -> bytes:
    """Compile a function to object code, with no look at the cache. `chunk` bounds the steps in one piece of the tape, 0: by itself."""
    nodes = tape.read(f)
    return host.assemble(emit.module(nodes, tape.plan(nodes, chunk), width, host.has_fma(), single), optimise=int(tape.chooses(nodes)))


@functools.cache
def _origin() -> tuple[str | bytes, ...]:
    """Who makes the code: versions, and the sources themselves, so that no change in them can find an old entry."""
    sources = (Path(module.__file__ or "") for module in (text, operations, sincos, single_state, transpose, tape, emit, host))
    written = b"".join(path.read_bytes() for path in sources if path.suffix == ".py" and path.is_file())
    return importlib.metadata.version("catena"), ca.CasadiMeta.version(), written


class LaneKernel:
    """Machine code of one function over lanes.

    name, width; input_shapes and output_shapes, (rows, columns) of each argument; input_sizes and output_sizes, their
    numbers of entries. Matrices are passed flat, by rows. block_address is `void block(const double* x, double* y)` on
    one block of states in lanes, [sum of sizes][width]; see `machine_function.call_block`. The code lives as long as the kernel.
    """

    def __init__(
        self, name: str, inputs: tuple[tuple[int, int], ...], outputs: tuple[tuple[int, int], ...], width: int, code: bytes, *,
        cost: int, keep: Any = None, single: Single | None = None,
    ):  # fmt: skip
        """cost: instructions per state; keep: what the code needs to live as long as it."""
        self.name, self.width, self._keep = name, width, keep
        self.input_shapes, self.output_shapes = inputs, outputs
        self.input_sizes = tuple(r * c for r, c in self.input_shapes)
        self.output_sizes = tuple(r * c for r, c in self.output_shapes)
        self.single = single
        self._library = host.link(code, "batch", "share", "settled", "block", *(["single"] if single else []))
        self.block_address: int = self._library["block"]
        self.batch_address: int = self._library["batch"]
        self._batch = _BATCH(self.batch_address)
        self._share, self._settled = _SHARE(self._library["share"]), _SETTLED(self._library["settled"])
        self._cost = cost
        self._pack_inputs = struct.Struct(f"{len(inputs)}q").pack
        self._pack_outputs = struct.Struct(f"{len(outputs)}q").pack

    def block(self, x: Array, y: Array) -> None:
        """Evaluate one block of states that stand in lanes: x (sum of input sizes, width), y likewise, contiguous."""
        _BLOCK(self.block_address)(x.ctypes.data, y.ctypes.data)

    def builtin(self, same: Sequence[float], rest: Callable[..., Any]) -> Callable[..., Any]:
        """The call for one state, where it was made. same: the inputs that are not arguments; rest: answers what it refuses."""
        assert self.single is not None
        return single_state.builtin(self.name, self._library["single"], self.single, same, rest, self)

    def __repr__(self) -> str:
        arguments = [", ".join(f"{r}x{c}" for r, c in shapes) for shapes in (self.input_shapes, self.output_shapes)]
        return f"<LaneKernel {self.name}: ({arguments[0]}) -> ({arguments[1]}), {self.width} lanes>"

    def __call__(
        self, inputs: Sequence[Array], batch: int, outs: Sequence[Array] | None = None, threads: int = 1
    ) -> tuple[list[Array], bool]:
        """Evaluate a batch of states.

        inputs: for each argument a C-contiguous float64 array, (batch, n), or (n,) for all states alike. outs: arrays
        (batch, n) to write to, else they are made. threads: at most so many share a batch that is large enough; the
        results do not depend on it. Returns the outputs and whether every value of them is finite.
        """
        results = [np.empty((batch, n)) for n in self.output_sizes] if outs is None else list(outs)
        if len(inputs) != len(self.input_sizes) or len(results) != len(self.output_sizes):
            raise StateError(f"{self!r} was given {len(inputs)} inputs and {len(results)} outputs")
        strides = []
        for x, n in zip(inputs, self.input_sizes):
            if x.shape == (batch, n):
                strides.append(n)
            elif x.shape == (n,):
                strides.append(0)
            else:
                raise StateError(f"an input of {self!r} has shape {x.shape}; it must be {(batch, n)} or {(n,)}")
        for y, n in zip(results, self.output_sizes):
            if y.shape != (batch, n) or not y.flags.writeable:
                raise StateError(f"an output of {self!r} has shape {y.shape}; it must be {(batch, n)}, and writable")
        pack, sources, targets = self._pack_inputs, map(_address, inputs), map(_address, results)
        arguments = pack(*sources), pack(*strides), self._pack_outputs(*targets)
        if threads > 1 and batch * self._cost >= 2 * WORTH_A_THREAD:
            return results, self._shared(batch, min(threads, batch * self._cost // WORTH_A_THREAD), arguments, (inputs, results))
        return results, batch == 0 or self._batch(0, batch, batch, *arguments) == 0

    def _shared(self, batch: int, threads: int, arguments: tuple[bytes, bytes, bytes], alive: Any) -> bool:
        """Run a batch on several threads, this one among them. Cuts lie between blocks, so each block is as if alone."""
        blocks = max(1, PIECE // (self.width * max(1, self._cost)), batch // (16 * threads * self.width))
        step = self.width * min(blocks, -(-batch // (threads * self.width)))
        desk = (ctypes.c_int64 * 3)()

        def work(keep: Any = (self, alive, desk)) -> None:  # whoever is still at it keeps the arrays alive
            self._share(desk, step, batch, *arguments)

        invite(work, threads - 1)
        work()
        while not self._settled(desk, batch, LOOKS):
            time.sleep(2e-5)
        return desk[2] == 0


def _address(x: Array) -> int:
    """Where the data of an array begins. A buffer's address takes a third of the time of `x.ctypes.data`."""
    if x.dtype != _DOUBLE or not x.flags.c_contiguous:
        raise StateError(f"an array of {x.dtype} with strides {x.strides} was given; it must be C-contiguous float64")
    try:
        return _addressof(_from_buffer(x))  # type: ignore[arg-type]  # an array is a buffer, whatever its stubs say
    except (TypeError, ValueError):  # read-only; empty
        return x.ctypes.data
