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

LARGE = 12  # speeds: a mechanism with more is derived by the formulations of QUICK alone
QUICK = ("recursive", "gibbs_appell", "lagrange")


@dataclass(frozen=True)
class Subject:
    """What a report is about. by: the formulation whose equations are printed. states: of the
    certificate. source: the file's name.

    folders: where files of meshes may lie.
    """

    scenario: Scenario
    source: str = ""
    by: str = "lagrange"
    states: int = 20
    folders: Sequence[Path] | None = None

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism."""
        return self.scenario.mechanism

    @cached_property
    def machine(self) -> Machine:
        """Compiled."""
        return compile(self.mechanism)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What `catena info` knows."""
        return describe(self.mechanism) | {"mobility": mobility(self.machine, self.start)}

    @cached_property
    def round_trip(self) -> dict[str, Any]:
        """Inverse against forward dynamics."""
        return round_trip(self.machine)

    @property
    def large(self) -> bool:
        """Whether it has too many speeds for every formulation."""
        return self.machine.nv > LARGE

    @cached_property
    def derived(self) -> dict[str, Equations | CatenaError]:
        """The equations by every formulation that a report asks, or why one does not apply."""
        found: dict[str, Equations | CatenaError] = {}
        for name in (f.name for f in formulations()):
            if not self.large or name in (*QUICK, self.by):
                try:
                    found[name] = derive(self.mechanism, name)
                except CatenaError as why:
                    found[name] = why
        return found

    @cached_property
    def result(self) -> Result:
        """The run; of one that broke off the part that there is."""
        try:
            free = {} if self.scenario.told else {"limits": "ignore"}
            return simulate(self.mechanism, **{**self.scenario.arguments, **free})
        except SimulationError as why:
            if why.result is None:
                raise
            return why.result  # type: ignore[return-value]

    @cached_property
    def scene(self) -> Scene:
        """What is drawn of it."""
        return drawn(self.mechanism, folders=self.folders)

    @property
    def start(self) -> np.ndarray:
        """q (nq,) at the start of the run."""
        return np.asarray(self.scenario.q, float)
