"""Functions of NumPy arrays that XLA calls from compiled code on the CPU, through its foreign
function interface.

The buffers of a call frame (`compiler/xla_handler.py`) are read and written in place. JAX's own
callbacks copy them, and take twenty times as long as machine code, which evaluates small batches
without the interpreter.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from itertools import count
from math import prod
from typing import Any

import numpy as np

from ..compiler import ARGUMENTS, DATA, EXECUTE, EXTENSION, FUNCTIONS, RESULTS, STAGE, Handler

HANDLER = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
CREATE_ERROR = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
# the parts that are read, in words of eight bytes
FRAME = ctypes.c_int64 * 15
BUFFER = ctypes.c_int64 * 6
API = ctypes.c_int64 * 7
VERSION, ERROR = 2, 6  # words of the table of functions
METADATA, INVALID_ARGUMENT = 1, 3

_registered: list[Any] = []  # XLA never lets go of a function, so neither do we
_numbers = count()


class _Error(ctypes.Structure):
    """The arguments with which XLA creates an error."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("message", ctypes.c_char_p),
        ("code", ctypes.c_int),
    ]


def register(
    jax: Any,
    title: str,
    f: Callable[..., Sequence[np.ndarray]],
    native: Callable[[int], Handler | None],
) -> str:
    """Register f, a function from arrays to a sequence of arrays, and return the name under which
    compiled code calls it. An exception of f becomes an XLA error with its message. native: a
    function that takes the address of the function that calls f, and returns machine code which is
    called first and passes on the calls that it does not handle; None where there is no such code.
    """
    name = f"catena_{title}_{next(_numbers)}"

    def handler(address: int) -> int | None:
        frame = FRAME.from_address(address)[:]
        if frame[EXTENSION]:
            _describe(frame)
            return None
        if frame[STAGE] & 0xFFFFFFFF != EXECUTE:
            return None
        try:
            for out, y in zip(_arrays(frame, RESULTS), f(*_arrays(frame, ARGUMENTS))):
                out[...] = y
        except Exception as error:  # it must not be lost in code that is not Python's
            return _error(frame, str(error))
        return None

    rest = HANDLER(handler)
    first = native(ctypes.cast(rest, ctypes.c_void_p).value or 0)
    target = rest if first is None else HANDLER(first.address)
    _registered.append((rest, first, target))
    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(target), platform="cpu")
    return name


def _arrays(frame: list[int], at: int) -> list[np.ndarray]:
    """Return the buffers of a frame as arrays of doubles, without a copy."""
    pointers = (ctypes.c_int64 * frame[at]).from_address(frame[at + 2])
    return [_array(*BUFFER.from_address(p)[DATA:]) for p in pointers]


def _array(data: int, rank: int, dimensions: int) -> np.ndarray:
    shape = (ctypes.c_int64 * rank).from_address(dimensions)[:] if rank else []
    size = prod(shape)
    return (
        np.ctypeslib.as_array((ctypes.c_double * size).from_address(data)).reshape(shape)
        if size
        else np.empty(shape)
    )


def _describe(frame: list[int]) -> None:
    """Answer XLA's request for metadata with the version of the interface that XLA itself has."""
    _, kind, _, metadata = (ctypes.c_int64 * 4).from_address(frame[EXTENSION])
    if kind & 0xFFFFFFFF == METADATA:
        version = API.from_address(frame[FUNCTIONS])[VERSION + 2]
        (ctypes.c_int64 * 4).from_address(metadata)[3] = version


def _error(frame: list[int], message: str) -> int | None:
    """Return the address of an XLA error with this message."""
    own = _Error(ctypes.sizeof(_Error), None, message.encode(), INVALID_ARGUMENT)
    return CREATE_ERROR(API.from_address(frame[FUNCTIONS])[ERROR])(ctypes.addressof(own))
