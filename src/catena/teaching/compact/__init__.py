"""The compact form of equations of motion: the vector equations of a formulation with definitions
of their quantities, on one page, for mechanisms of any size.

    frames -> Statement (sentences and vector equations) -> evaluated at random states -> text,
    LaTeX

language      vector algebra that is printed and evaluated from one tree
frames        the mechanism as frames of one elementary motion each
letters       the symbols, and the sets that indices run over
kinematics    how frames move, and the rows of loops
joint_forms, body_forms, coordinate_forms     the statements, one function for each formulation
evaluation, given, checking                   numbers at a state, and whether the equations hold
                                              there
tables, layout                                text and LaTeX
"""

from __future__ import annotations

from ...equations import Derived
from ...errors import FormulationError
from ...kernels import active_rows
from ..derivation.board import Board
from . import body_forms, coordinate_forms, joint_forms, layout
from .checking import checked
from .frames import Frames, frames
from .page import Statement

__all__ = ["STATEMENTS", "compact_form", "statement"]

STATEMENTS = {
    f.__name__: f
    for f in (
        joint_forms.lagrange,
        joint_forms.hamilton,
        joint_forms.kane,
        joint_forms.gibbs_appell,
        joint_forms.jourdain,
        joint_forms.variational,
        joint_forms.maggi,
        body_forms.newton_euler,
        body_forms.penalty,
        body_forms.recursive,
        body_forms.boltzmann_hamel,
        coordinate_forms.udwadia_kalaba,
        coordinate_forms.natural_coordinates,
    )
}


def statement(equations: Derived) -> tuple[Statement, Board]:
    """Return the compact form of equations of motion, checked at random states. Raise a
    FormulationError where there is none.
    """
    name = equations.formulation
    if name not in STATEMENTS:
        raise FormulationError(
            f"no compact form is written down for {name!r}; those that have one are:"
            f" {', '.join(STATEMENTS)}"
        )
    board = Board(equations)
    if board.mechanism.loads:
        raise FormulationError(
            f"the compact form does not treat loads, which mechanism {board.mechanism.name!r} has"
        )
    fr: Frames = frames(board.mechanism, active_rows(board.s.layout))
    found = Statement(fr, tuple(STATEMENTS[name](fr)))
    checked(found, board)
    return found, board


def compact_form(equations: Derived, how: str) -> str:
    """Return the compact form of equations of motion. how: "text" or "latex"."""
    found, board = statement(equations)
    title = f"{equations.mechanism.name} by {equations.formulation}"
    return getattr(layout, how)(found, board, title)
