"""Measures: the language, and each reduction beside its closed form."""

from __future__ import annotations

import re

import numpy as np
import pytest

import catena
from catena.errors import StudyError
from catena.studies.measures import read_measure, read_measures
from catena.studies.reductions import REDUCTIONS

T = np.linspace(0.0, 2.0, 2001)
W = np.array([[1.0], [2.0], [3.0]])  # three runs
MACHINE = catena.compile(catena.load("four_bar"), threads=1)

CLOSED = {  # of sin(w t) and exp(-w t) over [0, 2]
    "max(s)": [1.0, 1.0, 1.0],
    "min(s)": [0.0, np.sin(4.0), -1.0],
    "first(e)": [1.0, 1.0, 1.0],
    "final(e)": np.exp(-2 * W[:, 0]),
    "mean(e)": (1 - np.exp(-2 * W[:, 0])) / (2 * W[:, 0]),
    "rms(s)": np.sqrt(0.5 - np.sin(4 * W[:, 0]) / (8 * W[:, 0])),
    "integral(s)": (1 - np.cos(2 * W[:, 0])) / W[:, 0],
    "time_of(e - 0.5)": np.log(2) / W[:, 0],
    "time_of_max(s)": np.pi / 2 / W[:, 0],
    "time_of_min(s - 4*t)": [2.0, 2.0, 2.0],
    "max(abs(s - final(s)))": [np.sin(2.0), 1 - np.sin(4.0), 1 - np.sin(6.0)],
    "2*max(s) - min(e, s) + final(max(e, 0.5))": None,
    "settling(e, 0.05)": (
        np.log(1 / (0.05 * (1 - np.exp(-2 * W[:, 0])) + np.exp(-2 * W[:, 0]))) / W[:, 0]
    ),
}


def _values(text: str) -> np.ndarray:
    signals = {"s": np.sin(W * T), "e": np.exp(-W * T), "t": np.broadcast_to(T, (3, len(T)))}
    for word in ("s", "e"):
        text = re.sub(
            rf"(?<!\w){word}(?!\w)", f"q['{'motor pin' if word == 's' else 'far pin'}']", text
        )
    m = read_measure("m", text, MACHINE)
    table = {
        symbol: signals["t" if x.word == "t" else "s" if x.name == "motor pin" else "e"]
        for symbol, x in m.signals
    }
    found, missing = m.values(T, table)
    assert not missing
    return found


@pytest.mark.parametrize("text", CLOSED)
def test_reductions_have_their_closed_form(text: str) -> None:
    found = _values(text)
    if CLOSED[text] is None:
        assert found.shape == (3, len(T))  # min of two is row by row, and so not reduced
    else:
        np.testing.assert_allclose(
            found,
            CLOSED[text],
            rtol=2e-6,
            atol=2e-3 if "settling" in text or "time_of_max" in text else 2e-6,
        )


def test_every_reduction_is_tested_and_documented() -> None:
    from pathlib import Path

    from catena.studies import reductions

    assert all(any(f"{name}(" in text for text in CLOSED) for name in REDUCTIONS)
    assert reductions.markdown() in (Path(__file__).parents[2] / "docs" / "studies.md").read_text()


def test_what_never_happens_has_no_value() -> None:
    m = read_measure("m", "time_of(q['motor pin'] - 2)", MACHINE)
    found, ((step, lost),) = m.values(T, {m.signals[0][0]: np.sin(W * T)})
    assert (
        np.isnan(found).all()
        and lost.all()
        and step.reduction.never == "it does not meet zero during the run"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("max(q['moter pin'])", "no coordinate 'moter pin'.*Did you mean 'motor pin'"),
        ("fnal(energy)", "no function 'fnal'.*Did you mean 'final'"),
        ("max(qq['motor pin'])", "no quantity 'qq'"),
        ("max(q[motor])", "a bracket holds a name in quotation marks"),
        ("max(kinetic", "a parenthesis is not closed"),
        ("final(densty)", "no name 'densty'.*Did you mean 'density'"),
        ("final(kinetic, 2, 3)", "final takes one argument, found 3"),
        ("max(x['markr'])", "no frame 'markr'.*Did you mean 'marker'"),
        ("__import__('os')", "no function '__import__'"),
        ("kinetic +", "not an expression"),
    ],
)
def test_measures_that_cannot_be_read(text: str, words: str) -> None:
    with pytest.raises(StudyError, match=words):
        read_measures({"m": text}, MACHINE)


def test_all_faults_at_once() -> None:
    with pytest.raises(
        StudyError, match=r"(?s)measure 'a'.*'moter pin'.*measure 'b'.*'fnal'"
    ) as error:
        read_measures(
            {"a": "max(q['moter pin'])", "b": "fnal(energy)", "c": "max(energy)"}, MACHINE
        )
    assert len(error.value.faults) == 2
    with pytest.raises(StudyError, match="no measure is given"):
        read_measures({}, MACHINE)


def test_a_toy_reduction_from_outside() -> None:
    from catena.studies.reductions import Reduction

    REDUCTIONS.register(Reduction("span", lambda t, x: np.ptp(x, axis=-1), "largest less smallest"))
    try:
        np.testing.assert_allclose(_values("span(s)"), [1.0, 1.0 - np.sin(4.0), 2.0], rtol=1e-6)
    finally:
        del REDUCTIONS["span"]
