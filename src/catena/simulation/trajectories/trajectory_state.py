"""Trajectories inside a run, one piece at a time.

At a knot of a trajectory accelerations may jump, and an integrator loses its order across a jump;
so a run stops at every knot. The end of the current piece, `until` (s), is a state of the run: it
says which piece is current, exactly at a knot too. Of a trajectory with many pieces only the
current one is part of the compiled equations, with its coefficients as states of the run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from .piecewise import Array, Trajectory

# of a trajectory with more pieces only the current one is in the tape, by its coefficients
MAX_TRACED_PIECES = 16
NO_NEXT_KNOT = 1e30  # s; the end of the last piece, later than the end of any run


@dataclass(frozen=True)
class Following:
    """A trajectory that a run follows.

    symbols: `until`, then, for a trajectory of more than MAX_TRACED_PIECES pieces, the coefficients
    of the current piece; empty for a trajectory of one piece.
    """

    trajectory: Trajectory
    symbols: ca.SX

    @staticmethod
    def of(trajectory: Trajectory) -> Following:
        """Return the trajectory with new symbols, as many as its number of pieces requires."""
        m, n, K = trajectory.powers.shape
        waves = 3 if trajectory.waves.any() else 0
        size = 0 if m == 1 else 1 if m <= MAX_TRACED_PIECES else 1 + n * (1 + K + waves)
        return Following(trajectory, ca.SX.sym("follow", size))

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the states that the trajectory adds to a run."""
        what = ", ".join(self.trajectory.names[:3]) + (
            " ..." if len(self.trajectory.names) > 3 else ""
        )
        size = self.symbols.numel()
        return (f"piece of {what}, until", *(f"piece of {what}, {k}" for k in range(1, size)))[
            :size
        ]

    def at(self, t: Any) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Return positions, speeds and accelerations (n,) as expressions of the symbol t."""
        path = self.trajectory
        size = self.symbols.numel()
        if size == 0:
            return path.traced(t)
        if size == 1:
            return path.traced(t, self.symbols[0])
        _, n, K = path.powers.shape
        table = ca.reshape(self.symbols[1:], n, -1)  # columns: origins, powers, waves
        return path.traced_piece(t, [table[:, k] for k in range(table.shape[1])], K)

    def values(self, t: float) -> Array:
        """Return the values of the states at time t (s), at which the piece that contains t becomes
        the current one.
        """
        path = self.trajectory
        size = self.symbols.numel()
        i = int(np.searchsorted(path.breaks, t, side="right"))
        until = path.breaks[i] if i < len(path.breaks) else NO_NEXT_KNOT
        columns = [path.origins[i][:, None], path.powers[i], path.waves[i]]
        return np.concatenate([[until], np.concatenate(columns, axis=1).T.ravel()])[:size]


class Follows(list[Any]):
    """The trajectories that a run follows, without duplicates."""

    def one(self, trajectory: Trajectory) -> Following:
        """Return the Following of a trajectory; make one where there is none yet."""
        for f in self:
            if f.trajectory is trajectory:
                return f
        self.append(Following.of(trajectory))
        return self[-1]

    def within(self, law: Any) -> tuple[Any, list[tuple[int, Following]]]:
        """Return the law with the states of all trajectories added, and the index of the first
        state of each.
        """
        parts = [f for f in self if f.symbols.numel()]
        names = [name for f in parts for name in f.names]
        before = np.cumsum([len(law.names), *(f.symbols.numel() for f in parts)]).tolist()
        symbols = ca.vertcat(*(f.symbols for f in parts))
        wide = replace(
            law,
            rate=ca.vertcat(law.rate, ca.SX.zeros(len(names))),
            state=ca.vertcat(law.state, symbols),
            names=(*law.names, *names),
            start=(*law.start, *(0.0 for _ in names)),
            jump=None if law.jump is None else ca.vertcat(law.jump, symbols),
            clocks=(*law.clocks, *before[: len(parts)]),
        )
        return wide, list(zip(before, parts))
