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
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..errors import CompileError, StateError
from . import cache as disk
from . import emit, host, looped, operations, sincos, single_state, tape, text, transpose
from .single_state import Single
from .threads import request_helpers

Array = NDArray[np.float64]
Kernel = TypeVar("Kernel")
# makes the optimised code, where there is only the quick one yet
Better = Callable[[], bytes] | None

# instructions times states, about 20 microseconds, as long as it takes to wake a thread: smaller
# batches use one thread
WORTH_A_THREAD = 500_000
# blocks of lanes that quick code evaluates before it is optimised. To optimise takes as long as
# some 300 000 evaluations of quick code, of which optimised code saves a third: a run of a robot
# for a few seconds (10 000 evaluations) would wait longer for it than it saves
WORTH_OPTIMISING = 50_000
PIECE = 200_000  # instructions times states that a thread takes at once
# how often a thread polls at the end for the pieces of other threads, some 20 microseconds, before
# it sleeps
POLLS = 20_000

_BATCH = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 3, *[ctypes.c_void_p] * 3)
_SHARE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * 2, *[ctypes.c_void_p] * 3)
_FINISHED = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
_BLOCK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_DOUBLE = np.dtype(np.float64)
_from_buffer = ctypes.c_char.from_buffer
_addressof = ctypes.addressof


def compile_lanes(
    f: ca.Function, *, width: int | None = None, cache: bool = True, quick: bool = True
) -> LaneKernel:
    """Compile a dense SX function to machine code over lanes of `width` states.

    width: a power of two, by default what the processor's registers hold. If code for several lanes
    cannot be compiled, one lane is tried, with a warning. cache: look on disk first, and store the
    code there. quick: compile quickly now, and optimise when the code has run for some time
    (`LaneKernel.used`); the bits of the results are the same.

    >>> x = ca.SX.sym("x", 2)
    >>> kernel = compile_lanes(ca.Function("f", [x], [ca.sin(x[0]) * x]))
    >>> (y,), finite = kernel([np.array([[0.0, 1.0], [0.5, 2.0], [1.0, 3.0]])], 3)
    >>> y.shape, finite
    ((3, 2), True)
    """
    width = host.default_width() if width is None else width
    if width < 1 or width & (width - 1):
        raise CompileError(
            f"function '{f.name()}': lanes of {width} states were asked; the width is a power"
            " of two"
        )
    try:
        return _Source(f, width, None, cache).linked(functools.partial(_of, f, width), quick)
    except CompileError:
        raise
    except RuntimeError as error:  # LLVM's
        if width == 1:
            raise CompileError(f"LLVM cannot compile function '{f.name()}': {error}") from error
        kernel = compile_lanes(f, width=1, cache=cache, quick=quick)
        warnings.warn(
            f"function '{f.name()}' is compiled to one lane only, not {width}: {error}",
            stacklevel=2,
        )
        return kernel


def compile_single(f: ca.Function, single: Single) -> SingleKernel:
    """Compile a dense SX function to the call for one state, which the interpreter makes; see
    `single_state`. It is compiled quickly, as in `compile_lanes`.
    """

    def link(code: bytes, better: Better) -> SingleKernel:
        return SingleKernel(f.name(), code, single, *_open_names(f, 1), better=better)

    try:
        return _Source(f, 1, single, True).linked(link, quick=True)
    except RuntimeError as error:
        raise CompileError(f"LLVM cannot compile function '{f.name()}': {error}") from error


def _of(f: ca.Function, width: int, code: bytes, better: Better = None) -> LaneKernel:
    """Return the kernel of a function, from its object code."""
    shapes = (
        tuple(f.size_in(k) for k in range(f.n_in())),
        tuple(f.size_out(k) for k in range(f.n_out())),
    )
    keep, symbols = _open_names(f, width)
    return LaneKernel(
        f.name(),
        *shapes,
        width,
        code,
        cost=f.n_instructions(),
        keep=keep,
        better=better,
        symbols=symbols,
    )


@functools.cache
def _sines(width: int) -> tuple[Any, dict[str, int]]:
    """Return sines and cosines in lanes, which all tapes call: the code, and its address by
    name.
    """
    text = emit.sines(width, host.has_fma())
    library = host.link(
        disk.load_or_make(
            disk.key("sines", *host.description(), text), lambda: host.assemble(text)
        ),
        "lanes_sines",
    )
    return library, {"lanes_sines": library["lanes_sines"]}


def _open_names(f: ca.Function, width: int) -> tuple[Any, dict[str, int]]:
    """Return the libraries of functions that the code of a tape calls but does not contain, and the
    addresses of these functions by name.
    """
    sines, symbols = _sines(width)
    called = {
        g.name(): looped.code(g.name(), width)
        for g in f.find_functions(1)
        if looped.callee(g) is not None
    }
    return (sines, called), symbols | {name: code.block_address for name, code in called.items()}


