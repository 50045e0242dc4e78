"""What is asked of a machine, checked and in one record, and what a life answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .quantities import Quantity

Array = NDArray[np.float64]


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
