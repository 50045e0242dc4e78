"""compare: the cost of each formulation on one mechanism, as [Baysec1996] compares them on the
triple pendulum.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..compiler import compile_lanes
from ..equations import formulations as families
from ..equations.formulations import DEFAULT, derive
from ..errors import CatenaError, FormulationError, SingularError
from ..machine import Machine, compile
from ..model import Mechanism
from ..registry import loaded
from .certificate import Array, random_states

TIMING_STATES = 1024  # random states in the batch whose evaluation is timed
States = tuple[Array, Array, Array, Array]  # q, v, tau, parameters


@dataclass(frozen=True)
class Cost:
    """The cost of one formulation on one mechanism.

    Attributes
    ----------
    formulation : str
        Its name.
    first_order : int
        The number of first-order equations.
    largest_matrix : int
        The size of the largest matrix that is factorised.
    operations : int
        The number of operations of one evaluation of the accelerations.
    evaluation : float
        Time per state in a batch, ns.
    simulation : float
        Time to simulate, relative to the quickest formulation.
    deviation : float
        The largest difference of the coordinates at the end of the run from the default
        formulation.
    drift : float
        The energy drift relative to the largest kinetic energy.
    note : str
        Why there is no result, where there is none.
    """

    formulation: str
    first_order: int = 0
    largest_matrix: int = 0
    operations: int = 0
    evaluation: float = np.nan
    simulation: float = np.nan
    deviation: float = np.nan
    drift: float = np.nan
    note: str = ""


@dataclass(frozen=True)
class Comparison:
    """The costs of all formulations on one mechanism."""

    mechanism: str
    until: float
    costs: tuple[Cost, ...]

    HEAD = (
        "formulation",
        "first-order equations",
        "largest matrix",
        "operations",
        "ns per evaluation",
        "time to simulate",
        "deviation",
        "energy drift",
    )

    def rows(self) -> list[tuple[str, ...]]:
        """Return the cells of the table, without formulations that do not apply."""
        found: list[tuple[str, ...]] = []
        for c in self.costs:
            counted = (
                c.formulation,
                str(c.first_order),
                str(c.largest_matrix),
                str(c.operations),
                f"{c.evaluation:.0f}",
            )
            if not c.note:
                found.append(
                    (*counted, f"{c.simulation:.2f}", f"{c.deviation:.1e}", f"{c.drift:.1e}")
                )
            elif c.operations:
                found.append((*counted, "", "", ""))
        return found

    def notes(self) -> list[str]:
        """Return a sentence for each formulation without a complete row in the table."""
        return [c.note for c in self.costs if c.note]

    def _repr_html_(self) -> str:
        return str(
            loaded("catena.results.notebook:report")("", self.HEAD, self.rows(), self.notes())
        )

    def __str__(self) -> str:
        rows = [self.HEAD, *self.rows()]
        wide = [max(len(row[k]) for row in rows) for k in range(len(self.HEAD))]
        lines = [
            "  ".join(
                f"{cell:>{n}}" if k else f"{cell:<{n}}"
                for k, (cell, n) in enumerate(zip(row, wide))
            )
            for row in rows
        ]
        return "\n".join([*lines, *self.notes()])


def compare(
    mechanism: Mechanism | Machine,
    *,
    until: float = 1.0,
    tolerance: float = 1e-8,
    seed: int = 0,
    formulations: Sequence[str] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Comparison:
    """Compare the costs of formulations on one mechanism: operations, times, deviation and drift.

    The time to simulate is the number of evaluations of a run times the time per evaluation.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        The mechanism.
    until : float, default 1.0
        The duration of the simulated run, s.
    tolerance : float, default 1e-8
        The relative tolerance of the integrator, the same for all.
    seed : int, default 0
        The seed of the random states.
    formulations : sequence of str or None, default None
        Names of formulations; None means all.
    progress : callable or None, default None
        Called with the name of each formulation before its turn.

    Returns
    -------
    Comparison
        One `Cost` per formulation; `print` shows them as a table.

    Raises
    ------
    FormulationError
        If the mechanism has no degree of freedom.
    """
    machine = mechanism if isinstance(mechanism, Machine) else compile(mechanism)
    if not machine.nv:
        raise FormulationError(
            f"mechanism {machine.mechanism.name!r} has no motion to compare: all its joints are"
            " fixed"
        )
    names = list(formulations or families.ALL_FORMULATIONS)
    states = random_states(machine, TIMING_STATES, seed)
    costs, end = {}, None
    # first the one from which the others deviate
    for name in sorted(names, key=lambda n: n != DEFAULT):
        if progress:
            progress(name)
        costs[name], last = _cost(machine, name, states, until, tolerance, end)
        end = last if end is None else end
    quickest = np.nanmin([cost.simulation for cost in costs.values()])
    relative_costs = tuple(
        replace(costs[name], simulation=costs[name].simulation / quickest) for name in names
    )
    return Comparison(machine.mechanism.name, until, relative_costs)


def _cost(
    machine: Machine, name: str, states: States, until: float, tolerance: float, end: Array | None
) -> tuple[Cost, Array | None]:
    """Return the cost of one formulation, with its time to simulate in ns, and the last q of its
    run.
    """
    from ..simulation import simulate

    q, v, tau, p = states
    try:
        e = derive(machine.mechanism, name)
    except (FormulationError, SingularError) as error:
        return (
            Cost(name, note=f"{name} does not apply: {str(error).removeprefix(name + ': ')}"),
            None,
        )
    kernel = compile_lanes(e.acceleration)
    evaluation = (
        min(_timed(partial(kernel, [np.zeros(1), q, v, tau, p], TIMING_STATES)) for _ in range(20))
        / TIMING_STATES
        * 1e9
    )
    cost = Cost(
        name, e.counts.first_order, e.counts.largest_matrix, e.counts.operations, evaluation
    )
    try:
        run = simulate(machine, q[0], 0.1 * v[0], until, by=name, tolerance=tolerance)
    except CatenaError as error:
        return replace(cost, note=f"{name} could not be simulated: {error}"), None
    last = run.data["q"].values[-1]
    ledger = run.ledger
    deviation = 0.0 if end is None else float(np.abs(last - end).max())
    return (
        replace(
            cost,
            simulation=ledger.evaluations * evaluation,
            deviation=deviation,
            drift=ledger.relative_energy_balance,
        ),
        last,
    )


def _timed(f: Callable[[], object]) -> float:
    """Return the time that one call takes, s."""
    began = time.perf_counter()
    f()
    return time.perf_counter() - began
