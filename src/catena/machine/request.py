"""What a machine can be asked for, one record per quantity; what is asked of it, checked and in one
record; and what a life answers.
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
    """One result: its name (in C too), what it is with its unit, and its shape as names of `Sizes`
    and numbers.

    optional: it is left out where the mechanism has no parameters.
    """

    name: str
    meaning: str
    shape: tuple[str | int, ...] = ()
    optional: bool = False

    def size(self, sizes: Sizes) -> tuple[int, ...]:
        """The shape for one mechanism."""
        return tuple(getattr(sizes, n) if isinstance(n, str) else n for n in self.shape)


@dataclass(frozen=True, eq=False)
class Quantity:
    """One thing a machine can be asked for.

    inputs: names of `INPUTS`, in order. trace: its expression, a function of a `Tracer` (then of
    the frame, then of the axes, where it has them) that gives an expression or a tuple of them, one
    per output. generic: its kernel for batches of any mechanism without compilation per mechanism,
    if there is one. single: which generic kernel answers a single state of a large mechanism, if
    there is one: its inputs beyond the quantity's own are zero. wrenches, time: whether external
    wrenches act in it, and loads that depend on the time. springs: where joint springs enter the
    generic kernels ("before" the kernel, "after" it, as "energy"; nothing where they do not).
    frame, axes: whether it is a quantity of a frame, in "world" or "body" axes. of_rows: whether it
    belongs to the constraints. moving: whether it takes a mechanism that can move. inverts: whether
    inertias are inverted in it, so that a huge result is looked into before it is handed out.
    on_rows: whether it means something only where the constraint rows hold, so that other states
    are refused (`state_check`). method: what the method of Machine gives, where that is not the
    arrays of its outputs; "none" where there is no method.
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
        """The results that a mechanism of these sizes has."""
        return tuple(y for y in self.outputs if sizes.parameters or not y.optional)

    @property
    def signature(self) -> str:
        """How it is called, as text.

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
        """Its signature, its sentence, and what comes in and out, with shapes and units."""
        inputs = [f"  {x}  (..., {'nq' if x == 'q' else 'nv'})  {INPUTS[x]}" for x in self.inputs]
        outputs = [
            f"  {y.name}  ({', '.join(['...', *map(str, y.shape)])})  {y.meaning}"
            for y in self.outputs
        ]
        return "\n".join([self.signature, f"  {self.doc}", "takes", *inputs, "gives", *outputs])


class Request(NamedTuple):
    """One question: a quantity of states with a common leading shape.

    states: (..., n) arrays, in the order of `quantity.inputs`. which: the frame and the axes, where
    the quantity has them. keys: (frame, axes) of each external wrench; forces: their components
    side by side, (..., 6 k), or None. parameters: (..., count) or None for the mechanism's own.
    time: (..., 1), or None where the mechanism does not depend on it. lead: the leading shape of
    everything together; batch: how many states that are. on_rows: whether there shall be no numbers
    for states that break the constraint rows.
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
    """What a generic kernel runs compiled kernels with, for one request."""

    spec: Spec
    finite: bool

    def run(
        self, name: str, states: Sequence[Array], node: int = -1, X: Array | None = None
    ) -> Array:
        """Return the rows (batch, ...) that a compiled kernel makes of rows of its inputs. node, X:
        of a frame.
        """


GenericKernel = Callable[[KernelRuns, Request], Array]


class Answer(NamedTuple):
    """results: per output of the quantity `batch` rows of numbers. finite: whether every number in
    and out is finite.
    """

    results: Sequence[Array]
    finite: bool


class Life(Protocol):
    """One way to answer requests: kernels compiled in one manner, with whatever memory they
    need.
    """

    name: str

    def can(self, request: Request) -> bool:
        """Whether it answers this request."""
        ...

    def call(self, request: Request) -> Answer:
        """The answer."""
        ...
