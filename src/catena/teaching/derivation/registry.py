"""The registry of derivations: for each formulation the function that writes its steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...errors import FormulationError
from . import absolute_steps, body_steps, energy_steps, hamel_steps, kane
from .board import Board
from .steps import Step


@dataclass(frozen=True)
class Way:
    """A derivation. name: of its formulation. steps: a function of a board that returns its steps.
    source: the publication that prints this form. angles: whether it can be written in Euler
    angles, without cutting bodies free. rows_alone: whether the source's form is the equations of
    motion alone, so that `Equations.text` prints nothing before them. eliminates: whether its last
    step only eliminates forces from the rows before it, which are the source's form. cuts: whether
    it cuts the bodies free, so that a page shows free-body diagrams with the forces that its lines
    name. ground: whether it can be written in angles from the ground.
    """

    name: str
    steps: Callable[[Board], list[Step]]
    source: str
    angles: bool = False
    rows_alone: bool = False
    eliminates: bool = False
    cuts: bool = False
    ground: bool = False


DERIVATIONS: dict[str, Way] = {}


def register(way: Way) -> Way:
    """Add a derivation to the registry that `Equations.steps` uses."""
    if DERIVATIONS.get(way.name, way) != way:
        raise FormulationError(
            f"a derivation by {way.name!r} is known already; give this one another name"
        )
    DERIVATIONS[way.name] = way
    return way


for _way in (
    Way(
        "newton_euler",
        body_steps.newton_euler,
        "[Baysec1996] eq. 3-4, 23-46",
        eliminates=True,
        cuts=True,
    ),
    Way(
        "lagrange",
        energy_steps.lagrange,
        "[Baysec1996] eq. 5-9",
        angles=True,
        rows_alone=True,
        ground=True,
    ),
    Way(
        "hamilton",
        energy_steps.hamilton,
        "[Baysec1996] eq. 10-15",
        angles=True,
        rows_alone=True,
        ground=True,
    ),
    Way("kane", kane.kane, "[Passerello1972] eq. 2.24-2.29, 3.1-3.29", angles=True),
    Way("gibbs_appell", kane.gibbs_appell, "[Appell1900]", angles=True),
    Way("jourdain", kane.jourdain, "[Jourdain1909]", angles=True),
    Way(
        "boltzmann_hamel",
        hamel_steps.boltzmann_hamel,
        "[Hamel1904], [Quinn1991] eq. 18",
        angles=True,
    ),
    Way("penalty", body_steps.penalty, "[Baysec1996] eq. 16-22, 66-77"),
    Way("recursive", body_steps.recursive, "[Merwe1995] ch. 4-5", eliminates=True),
    Way("variational", kane.variational, "[Everett1988] eq. 20-32", angles=True),
    Way("maggi", absolute_steps.maggi, "[Maggi1896], [Kurdila1990]", angles=True),
    Way("udwadia_kalaba", absolute_steps.udwadia_kalaba, "[Udwadia1992]"),
    Way("natural_coordinates", absolute_steps.natural_coordinates, "[GarciaDeJalon1994]"),
):
    register(_way)
