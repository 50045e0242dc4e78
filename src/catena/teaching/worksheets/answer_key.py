"""What a page needs to grade answers without a server: numbers at the states of the worksheet, and
the names of its symbols. The results themselves are not in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from ...equations.readable import text_writer
from ..derivation.accepted_forms import TOLERANCE, VANISHING
from ..derivation.answer_states import PATH, RANDOM, SAME_PARAMETERS, AnswerStates, answer_states
from ..derivation.steps import Derivation, Label, Line
from ..derivation.student_latex import quantities

DIGITS = 14  # of the numbers on the page


def answer_key(d: Derivation) -> dict[str, Any]:
    """Return the key of a worksheet as plain data.

    symbols: {name: values (bases, draws)}. texts: {text: symbol}; marks: [[dots, head, index,
    symbol], ...] for LaTeX. lines: {number: values, and of what kind the line is}. ground: {symbol:
    [[sign, symbol], ...]} of angles from the ground.
    """
    states = answer_states(d)
    texts: dict[str, str] = {}
    for _, group in reversed(list(d.names.items())):
        texts.update({n.text: n.symbol for n in group})
    rates = {s: texts[f"{t}'"] for t, s in texts.items() if f"{t}'" in texts}
    ground = {
        d.names[role][own].symbol: [[sign, d.names[role][i].symbol] for i, sign in row]
        for role in ("q", "v", "a")
        for own, row in d.ground_angles.items()
    }
    lines = {
        f"{k}.{n}": _line(d, line, states)
        for k, step in enumerate(d.steps, 1)
        for n, line in enumerate(step.lines, 1)
    }
    return {
        "symbols": {s: _rounded(x) for s, x in zip(states.symbols, states.values)},
        "texts": texts,
        "marks": [[*mark, symbol] for mark, symbol in quantities(d.names).items()],
        "fixed": [n.symbol for role in ("p", "t") for n in d.names[role]],
        "rates": rates,
        "ground": ground,
        "lines": lines,
        "random": RANDOM,
        "path": PATH,
        "same": SAME_PARAMETERS,
        "tolerance": TOLERANCE,
        "vanishing": VANISHING,
    }


def _line(d: Derivation, line: Line, states: AnswerStates) -> dict[str, Any]:
    """Return what an answer to a line is compared with."""
    row = not isinstance(line.left, Label)
    terms = (
        [[*line.left, *(t._replace(coefficient=-t.coefficient) for t in line.right[0])]]
        if not isinstance(line.left, Label)
        else list(line.right)
    )
    write = text_writer(d.names)
    entries = []
    for entry in terms:
        total = sp.Add(*(t.value for t in entry))
        of: dict[Any, Any] = {}
        for t in entry:
            of[t.of] = of.get(t.of, sp.Integer(0)) + t.coefficient * t.of
        bases = None if row else RANDOM
        entries.append(
            {
                "value": _rounded(states.at(total)[:bases]),
                "size": _rounded(
                    sum(
                        (np.abs(states.at(t.value)[:RANDOM]) for t in entry),
                        np.zeros((RANDOM, states.values.shape[2])),
                    )
                ),
                "terms": [
                    [write(head, False) if head != 1 else "", _rounded(states.at(x)[:RANDOM])]
                    for head, x in of.items()
                ],
            }
        )
    return {
        "row": row,
        "datum": line.datum,
        "label": line.left.text if isinstance(line.left, Label) else "",
        "shown": _shown(d, line),
        "entries": entries,
    }


def _shown(d: Derivation, line: Line) -> list[int]:
    """Return the entries of a vector that do not vanish in all vectors of the derivation."""
    if not line.vector:
        return [0]
    vectors = [x.values for step in d.steps for x in step.lines if x.vector and x.axes == line.axes]
    return [k for k in range(3) if any(x[k] != 0 for x in vectors)]


def _rounded(x: np.ndarray) -> Any:
    """Return numbers with DIGITS digits, None where they are not finite."""
    return [
        _rounded(row)
        if np.ndim(row)
        else (float(f"{row:.{DIGITS}g}") if np.isfinite(row) else None)
        for row in np.asarray(x, float)
    ]
