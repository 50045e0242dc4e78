"""One state from Python: a kernel as a built-in function of the interpreter, from arrays to a new
array.

The interpreter calls the machine code itself (its METH_FASTCALL convention), and the code reads the
arrays' headers, whose layout belongs to NumPy's binary interface. Calls that it cannot handle
(another type, another size, a batch, a quaternion whose length is not one, a result that is too
large or not a number) are passed on to a fallback in Python, `rest`, which handles them or raises
an error.

    object single(self, arguments, count)         `self` is a table of addresses, an array of
                                                  integers

With one more argument, an array of the shape of the result, the result is written there and no
array is made.

The table holds `objects()`, the fallback, the inputs that are the same in every call, the number of
calls after which all go to the fallback, and the result's shape.
"""

from __future__ import annotations

import ctypes
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from .text import Text, bits_of

# offsets in an array's header, in bytes: PyArrayObject_fields of NumPy's C interface
TYPE = 8
DATA = 16
NDIM = 24
SHAPE = 32
DESCRIPTION = 56
FLAGS = 64
PLAIN = 0x0001 | 0x0100  # C-contiguous, aligned
WRITABLE = PLAIN | 0x0400
NEW = 93  # the place of PyArray_New in NumPy's table of functions
DOUBLE = 12  # NPY_DOUBLE
METH_FASTCALL = 0x0080
# the table's places; from FIRST on the shape
ARRAY, DOUBLES, FLOAT, MAKE, CLEAR, CALL, REST, SAME, LEFT, FIRST = range(10)
UNLIMITED = 2**62  # calls
VALUE = 16  # the offset of the number in a Python float
LARGEST = 1.7e308  # the largest finite result
UNIT = 1e-6  # the largest difference of a quaternion's squared length from one


@dataclass(frozen=True)
class Single:
    """How one state is passed to compiled code.

    given: the sizes of the arguments. same: how many inputs follow them that are the same in every
    call. clock: whether a time follows, "" no, "ignored" as an argument only, "used" as the last
    input too. outputs: how many numbers the kernel fills; shape: of the result, which takes the
    first of them. quaternions: where they begin in the first argument. limit: calls whose result is
    larger go to the fallback.
    """

    given: tuple[int, ...]
    same: int
    clock: str
    outputs: int
    shape: tuple[int, ...]
    quaternions: tuple[int, ...] = ()
    limit: float = LARGEST


def write(t: Text, s: Single, n_slots: int, unseen: Sequence[int] | None = None) -> None:
    """Write `single`, around the module's `tape`. One lane.

    unseen: inputs that may be NaN without any result showing it; None where these are not known,
    and all inputs are tested.
    """
    n = int(np.prod(s.shape))
    size = sum(s.given) + s.same
    t.lines += ["declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"]
    with t.function("ptr @single(ptr %self, ptr %arguments, i64 %count)"):
        for name, count in (("x", size + 1), ("y", s.outputs), ("w", n_slots)):
            t.do(f"%{name} = alloca double, i64 {max(1, count)}, align 64")
        table = _word(t, "%self", DATA, "ptr")
        known = {k: t.load(table, k, "ptr") for k in range(LEFT)}
        left = t.load(table, LEFT, "i64")
        t.store(t(f"sub i64 {left}, 1"), table, LEFT, "i64")
        require(t, t(f"icmp sgt i64 {left}, 0"))
        taken = len(s.given) + bool(s.clock)
        into = t(f"icmp eq i64 %count, {taken + 1}")
        require(t, t(f"or i1 {into}, {t(f'icmp eq i64 %count, {taken}')}"))
        offset = 0
        for k, length in enumerate(s.given):
            _copy(
                t,
                t.at("%x", offset, "double"),
                _vector(t, t.load("%arguments", k, "ptr"), known, (length,)),
                length,
            )
            offset += length
        if s.same:
            _copy(t, t.at("%x", offset, "double"), known[SAME], s.same)
        if s.clock == "used":
            time = t.load("%arguments", len(s.given), "ptr")
            require(t, t(f"icmp eq ptr {_word(t, time, TYPE, 'ptr')}, {known[FLOAT]}"))
            t.store(_word(t, time, VALUE, "double"), "%x", size, "double")
        for k in s.quaternions:
            require(t, unit(t, "%x", k))
        if unseen is None:
            require(t, _bounded(t, "x", sum(s.given), LARGEST))
        for k in unseen or ():
            require(t, within(t, t.load("%x", k, "double"), LARGEST))
        t.do("call void @tape(ptr %x, ptr %y, ptr %w)")
        require(t, _bounded(t, "y", n, s.limit))
        shape = t.at(table, FIRST, "i64")
        more = f"i32 {DOUBLE}, ptr null, ptr null, i32 0, i32 0, ptr null"
        t.do(f"br i1 {into}, label %given, label %new")
        t.label("given")  # the array into which the result is written, returned with a reference
        target = t.load("%arguments", taken, "ptr")
        _copy(t, _vector(t, target, known, s.shape, WRITABLE), "%y", n)
        t.store(t(f"add i64 {t.load(target, 0, 'i64')}, 1"), target, 0, "i64")
        t.do(f"ret ptr {target}")
        t.label("new")
        array = t(
            f"call ptr {known[MAKE]}(ptr {known[ARRAY]}, i32 {len(s.shape)}, ptr {shape}, {more})"
        )
        require(t, t(f"icmp ne ptr {array}, null"))
        _copy(t, _word(t, array, DATA, "ptr"), "%y", n)
        t.do(f"ret ptr {array}")
        t.label("rest")
        t.do(f"call void {known[CLEAR]}()")  # an array that could not be made has set an error
        t.do(
            "ret ptr"
            f" {t(f'call ptr {known[CALL]}(ptr {known[REST]}, ptr %arguments, i64 %count, ptr null)')}"  # noqa: E501
        )


