"""Answers of students: a text in Python's or LaTeX's notation is read without executing it, and
compared term by term with a line.

`student_notation` reads the text. The terms of the line are identified in the answer by the
products of accelerations, speeds and forces in them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb, prod
from typing import Any

import numpy as np
import sympy as sp

from ...equations.readable import Names, text_writer, texts, with_letters
from ...errors import CatenaError, ExpressionError
from .accepted_forms import (
    ACCEPTED_FORMS,
    TOLERANCE,
    AcceptedForm,
    equal,
    other_line,
    question,
)
from .answer_states import answer_states
from .steps import Derivation, Label, Line, Terms
from .student_notation import entries, expression

STATES = 5  # the number of random states at which the terms of an answer are compared
COMPARED_TERMS = 5000  # the largest number of terms of an answer that are compared one by one
COEFFICIENTS = ("q", "p", "t")


@dataclass(frozen=True)
class Grade:
    """The grade of an answer. right: whether it is a right answer to the line. remarks: one
    sentence for each term that is wrong; of a right answer, what differs from the worksheet.
    """

    right: bool
    remarks: tuple[str, ...]

    def __str__(self) -> str:
        if self.right:
            return ": ".join(("right", *self.remarks))
        return "\n".join(("not yet right:", *(f"  {remark}" for remark in self.remarks)))


def grade(
    d: Derivation, number: str, answer: str, letters: Mapping[str, str] | None = None
) -> Grade:
    """Compare an answer with line "STEP.LINE" of a derivation. The answer to a vector is its
    entries separated by commas, or a matrix; an entry that vanishes in all of a planar mechanism's
    vectors may be left out.

    The answer to a line with a name may have the name in front, T = .... The answer to a row is an
    equation; terms may be on either side of =, and it may be any combination of the equations of
    its step whose factors vanish nowhere. `accepted_forms` lists what else is right. letters: {the
    student's own letter: the worksheet's}.
    """
    line = find(d, number)
    names = _with_letters(d.names, letters or {})
    asked = question(d, number.strip(), line, answer_states(d))
    answer = answer if asked.row else answer.rpartition("=")[2]
    parts = _complete(entries(answer), d, line) if line.vector else [answer]
    if len(parts) != len(line.right):
        raise CatenaError(
            f"line {number} is a vector of {len(line.right)} entries; the answer has {len(parts)}:"
            " separate them by commas"
        )
    own = [read(names, part, asked.row) for part in parts]
    for form in (AcceptedForm("as it is", equal), *ACCEPTED_FORMS.values()):
        said = form.remark(asked, own)
        if said is not None:
            return Grade(True, (said,) if said else ())
    if other := other_line(asked, own):
        return Grade(False, (other,))
    remarks = []
    for axis, part, e, terms in zip("xyz", parts, own, _sides(line)):
        found = _compared(d, e, terms, equation=asked.row and "=" in part)
        remarks += [f"{axis}: {x}" if line.vector else x for x in found]
    return Grade(False, tuple(remarks) or ("its value differs, though each term seems right",))


def _complete(parts: list[str], d: Derivation, line: Line) -> list[str]:
    """Return the entries of a vector, with zeros in place of those that a student left out because
    all vectors of the derivation have zeros there.
    """
    if len(parts) >= len(line.right):
        return parts
    vectors = [x.values for step in d.steps for x in step.lines if x.vector and x.axes == line.axes]
    shown = [k for k in range(3) if any(x[k] != 0 for x in vectors)]
    if len(shown) != len(parts):
        return parts
    given = dict(zip(shown, parts))
    return [given.get(k, "0") for k in range(3)]


def find(d: Derivation, number: str) -> Line:
    """Return the line with a given number, such as "4.1"."""
    match = re.fullmatch(r"(\d+)\.(\d+)", number.strip())
    known = [f"{k}.{n}" for k, step in enumerate(d.steps, 1) for n in range(1, len(step.lines) + 1)]
    if not match or number.strip() not in known:
        raise CatenaError(
            f"no line {number!r} in the derivation of {d.mechanism!r} by {d.formulation}; lines"
            f" are: {', '.join(known)}"
        )
    return d.steps[int(match[1]) - 1].lines[int(match[2]) - 1]


def _sides(line: Line) -> list[Terms]:
    """Return the expression with which an answer is compared: the right side; for an equation of
    motion, all terms on one side.
    """
    if not isinstance(line.left, Label):
        return [(*line.left, *(t._replace(coefficient=-t.coefficient) for t in line.right[0]))]
    return list(line.right)


# --- reading
def read(names: Names, answer: str, row: bool = True) -> Any:
    """Return an answer as a SymPy expression of a derivation's symbols; an equation as left minus
    right. row: whether the line is a row; otherwise only the last side is read.
    """
    sides = answer.split("=")
    if not row:
        sides = sides[-1:]
    if len(sides) > 2:
        raise ExpressionError(
            f"{answer!r} has {len(sides) - 1} signs =; an answer is an expression, or one equation"
        )
    found = [sp.sympify(expression(side, names)) for side in sides]
    return found[0] - found[1] if len(found) > 1 else found[0]


def _with_letters(names: Names, letters: Mapping[str, str]) -> Names:
    """Return the names with the student's own letters. Raise an ExpressionError where one is not
    possible.
    """
    known = [n.text for role in ("q", "v", "a", "tau", "p") for n in names[role]]
    for other, ours in letters.items():
        if ours not in known:
            raise ExpressionError(
                f"{other} = {ours}: there is no quantity {ours!r} here; quantities are:"
                f" {', '.join(dict.fromkeys(known))}"
            )
        if other in known or not re.fullmatch(r"[A-Za-z]\w*", other):
            raise ExpressionError(
                f"{other} = {ours}: {other!r} is"
                f" {'a quantity here' if other in known else 'no letter or word'}; choose another"
            )
    return with_letters(names, letters)


# --- comparing
def _compared(d: Derivation, answer: Any, terms: Terms, equation: bool = False) -> list[str]:
    """Return a sentence for each term that is missing, wrong or superfluous. equation: whether both
    expressions are equal to zero, so that a common factor is allowed.
    """
    heads = [
        sp.Symbol(n.symbol)
        for role, group in d.names.items()
        if role not in COEFFICIENTS
        for n in group
    ]
    states = random_values(d.names)
    right = sp.Add(*(t.value for t in terms))
    if _same(answer, right, states):
        return []
    if _terms(answer) > COMPARED_TERMS:
        return [
            f"its value differs; written out it has more than {COMPARED_TERMS} terms, which are not"
            " compared one by one"
        ]
    own = _grouped(answer, heads)
    known = _grouped(right, heads)
    write = text_writer(d.names)
    free = {sp.Symbol(n.symbol) for role in ("p", "q") for n in d.names[role]}
    factor = _factor(own, known, states, free) if equation else sp.Integer(1)
    if factor != 1:
        if _same(answer, right * factor, states):
            return [
                f"it is the line's equation times {write(factor, False)}, which may vanish, and"
                " then says nothing"
            ]
        own = {of: x / factor for of, x in own.items()}
    remarks = []
    for of in {**known, **own}:
        a = own.get(of, sp.Integer(0))
        b = known.get(of, sp.Integer(0))
        remarks += _remarks(of, a, b, states, write)
    return remarks


def _same(answer: Any, right: Any, states: list[dict[Any, float]]) -> bool:
    """Return whether two expressions have the same value at all states, relative to the size of
    their terms.
    """
    size = [sum(abs(_at(x, s)) for x in sp.Add.make_args(sp.expand(right))) for s in states]
    return all(
        abs(_at(answer, s) - _at(right, s)) <= TOLERANCE * max(z, 1e-300)
        for s, z in zip(states, size)
    )


def _factor(
    own: dict[Any, Any], known: dict[Any, Any], states: list[dict[Any, float]], free: set[Any]
) -> Any:
    """Return the number or expression of parameters and coordinates by which most terms of an
    equation have been multiplied.
    """
    ratios = (
        sp.cancel(sp.together(own[of] / known[of])) for of in known if of in own and known[of] != 0
    )
    found = {r: 0 for r in (sp.Integer(1), *ratios) if r != 0 and r.free_symbols <= free}
    return max(
        found, key=lambda r: sum(_same(own[of], r * known[of], states) for of in known if of in own)
    )


def _remarks(head: Any, a: Any, b: Any, states: list[dict[Any, float]], write: Any) -> list[str]:
    """Return sentences about the terms of one head (a product of speeds, accelerations and forces)
    that are wrong: one about all of them, or about one or two of them where that is more precise.
    """
    what = (
        f"the term of {write(head, False)}"
        if head != 1
        else "the part without speeds, accelerations and forces"
    )
    whole = _remark(what, a, b, states, write)
    parts: list[dict[Any, Any]] = [{}, {}]
    for found, e in zip(parts, (a, b)):
        for term in sp.Add.make_args(sp.expand(e)):
            number, of = term.as_coeff_Mul()
            found[of] = found.get(of, sp.Integer(0)) + number
    if (
        not whole
        or len(parts[1]) < 2
        or not any(word in whole[0] for word in (" is wrong: ", " should not "))
    ):
        return whole
    each = [
        x
        for of in {**parts[1], **parts[0]}
        for x in _remark(
            f"the term {write(of * head, False)}" if of * head != 1 else "the constant",
            parts[0].get(of, 0) * of,
            parts[1].get(of, 0) * of,
            states,
            write,
        )
    ]
    return each if len(each) <= 2 else whole


def _remark(what: str, a: Any, b: Any, states: list[dict[Any, float]], write: Any) -> list[str]:
    """Return a sentence where a student's term a differs from the right term b; nothing where it
    does not.
    """
    own, known = (np.array([_at(x, s) for s in states]) for x in (a, b))
    if np.allclose(
        own, known, rtol=TOLERANCE, atol=TOLERANCE * float(np.abs(known).max(initial=0.0))
    ):
        return []
    ratio = own / np.where(known, known, 1)
    if not np.any(known):
        return [f"{what} should not be there: {write(a, False)}"]
    if not np.any(own):
        return [f"{what} is missing"]
    if np.allclose(own, -known, rtol=TOLERANCE):
        return [f"{what} has the wrong sign"]
    if np.all(known) and np.allclose(ratio, ratio[0], rtol=TOLERANCE):
        return [f"{what} is {_short(float(ratio[0]))} times what it should be"]
    return [f"{what} is wrong: {write(a, False)}"]


def _short(ratio: float) -> str:
    """Return a ratio in short form: 2, -1/3, or a decimal number."""
    simple = Fraction(ratio).limit_denominator(100)
    return str(simple) if abs(simple - ratio) <= TOLERANCE * abs(ratio) else f"{ratio:.10g}"


def _terms(e: Any) -> int:
    """Return an upper bound of the number of terms of an expression when it is expanded, those
    inside functions included.
    """
    inside = [_terms(x) for x in e.args]
    if e.is_Pow and e.exp.is_Integer and e.exp > 0:
        return comb(inside[0] + int(e.exp) - 1, int(e.exp))
    return (prod if e.is_Mul else sum)(inside) if inside else 1


def _grouped(e: Any, heads: list[Any]) -> dict[Any, Any]:
    """Return {product of heads: coefficient} of an expanded expression."""
    found: dict[Any, Any] = {}
    for term in sp.Add.make_args(sp.expand(e)):
        of = sp.Mul(
            *(x for x in sp.Mul.make_args(term) if x.free_symbols and x.free_symbols <= set(heads))
        )
        found[of] = found.get(of, sp.Integer(0)) + term / of
    return found


def random_values(names: Names) -> list[dict[Any, float]]:
    """Return {symbol: number} for some states. The same name has the same numbers in every
    derivation of a mechanism.

    Coordinates, speeds, accelerations and forces have both signs, and angles are in all quadrants,
    so that |theta'| differs from theta'. Parameters are positive.
    """
    positive = {n.symbol for role in ("p", "t") for n in names.get(role, ())}
    draws = {}
    for s in sorted(texts(names, "text"), key=lambda s: s.name):
        rng = np.random.default_rng(list(s.name.encode()))
        draws[s] = (
            rng.uniform(0.4, 1.6, STATES)
            if s.name in positive
            else rng.uniform(0.4, 2.8, STATES) * (-1.0) ** rng.permutation(STATES)
        )
    return [{s: float(x[k]) for s, x in draws.items()} for k in range(STATES)]


def _at(e: Any, state: dict[Any, float]) -> float:
    """Return the value of an expression at a state; NaN where it is not real or too large."""
    try:
        return float(sp.N(sp.sympify(e).xreplace(state)))
    except (TypeError, OverflowError):
        return float("nan")
