"""Whether the equations of a compact statement hold: rows with the formulation's own accelerations, kinematics beside the kernels'."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from ..derivation.board import TOLERANCE, Board, WrongLineError
from ..derivation.kinematics import Bodies
from .evaluation import Evaluation
from .given import given
from .language import At, Equation
from .page import Statement

INNER = {"n": (0, 1, 2), "l": (0, 1, 2)}  # indices of axes that no set names


def checked(statement: Statement, board: Board) -> float:
    """The largest relative error of any row; WrongLineError where one does not hold."""
    worst = 0.0
    for state in given(board, statement.frames, statement):
        values = Evaluation(statement.frames, statement.definitions, state)
        for x in statement.equations:
            worst = max(worst, *(_error(x, values, at) for at in _places(x, values)), 0.0)
    return worst


def _places(x: Equation, values: Evaluation) -> list[At]:
    """All places at which an equation says something; definitions of two indices at those that others ask for."""
    if not x.row:
        return []
    found: list[At] = [{x.each.letter: k} for k in values.members(x.each, {})] if x.each else [{}]
    for letter in sorted(x.left.open_letters() & set(INNER)):
        found = [{**at, letter: k} for at in found for k in INNER[letter]]
    return found


def _error(x: Equation, values: Evaluation, at: At) -> float:
    difference = np.abs(x.left.at(values, at) - x.right.at(values, at))
    size = np.sum(x.left.magnitude(values, at)) + np.sum(x.right.magnitude(values, at))
    error = float(np.sum(difference) / size) if size else 0.0
    if not error <= TOLERANCE:
        raise WrongLineError(
            f"the compact form: the row {x.left.text()} = {x.right.text()} at {dict(at)} differs by {error:.1e} of its size, more than {TOLERANCE:g}; it is not "
            "shown. Please report it."
        )
    return error


def kinematic_errors(statement: Statement, board: Board) -> dict[str, float]:
    """{name: the largest relative difference of a kinematic symbol from the kernels' recursive pass}, of those that the statement defines."""
    bodies, found = Bodies(board), {}
    defined = statement.definitions
    own = "o" not in defined or "acc" in statement.symbols or "moment" in defined
    for k, state in enumerate(given(board, statement.frames, statement)):
        values = Evaluation(statement.frames, defined, state)
        for i in statement.frames.bodies:
            for name, reference in _known(bodies, statement.frames.all[i].body.name, own).items():  # type: ignore[union-attr]
                if name in defined:
                    known = board.numbers(ca.densify(reference))[k]
                    difference = np.abs(np.ravel(values.value(name, ("i",), {"i": i})) - known).max()
                    found[name] = max(found.get(name, 0.0), float(difference / (1.0 + np.abs(known).max())))
    return found


def _known(bodies: Bodies, body: str, own: bool) -> dict[str, Any]:
    b = bodies.mover(body)
    turned = ca.SX.eye(3) if own else b.R
    return {"r": b.r, "v": b.kernel[3:], "a": b.kernel_rate[3:], "omega": turned @ b.kernel[:3], "alpha": turned @ b.kernel_rate[:3], "omega'": b.kernel_rate[:3]}

