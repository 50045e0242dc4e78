"""Answers of students: a text in Python's or LaTeX's notation, read without running it, compared term by term with a line.

The text is cut into tokens and parsed by the same parser as model files (`model.expression_syntax`): numbers, names, + - * / ^
and a few functions. The line's terms are found again in the answer by the products of accelerations, speeds and forces that head them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from ...errors import CatenaError, ExpressionError
from ...model.expression_functions import FUNCTIONS
from ...model.expressions import parse
from ..readable.names import texts
from ..readable.printing import text_writer
from .steps import Derivation, Line, Terms

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
    """Compare an answer with line "STEP.LINE" of a derivation; three answers with commas or semicolons between for a vector."""
    line = find(d, number)
    parts = _split(answer) if line.vector else [answer]
    if len(parts) != len(line.right):
        raise CatenaError(
            f"line {number} is a vector of {len(line.right)} entries; the answer has {len(parts)}: separate them by commas"
        )
    remarks = []
    for axis, part, terms in zip("xyz", parts, _sides(line)):
        found = _compared(d, read(d, part), terms)
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
    if isinstance(line.left, tuple) and not hasattr(line.left, "text"):
        return [(*line.left, *(t._replace(coefficient=-t.coefficient) for t in line.right[0]))]
    return list(line.right)


def _split(answer: str) -> list[str]:
    """At commas and semicolons outside brackets."""
    inner, parts, depth = (
        answer.strip().removeprefix("(").removesuffix(")") if re.match(r"^\(.*[,;].*\)$", answer.strip()) else answer,
        [""],
        0,
    )
    for c in inner:
        depth += (c in "({") - (c in ")}")
        if c in ",;" and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return parts


# ------------------------------------------------------------------------------------------------------- reading
def read(d: Derivation, answer: str) -> Any:
    """An answer as a SymPy expression of the derivation's symbols; an equation as left minus right."""
    sides = answer.split("=")
    if len(sides) > 2:
        raise ExpressionError(f"{answer!r} has {len(sides) - 1} signs =; an answer is an expression, or one equation")
    found = [sp.sympify(_expression(d, side)) for side in sides]
    return found[0] - found[1] if len(found) > 1 else found[0]


def _expression(d: Derivation, text: str) -> Any:
    names = {name.symbol for group in d.names.values() for name in group}
    latex = "\\" in text
    shown = {
        getattr(name, "latex" if latex else "text"): name.symbol for _, group in reversed(list(d.names.items())) for name in group
    }
    for word in sorted(shown, key=len, reverse=True):
        boundary = r"(?![A-Za-z_])" if latex else r"(?![\w.'])"
        before = r"(?<![A-Za-z\\@])" if latex and not word.startswith("\\") else r"(?<!@)" if latex else r"(?<![\w.@])"
        text = re.sub(before + re.escape(word) + boundary, lambda _: f" @{shown[word]} ", text)  # noqa: B023
    text = _plain(text) if latex else text
    return parse(_with_products(text.replace("@", "")), names)


def _plain(text: str) -> str:
    """A few of LaTeX's commands in plain notation."""
    text = re.sub(
        r"\\(left|right|,|;|!|quad|cdot|times)(?![a-zA-Z])", lambda m: "*" if m[1] in ("cdot", "times") else " ", text
    )
    for _ in range(20):
        changed = re.sub(r"\\t?frac\s*\{((?:[^{}]|\{[^{}]*\})*)\}\s*\{((?:[^{}]|\{[^{}]*\})*)\}", r"((\1)/(\2))", text)
        if changed == text:
            break
        text = changed
    text = re.sub(
        r"\\(sin|cos|tan|sqrt|tanh)\s*\^\s*\{?(\d+)\}?\s*(?:\{\s*\(|\(|\{)?\s*@?(\w+)\s*(?:\)\s*\}|\)|\})?",
        r"(\1(@\3))^\2 ",
        text,
    )
    text = re.sub(r"\\(sin|cos|tan|tanh)\s+@?(\w+)", r" \1(@\2) ", text)
    text = re.sub(r"\\(sin|cos|tan|sqrt|tanh|exp)", r" \1", text)
    return text.replace("{", "(").replace("}", ")")


def _with_products(text: str) -> str:
    """A sign * where two factors stand side by side."""
    pieces = re.findall(r"\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+|[^\W\d]\w*|\*\*|[-+*/^(),]|\S", text)
    out: list[str] = []
    for piece in pieces:
        begins = piece == "(" or re.match(r"[\w.]", piece)
        ended = bool(out) and (out[-1] == ")" or re.match(r"[\w.]", out[-1])) and out[-1] not in FUNCTIONS
        out += ["*", piece] if begins and ended else [piece]
    return "".join(out)


# ------------------------------------------------------------------------------------------------------- comparing
def _compared(d: Derivation, answer: Any, terms: Terms) -> list[str]:
    """A sentence for each term that is missing, wrong or too much."""
    heads = [sp.Symbol(n.symbol) for role, group in d.names.items() if role not in COEFFICIENTS for n in group]
    states = _states(d)
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


def _states(d: Derivation) -> list[dict[Any, float]]:
    rng = np.random.default_rng(3)
    symbols = sorted(texts(d.names, "text"), key=lambda s: s.name)
    return [{s: float(x) for s, x in zip(symbols, rng.uniform(0.4, 1.6, len(symbols)))} for _ in range(STATES)]


def _at(e: Any, state: dict[Any, float]) -> float:
    return float(sp.N(sp.sympify(e).xreplace(state)))
