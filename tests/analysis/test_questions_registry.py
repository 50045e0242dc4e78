"""Questions are records in a registry: a toy from outside is found, listed and runs; records say
what their functions take.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import catena
from catena.analysis.catalogue import QUESTIONS, markdown, register
from catena.analysis.questions import Question
from catena.errors import QuestionError
from catena.machine.lookup import machine_of


def reach(mechanism, q, frame):
    """How far a frame is from the ground's origin, m."""
    return float(np.linalg.norm(machine_of(mechanism).pose(np.asarray(q, float), frame)[:3, 3]))


@pytest.fixture
def toy():
    yield register(Question("reach", reach, "how far a frame is from the origin", "m"))
    del QUESTIONS["reach"]


def test_a_question_from_outside_is_found_and_runs(toy):
    with pytest.raises(QuestionError, match="question 'reach' is in the registry already"):
        register(toy)
    assert "reach" in dir(catena.analysis)
    assert toy.options == ("q", "frame")
    assert "| `reach(mechanism, q, frame)` | how far a frame is from the origin | m |" in markdown()
    arm = catena.load("two_link_arm")
    assert catena.analysis.reach(arm, [0.0, 0.0], "tip") == pytest.approx(0.9)


def test_a_question_that_is_not_there():
    with pytest.raises(
        AttributeError, match="has no attribute 'reach'; its questions are: assemble, "
    ):
        catena.analysis.reach  # noqa: B018


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=lambda q: q.name)
def test_every_question_takes_a_mechanism_first_and_says_what_it_does(question):
    first = next(iter(inspect.signature(question.ask).parameters.values()))
    assert (
        first.annotation == "Mechanism | Machine"
        and getattr(catena.analysis, question.name) is question.ask
    )
    assert (question.ask.__doc__ or "").strip() and question.doc and question.gives
