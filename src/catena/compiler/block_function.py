"""A function in the kernels' Python as machine code over lanes, `void block(const double* x,
double* y)`: what the drivers call.

    x, y    inputs and outputs, one vector of lanes for each number, one record after the other;
            scratch memory is on the stack, its large arrays are behind the outputs
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from . import cache as disk
from . import generic, host  # generic has the scalars that kernels use
from .kernel_compiler import Module
from .kernel_text import Array
from .machine_function import sources
from .text import bits_of

MAX_ON_STACK = 4096  # entries: a larger array is not put on the stack


class WholeNumbers(tuple[int, ...]):
    """The shape of an array of whole numbers in scratch memory, which are the same in all lanes."""


class Record(NamedTuple):
    """A record of arrays, and the shape of each. constants: a record of arrays of integers or
    doubles that are compiled into the code; scratch memory has it as its last field.
    """

    kind: Callable[..., Any]
    shapes: Sequence[tuple[int, ...]]
    constants: Any = None

    @property
    def size(self) -> int:
        """The number of entries of all its arrays."""
        return sum(int(np.prod(shape)) for shape in self.shapes)

    def arrays(self, m: Module, pointer: str) -> Any:
        """Return the record of arrays that begin at a pointer, one after another."""
        ends = np.cumsum([0, *(int(np.prod(shape)) for shape in self.shapes)])
        return self.kind(
            *(_array(m, pointer, int(at), shape) for at, shape in zip(ends, self.shapes))
        )

    @property
    def large(self) -> int:
        """Return the number of entries of all arrays that are too large for the stack."""
        return sum(n for n in (int(np.prod(shape)) for shape in self.shapes) if n > MAX_ON_STACK)

    def scratch(self, m: Module, behind: str) -> Any:
        """Return the record of arrays on the stack; the large ones follow one another behind a
        pointer.
        """
        found, at = [], 0
        for shape in self.shapes:
            n = int(np.prod(shape))
            array = (
                _array(m, behind, at, shape) if n > MAX_ON_STACK else Array(m.room(n), tuple(shape))
            )
            found.append(replace(array, item="int") if isinstance(shape, WholeNumbers) else array)
            at += n if n > MAX_ON_STACK else 0
        if self.constants is not None:
            found.append(
                type(self.constants)(
                    *(
                        _constant(m, f"@constant{k}", np.asarray(x))
                        for k, x in enumerate(self.constants)
                    )
                )
            )
        return self.kind(*found)


def _constant(m: Module, name: str, x: np.ndarray) -> Array:
    """Return an array whose numbers are compiled into the code."""
    whole = np.issubdtype(x.dtype, np.integer)
    item, numbers = (
        ("i64", x.ravel().tolist())
        if whole
        else ("double", [f"0x{bits_of(float(v)):016X}" for v in x.ravel()])
    )
    m.helpers[name] = [
        f"{name} = private constant [{x.size} x {item}]"
        f" [{', '.join(f'{item} {v}' for v in numbers)}]"
    ]
    return Array(name, x.shape, "int" if whole else "double")


def _array(m: Module, pointer: str, at: int, shape: tuple[int, ...]) -> Array:
    return Array(m.new(f"getelementptr {m.V}, ptr {pointer}, i64 {at}"), tuple(shape))


class BlockFunction:
    """The machine code of `function(inputs, outputs, scratch, *known)`, where `known` are numbers,
    words and tuples of these for which the code is specialised. behind: the size of the scratch
    memory that must follow the outputs.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        inputs: Record,
        outputs: Record,
        scratch: Record,
        width: int,
        *known: Any,
    ):
        self.width = width
        self.inputs = inputs
        self.outputs = outputs
        self.behind = scratch.large
        shapes = repr(
            (
                inputs.shapes,
                outputs.shapes,
                scratch.shapes,
                [np.asarray(x).tolist() for x in scratch.constants or ()],
            )
        )
        key = disk.key(
            "block",
            sources(),
            *host.description(),
            function.__module__,
            function.__qualname__,
            shapes,
            repr((width, known)),
        )
        code = disk.load_or_make(
            key,
            lambda: host.assemble(
                text(function, inputs, outputs, scratch, width, known), optimise=2
            ),
        )
        self._library = host.link(code, "block")
        self.block_address: int = self._library["block"]


def text(
    function: Callable[..., Any],
    inputs: Record,
    outputs: Record,
    scratch: Record,
    width: int,
    known: Sequence[Any],
) -> str:
    """Return the LLVM text of a function, specialised for the numbers and words in `known`."""
    m = Module(width, host.has_fma())
    with m.function("block", "ptr x", "ptr y") as (x, y):
        m.call(
            function,
            inputs.arrays(m, x),
            outputs.arrays(m, y),
            scratch.scratch(m, _array(m, y, outputs.size, ()).pointer),
            *known,
        )
    m.text.table()
    return str(m)


__all__ = ["BlockFunction", "Record", "generic"]
