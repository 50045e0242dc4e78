"""The registry of questions: one record per question says what the documentation and
`catena.analysis` must know about it.

A question is a function whose first argument is a Mechanism or a Machine. It does not change it,
takes and gives SI values, and raises a QuestionError (or ClosureError) with one sentence where it
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
    """A question that a mechanism can answer.

    name: its word, `catena.analysis.NAME`. ask: the function. doc: one line for people. gives: what
    comes back, with shapes.
    """

    name: str
    ask: Callable[..., Any]
    doc: str
    gives: str

    @property
    def options(self) -> tuple[str, ...]:
        """The names of its arguments after the mechanism."""
        return tuple(inspect.signature(self.ask).parameters)[1:]


QUESTIONS: Registry[Question] = Registry("question", error=QuestionError)
register = QUESTIONS.register


def markdown() -> str:
    """The questions as a table, as docs/questions.md shows it."""
    rows = [
        f"| `{q.name}({', '.join(('mechanism', *q.options))})` | {q.doc} | {q.gives} |"
        for q in QUESTIONS.values()
    ]
    return "\n".join(["| question | asks | gives |", "|---|---|---|", *rows])
