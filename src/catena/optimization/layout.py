"""The layout of the unknowns of a motion: neighbouring intervals share a state, and all intervals
share w.

    z = (x_0, u_0, x_1, u_1, ..., x_N, w)

x (nx,): a state. u (nu,): the unknowns that are constant in an interval. w (nw,): the duration and
unknown parameters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Layout:
    """The layout of N intervals."""

    N: int
    nx: int
    nu: int
    nw: int

    @property
    def size(self) -> int:
        """The number of all unknowns."""
        return self.N * (self.nx + self.nu) + self.nx + self.nw

    @property
    def places(self) -> Places:
        """The indices in z of the unknowns (x_0, u, x_1, w) of each interval, (N, ny)."""
        first = np.arange(self.N)[:, None] * (self.nx + self.nu)
        return np.hstack(
            [
                first + np.arange(2 * self.nx + self.nu),
                np.tile(self.size - self.nw + np.arange(self.nw), (self.N, 1)),
            ]
        )

    def pack(self, x: Array, u: Array, w: Array) -> Array:
        """Return the unknowns z from states (N + 1, nx), the unknowns of each interval (N, nu), and
        those that all intervals share (nw,).
        """
        return np.concatenate([np.hstack([x[:-1], u]).ravel(), x[-1], w])

    def unpack(self, z: Array) -> tuple[Array, Array, Array]:
        """Return states (N + 1, nx), the unknowns of each interval (N, nu), and those that all
        intervals share (nw,) from z.
        """
        own = self.N * (self.nx + self.nu)
        rows = z[:own].reshape(self.N, -1)
        return (
            np.vstack([rows[:, : self.nx], z[own : own + self.nx]]),
            rows[:, self.nx :],
            z[own + self.nx :],
        )
