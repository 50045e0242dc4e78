"""The data that define a study: a mechanism, its variables, the runs, and the measures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..results import versions
from ..simulation.output import fingerprint
from .design import Design
from .measures import Measure
from .variables import Varied


@dataclass(frozen=True)
class Specification:
    """The data that define a study.

    varied: the mechanism and controller with their variables. design: the runs. measures: the
    numbers stored for each run. options: those of `catena.simulate`.
    """

    varied: Varied
    design: Design
    measures: tuple[Measure, ...]
    options: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def key(self) -> dict[str, str]:
        """Fingerprints of the parts that define the study, by name."""
        d = self.design
        words = [
            d.names,
            [(g.names, g.values) for g in d.grids],
            [(n, str(x)) for n, x in d.drawn],
            d.samples,
            d.scheme,
            d.seed,
            d.cube,
        ]
        asked = {
            "mechanism": self.varied.mechanism,
            "variables": [words, [(v.name, v.goes, v.place) for v in self.varied.variables]],
            "measures": [(m.name, m.text, m.function) for m in self.measures],
            "run": [dict(self.options), self.varied.control],
        }
        return {"catena": versions()["catena"]} | {
            name: fingerprint(x) for name, x in asked.items()
        }

    @property
    def fingerprint(self) -> str:
        """A string that is equal for equal studies."""
        return fingerprint(self.key)
