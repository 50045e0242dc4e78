"""Answers of students: a text in Python's or LaTeX's notation, read without running it, compared term by term with a line.

The text is read by `student_notation`. The line's terms are found again in the answer by the products of
accelerations, speeds and forces that head them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from ...errors import CatenaError, ExpressionError
from ..readable.names import Names, texts
from ..readable.printing import text_writer
from .steps import Derivation, Label, Line, Terms
from .student_notation import entries, expression

STATES, TOLERANCE = 5, 1e-6  # random states, and what a rounded number of a student may differ by
COEFFICIENTS = ("q", "p", "t")


@dataclass(frozen=True)
class Grade:
    """What an answer is worth. right: whether it is the line's value. remarks: one sentence for each term that is not."""

    right: bool
    remarks: tuple[str, ...]

    def __str__(self) -> str:
        return "right" if self.right else "\n".join(("not yet right:", *(f"  {remark}" for remark in self.remarks)))


def grade(d: Derivation, number: str, answer: str) -> Grade:
    """Compare an answer with line "STEP.LINE" of a derivation; three answers with commas between, or a matrix, for a vector.

    A line with a name may be answered with the name in front, T = ...; of a row both sides are wanted.
    """
    line = find(d, number)
    row = not isinstance(line.left, Label)
    answer = answer if row else answer.rpartition("=")[2]
    parts = entries(answer) if line.vector else [answer]
    if len(parts) != len(line.right):
        raise CatenaError(
            f"line {number} is a vector of {len(line.right)} entries; the answer has {len(parts)}: separate them by commas"
        )
    remarks = []
    for axis, part, terms in zip("xyz", parts, _sides(line)):
        found = _compared(d, read(d, part, row), terms)
        remarks += [f"{axis}: {x}" if line.vector else x for x in found]
    return Grade(not remarks, tuple(remarks))


def find(d: Derivation, number: str) -> Line:
    """The line of a number such as "4.1"."""
    match = re.fullmatch(r"(\d+)\.(\d+)", number.strip())
    known = [f"{k}.{n}" for k, step in enumerate(d.steps, 1) for n in range(1, len(step.lines) + 1)]
    if not match or number.strip() not in known:
        raise CatenaError(
            f"no line {number!r} in the derivation of {d.mechanism!r} by {d.formulation}; lines are: {', '.join(known)}"
        )
    return d.steps[int(match[1]) - 1].lines[int(match[2]) - 1]


def _sides(line: Line) -> list[Terms]:
    """What an answer is compared with: the right side; of a row, all of it brought to the left."""
    if not isinstance(line.left, Label):
        return [(*line.left, *(t._replace(coefficient=-t.coefficient) for t in line.right[0]))]
    return list(line.right)


# ------------------------------------------------------------------------------------------------------- reading
def read(d: Derivation, answer: str, row: bool = True) -> Any:
    """An answer as a SymPy expression of the derivation's symbols; an equation as left minus right. row: else the last side alone counts."""
    sides = answer.split("=")
    if not row:
        sides = sides[-1:]
    if len(sides) > 2:
        raise ExpressionError(f"{answer!r} has {len(sides) - 1} signs =; an answer is an expression, or one equation")
    found = [sp.sympify(expression(side, d.names)) for side in sides]
    return found[0] - found[1] if len(found) > 1 else found[0]


# ------------------------------------------------------------------------------------------------------- comparing
def _compared(d: Derivation, answer: Any, terms: Terms) -> list[str]:
    """A sentence for each term that is missing, wrong or too much."""
    heads = [sp.Symbol(n.symbol) for role, group in d.names.items() if role not in COEFFICIENTS for n in group]
    states = random_values(d.names)
    right = sp.Add(*(t.value for t in terms))
    size = np.array([sum(abs(_at(x, s)) for x in sp.Add.make_args(sp.expand(right))) for s in states])
    if all(abs(_at(answer, s) - _at(right, s)) <= TOLERANCE * max(z, 1e-300) for s, z in zip(states, size)):
        return []
    own, known, write = _grouped(answer, heads), _grouped(right, heads), text_writer(d.names)
    remarks = []
    for of in {**known, **own}:
        a, b = (np.array([_at(x.get(of, sp.Integer(0)), s) for s in states]) for x in (own, known))
        what = f"the term of {write(of, False)}" if of != 1 else "the part without speeds, accelerations and forces"
        if np.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE * float(np.abs(b).max(initial=0.0))):
            continue
        if not np.any(b):
            remarks.append(f"{what} should not be there: {write(own[of], False)}")
        elif not np.any(a):
            remarks.append(f"{what} is missing")
        elif np.allclose(a, -b, rtol=TOLERANCE):
            remarks.append(f"{what} has the wrong sign")
        elif np.allclose(a / np.where(b, b, 1), (a / np.where(b, b, 1))[0], rtol=TOLERANCE) and np.all(b):
            remarks.append(f"{what} is {sp.nsimplify(round(float(a[0] / b[0]), 9))} times what it should be")
        else:
            remarks.append(f"{what} is wrong: {write(own[of], False)}")
    return remarks or ["its value differs, though each term seems right"]


def _grouped(e: Any, heads: list[Any]) -> dict[Any, Any]:
    """{product of heads: coefficient} of an expanded expression."""
    found: dict[Any, Any] = {}
    for term in sp.Add.make_args(sp.expand(e)):
        of = sp.Mul(*(x for x in sp.Mul.make_args(term) if x.free_symbols and x.free_symbols <= set(heads)))
        found[of] = found.get(of, sp.Integer(0)) + term / of
    return found


def random_values(names: Names) -> list[dict[Any, float]]:
    """{symbol: number} for some states; the same name has the same numbers in every derivation of a mechanism."""
    symbols = sorted(texts(names, "text"), key=lambda s: s.name)
    draws = {s: np.random.default_rng(list(s.name.encode())).uniform(0.4, 1.6, STATES) for s in symbols}
    return [{s: float(x[k]) for s, x in draws.items()} for k in range(STATES)]


def _at(e: Any, state: dict[Any, float]) -> float:
    return float(sp.N(sp.sympify(e).xreplace(state)))
