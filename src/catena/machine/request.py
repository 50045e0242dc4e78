"""The records of a call: Quantity (what a machine can compute), Request (checked arguments) and
Answer (what a backend returns).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import UnknownNameError
from ..kernels import Layout
from .spec import Sizes, Spec, Trace

Array = NDArray[np.float64]

INPUTS = {  # what quantities are functions of
    "q": "coordinates",
    "v": "speeds",
    "a": "accelerations: the rates of the speeds, in their order",
    "tau": "joint forces (N m or N), in the order of the speeds",
}


@dataclass(frozen=True)
class Output:
    """One output of a quantity: its name (in C too), its meaning with the unit, and its shape as
    names of `Sizes` and numbers.

    optional: whether it is left out where the mechanism has no parameters.
    """

    name: str
    meaning: str
    shape: tuple[str | int, ...] = ()
    optional: bool = False

    def size(self, sizes: Sizes) -> tuple[int, ...]:
        """Return the shape for one mechanism."""
        return tuple(getattr(sizes, n) if isinstance(n, str) else n for n in self.shape)


@dataclass(frozen=True, eq=False)
class Quantity:
    """One quantity that a machine can compute.

    inputs: names of `INPUTS`, in order. trace: its expression, a function of a `Tracer` (then of
    the frame, then of the axes, where it has them) that returns an expression or a tuple of them,
    one per output. generic: its generic kernel, which needs no compilation per mechanism; None
    where there is none. single: a function of the layout that names the generic kernel for a single
    state of a large mechanism, whose further inputs are zero; None where there is none. wrenches,
    time: whether it depends on external wrenches, and on the time through loads. springs: how the
    generic kernel accounts for joint springs: "before" it, "after" it, as "energy", or not at all
    (""). frame, axes: whether it is a quantity of a frame, and in "world" or "body" axes. of_rows:
    whether it belongs to the constraint rows. moving: whether it requires a mechanism that can
    move. inverts: whether it inverts inertias, so that a huge result is examined before it is
    returned. on_rows: whether it is defined only where the constraint rows hold, so that other
    states raise an error (`state_check`). method: what the method of Machine returns, where that is
    not the arrays of its outputs; "none" where there is no method.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[Output, ...]
    doc: str
    trace: Trace
    generic: GenericKernel | None = None
    single: Callable[[Layout], str] | None = None
    wrenches: bool = False
    time: bool = False
    springs: str = ""
    frame: bool = False
    axes: bool = False
    of_rows: bool = False
    moving: bool = False
    inverts: bool = False
    on_rows: bool = False
    method: str = ""

    def __post_init__(self) -> None:
        for name in self.inputs:
            if name not in INPUTS:
                raise UnknownNameError("input", name, INPUTS, f"quantity {self.name!r}")

    def outputs_of(self, sizes: Sizes) -> tuple[Output, ...]:
        """Return the outputs that the quantity has for a mechanism of these sizes."""
        return tuple(y for y in self.outputs if sizes.parameters or not y.optional)

    @property
    def signature(self) -> str:
        """The call of the method, as a string.

        >>> from catena.machine.quantities import QUANTITIES
        >>> QUANTITIES["jacobian"].signature
        'jacobian(q, frame, axes, parameters)'
        """
        flags = (
            ("frame", self.frame),
            ("axes", self.axes),
            ("wrenches", self.wrenches),
            ("parameters", True),
            ("t", self.time),
        )
        return (
            f"{self.name}({', '.join([*self.inputs, *(name for name, taken in flags if taken)])})"
        )

    def help(self) -> str:
        """Return the signature, the description, and the inputs and outputs with shapes and
        units.
        """
        inputs = [f"  {x}  (..., {'nq' if x == 'q' else 'nv'})  {INPUTS[x]}" for x in self.inputs]
        outputs = [
            f"  {y.name}  ({', '.join(['...', *map(str, y.shape)])})  {y.meaning}"
            for y in self.outputs
        ]
        return "\n".join([self.signature, f"  {self.doc}", "takes", *inputs, "gives", *outputs])


class Request(NamedTuple):
    """The checked arguments of one call: a quantity, and states with a common leading shape.

    states: (..., n) arrays, in the order of `quantity.inputs`. which: the frame and the axes, where
    the quantity has them. keys: (frame, axes) of each external wrench; forces: their components
    side by side, (..., 6 k), or None. parameters: (..., count), or None for the mechanism's own.
    time: (..., 1), or None where the mechanism does not depend on it. lead: the leading shape of
    all of them; batch: the number of states. on_rows: whether states that break the constraint rows
    give NaN.
    """

    quantity: Quantity
    states: tuple[Array, ...]
    which: tuple[str, ...]
    keys: tuple[tuple[str, str], ...]
    forces: Array | None
    parameters: Array | None
    time: Array | None
    lead: tuple[int, ...]
    batch: int
    on_rows: bool = False


class KernelRuns(Protocol):
    """The interface by which a generic kernel runs compiled kernels for one request."""

    spec: Spec
    finite: bool

    def run(
        self, name: str, states: Sequence[Array], node: int = -1, X: Array | None = None
    ) -> Array:
        """Return the results (batch, ...) of a compiled kernel for its inputs (batch, n). node, X:
        node and pose of a frame, for quantities of a frame.
        """


GenericKernel = Callable[[KernelRuns, Request], Array]


class Answer(NamedTuple):
    """The result of a request. results: `batch` rows of numbers per output of the quantity. finite:
    whether every number in and out is finite.
    """

    results: Sequence[Array]
    finite: bool


class Life(Protocol):
    """A backend that evaluates requests: kernels that are compiled in one way, with the memory they
    need.
    """

    name: str

    def can(self, request: Request) -> bool:
        """Return whether this backend can evaluate a request."""
        ...

    def call(self, request: Request) -> Answer:
        """Evaluate a request."""
        ...
