"""The formulations: siblings with one face, none importing another. `derive` picks one by its name."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from ..equations import Equations
from ..errors import FormulationError, unknown
from ..mechanism import Mechanism

ALL_FORMULATIONS = ("newton_euler", "lagrange", "hamilton", "kane", "boltzmann_hamel", "penalty", "recursive")


def formulation(name: str) -> Callable[..., Equations]:
    """The function of that name."""
    if name not in ALL_FORMULATIONS:
        raise FormulationError(unknown("formulation", name, ALL_FORMULATIONS))
    return getattr(import_module(f".{name}", __package__), name)


def derive(mechanism: Mechanism, by: str = "recursive", **options: object) -> Equations:
    """The equations of motion of a mechanism, by one of `ALL_FORMULATIONS`."""
    return formulation(by)(mechanism.validate(), **options)