def _word(t: Text, base: str, offset: int, kind: str) -> str:
    """Return the value stored at an offset in bytes after a pointer."""
    return t(f"load {kind}, ptr {t(f'getelementptr i8, ptr {base}, i64 {offset}')}")


def require(t: Text, truth: str) -> None:
    """Continue where the truth holds, else call the fallback."""
    on = f"on{truth.removeprefix('%')}"
    t.do(f"br i1 {truth}, label %{on}, label %rest")
    t.label(on)


def _copy(t: Text, to: str, source: str, n: int) -> None:
    t.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {source}, i64 {8 * n}, i1 false)")


def _vector(
    t: Text, x: str, known: dict[int, str], shape: Sequence[int], needed: int = PLAIN
) -> str:
    """Return the doubles of an argument that is a contiguous array of this shape, with these flags;
    for others call the fallback.
    """
    same = t(f"icmp eq ptr {_word(t, x, TYPE, 'ptr')}, {known[ARRAY]}")
    require(t, same)
    doubles = t(f"icmp eq ptr {_word(t, x, DESCRIPTION, 'ptr')}, {known[DOUBLES]}")
    flat = t(f"icmp eq i32 {_word(t, x, NDIM, 'i32')}, {len(shape)}")
    flags = _word(t, x, FLAGS, "i32")
    plain = t(f"icmp eq i32 {t(f'and i32 {flags}, {needed}')}, {needed}")
    require(t, t(f"and i1 {t(f'and i1 {doubles}, {flat}')}, {plain}"))
    sizes = _word(t, x, SHAPE, "ptr")
    for k, n in enumerate(shape):
        require(t, t(f"icmp eq i64 {t.load(sizes, k, 'i64')}, {n}"))
    return _word(t, x, DATA, "ptr")


def unit(t: Text, x: str, k: int) -> str:
    """Return the truth of whether the quaternion from x[k] on has length one, to UNIT in its
    square.
    """
    total = f"0x{bits_of(-1.0):016X}"
    for j in range(4):
        part = t.load(x, k + j, "double")
        total = t(f"fadd double {t(f'fmul double {part}, {part}')}, {total}")
    return t(
        f"fcmp olt double {t(f'call double @llvm.fabs.f64(double {total})')},"
        f" 0x{bits_of(UNIT):016X}"
    )


def within(t: Text, x: str, limit: float) -> str:
    """Return the truth of whether x is a number of at most this magnitude."""
    return t(
        f"fcmp ole double {t(f'call double @llvm.fabs.f64(double {x})')}, 0x{bits_of(limit):016X}"
    )


def _bounded(t: Text, name: str, n: int, limit: float) -> str:
    """Return the truth of whether n numbers are all within the limit."""
    t.do(f"%good.{name} = alloca i1", f"store i1 true, ptr %good.{name}")
    with t.loop(f"each.{name}", n) as k:
        fine = within(t, t.load(f"%{name}", k, "double"), limit)
        good = t(f"load i1, ptr %good.{name}")
        t.do(f"store i1 {t(f'and i1 {good}, {fine}')}, ptr %good.{name}")
    return t(f"load i1, ptr %good.{name}")


# --- the interpreter's side
class _Table(np.ndarray):
    """A table of addresses that keeps references to the objects behind them."""

    keep: Any


class _Method(ctypes.Structure):
    """The C structure PyMethodDef of the interpreter, which describes a built-in function."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("code", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    ]


@cache
def objects() -> tuple[int, ...]:
    """Return the addresses of the types of arrays, of doubles in them and of floats, and of
    functions that create arrays and call others.
    """
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype = ctypes.c_void_p
    pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    numpy_core = import_module("numpy._core._multiarray_umath")
    api = (ctypes.c_void_p * (NEW + 1)).from_address(pointer(numpy_core._ARRAY_API, None))
    own = [
        ctypes.cast(f, ctypes.c_void_p).value or 0
        for f in (ctypes.pythonapi.PyErr_Clear, ctypes.pythonapi.PyObject_Vectorcall)
    ]
    return id(np.ndarray), id(np.dtype(np.float64)), id(float), api[NEW] or 0, *own


@cache
def available() -> bool:
    """Return whether this interpreter and this NumPy store arrays in the expected layout; otherwise
    calls go through Python.
    """
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
        and ctypes.c_double.from_address(id(0.75) + VALUE).value == 0.75
    )


def builtin(
    name: str,
    address: int,
    single: Single,
    same: Sequence[float],
    rest: Callable[..., Any],
    keep: Any,
    calls: int = UNLIMITED,
) -> Callable[..., Any]:
    """Return the machine code at an address as a built-in function, which handles `calls` calls
    itself and passes later ones to the fallback.

    same: the inputs that are the same in every call. rest: the fallback. keep: objects that must
    live as long as the function, such as the code.
    """
    numbers = np.array(same, float)
    table = np.array(
        [*objects(), id(rest), numbers.ctypes.data, calls, *single.shape], np.int64
    ).view(_Table)
    method = _Method(name.encode(), address, METH_FASTCALL, None)
    table.keep = (keep, numbers, method, rest)
    make: Any = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return make(ctypes.addressof(method), table, None)


def used_up(call: Any) -> bool:
    """Return whether a built-in has handled its limited number of calls, so that all further ones
    go to the fallback.
    """
    return bool(call.__self__[LEFT] < 0)
