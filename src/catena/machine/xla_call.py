"""Functions of NumPy arrays as calls that XLA makes from compiled code on the CPU, through its
foreign function interface.

The buffers of a frame (`compiler/xla_handler.py`) are read and written where they are. JAX's own
callbacks copy, and take twenty times as long as machine code, which answers small batches without
the interpreter.
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
    """What makes an error of XLA."""

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
    """The name under which compiled code calls f: arrays to a sequence of arrays. What f raises
    becomes an error of XLA with its sentence. native: machine code that answers before it, and
    leaves the rest to the function at an address; None where there is none.
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
    """The buffers of a frame as arrays of doubles, without a copy."""
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
    """XLA asks what the function expects: the version of the interface that XLA has, and no
    more.
    """
    _, kind, _, metadata = (ctypes.c_int64 * 4).from_address(frame[EXTENSION])
    if kind & 0xFFFFFFFF == METADATA:
        version = API.from_address(frame[FUNCTIONS])[VERSION + 2]
        (ctypes.c_int64 * 4).from_address(metadata)[3] = version


def _error(frame: list[int], message: str) -> int | None:
    own = _Error(ctypes.sizeof(_Error), None, message.encode(), INVALID_ARGUMENT)
    return CREATE_ERROR(API.from_address(frame[FUNCTIONS])[ERROR])(ctypes.addressof(own))
