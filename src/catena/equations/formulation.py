"""The registry of formulations: one record per formulation holds everything that the rest of catena
needs to know about it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from ..errors import FormulationError
from ..model import Mechanism
from .equations import Equations
from .features import FEATURES, needs


class StateKind(Enum):
    """What a formulation integrates in addition to, or instead of, the coordinates q."""

    SPEEDS = "speeds"
    MOMENTA = "momenta"
    BODIES = "bodies"  # every body's own place and velocity, more than the mechanism has freedoms


@dataclass(frozen=True)
class Formulation:
    """A way to derive equations of motion.

    name: its name in `by=`. derive(mechanism, **options): the function that returns the equations;
    it may assume that the mechanism is valid, can move, and has no feature of `cannot`. unknowns:
    the quantities in the equations, one line. source: keys of docs/references.md, with equation
    numbers. year: the year of its publication, or of the source used here; lists are in this order.
    cannot: {name of a feature that it does not treat: why not, the end of a sentence "...
    because"}. state: what it integrates. own_loads: whether it treats loads on bodies itself; if
    not, they act as generalised forces, and it has no reactions then. approximate: whether its
    constraints hold only approximately, so that no state is projected onto them and nothing can be
    held exactly. by_blocks: whether prescribed motion is computed with blocks of the mass matrix
    (driven bodies then need no inertia) instead of from its own accelerations.
    """

    name: str
    derive: Callable[..., Equations]
    unknowns: str
    source: str
    year: int
    cannot: Mapping[str, str] = field(default_factory=dict)
    state: StateKind = StateKind.SPEEDS
    own_loads: bool = True
    approximate: bool = False
    by_blocks: bool = False

    def treats(self, feature: str) -> str:
        """Return "yes" or "-", for a table of features."""
        return "-" if feature in self.cannot else "yes"

    def takes(self, option: str) -> bool:
        """Return whether `derive` has an option of that name for it."""
        return option in inspect.signature(self.derive).parameters

    def lacks(self, m: Mechanism) -> list[str]:
        """Return the features of a mechanism that the formulation does not treat."""
        return [feature for feature in needs(m) if feature in self.cannot]


FORMULATIONS: dict[str, Formulation] = {}


def register(f: Formulation) -> Formulation:
    """Add a formulation to the registry, which `derive`, `check`, `compare`, `simulate`, files and
    the command line use.
    """
    if FORMULATIONS.get(f.name, f) != f:
        raise FormulationError(
            f"a formulation {f.name!r} is known already; give this one another name"
        )
    if wrong := set(f.cannot) - set(FEATURES):
        raise FormulationError(
            f"formulation {f.name!r}: {', '.join(sorted(wrong))} is no feature; features are:"
            f" {', '.join(FEATURES)}"
        )
    FORMULATIONS[f.name] = f
    return f
