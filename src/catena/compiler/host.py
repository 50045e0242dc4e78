"""This machine: the features of its processor, LLVM text to object code for it, and object code to
callable addresses.

Object code is loaded by LLVM's JITLink. It puts all of a kernel in one piece of memory, so that the
code may use the small code model, where a constant is one operand and not two instructions, and it
reports a missing symbol as an error.

    CATENA_TARGET=avx512, avx2, sse2 or neon    code for these registers, instead of for all that
                                                this processor has
"""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import itertools
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import llvmlite
import llvmlite.binding as llvm

from ..errors import CompileError
from .operations import EXTERNAL

# libraries that share one linker: a linker of its own would cost a library 0.1 MB and a millisecond
SHARED = 16
SILENT = 1.0  # s of compilation before a message says that code is being compiled

_names = itertools.count()


class Target(NamedTuple):
    """The target of code generation: LLVM's names of machine, processor and features, the number of
    doubles in a register, whether it has fused multiply-add.
    """

    triple: str
    cpu: str
    features: str
    width: int
    fused: bool


# what may be asked for: LLVM's processor, doubles in a register, fused multiply-add, the feature
# that it needs
TARGETS = {
    "avx512": ("x86-64-v4", 8, True, "avx512f"),
    "avx2": ("x86-64-v3", 4, True, "avx2"),
    "sse2": ("x86-64", 2, False, "sse2"),
    "neon": ("generic", 2, True, "neon"),
}


@functools.cache
def target() -> Target:
    """Return the target of this process: all features of its processor, or those of
    CATENA_TARGET.
    """
    has = llvm.get_host_cpu_features()
    triple = llvm.get_process_triple()
    asked = os.environ.get("CATENA_TARGET", "").strip().lower()
    if not asked:
        width = 8 if has.get("avx512f") else 4 if has.get("avx") else 2
        # every 64-bit ARM has it
        fused = bool(has.get("fma")) or triple.startswith(("aarch64", "arm64"))
        return Target(triple, llvm.get_host_cpu_name(), has.flatten(), width, fused)
    runs = [name for name, (*_, needed) in TARGETS.items() if has.get(needed)]
    if asked not in runs:
        raise CompileError(
            f"CATENA_TARGET={asked} cannot run on this processor ({llvm.get_host_cpu_name()}); it"
            f" can run {', '.join(runs)}"
        )
    cpu, width, fused, _ = TARGETS[asked]
    return Target(triple, cpu, "", width, fused)


def default_width() -> int:
    """Return how many doubles a vector register holds: 8 with AVX-512, 4 with AVX, else 2 (SSE2,
    NEON).
    """
    return target().width


def has_fma() -> bool:
    """Whether the target has fused multiply-add."""
    return target().fused


@functools.cache
def description() -> tuple[str, ...]:
    """Return a string with everything that object code depends on, other than the LLVM text that it
    is compiled from.
    """
    versions = (llvmlite.__version__, ".".join(map(str, llvm.llvm_version_info)))
    return (*versions, *map(str, target()))


def assemble(text: str, optimise: int = 0, machine: Any = None, quick: bool = False) -> bytes:
    """Compile LLVM text to object code for this machine, or for LLVM's `machine`. Raise
    RuntimeError, with LLVM's message, if that fails.

    optimise: the level of LLVM's pipeline to run first, 1 to 3; code with loops and branches needs
    it, straight-line code does not. Loops are not unrolled or vectorised by LLVM, which would
    double the compile time without a measurable gain. quick: without optimisation in code
    generation. It takes a third of the time, the code is 5 to 30 % slower, and its results have the
    same bits.
    """
    machine = _machine(quick) if machine is None else machine
    with _patience(), llvm.parse_assembly(text) as module:
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        module.verify()
        if optimise:
            options = llvm.create_pipeline_tuning_options(speed_level=optimise)
            options.loop_unrolling = options.loop_vectorization = options.slp_vectorization = False
            builder = llvm.create_pass_builder(machine, options)
            builder.getModulePassManager().run(module, builder)
        code: bytes = machine.emit_object(module)
    return code


# how long this process has compiled, and whether it said so
_waited = {"seconds": 0.0, "printed": False}


@contextmanager
def _patience() -> Iterator[None]:
    """Print a message on the terminal, once, that code is being compiled, after this has taken
    longer than SILENT seconds in total.
    """
    if _waited["printed"] or sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    began = time.perf_counter()
    timer = threading.Timer(max(0.0, SILENT - _waited["seconds"]), _tell)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        _waited["seconds"] += time.perf_counter() - began


def _tell() -> None:
    _waited["printed"] = True
    print(
        "catena: compiling machine code; it is kept, so that the next time does not wait",
        file=sys.stderr,
    )


def link(code: bytes, *names: str, symbols: Mapping[str, int] | None = None) -> Any:
    """Load object code; `link(code, "f")["f"]` is the address of f, valid as long as the result of
    `link` lives.

    symbols: the addresses of names that the code uses but does not define. Raise RuntimeError if
    the code is no object code of this machine or calls a missing symbol.
    """
    library = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
    for name, address in (*_c_functions().items(), *(symbols or {}).items()):
        library.import_symbol(name, address)
    for name in names:
        library.export_symbol(name)
    number = next(_names)
    linker = _linker(number // SHARED)
    return Library(linker, library.link(linker, f"catena{number}"))


class Library:
    """Linked object code: addresses by name, valid as long as this object lives."""

    def __init__(self, linker: Any, tracker: Any):
        # let go of in the other order
        self._linker = linker
        self._tracker = tracker

    def __getitem__(self, name: str) -> int:
        return int(self._tracker[name])

    def __del__(self) -> None:
        del self._tracker


@functools.cache
def _machine(quick: bool = False) -> Any:
    if not quick:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        return machine_of(target())
    _machine()  # initialises LLVM
    # it would fuse no products with sums, and so round differently
    llvm.set_option("catena", "-fast-isel=false")
    return machine_of(target(), level=0)


def machine_of(t: Target, level: int = 1) -> Any:
    """Return LLVM's machine for a target, with a level of optimisation in code generation. LLVM's
    targets must be initialised.
    """
    found = llvm.Target.from_triple(t.triple)
    return found.create_target_machine(
        cpu=t.cpu, features=t.features, opt=level, reloc="pic", codemodel="small", jit=True
    )


@functools.lru_cache(maxsize=1)
def _linker(generation: int) -> Any:
    """Return the linker that all libraries of one generation (SHARED libraries) use; it is closed
    with the last of them. LLVM keeps 10 kB of each library until its linker is closed, even when
    the library itself is freed.
    """
    _machine()  # initialises LLVM
    own = llvm.Target.from_triple(llvm.get_process_triple())
    # the linker keeps it for itself
    owned = own.create_target_machine(reloc="pic", codemodel="small", jit=True)
    return llvm.create_lljit_compiler(owned, use_jit_link=True)


@functools.cache
def _c_functions() -> dict[str, int]:
    """Return the addresses of the C library's functions that emitted code calls, as far as they
    exist here.
    """
    libraries: list[str | None] = [None, ctypes.util.find_library("m")]
    if sys.platform == "win32":
        libraries = ["ucrtbase", "ntdll"]
    found: dict[str, int] = {}
    for library in map(ctypes.CDLL, libraries):
        for name in (*EXTERNAL, "__chkstk"):  # the last is how Windows grows a stack
            if name not in found and hasattr(library, name):
                found[name] = ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
    return found
