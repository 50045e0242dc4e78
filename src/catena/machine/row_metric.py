"""The metric of constraint rows: the scales on which rank, residuals and rates are judged."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from ..kernels import Constraints, Layout, Lift, Tree, active_rows, constraints, speed_row_scales
from ..model import Mechanism, value_of

Array = np.ndarray


class Metric(NamedTuple):
    """The scales in which rank is decided, `kernels.rank`: C (nv,), and N (m,) of rows, 0 where a
    row is measured by its entries.
    """

    column: Array
    size: Array

    def sizes(self, A: Array) -> Array:
        """N (..., m), also of the rows that are measured by their entries; one where those
        vanish.
        """
        own = (A * A * self.column).sum(axis=-1)
        found = np.where(self.size > 0.0, self.size, own)
        return np.where(found > 0.0, found, 1.0)

    def scaled(self, A: Array) -> Array:
        """A~ = N^-1/2 A C^1/2, entries of order one."""
        return A * np.sqrt(self.column) / np.sqrt(self.sizes(A))[..., None]

    def beside(self, error: Array, A: Array) -> Array:
        """Residuals or rates (..., m) beside the sizes of their rows: of a loop's length, or one
        for a cosine.
        """
        return error / np.sqrt(self.sizes(A))

    def rows(self, which: slice) -> Metric:
        """That of some rows."""
        return Metric(self.column, self.size[which])

    def speeds(self, which: list[int]) -> Metric:
        """That of some speeds."""
        return Metric(self.column[which], self.size)


class RowOwner(Protocol):
    """A Machine or its Spec: what rows are read from."""

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism whose rows they are."""

    @property
    def layout(self) -> Layout:
        """Its arrays."""

    @property
    def snap(self) -> float:
        """The size below which numbers of the mechanism are zero."""


_tables: WeakKeyDictionary[RowOwner, tuple[Tree, Constraints, Callable[..., Lift], list[int]]] = (
    WeakKeyDictionary()
)
_metrics: WeakKeyDictionary[RowOwner, dict[bool, Metric]] = WeakKeyDictionary()


def metric(machine: RowOwner, acting: bool = True) -> Metric:
    """The metric of `machine.rows`, or of all rows, as `rows_at` has them."""
    found = _metrics.setdefault(machine, {})
    if acting not in found:
        _, con, _, active = row_table(machine)
        found[acting] = Metric(
            con.column,
            np.array(
                [*(con.size[active] if acting else con.size), *speed_row_scales(machine.layout)]
            ),
        )
    return found[acting]


def row_table(machine: RowOwner) -> tuple[Tree, Constraints, Callable[..., Lift], list[int]]:
    """Return the tree, its constraints, its lift and the rows that act, made once."""
    if machine not in _tables:
        value = partial(value_of, parameters=machine.mechanism.parameters)
        tree = machine.layout.tree(snap=machine.snap)
        _tables[machine] = (
            tree,
            constraints(machine.layout, value),
            partial(Lift, machine.layout, value),
            active_rows(machine.layout),
        )
    return _tables[machine]
