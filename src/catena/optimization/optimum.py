"""Optimum: an optimal motion, with a forward simulation of its forces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..machine import Machine
from ..model import rough_joints
from ..results import Result
from ..simulation import simulate

Array = NDArray[np.float64]
ROWS_PER_INTERVAL = 8  # output rows of the forward simulation per interval
CHECK_TOLERANCE = 1e-11  # relative tolerance of the forward simulation


@dataclass(frozen=True)
class Optimum:
    """An optimal motion.

    Attributes
    ----------
    t : array, shape (N + 1,)
        The ends of the intervals, s.
    q : array, shape (N + 1, nq)
        The coordinates of the solver, rad or m.
    v : array, shape (N + 1, nv)
        The speeds of the solver.
    forces : array, shape (N, nv)
        The joint forces, each constant in one interval, N m or N.
    cost : float
        The value of the cost.
    parameters : mapping
        The values of the unknown parameters.
    result : Result
        The forward simulation of the forces at a tolerance of 1e-11, with its ledger.
    difference : float
        The largest difference of coordinates or speeds between solver and simulation, relative to
        the largest coordinate or speed, or to 1.
    worst : (str, float)
        The state in which it occurs, and when (s).
    iterations : int
        Of Ipopt.
    seconds : float
        The time that Ipopt took.
    evaluation : float
        The part of it (s) in which Ipopt waited for its functions.
    smoothed : tuple of str
        The joints whose dry friction the solver and `result` smooth about zero speed.
    sticking_difference : float
        The largest difference between the solver and a simulation of the same forces in which dry
        friction sticks, relative as `difference`; zero without dry friction.
    """

    t: Array
    q: Array
    v: Array
    forces: Array
    cost: float
    parameters: Mapping[str, float]
    result: Result
    difference: float
    worst: tuple[str, float]
    iterations: int
    seconds: float
    evaluation: float
    smoothed: tuple[str, ...] = ()
    sticking_difference: float = 0.0

    def __str__(self) -> str:
        found = "".join(f", {name} = {x:.6g}" for name, x in self.parameters.items())
        name, at = self.worst
        return (
            f"cost {self.cost:.6g}{found}; {self.t[-1]:.6g} s in {len(self.forces)} intervals;"
            f" {self.iterations} iterations, {self.seconds:.3g} s\nforward simulation at a"
            f" tolerance of {CHECK_TOLERANCE:g} differs by {self.difference:.2g} (relative), most"
            f" in {name!r} at t = {at:.4g} s{self._about_friction}"
        )

    @property
    def _about_friction(self) -> str:
        """A sentence about friction that is smoothed; empty without any."""
        if not self.smoothed:
            return ""
        return (
            f"\ndry friction of {', '.join(map(repr, self.smoothed))} is smoothed about zero speed;"
            f" a simulation in which it sticks differs by {self.sticking_difference:.2g} (relative)"
        )


def check_by_simulation(
    machine: Machine,
    t: Array,
    q: Array,
    v: Array,
    forces: Array,
    *,
    unknown: Mapping[str, float],
    given: Mapping[str, float] | None,
    **facts: Any,
) -> Optimum:
    """Return the optimum with the forward simulation of its forces.

    facts: further fields of `Optimum`.
    """

    def run(friction: str) -> Result:
        return simulate(
            machine,
            q=q[0],
            v=v[0],
            until=float(t[-1]),
            forces=forces,
            output=np.linspace(t[0], t[-1], ROWS_PER_INTERVAL * len(forces) + 1),
            tolerance=CHECK_TOLERANCE,
            limits="ignore",
            friction=friction,
            parameters={**(given or {}), **unknown} or None,
        )

    result = run("smooth")
    rough = tuple(rough_joints(machine.mechanism))
    names = [f"q.{n}" for n in machine.coordinate_names] + [f"v.{n}" for n in machine.speed_names]
    far = _differences(result, q, v)
    row, column = np.unravel_index(int(far.argmax()), far.shape)
    return Optimum(
        t,
        q,
        v,
        forces,
        parameters=dict(unknown),
        result=result,
        difference=float(far.max()),
        worst=(names[int(column)], float(t[int(row)])),
        smoothed=rough,
        sticking_difference=float(_differences(run("stick"), q, v).max()) if rough else 0.0,
        **facts,
    )


def _differences(result: Result, q: Array, v: Array) -> Array:
    """Return (N + 1, nq + nv): the differences of a simulation from the solver's states, relative
    to the largest coordinate or speed, or to 1.
    """
    return np.hstack(
        [
            np.abs(np.asarray(result.q)[::ROWS_PER_INTERVAL] - q) / max(1.0, np.abs(q).max()),
            np.abs(np.asarray(result.v)[::ROWS_PER_INTERVAL] - v) / max(1.0, np.abs(v).max()),
        ]
    )
