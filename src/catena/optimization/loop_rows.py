"""Loops and speed rows in an optimal motion: which rows are independent, how the end of an
interval is projected onto them, and starts and ends that satisfy them.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..errors import StudyError
from ..machine import Machine, metric, position_count, spaces
from ..simulation.system import System
from ..studies import Nominal, close, independent_rows

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LoopRows:
    """Independent rows of the loops and speed rows.

    names: of their residuals and rates. rows: their indices in `machine.rows`. positions: those of
    them that constrain positions.
    """

    names: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
    positions: tuple[int, ...] = ()

    @staticmethod
    def of(machine: Machine, q: Array, p: Array) -> LoopRows:
        """Return the independent rows at that configuration, among q (K, nq), which has most of
        them.
        """
        if not machine.rows:
            return LoopRows()
        A = metric(machine).scaled(
            machine.constraint_rows(q, np.zeros((len(q), machine.nv)), _each(p, q))[3]
        )
        best = max((independent_rows(a) for a in A), key=lambda found: (len(found[0]), found[1]))[0]
        positions = tuple(k for k in best if k < position_count(machine))
        called = [f"{joint!r} ({label})" for joint, label in machine.rows]
        names = [f"loop {called[k]}" for k in positions] + [f"rate of {called[k]}" for k in best]
        return LoopRows(tuple(names), tuple(best), positions)

    @property
    def corrections(self) -> int:
        """The number of unknowns per interval that project its end onto the rows: gamma and mu."""
        return len(self.positions) + len(self.rows)

    def at_end(
        self, system: System, t: ca.SX, x: ca.SX, p: ca.SX, given: ca.SX
    ) -> tuple[ca.SX, ca.SX]:
        """Return the change (nx,) of the end of an interval by the unknowns gamma and mu, and the
        values of the rows there.
        """
        if not self.rows:
            return ca.SX.zeros(system.nq + system.nv), ca.SX.zeros(0)
        q, v = x[: system.nq], x[system.nq :]
        error, rate, A, G = system.tape(
            "rows of motion",
            "",
            lambda s: [
                *s.constraint_rows()[:2],
                s.constraint_rows()[3],
                ca.jacobian(s.coordinate_rate(), s.v),
            ],
        )(t, q, v, p)
        gamma = given[: len(self.positions)]
        mu = given[len(self.positions) :]
        back = ca.vertcat(
            (
                G @ (A[list(self.positions), :].T @ gamma)
                if self.positions
                else ca.SX.zeros(system.nq)
            ),
            A[list(self.rows), :].T @ mu,
        )
        return back, ca.vertcat(error[list(self.positions)], rate[list(self.rows)])


def _each(p: Array, q: Array) -> Array | None:
    """Return the parameters once per configuration, or None where there are none."""
    return np.tile(p, (len(q), 1)) if len(p) else None


# --- ends and guesses
def straight_guess(
    machine: Machine, q: Array, p: Array, goal: dict[int, float], count: int
) -> Array:
    """Return coordinates (count + 1, nq) on a straight line from q to their goals, with closed
    loops.

    goal: {coordinate: value}. Raises StudyError where the end cannot be assembled.
    """
    ends = np.array([q[list(goal)], list(goal.values())])
    line, reasons = assemble_in_turn(
        machine,
        q,
        p,
        list(goal),
        ends[0] + np.linspace(0.0, 1.0, count + 1)[:, None] * (ends[1] - ends[0]),
    )
    if reasons[-1]:
        raise StudyError(f"optimize: the end is out of reach: {reasons[-1]}")
    return line


def assemble_in_turn(
    machine: Machine, q: Array, p: Array, which: list[int], values: Array
) -> tuple[Array, list[str]]:
    """Return configurations (K, nq) with some coordinates at values (K, n), and reasons for
    failures.

    Each configuration is assembled from the one before; where that fails it is a copy of that one.
    """
    poses = np.tile(q, (len(values), 1))
    reasons = [""] * len(values)
    poses[:, which] = values
    if not position_count(machine) or not which:
        return poses, reasons
    kept = [c.vi for c in machine.spec.layout.coordinates if c.qi in which]
    for k, value in enumerate(values):
        last = poses[k - 1] if k else q
        aim = last.copy()
        aim[which] = value
        found, _, words = close(
            machine, Nominal(last, p, kept, []), aim[None], np.zeros((1, machine.nv)), p[None], 0.0
        )
        poses[k], reasons[k] = last if words[0] else found[0], words[0]
    return poses, reasons


def independent_ends(
    machine: Machine, q: Array, p: Array, goal: dict[int, float], still: list[int]
) -> tuple[list[int], list[int]]:
    """Return which of the coordinates and speeds given at the end q (nq,) are independent.

    The others follow from these by the loops.
    """
    if not machine.rows:
        return list(goal), still
    A = machine.constraint_rows(q[None], np.zeros((1, machine.nv)), _each(p, q[None]))[3][0]
    T = spaces(A, metric(machine)).T
    speed_of = {c.qi: c.vi for c in machine.spec.layout.coordinates}
    given = list(goal)
    own, _ = independent_rows(T[[speed_of[k] for k in given]] if given else np.zeros((0, 0)))
    kept, _ = independent_rows(T[still] if still else np.zeros((0, 0)))
    return [given[k] for k in own], [still[k] for k in kept]
