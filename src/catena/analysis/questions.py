"""The registry of questions: one record per question holds what the documentation and
`catena.analysis` need to know about it.

A question is a function whose first argument is a Mechanism or a Machine. It does not change it,
takes and returns SI values, and raises a QuestionError (or ClosureError) with one sentence if it
has no answer.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import QuestionError
from ..registry import Registry


@dataclass(frozen=True)
class Question:
    """A question that can be asked about a mechanism.

    name: the function's name in `catena.analysis`. ask: the function. doc: a one-line description
    for the documentation. gives: a description of the result, with shapes.
    """

    name: str
    ask: Callable[..., Any]
    doc: str
    gives: str

    @property
    def options(self) -> tuple[str, ...]:
        """The names of the function's arguments after the mechanism."""
        return tuple(inspect.signature(self.ask).parameters)[1:]


QUESTIONS: Registry[Question] = Registry("question", error=QuestionError)
register = QUESTIONS.register


def markdown() -> str:
    """Return the table of questions in docs/questions.md."""
    rows = [
        f"| `{q.name}({', '.join(('mechanism', *q.options))})` | {q.doc} | {q.gives} |"
        for q in QUESTIONS.values()
    ]
    return "\n".join(["| question | asks | gives |", "|---|---|---|", *rows])