class _Source:
    """A function that is to be compiled, for `width` lanes or for a single state. cache: whether
    code is stored on disk.
    """

    def __init__(self, f: ca.Function, width: int, single: Single | None, cache: bool):
        self.f = f
        self.width = width
        self.single = single
        self.cache = cache
        self.key = (
            disk.key(*_origin(), *host.description(), str(width), repr(single), f.serialize())
            if cache
            else ""
        )

    def linked(self, link: Callable[[bytes, Better], Kernel], quick: bool) -> Kernel:
        """Return the best code on disk, linked; where there is none, compile it and store it. Code
        that does not link is treated as damaged.
        """
        for tier in (False, True) if quick else (False,):
            code = disk.load(self._name(tier)) if self.cache else None
            if code is not None:
                try:
                    return link(code, self.optimised if tier else None)
                except RuntimeError:
                    pass
        code = object_code(self.f, self.width, single=self.single, quick=quick)
        kernel = link(code, self.optimised if quick else None)
        self._keep(code, quick)
        return kernel

    def optimised(self) -> bytes:
        """Return the optimised code, from the disk or compiled now and stored."""
        code = disk.load(self._name(False)) if self.cache else None
        if code is None:
            code = object_code(self.f, self.width, single=self.single)
            self._keep(code, False)
        return code

    def _name(self, quick: bool) -> str:
        return disk.key(self.key, "quick") if quick else self.key

    def _keep(self, code: bytes, quick: bool) -> None:
        if self.cache:
            disk.store(self._name(quick), code)


def object_code(
    f: ca.Function, width: int, chunk: int = 0, single: Single | None = None, quick: bool = False
) -> bytes:
    """Compile a function to object code, without the cache. `chunk` bounds the steps in one piece
    of the tape; 0: chosen automatically.
    """
    nodes = tape.read(f, calls=True)
    text = emit.module(nodes, tape.plan(nodes, chunk), width, single)
    return host.assemble(text, optimise=int(tape.chooses(nodes)), quick=quick)


@functools.cache
def _origin() -> tuple[str | bytes, ...]:
    """Return a hash of everything that determines the generated code: versions, and the sources of
    the compiler, so that no entry of an older version is found.
    """
    sources = (
        Path(module.__file__ or "")
        for module in (text, operations, sincos, single_state, transpose, tape, emit, host)
    )
    written = b"".join(
        path.read_bytes() for path in sources if path.suffix == ".py" and path.is_file()
    )
    return importlib.metadata.version("catena"), ca.CasadiMeta.version(), written


