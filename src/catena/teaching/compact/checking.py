"""Checks of a compact form: its equations are evaluated with the formulation's own accelerations,
and its kinematics is compared with that of the kernels.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from ..derivation.board import TOLERANCE, Board, WrongLineError
from ..derivation.kinematics import Bodies
from .evaluation import PARTIAL, Evaluation
from .given import given
from .language import At, Equation, Symbol, Total
from .letters import SPEEDS, Phi, q1
from .page import Statement

INNER = {"n": (0, 1, 2), "l": (0, 1, 2)}  # values of the indices of axes, which have no set


def checked(statement: Statement, board: Board) -> float:
    """Return the largest relative error of the equations of a compact form. Raise a WrongLineError
    where one exceeds the tolerance.
    """
    worst = 0.0
    for state in given(board, statement.frames, statement):
        values = Evaluation(statement.frames, statement.definitions, state)
        for x in statement.equations:
            worst = max(worst, *(_error(x, values, at) for at in _places(x, values)), 0.0)
    return worst


def _places(x: Equation, values: Evaluation) -> list[At]:
    """Return all values of the indices for which an equation holds; an empty list for a definition,
    which is evaluated where other equations use it.
    """
    if not x.row:
        return []
    found: list[At] = [{x.each.letter: k} for k in values.members(x.each, {})] if x.each else [{}]
    for letter in sorted(x.left.open_letters() & set(INNER)):
        found = [{**at, letter: k} for at in found for k in INNER[letter]]
    return found


def _error(x: Equation, values: Evaluation, at: At) -> float:
    """Return the relative error of an equation for given values of its indices. Raise a
    WrongLineError where it exceeds the tolerance.
    """
    difference = np.abs(x.left.at(values, at) - x.right.at(values, at))
    size = np.sum(x.left.magnitude(values, at)) + np.sum(x.right.magnitude(values, at))
    error = float(np.sum(difference) / size) if size else 0.0
    if not error <= TOLERANCE:
        raise WrongLineError(
            f"the compact form: the row {x.left.text()} = {x.right.text()} at {dict(at)} differs by"
            f" {error:.1e} of its size, more than {TOLERANCE:g}; it is not shown. Please report it."
        )
    return error


def kinematic_errors(statement: Statement, board: Board) -> dict[str, float]:
    """Return {name: largest relative difference between a symbol and the kernels' recursive pass},
    for motion, partial velocities, rows of loops and their rates.
    """
    defined = statement.definitions
    fr = statement.frames
    own = "o" not in defined or "acc" in statement.symbols or "moment" in defined
    bodies = Bodies(board)
    known = {
        i: {
            name: board.numbers(ca.densify(x))
            for name, x in _known(bodies, fr.all[i].body.name, own).items()  # type: ignore[union-attr]
        }
        for i in fr.bodies
    }
    rates, errors = (
        (board.numbers(x) for x in (board.A @ board.s.v, board.s.constraint_rows()[0]))
        if fr.rows
        else (None, None)
    )
    found: dict[str, float] = {}
    for k, state in enumerate(given(board, fr, statement)):
        values = Evaluation(fr, defined, state)
        pairs = [
            (name, _value(values, name, i), x[k])
            for i, known_here in known.items()
            for name, x in known_here.items()
            if name in defined
        ]
        if "Phi" in defined:
            pairs += [
                ("Phi", values.rate(Phi("k"), {"k": row}), rates[k, row])  # type: ignore[index]
                for row in range(len(fr.rows))
            ]
            pairs += [
                ("Phi", Phi("k").at(values, {"k": row}), errors[k, row])  # type: ignore[index]
                for row in range(len(fr.rows))
            ]
        for name, value, reference in pairs:
            difference = np.abs(np.ravel(value) - reference).max()
            found[name] = max(
                found.get(name, 0.0), float(difference / (1.0 + np.abs(reference).max()))
            )
    return found


def _value(values: Evaluation, name: str, i: int) -> Any:
    """Return the value of a symbol of frame i; for a partial velocity, its sum times all speeds."""
    if name not in PARTIAL:
        return values.value(name, ("i",), {"i": i})
    return Total(SPEEDS, Symbol(name, name, ("i", "j")) * q1("j")).at(values, {"i": i})


def _known(bodies: Bodies, body: str, own: bool) -> dict[str, Any]:
    """Return the motion of a body as the kernels compute it. own: whether angular velocities are
    along its own axes.
    """
    b = bodies.mover(body)
    turned = ca.SX.eye(3) if own else b.R
    return {
        "r": b.r,
        "v": b.kernel[3:],
        "a": b.kernel_rate[3:],
        "omega": turned @ b.kernel[:3],
        "alpha": turned @ b.kernel_rate[:3],
        "omega'": b.kernel_rate[:3],
        "partial omega": b.R @ b.kernel[:3],
        "partial v": b.kernel[3:],
    }
