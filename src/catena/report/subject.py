"""Subject: the mechanism of a report, with everything that is computed for it, each once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..equations import Equations
from ..equations.formulations import derive, formulations
from ..errors import CatenaError, SimulationError
from ..machine import Machine, compile
from ..model import Mechanism
from ..results import Result
from ..results.scene import Scene
from ..results.scene import describe as drawn
from ..simulation import simulate
from ..simulation.scenario import Scenario
from .description import describe, mobility, round_trip

MAX_SPEEDS_FOR_ALL = 12  # speeds; a larger mechanism is derived by the formulations in QUICK alone
QUICK_FORMULATIONS = ("recursive", "gibbs_appell", "lagrange")


@dataclass(frozen=True)
class Subject:
    """The subject of a report: its mechanism, with everything that is computed for it, each result
    once.

    scenario: the mechanism and its run. source: the name of the file. by: the formulation whose
    equations are printed. states: the number of random states of the certificate. folders: where
    mesh files may be.
    """

    scenario: Scenario
    source: str = ""
    by: str = "lagrange"
    states: int = 20
    folders: Sequence[Path] | None = None

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism of the scenario."""
        return self.scenario.mechanism

    @cached_property
    def machine(self) -> Machine:
        """The compiled mechanism."""
        return compile(self.mechanism)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The data that `catena info` shows."""
        return describe(self.mechanism) | {"mobility": mobility(self.machine, self.start)}

    @cached_property
    def round_trip(self) -> dict[str, Any]:
        """The comparison of inverse and forward dynamics."""
        return round_trip(self.machine)

    @property
    def large(self) -> bool:
        """Whether the mechanism has too many speeds to be derived by every formulation."""
        return self.machine.nv > MAX_SPEEDS_FOR_ALL

    @cached_property
    def derived(self) -> dict[str, Equations | CatenaError]:
        """The equations by every formulation that a report uses, or the error why one does not
        apply.
        """
        found: dict[str, Equations | CatenaError] = {}
        for name in (f.name for f in formulations()):
            if not self.large or name in (*QUICK_FORMULATIONS, self.by):
                try:
                    found[name] = derive(self.mechanism, name)
                except CatenaError as why:
                    found[name] = why
        return found

    @cached_property
    def result(self) -> Result:
        """The run; where it failed, the part that was computed."""
        try:
            free = {} if self.scenario.has_scenario else {"limits": "ignore"}
            return simulate(self.mechanism, **{**self.scenario.arguments, **free})
        except SimulationError as why:
            if why.result is None:
                raise
            return why.result  # type: ignore[return-value]

    @cached_property
    def scene(self) -> Scene:
        """The scene that is drawn."""
        return drawn(self.mechanism, folders=self.folders)

    @property
    def start(self) -> np.ndarray:
        """The coordinates q (nq,) at the start of the run."""
        return np.asarray(self.scenario.q, float)
