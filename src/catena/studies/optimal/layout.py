"""Where the unknowns of a motion stand among those of a program, and which rows join its intervals: by the solver that takes it.

    chained   z = (x_0, u_0, x_1, u_1, ..., x_N, w)                        neighbours share a state; for a solver of sparse programs
    staged    z = (x_0, w_0, u_0, s_0, x_1, w_1, u_1, s_1, ..., x_N, w_N)   s_k = x_{k+1} and w_k = w_{k+1} are rows; for a solver that goes by stages

x (nx,): a state. u (nu,): what is constant in an interval. w (nw,): the duration and unknown parameters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Layout:
    """size: of z. state (N + 1, nx), force (N, nu), shared (1 or N + 1, nw): where they stand. after (N, nx): where an interval has the state at its end.
    rows (N, nr): the places of an interval's rows among the `count` of all. joins: (row, column, factor) of each entry of the rows that join.
    stages: sizes (state, control, rows) of each, where there are any."""

    size: int
    state: Places
    force: Places
    shared: Places
    after: Places
    rows: Places
    count: int
    joins: tuple[Places, Places, Array]
    stages: tuple[tuple[int, int, int], ...] = ()

    @property
    def places(self) -> Places:
        """(N, ny): where y = (x_0, u, x_1, w) of each interval stands in z."""
        N = len(self.force)
        w = self.shared[:N] if len(self.shared) > 1 else np.broadcast_to(self.shared, (N, self.shared.shape[1]))
        return np.hstack([self.state[:-1], self.force, self.after, w])

    def pack(self, x: Array, u: Array, w: Array, free: float | None = None) -> Array:
        """z of states (N + 1, nx), forces (N, nu), w (nw,); free: what stands at the copies instead, as the bound of what has none."""
        z = np.zeros(self.size)
        z[self.after] = x[1:] if free is None else free
        z[self.shared] = w if free is None else free
        z[self.state], z[self.force], z[self.shared[0]] = x, u, w
        return z

    def unpack(self, z: Array) -> tuple[Array, Array, Array]:
        """States, forces, w."""
        return z[self.state], z[self.force], z[self.shared[0]]


def chained(N: int, nx: int, nu: int, nw: int, nr: int) -> Layout:
    """Neighbouring intervals share a state, all of them w."""
    width = nx + nu
    size = N * width + nx + nw
    state = np.arange(N + 1)[:, None] * width + np.arange(nx)
    none = np.zeros(0, np.int64)
    return Layout(size, state, state[:-1, :1] + nx + np.arange(nu), np.arange(size - nw, size)[None], state[1:], np.arange(N * nr).reshape(N, nr), N * nr,
                  (none, none, np.zeros(0)))  # fmt: skip


def staged(N: int, nx: int, nu: int, nw: int, nr: int) -> Layout:
    """Every interval has its own copy of its end and of w; rows say that they are those of the next."""
    width, own = 2 * nx + nu + nw, nx + nw
    first = np.arange(N + 1)[:, None] * width
    state, shared = first + np.arange(nx), first + nx + np.arange(nw)
    force, after = (first[:-1] + own + k for k in (np.arange(nu), nu + np.arange(nx)))
    join = np.arange(N)[:, None] * (own + nr) + np.arange(own)  # x_{k+1} - s_k, w_{k+1} - w_k
    ends = (np.hstack([state[1:], shared[1:]]), np.hstack([after, shared[:-1]]))
    joins = np.concatenate([join.ravel()] * 2), np.concatenate([e.ravel() for e in ends]), np.repeat([1.0, -1.0], join.size)
    stages = ((own, nu + nx, nr),) * N + ((own, 0, 0),)
    return Layout(N * width + own, state, force, shared, after, join[:, :1] + own + np.arange(nr), N * (own + nr), joins, stages)
