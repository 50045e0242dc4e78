"""This machine: what its processor can do, LLVM text to object code for it, and object code to callable addresses.

Object code is loaded by LLVM's JITLink. It puts all of a kernel in one piece of memory, so that the code may be of the
small kind, where a constant is one operand and not two instructions, and it answers a missing symbol with an error.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import itertools
import sys
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from .operations import EXTERNAL

_names = itertools.count()


def default_width() -> int:
    """How many doubles a vector register holds: 8 with AVX-512, 4 with AVX, else 2 (SSE2, NEON)."""
    has = _features()
    return 8 if has.get("avx512f") else 4 if has.get("avx") else 2


def has_fma() -> bool:
    """Whether the processor has fused multiply-add (every 64-bit ARM has)."""
    return bool(_features().get("fma")) or llvm.get_process_triple().startswith(("aarch64", "arm64"))


@functools.cache
def description() -> tuple[str, ...]:
    """All that object code depends on, besides the text it is made from."""
    versions = (llvmlite.__version__, ".".join(map(str, llvm.llvm_version_info)))
    return (*versions, llvm.get_process_triple(), llvm.get_host_cpu_name(), _features().flatten())


def assemble(text: str) -> bytes:
    """LLVM text to object code for this machine. Raises RuntimeError, with LLVM's words, if it cannot be done."""
    target = _target()
    with llvm.parse_assembly(text) as module:
        module.triple = llvm.get_process_triple()
        module.data_layout = str(target.target_data)
        module.verify()
        code: bytes = target.emit_object(module)
    return code


def link(code: bytes, *names: str) -> Any:
    """Load object code; `link(code, "f")["f"]` is the address of f, good as long as the result of `link` lives.

    Raises RuntimeError if the code is no object code of this machine or calls what is not there.
    """
    library = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
    for name, address in _c_functions().items():
        library.import_symbol(name, address)
    for name in names:
        library.export_symbol(name)
    return library.link(_linker(), f"catena{next(_names)}")


@functools.cache
def _features() -> Any:
    return llvm.get_host_cpu_features()


@functools.cache
def _target() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=_features().flatten(), opt=2, reloc="pic", codemodel="small", jit=True
    )


@functools.cache
def _linker() -> Any:
    _target()  # initialises LLVM
    target = llvm.Target.from_triple(llvm.get_process_triple())
    owned = target.create_target_machine(reloc="pic", codemodel="small", jit=True)  # the linker keeps it for itself
    return llvm.create_lljit_compiler(owned, use_jit_link=True)


@functools.cache
def _c_functions() -> dict[str, int]:
    """The addresses of the C library's functions that emitted code calls, as far as they exist here."""
    libraries: list[str | None] = [None, ctypes.util.find_library("m")]
    if sys.platform == "win32":
        libraries = ["ucrtbase", "ntdll"]
    found: dict[str, int] = {}
    for library in map(ctypes.CDLL, libraries):
        for name in (*EXTERNAL, "__chkstk"):  # the last is how Windows grows a stack
            if name not in found and hasattr(library, name):
                found[name] = ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
    return found
