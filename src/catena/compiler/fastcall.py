"""A compiled function as a built-in of the interpreter: called with NumPy arrays, without Numba's dispatcher between.

Numba's dispatcher looks at the type of every argument anew and costs more than the dynamics of a six-axis arm. Here the
interpreter calls the machine code itself (its METH_FASTCALL convention), and the code reads the arrays' headers, whose
layout belongs to NumPy's binary interface. What it cannot take (another type, another size, a batch, numbers that are not
finite) it does not judge: it passes its arguments on to a Python function, whose answer or exception becomes its own.

    kernel(self, arguments, count) -> object         all addresses; `self` is a `Table` of addresses

The first entries of the table are `OBJECTS`, then comes the function for the rest; the kernel's own follow from `OWN` on.
"""

from __future__ import annotations

import ctypes
import sysconfig
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.extending import register_jitable as kernel

from .array_view import viewer

_ints = viewer(types.int64)

# offsets in an array's header, in bytes: PyArrayObject_fields of NumPy's C interface
REFERENCES, TYPE, DATA, NDIM, SHAPE, DESCRIPTION, FLAGS = 0, 8, 16, 24, 32, 56, 64
PLAIN = 0x0001 | 0x0100  # C-contiguous, aligned
NEW = 93  # the place of PyArray_New in NumPy's table of functions
DOUBLE = 12  # NPY_DOUBLE
METH_FASTCALL = 0x0080


@cache
def objects() -> tuple[int, ...]:
    """Addresses the compiled code needs: the array type, the description of a double, and functions of the interpreter."""
    numpy_core = import_module("numpy._core._multiarray_umath")
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = (ctypes.c_void_p * (NEW + 1)).from_address(pointer(numpy_core._ARRAY_API, None))
    python = ctypes.pythonapi
    own = [ctypes.cast(f, ctypes.c_void_p).value or 0 for f in (python.Py_DecRef, python.PyErr_Clear, python.PyObject_Vectorcall)]
    return id(np.ndarray), id(np.dtype(np.float64)), table[NEW] or 0, *own


OBJECTS = 6
OWN = OBJECTS + 1  # the kernel's own entries begin here; before them stands the function for what the kernel refuses


class Table(np.ndarray):
    """The addresses a kernel works with; it keeps alive what they point to."""

    kept: tuple[Any, ...]


def table(rest: Callable[..., Any], own: Sequence[int], *kept: Any) -> Table:
    """A kernel's table: `rest` answers what the kernel refuses, `own` are its own entries, `kept` is what they point to."""
    made = np.array([*objects(), id(rest), *own], np.int64).view(Table)
    made.kept = (rest, *kept)
    return made


@cache
def available() -> bool:
    """Whether this interpreter and this NumPy lay arrays out as expected; where not, calls take the long way."""
    if sysconfig.get_config_var("Py_GIL_DISABLED") or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    x = np.arange(6.0).reshape(2, 3)
    word = lambda offset: ctypes.c_int64.from_address(id(x) + offset).value  # noqa: E731
    shape = (ctypes.c_int64 * 2).from_address(word(SHAPE))
    flags = ctypes.c_int32.from_address(id(x) + FLAGS).value
    return (
        (word(TYPE), word(DATA), word(DESCRIPTION)) == (id(np.ndarray), x.ctypes.data, id(x.dtype))
        and (ctypes.c_int32.from_address(id(x) + NDIM).value, *shape) == (2, 2, 3)
        and flags & PLAIN == PLAIN
        and x.T.flags.num & PLAIN != PLAIN
    )


@kernel
def table_of(me):
    """The address of the table in an int64 array's memory."""
    return _ints(me + DATA, 1)[0]


@kernel
def vector(table, arguments, k, size):
    """The address of the doubles of argument k, if it is a plain vector of that size; else 0."""
    o, x = _ints(table, OBJECTS), _ints(arguments, k + 1)[k]
    header = _ints(x, 9)
    if header[1] != o[0] or header[7] != o[1] or (header[3] & 0xFFFFFFFF) != 1 or (header[8] & PLAIN) != PLAIN:
        return 0
    if _ints(header[4], 1)[0] != size:
        return 0
    return header[2]


@kernel
def new(table, ndim, shape):
    """A new array of doubles, its numbers not set: the object's address, 0 where memory ran out. shape: an address."""
    o = _ints(table, OBJECTS)
    x = _call_new(o[2], o[0], ndim, shape)
    if x == 0:
        _call_count(o[4], 0)
    return x


@kernel
def data_of(x):
    """The address of an array's numbers."""
    return _ints(x + DATA, 1)[0]


@kernel
def refused(table, arguments, count):
    """What the function for the rest answers to the same arguments; 0, with an exception set, where it raises."""
    o = _ints(table, OWN)
    return _call_rest(o[5], o[OBJECTS], arguments, count)


@kernel
def dropped(table, x, arguments, count):
    """The same, and the array x is given up."""
    _call_count(_ints(table, OBJECTS)[3], x)
    return refused(table, arguments, count)


@intrinsic
def _call_new(typing_context, function, kind, ndim, shape):
    """PyArray_New(kind, ndim, shape, double, no strides, no data, 0, 0, none)."""

    def generate(context, builder, signature, arguments):
        word, half = ir.IntType(64), ir.IntType(32)
        known = ir.FunctionType(word, [word, half, word, half, word, word, half, half, word])
        target = builder.inttoptr(arguments[0], known.as_pointer())
        zero, none = ir.Constant(half, 0), ir.Constant(word, 0)
        given = [arguments[1], builder.trunc(arguments[2], half), arguments[3], ir.Constant(half, DOUBLE), none, none, zero, zero, none]
        return builder.call(target, given)

    return types.int64(types.int64, types.int64, types.int64, types.int64), generate


@intrinsic
def _call_count(typing_context, function, x):
    """Py_DecRef(x), or PyErr_Clear(), which takes no notice of x."""

    def generate(context, builder, signature, arguments):
        target = builder.inttoptr(arguments[0], ir.FunctionType(ir.VoidType(), [ir.IntType(64)]).as_pointer())
        builder.call(target, [arguments[1]])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@intrinsic
def _call_rest(typing_context, function, rest, arguments, count):
    """PyObject_Vectorcall(rest, arguments, count, no names)."""

    def generate(context, builder, signature, arguments):
        word = ir.IntType(64)
        target = builder.inttoptr(arguments[0], ir.FunctionType(word, [word] * 4).as_pointer())
        return builder.call(target, [*arguments[1:], ir.Constant(word, 0)])

    return types.int64(types.int64, types.int64, types.int64, types.int64), generate


class _Method(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = [("name", ctypes.c_char_p), ("code", ctypes.c_void_p), ("flags", ctypes.c_int), ("text", ctypes.c_char_p)]


@cache
def _method(name: str, address: int) -> _Method:
    return _Method(name.encode(), address, METH_FASTCALL, None)  # kept: the interpreter only points to it


def builtin(name: str, address: int, table: Table) -> Callable[..., Any]:
    """The machine code at an address as a built-in function, bound to its table."""
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return make(ctypes.addressof(_method(name, address)), table, None)