class LaneKernel:
    """Machine code of one function over lanes.

    name, width; input_shapes and output_shapes, (rows, columns) of each argument; input_sizes and
    output_sizes, their numbers of entries. Matrices are passed flat, by rows. block_address is
    `void block(const double* x, double* y)` on one block of states in lanes, [sum of sizes][width];
    see `machine_function.call_block`. cost: instructions per state. The code lives as long as the
    kernel, at one address and, after it was optimised, at a second one.
    """

    def __init__(
        self,
        name: str,
        inputs: tuple[tuple[int, int], ...],
        outputs: tuple[tuple[int, int], ...],
        width: int,
        code: bytes,
        *,
        cost: int,
        keep: Any = None,
        better: Better = None,
        symbols: Mapping[str, int] | None = None,
    ):
        """cost: instructions per state; keep: objects that must live as long as the code; better:
        returns optimised code for it; symbols: the addresses of names that the code uses but does
        not define.
        """
        self.name, self.width, self._keep = name, width, keep
        self._better, self._left, self._optimising = better, float(WORTH_OPTIMISING), Lock()
        self.input_shapes, self.output_shapes = inputs, outputs
        self.input_sizes = tuple(r * c for r, c in self.input_shapes)
        self.output_sizes = tuple(r * c for r, c in self.output_shapes)
        self._symbols = symbols
        # another thread may still run the first when there is a second
        self._libraries: list[Any] = []
        self._link(code)
        self.cost = cost
        self._pack_inputs = struct.Struct(f"{len(inputs)}q").pack
        self._pack_outputs = struct.Struct(f"{len(outputs)}q").pack

    def _link(self, code: bytes) -> None:
        library = host.link(code, "batch", "share", "finished", "block", symbols=self._symbols)
        self._libraries.append(library)
        self.block_address: int = library["block"]
        self.batch_address: int = library["batch"]
        self._batch = _BATCH(self.batch_address)
        self._share, self._finished = _SHARE(library["share"]), _FINISHED(library["finished"])

    def used(self, blocks: float) -> None:
        """Report that so many blocks of W states were, or will be, evaluated at `block_address`.
        After enough of them the code is optimised, and its address changes. Calls with batches
        report it themselves.
        """
        if self._better is None:
            return
        self._left -= blocks
        # one thread does it, the others go on with what there is
        if self._left < 0 and self._optimising.acquire(blocking=False):
            better = self._better
            self._better = None
            if better is not None:
                self._link(better())
            self._optimising.release()

    def block(self, x: Array, y: Array) -> None:
        """Evaluate one block of states in lanes: x (sum of input sizes, width), y likewise,
        contiguous.
        """
        _BLOCK(self.block_address)(x.ctypes.data, y.ctypes.data)

    def __repr__(self) -> str:
        arguments = [
            ", ".join(f"{r}x{c}" for r, c in shapes)
            for shapes in (self.input_shapes, self.output_shapes)
        ]
        return f"<LaneKernel {self.name}: ({arguments[0]}) -> ({arguments[1]}), {self.width} lanes>"

    def __call__(
        self,
        inputs: Sequence[Array],
        batch: int,
        outs: Sequence[Array] | None = None,
        threads: int = 1,
    ) -> tuple[list[Array], bool]:
        """Evaluate a batch of states.

        inputs: for each argument a C-contiguous float64 array, (batch, n), or (n,) for all states
        alike. outs: arrays (batch, n) to write to, else they are allocated. threads: at most so
        many share a batch that is large enough; the results do not depend on it. Return the outputs
        and whether every value of them is finite.
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
                raise StateError(
                    f"an input of {self!r} has shape {x.shape}; it must be {(batch, n)} or {(n,)}"
                )
        for y, n in zip(results, self.output_sizes):
            if y.shape != (batch, n) or not y.flags.writeable:
                raise StateError(
                    f"an output of {self!r} has shape {y.shape}; it must be {(batch, n)}, and"
                    " writable"
                )
        if self._better is not None:
            self.used(batch / self.width)
        pack = self._pack_inputs
        sources = map(_address, inputs)
        targets = map(_address, results)
        arguments = pack(*sources), pack(*strides), self._pack_outputs(*targets)
        if threads > 1 and batch * self.cost >= 2 * WORTH_A_THREAD:
            return results, self._shared(
                batch,
                min(threads, batch * self.cost // WORTH_A_THREAD),
                arguments,
                (inputs, results),
            )
        return results, batch == 0 or self._batch(0, batch, batch, *arguments) == 0

    def _shared(
        self, batch: int, threads: int, arguments: tuple[bytes, bytes, bytes], alive: Any
    ) -> bool:
        """Evaluate a batch on several threads, including this one. It is divided between blocks, so
        that the result of a block does not depend on the division.
        """
        blocks = max(
            1, PIECE // (self.width * max(1, self.cost)), batch // (16 * threads * self.width)
        )
        step = self.width * min(blocks, -(-batch // (threads * self.width)))
        desk = (ctypes.c_int64 * 3)()

        # whoever is still at it keeps the arrays alive
        def work(keep: Any = (self, alive, desk)) -> None:
            self._share(desk, step, batch, *arguments)

        request_helpers(work, threads - 1)
        work()
        while not self._finished(desk, batch, POLLS):
            time.sleep(2e-5)
        return desk[2] == 0


class SingleKernel:
    """Machine code of one function for one state. keep, symbols, better: as those of a
    LaneKernel.
    """

    def __init__(
        self,
        name: str,
        code: bytes,
        single: Single,
        keep: Any = None,
        symbols: Mapping[str, int] | None = None,
        *,
        better: Better = None,
    ):
        self.name = name
        self.single = single
        self._keep = keep
        self._symbols = symbols
        self._better, self._calls = (
            better,
            WORTH_OPTIMISING if better else single_state.UNLIMITED,
        )
        self._library = host.link(code, "single", symbols=symbols)

    def builtin(
        self,
        same: Sequence[float],
        rest: Callable[..., Any],
        improved: Callable[[Any], None] = lambda _: None,
    ) -> Callable[..., Any]:
        """Return the built-in function. same: the inputs that are not arguments; rest: the fallback
        for arguments that it cannot handle. improved: a function that receives the optimised
        built-in, when this one has run for some time.
        """
        after: list[Callable[..., Any]] = []

        def on(*given: Any) -> Any:
            """Call the fallback as long as the code still handles calls itself; afterwards compile
            the optimised code, and call that.
            """
            if not after and not single_state.used_up(itself()):
                return rest(*given)
            if not after and self._better is not None:
                after.append(
                    SingleKernel(
                        self.name, self._better(), self.single, self._keep, self._symbols
                    ).builtin(same, rest)
                )
                improved(after[0])
            return after[0](*given)

        answers = rest if self._better is None else on
        call = single_state.builtin(
            self.name, self._library["single"], self.single, same, answers, self, self._calls
        )
        itself = weakref.ref(call)  # which keeps its rest alive
        return call


def _address(x: Array) -> int:
    """Return the address of the data of an array. Through the buffer protocol this takes a third of
    the time of `x.ctypes.data`.
    """
    if x.dtype != _DOUBLE or not x.flags.c_contiguous:
        raise StateError(
            f"an array of {x.dtype} with strides {x.strides} was given; it must be C-contiguous"
            " float64"
        )
    try:
        return _addressof(_from_buffer(x))  # type: ignore[arg-type]  # an array is a buffer, whatever its stubs say
    except (TypeError, ValueError):  # read-only; empty
        return x.ctypes.data
