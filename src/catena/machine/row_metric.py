"""The metric of constraint rows: the scales relative to which rank, residuals and rates are
judged.
"""

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
    """The scales of `kernels.rank`. column: the scales C (nv,) of the speeds. size: the scales N
    (m,) of the rows, 0 for a row whose scale is computed from its entries.
    """

    column: Array
    size: Array

    def sizes(self, A: Array) -> Array:
        """Return N (..., m), computed from the entries of A for rows whose size is 0; one where
        those entries vanish.
        """
        own = (A * A * self.column).sum(axis=-1)
        found = np.where(self.size > 0.0, self.size, own)
        return np.where(found > 0.0, found, 1.0)

    def scaled(self, A: Array) -> Array:
        """Return A~ = N^-1/2 A C^1/2, with entries of order one."""
        return A * np.sqrt(self.column) / np.sqrt(self.sizes(A))[..., None]

    def relative(self, error: Array, A: Array) -> Array:
        """Return residuals or rates (..., m) relative to the sizes of their rows: the length of a
        loop, or one for a cosine.
        """
        return error / np.sqrt(self.sizes(A))

    def rows(self, which: slice) -> Metric:
        """Return the metric of some rows."""
        return Metric(self.column, self.size[which])

    def speeds(self, which: list[int]) -> Metric:
        """Return the metric of some speeds."""
        return Metric(self.column[which], self.size)


class RowOwner(Protocol):
    """The interface of a Machine or Spec whose constraint rows are read."""

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism whose rows they are."""

    @property
    def layout(self) -> Layout:
        """The layout of its arrays."""

    @property
    def snap(self) -> float:
        """The size below which residues of right angles in placements are zero."""


_tables: WeakKeyDictionary[RowOwner, tuple[Tree, Constraints, Callable[..., Lift], list[int]]] = (
    WeakKeyDictionary()
)
_metrics: WeakKeyDictionary[RowOwner, dict[bool, Metric]] = WeakKeyDictionary()


def metric(machine: RowOwner, acting: bool = True) -> Metric:
    """Return the metric of `machine.rows`; with acting=False that of all rows, as `rows_at` has
    them.
    """
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
    """Return the tree, its constraints, its lift and the rows that can act, from a cache after the
    first call.
    """
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
