"""compare: what each formulation costs on one mechanism, as [Baysec1996] compares them on the triple pendulum."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..compiler.lanes import compile_lanes
from ..equations.equations import Equations
from ..equations.formulations import ALL_FORMULATIONS, derive
from ..errors import CatenaError, FormulationError, SingularError
from ..machine.machine import Machine, compile
from ..model.mechanism import Mechanism
from .certificate import random_states

BATCH = 1024


@dataclass(frozen=True)
class Cost:
    """One line: what a formulation needs and what it gave. evaluation: ns a state, in lanes. simulation: beside the quickest.
    deviation: of the coordinates at the end, from recursive. drift: energy balance beside the largest kinetic energy."""

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

    HEAD = ("formulation", "first-order equations", "largest matrix", "operations", "ns an evaluation", "time to simulate",
            "deviation", "energy drift")  # fmt: skip

    def rows(self) -> list[tuple[str, ...]]:
        """The table's cells."""
        found: list[tuple[str, ...]] = []
        for c in self.costs:
            counted = (c.formulation, str(c.first_order), str(c.largest_matrix), str(c.operations), f"{c.evaluation:.0f}")
            if not c.note:
                found.append((*counted, f"{c.simulation:.2f}", f"{c.deviation:.1e}", f"{c.drift:.1e}"))
            elif c.operations:
                found.append((*counted, "", "", ""))
        return found

    def notes(self) -> list[str]:
        """A sentence for each formulation that is not in the table."""
        return [c.note for c in self.costs if c.note]

    def __str__(self) -> str:
        rows = [self.HEAD, *self.rows()]
        lines = ["  ".join(f"{cell:>16}" if k else f"{cell:<16}" for k, cell in enumerate(row)) for row in rows]
        return "\n".join([*lines, *self.notes()])


def compare(
    mechanism: Mechanism | Machine, *, until: float = 1.0, tolerance: float = 1e-8, seed: int = 0,
    formulations: Sequence[str] = ALL_FORMULATIONS, progress: Callable[[str], None] | None = None,
) -> Comparison:  # fmt: skip
    """Costs of all formulations: counts, time an evaluation, time to simulate `until` seconds at one accuracy, deviation."""
    from ..simulation import simulate

    machine = mechanism if isinstance(mechanism, Machine) else compile(mechanism)
    if not machine.nv:
        raise FormulationError(f"mechanism {machine.mechanism.name!r} has no motion to compare: all its joints are fixed")
    q, v, tau, p = random_states(machine, BATCH, seed)
    found: list[tuple[Cost, float]] = []
    end: np.ndarray | None = None
    for name in sorted(formulations, key=lambda n: n != "recursive"):  # recursive first: the others deviate from it
        if progress:
            progress(name)
        try:
            e = derive(machine.mechanism, name)
        except (FormulationError, SingularError) as error:
            found.append((Cost(name, note=f"{name} does not apply: {str(error).removeprefix(name + ': ')}"), np.nan))
            continue
        kernel = compile_lanes(e.acceleration)
        inputs = [np.zeros(1), q, v, tau, p]
        evaluation = min(_timed(partial(kernel, inputs, BATCH)) for _ in range(20)) / BATCH * 1e9
        try:
            runs = [simulate(machine, q[0], 0.1 * v[0], until, by=name, tolerance=tolerance) for _ in range(2)]
        except CatenaError as error:
            found.append((Cost(name, *_counts(e), evaluation, note=f"{name} could not be simulated: {error}"), np.nan))
            continue
        last = runs[-1].data["q"].values[-1]
        end = last if end is None else end
        ledger = runs[-1].ledger
        seconds = ledger.evaluations * evaluation
        found.append((Cost(name, *_counts(e), evaluation, seconds, float(np.abs(last - end).max()),
                           ledger.relative_energy_balance), seconds))  # fmt: skip
    quickest = np.nanmin([seconds for _, seconds in found])
    order = list(formulations)
    costs = sorted((_beside(cost, quickest) for cost, _ in found), key=lambda c: order.index(c.formulation))
    return Comparison(machine.mechanism.name, until, tuple(costs))


def _counts(e: Equations) -> tuple[int, int, int]:
    return e.counts.first_order, e.counts.largest_matrix, e.counts.operations


def _beside(cost: Cost, quickest: float) -> Cost:
    return replace(cost, simulation=cost.simulation / quickest)


def _timed(f: Callable[[], object]) -> float:
    began = time.perf_counter()
    f()
    return time.perf_counter() - began
