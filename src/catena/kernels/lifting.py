"""Lifting: nodes whose coordinates follow others, as the places of a flexible body follow the
amplitudes of its shapes.

The kernels walk over nodes, each with a coordinate of its own: q^ = (q, f(q)) for all nodes, of
which f belongs to those that follow. With a follower's z = a.e + 1/2 e'B e of the amplitudes e
among q,

    v^ = W v,     a^ = W a + dW v,     W = [1; F],   F = a + B e,   dW v = (0, v'B v)
    tau = W^T tau^,     M = W^T M^ W,     C = W^T (C^ W + M^ dW),     J = J^ W

A follower by a function z = f(q) of one coordinate (`model.coordinate_functions`) has F = f'(q) and
dW v = f''(q) v v instead. Results of a kernel for the nodes are converted to the mechanism's own
speeds here, so that kernels do not depend on followers. Scalars are numbers or symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..model import CoordinateFunction
from ..spatial import select

if TYPE_CHECKING:
    from .tree import Follower, Layout

Coefficients = dict[int, Any]  # {speed: coefficient}


class _Follower(NamedTuple):
    qi: int  # of the first amplitude
    vi: int
    a: list[tuple[int, Any]]
    B: list[tuple[int, int, Any]]


class Lift:
    """The map from the mechanism's speeds to those of the nodes at one configuration q; the
    identity where no node follows another.
    """

    def __init__(self, layout: Layout, value: Callable[[Any], Any], q: Any):
        self.nv = layout.nv
        found = [
            _by_function(f, q)
            if isinstance(f.shift, CoordinateFunction)
            else _by_shapes(f, value, q)
            for f in layout.followers
        ]
        self._followers = [follower for follower, *_ in found]
        self.F: list[Coefficients] = [row for _, row, _ in found]
        self.q = [*q, *(z for *_, z in found)]

    def __bool__(self) -> bool:
        return bool(self.F)

    def v(self, v: Any) -> list[Any]:
        """Return the speeds of all nodes, v^ = W v, from the mechanism's own."""
        return [*v, *(_sum([c * v[k] for k, c in row.items()]) for row in self.F)]

    def a(self, v: Any, a: Any) -> list[Any]:
        """Return a^ = W a + dW v."""
        turning = [[b * v[f.vi + i] * v[f.vi + j] for i, j, b in f.B] for f in self._followers]
        return [
            *a,
            *(
                _sum(terms + [c * a[k] for k, c in row.items()])
                for terms, row in zip(turning, self.F)
            ),
        ]

    def rates(self, v: Any) -> list[Coefficients]:
        """Return the rows of dW that are not zero: B v, or f''(q) v."""
        found: list[Coefficients] = []
        for f in self._followers:
            row: Coefficients = {}
            for i, j, b in f.B:
                row[f.vi + i] = row.get(f.vi + i, 0.0) + b * v[f.vi + j]
            found.append(row)
        return found

    def back(self, tau: Any, rows: list[Coefficients] | None = None) -> list[Any]:
        """Return forces along the speeds of all nodes as forces along the mechanism's own speeds,
        W^T tau^. `rows` replaces F in W below the identity.
        """
        own = list(tau[: self.nv])
        for x, row in zip(tau[self.nv :], self.F if rows is None else rows):
            if not _nothing(x):
                for k, c in row.items():
                    own[k] = own[k] + c * x
        return own

    def congruence(self, M: np.ndarray) -> np.ndarray:
        """Return a matrix over all nodes converted to the mechanism's own speeds, W^T M^ W (nv,
        nv).
        """
        return (
            _array(self.back(column) for column in zip(*(self.back(row) for row in M))).T
            if self
            else M
        )

    def rate_term(self, M: np.ndarray, v: Any) -> np.ndarray:
        """Return the term W^T M^ dW (nv, nv), which the rate of W adds to a Coriolis matrix."""
        rates = self.rates(v)
        none = [0.0] * self.nv
        # dW has zeros where W has the identity
        right = [self.back([*none, *row[self.nv :]], rates) for row in M]
        return _array(self.back(column) for column in zip(*right)).T


def _by_shapes(
    f: Follower, value: Callable[[Any], Any], q: Any
) -> tuple[_Follower, Coefficients, Any]:
    """Return the data of a follower of amplitudes: its coefficients, its row of F, and its
    coordinate.
    """
    found = _Follower(f.qi, f.vi, *_coefficients(f.shift, value))
    row: Coefficients = {f.vi + i: a for i, a in found.a}
    for i, j, b in found.B:
        row[f.vi + i] = row.get(f.vi + i, 0.0) + b * q[f.qi + j]
    return (
        found,
        row,
        _sum(
            [a * q[f.qi + i] for i, a in found.a]
            + [0.5 * b * q[f.qi + i] * q[f.qi + j] for i, j, b in found.B]
        ),
    )


def _by_function(f: Follower, q: Any) -> tuple[_Follower, Coefficients, Any]:
    """Return the data of a follower by a function: f'' in place of B, f' as its row of F, and its
    coordinate.
    """
    y, dy, ddy = f.shift(q[f.qi], select)  # type: ignore[operator]  # a CoordinateFunction
    return _Follower(f.qi, f.vi, [], [(0, 0, ddy)]), {f.vi: dy}, y


def _coefficients(shift: Any, value: Callable[[Any], Any]) -> tuple[list[Any], list[Any]]:
    """Return the entries of a and B that are not zero."""
    a = [(i, value(x)) for i, x in enumerate(shift.a) if x != 0.0]
    return a, [
        (i, j, value(x)) for i, row in enumerate(shift.B) for j, x in enumerate(row) if x != 0.0
    ]


def _sum(terms: list[Any]) -> Any:
    """Return the sum of some terms; a plain zero where there are none."""
    total = terms[0] if terms else 0.0
    for term in terms[1:]:
        total = total + term
    return total


def _nothing(x: Any) -> bool:
    return isinstance(x, float) and x == 0.0


def _array(rows: Iterable[list[Any]]) -> np.ndarray:
    found = [list(row) for row in rows]
    array = np.empty((len(found), len(found[0])), dtype=object)
    for k, row in enumerate(found):
        array[k] = row
    return array
