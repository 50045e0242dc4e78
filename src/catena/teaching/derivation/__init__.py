"""Derivations that can be read: the way from a mechanism to its equations of motion, step by step,
each line checked.

Board (symbols, names, random states) -> steps of one formulation -> Derivation -> text, LaTeX,
page, notebook

steps           the records: Derivation, Step, Line
board           expressions become lines here and are compared with a second route to the same
                numbers
observed_motion one such route: finite differences of the bodies' poses
comparison      two derivations side by side, and which of their terms are the same number
answers         a student's answers, read by student_notation and compared term by term
accepted_forms  the forms in which a right answer may be written, decided at answer_states
kinematics      positions, velocities, angular velocities: how every derivation begins
one file or function per formulation, listed in DERIVATIONS
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...doors import door
from ...equations import Derived, ground_angles
from ...errors import FormulationError
from .board import STATES, Board, WrongLineError
from .body_steps import ELIMINATED
from .euler_angles import angles_step, board_in_angles, rows_need_angles
from .ground_board import GroundBoard, with_ground_angles
from .registry import DERIVATIONS, Way, register
from .steps import Derivation, Line, Step

__all__ = [
    "DERIVATIONS",
    "Derivation",
    "Line",
    "Step",
    "Way",
    "derivation",
    "register",
    "textbook_forms",
]


def derivation(equations: Derived) -> Derivation:
    """Return the steps that lead to equations of motion. Raise a FormulationError where the
    formulation has none that can be read.
    """
    name = equations.formulation
    if name not in DERIVATIONS:
        raise FormulationError(
            f"steps: no derivation is written down for {name!r}; those with steps are:"
            f" {', '.join(DERIVATIONS)}"
        )
    way = DERIVATIONS[name]
    from_ground = getattr(equations, "extra", {}).get("coordinates", "joint") != "joint"
    if from_ground and not way.ground:
        able = [w.name for w in DERIVATIONS.values() if w.ground]
        raise FormulationError(
            f"steps: derivations in angles from the ground are written by {', '.join(able)}; leave"
            " out coordinates='absolute', or ask for the equations themselves, `text()`"
        )
    charted = way.angles and rows_need_angles(equations)
    board = board_in_angles(equations) if charted else Board(equations)
    if from_ground:
        board = GroundBoard(equations)
    steps = tuple(step for step in way.steps(board) if step.lines)
    if charted:
        steps = (angles_step(board), *steps)
    if isinstance(board, GroundBoard):
        steps = with_ground_angles(board, steps)
    values = {**board.mechanism.parameters}
    return Derivation(
        equations.mechanism.name,
        name,
        way.source,
        steps,
        board.names,
        STATES,
        values,
        {} if from_ground else _ground_angles(board),
        equations.mechanism if way.cuts else None,
    )


def _ground_angles(board: Board) -> dict[int, tuple[tuple[int, int], ...]]:
    """Return how the relative angles of a planar linkage add up to angles from the ground; nothing
    for other mechanisms.
    """
    try:
        chart = ground_angles(board.s.layout)
    except FormulationError:
        return {}
    rows = {k: tuple((i, int(x)) for i, x in enumerate(row) if x) for k, row in enumerate(chart)}
    return {k: row for k, row in rows.items() if len(row) > 1}


def textbook_forms(equations: Derived) -> list[Derivation]:
    """Return the final steps of a derivation, the form in which the formulation's source prints its
    equations; then a shorter form, where there is one.

    The result is empty where the formulation has no derivation, where it is too long to read, or
    where the formulation's own statement already has that form. The shorter form leaves out the
    equations of motion that follow from the rows above them by elimination.
    """
    way = DERIVATIONS.get(equations.formulation)
    if way is None:
        return []
    charted = way.angles and rows_need_angles(equations)
    if way.rows_alone and equations.readable is not None and not charted:
        return []
    try:
        found = derivation(equations)
    except WrongLineError:
        raise
    except FormulationError:
        return []
    short = replace(found, steps=tuple(step for step in found.steps if step.title != ELIMINATED))
    return [found, short] if way.eliminates else [found]


if TYPE_CHECKING:
    from .answers import grade
    from .comparison import Comparison
    from .writing import latex_form, text_form

__getattr__, __dir__ = door(__name__)
