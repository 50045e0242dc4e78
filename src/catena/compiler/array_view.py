"""View: an array that compiled code looks at but does not own.

Numba counts references to arrays, also inside tuples: a kernel that hands a tuple of forty arrays to a small function pays
for forty counts. A View is an address and a length, with the sizes of a row in its type; handing it on is free, and indices
become constant offsets. A Grid is a matrix of any width. In Python the same kernels run on NumPy arrays, which index the same way.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model


class ViewType(types.Type):
    """Rows of `row` entries each: () for a vector, (3,) for rows of three, (3, 3) for matrices."""

    def __init__(self, dtype: Any, row: tuple[int, ...]):
        self.dtype, self.row = dtype, row
        super().__init__(name=f"View({dtype}, {row})")

    def size(self) -> int:
        """Entries of one row."""
        total = 1
        for k in self.row:
            total *= k
        return total


@register_model(ViewType)
class _ViewModel(models.StructModel):
    def __init__(self, manager: Any, kind: ViewType):
        super().__init__(manager, kind, [("data", types.CPointer(kind.dtype)), ("length", types.int64)])


@cache
def viewer(dtype: Any, *row: int) -> Callable:
    """A function (address, length) -> View, for compiled code."""
    kind = ViewType(dtype, row)

    @intrinsic
    def at(typing_context, address, length):
        def generate(context, builder, signature, arguments):
            view = cgutils.create_struct_proxy(kind)(context, builder)
            view.data = builder.inttoptr(arguments[0], context.get_value_type(types.CPointer(dtype)))
            view.length = arguments[1]
            return view._getvalue()

        return kind(types.int64, types.int64), generate

    return at


@intrinsic
def _load(typing_context, view, offset):
    def generate(context, builder, signature, arguments):
        struct = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=arguments[0])
        return builder.load(builder.gep(struct.data, [arguments[1]]))

    return view.dtype(view, types.int64), generate


@intrinsic
def _store(typing_context, view, offset, value):
    def generate(context, builder, signature, arguments):
        struct = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=arguments[0])
        builder.store(arguments[2], builder.gep(struct.data, [arguments[1]]))
        return context.get_dummy_value()

    return types.void(view, types.int64, view.dtype), generate


@intrinsic
def _row(typing_context, view, index):
    """Row `index` of a view, as a view of its own."""
    inner = ViewType(view.dtype, view.row[1:])

    def generate(context, builder, signature, arguments):
        struct = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=arguments[0])
        offset = builder.mul(arguments[1], context.get_constant(types.int64, view.size()))
        part = cgutils.create_struct_proxy(inner)(context, builder)
        part.data = builder.gep(struct.data, [offset])
        part.length = context.get_constant(types.int64, view.row[0])
        return part._getvalue()

    return inner(view, types.int64), generate


class GridType(types.Type):
    """A matrix of doubles whose width only the run knows."""

    def __init__(self) -> None:
        super().__init__(name="Grid")


@register_model(GridType)
class _GridModel(models.StructModel):
    def __init__(self, manager: Any, kind: GridType):
        super().__init__(manager, kind, [("data", types.CPointer(types.float64)), ("length", types.int64), ("width", types.int64)])


GRID, ROW = GridType(), ViewType(types.float64, ())


@intrinsic
def grid(typing_context, address, length, width):
    """The matrix (length, width) at an address, rows one after the other."""

    def generate(context, builder, signature, arguments):
        made = cgutils.create_struct_proxy(GRID)(context, builder)
        made.data = builder.inttoptr(arguments[0], context.get_value_type(types.CPointer(types.float64)))
        made.length, made.width = arguments[1], arguments[2]
        return made._getvalue()

    return GRID(types.int64, types.int64, types.int64), generate


@intrinsic
def _grid_row(typing_context, matrix, index):
    def generate(context, builder, signature, arguments):
        struct = cgutils.create_struct_proxy(GRID)(context, builder, value=arguments[0])
        part = cgutils.create_struct_proxy(ROW)(context, builder)
        part.data = builder.gep(struct.data, [builder.mul(arguments[1], struct.width)])
        part.length = struct.width
        return part._getvalue()

    return ROW(GRID, types.int64), generate


@overload(len)
def _length(view):
    if isinstance(view, (ViewType, GridType)):
        return lambda view: _length_of(view)
    return None


@intrinsic
def _length_of(typing_context, view):
    def generate(context, builder, signature, arguments):
        return cgutils.create_struct_proxy(signature.args[0])(context, builder, value=arguments[0]).length

    return types.int64(view), generate


@overload(operator.getitem)
def _getitem(view, index):
    if isinstance(view, GridType):
        if isinstance(index, types.Integer):
            return lambda view, index: _grid_row(view, index)
        return lambda view, index: _load(_grid_row(view, index[0]), index[1])
    if not isinstance(view, ViewType):
        return None
    if isinstance(index, types.Integer):
        return (lambda view, index: _load(view, index)) if not view.row else (lambda view, index: _row(view, index))
    if len(view.row) == 1:
        n = view.row[0]
        return lambda view, index: _load(view, index[0] * n + index[1])
    n, m = view.row[-2] * view.row[-1], view.row[-1]
    return lambda view, index: _load(view, index[0] * n + index[1] * m + index[2])


@overload(operator.setitem)
def _setitem(view, index, value):
    if isinstance(view, GridType):
        return lambda view, index, value: _store(_grid_row(view, index[0]), index[1], value)
    if not isinstance(view, ViewType):
        return None
    if isinstance(index, types.Integer):
        return lambda view, index, value: _store(view, index, value)
    if len(view.row) == 1:
        n = view.row[0]
        return lambda view, index, value: _store(view, index[0] * n + index[1], value)
    n, m = view.row[-2] * view.row[-1], view.row[-1]
    return lambda view, index, value: _store(view, index[0] * n + index[1] * m + index[2], value)
