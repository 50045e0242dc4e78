"""Optimum: an optimal motion that was found, run forward again by the simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..machine import Machine
from ..results import Result
from ..simulation import simulate

Array = NDArray[np.float64]
ROWS = 8  # of the result in each interval
TIGHT = 1e-11  # the tolerance of the run that checks


@dataclass(frozen=True)
class Optimum:
    """A motion: t (N + 1,) s; q (N + 1, nq) and v (N + 1, nv) as the solver has them; forces (N,
    nv), each for one interval.

    cost: its value. parameters: those that were unknown. result: the same forces in a forward
    simulation at a tolerance of 1e-11, with its ledger. difference: the largest distance between
    the two, of any state beside the largest of its kind; worst: which state, and when (s).
    iterations, seconds: of Ipopt; evaluation: the seconds of them in which it waited for its
    functions.
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

    def __str__(self) -> str:
        found = "".join(f", {name} = {x:.6g}" for name, x in self.parameters.items())
        name, at = self.worst
        return (
            f"cost {self.cost:.6g}{found}; {self.t[-1]:.6g} s in {len(self.forces)} intervals;"
            f" {self.iterations} iterations, {self.seconds:.3g} s\nforward simulation at a"
            f" tolerance of {TIGHT:g} differs by {self.difference:.2g} (relative), most in {name!r}"
            f" at t = {at:.4g} s"
        )


def checked(
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
    """The optimum, with the forward simulation of its forces. facts: the fields that only say what
    was found and how.
    """
    result = simulate(
        machine,
        q=q[0],
        v=v[0],
        until=float(t[-1]),
        forces=forces,
        output=np.linspace(t[0], t[-1], ROWS * len(forces) + 1),
        tolerance=TIGHT,
        limits="ignore",
        parameters={**(given or {}), **unknown} or None,
    )
    names = [f"q.{n}" for n in machine.coordinate_names] + [f"v.{n}" for n in machine.speed_names]
    far = np.hstack(
        [
            np.abs(np.asarray(result.q)[::ROWS] - q) / max(1.0, np.abs(q).max()),
            np.abs(np.asarray(result.v)[::ROWS] - v) / max(1.0, np.abs(v).max()),
        ]
    )
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
        **facts,
    )
