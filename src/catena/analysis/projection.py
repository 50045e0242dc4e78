"""Checks of the states that questions are asked about: states that violate the constraint rows are
refused, or projected onto them on request; states in which contacts touch are refused by questions
that do not include contact forces.
"""

from __future__ import annotations

import numpy as np

from ..errors import QuestionError
from ..machine import Machine, where
from .assembly import assemble
from .contact_separation import touching

Array = np.ndarray
ADVICE = "begin with q, v = catena.assemble(mechanism, q, v), or say project=True"


def require_apart(machine: Machine, question: str, q: Array) -> None:
    """Raise a QuestionError if contacts touch in a state q (..., nq), because a question about
    smooth motion would ignore their forces.
    """
    if not machine.mechanism.contacts:
        return
    for one in q.reshape(-1, q.shape[-1]):
        if names := touching(machine, one):
            raise QuestionError(
                f"{question}: contact {names[0]!r} of {where(machine)} touches in this state, and"
                " this question does not compute contact forces; use simulate(...) or"
                " contact_ranges(...), give the forces as wrenches, or leave out the contacts"
            )


def possible_state(
    machine: Machine, question: str, q: Array, v: Array, project: bool, t: float = 0.0
) -> tuple[Array, Array]:
    """Return states q (..., nq) and v (..., nv) that keep every loop closed at time t (s).

    With project=True they are the nearest such states (`assemble`). Otherwise they are those given,
    and a ClosureError says which loop they leave open, or tear open, and by how much.
    """
    if machine.rows and project:
        q, v = assemble(machine, q, v, t=t)
    elif machine.rows:
        machine.require_possible(question, q, v, t=t, advice=ADVICE)
    return q, v
