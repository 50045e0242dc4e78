"""Forms in which a right answer may be written, other than the worksheet's: a registry.

    potential with another datum, equations combined or solved for an acceleration, angles from the
    ground in place of relative ones

Every form is decided by values at the states of `answer_states`, so that it does not matter how the
answer is written. A member returns a sentence for the student, "" where there is nothing to say, or
None where the answer does not have this form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import sympy as sp

from ...errors import FormulationError
from .answer_states import PATH, RANDOM, SAME_PARAMETERS, AnswerStates
from .steps import Derivation, Label, Line

# Tolerance on values, relative to the sizes of the terms: an error of 1e-6 is an error.
TOLERANCE = 1e-9
# A combination that is smaller than this at special coordinates, relative to its size at random
# ones, vanishes there: such an equation says less than the worksheet's.
VANISHING = 1e-9


@dataclass(frozen=True)
class Question:
    """A line of a worksheet: what an answer is compared with. number: such as "8.1". right: its
    value, entry by entry; of a row everything brought to the left.
    """

    derivation: Derivation
    number: str
    line: Line
    right: tuple[Any, ...]
    states: AnswerStates

    @property
    def row(self) -> bool:
        """Whether the line is an equation of motion, not the value of a label."""
        return not isinstance(self.line.left, Label)


@dataclass(frozen=True)
class AcceptedForm:
    """A form of right answers. name: a few words. remark: (question, entries of the answer) -> a
    sentence, or None where the answer does not have this form.
    """

    name: str
    remark: Callable[[Question, Sequence[Any]], str | None]


ACCEPTED_FORMS: dict[str, AcceptedForm] = {}


def register(form: AcceptedForm) -> AcceptedForm:
    """Add a form to those in which answers are right."""
    if ACCEPTED_FORMS.get(form.name, form) != form:
        raise FormulationError(f"a form of answers {form.name!r} is known already")
    ACCEPTED_FORMS[form.name] = form
    return form


# --- values
def question(d: Derivation, number: str, line: Line, states: AnswerStates) -> Question:
    """Return the question of a line."""
    return Question(d, number, line, tuple(_sides(line)), states)


def _sides(line: Line) -> list[Any]:
    if isinstance(line.left, Label):
        return line.values
    return [sp.Add(*(t.value for t in line.left)) - line.values[0]]


def same(states: AnswerStates, answer: Any, right: Any) -> bool:
    """Whether two expressions have the same value at all random states, relative to the sizes of
    their terms.
    """
    parts = [states.at(x)[:RANDOM] for x in sp.Add.make_args(sp.sympify(right))]
    found = states.at(answer)[:RANDOM]
    defined = np.all(np.isfinite(parts), axis=0)
    size = np.abs(parts).sum(0)
    close = np.abs(found - np.sum(parts, axis=0)) <= TOLERANCE * np.maximum(size, 1e-300)
    return bool(defined.any() and np.all(close[defined]))


def equal(asked: Question, entries: Sequence[Any]) -> str | None:
    """Return "" where an answer has the values of the line."""
    return "" if all(same(asked.states, *x) for x in zip(entries, asked.right)) else None


# --- forms
def other_datum(asked: Question, entries: Sequence[Any]) -> str | None:
    """Return a sentence where a potential differs by a constant."""
    if not asked.line.datum:
        return None
    right = asked.states.at(asked.right[0])[:RANDOM]
    difference = asked.states.at(entries[0])[:RANDOM] - right
    # the same at all coordinates and speeds: the first bases share their parameters
    together = difference[:SAME_PARAMETERS]
    spread = max(np.ptp(together), np.ptp(difference, axis=1).max())
    if not spread <= TOLERANCE * max(np.abs(right).max(), np.abs(difference).max()):
        return None
    return "it differs by a constant from the worksheet's, which is as good: the datum is free"


def combination(asked: Question, entries: Sequence[Any]) -> str | None:
    """Return a sentence where an equation is a combination of those of its step: a multiple, a sum,
    or solved for an acceleration. Its factors depend on coordinates and parameters alone, and
    vanish nowhere together.
    """
    found = coefficients(asked, entries[0]) if asked.row else None
    if found is None:
        return None
    numbers, own, shares = found
    used = [n for n, share in zip(numbers, shares) if share > TOLERANCE]
    if used == [numbers[own]]:
        return ""
    if len(used) == 1:
        return f"this is line {used[0]}"
    return f"this combines the lines {', '.join(used[:-1])} and {used[-1]}"


def coefficients(asked: Question, answer: Any) -> tuple[list[str], int, np.ndarray] | None:
    """Return the numbers of the step's equations, the place of the line asked for, and the share
    of each in an answer; None where the answer is no combination of them.
    """
    step = asked.derivation.steps[int(asked.number.split(".")[0]) - 1]
    head = asked.number.split(".")[0]
    lines = [
        (f"{head}.{k}", x) for k, x in enumerate(step.lines, 1) if not isinstance(x.left, Label)
    ]
    rows = np.array([asked.states.at(_sides(x)[0]) for _, x in lines])  # (rows, bases, draws)
    own = asked.states.at(answer)
    found = [_fitted(rows[:, b], own[b]) for b in range(own.shape[0])]
    if any(c is None for c in found[:RANDOM]):
        return None
    shares = np.array([c for c in found[:RANDOM] if c is not None])
    size = np.abs(shares).max()
    for c in found[RANDOM:]:
        # where the answer or a row is not defined nothing is said
        if c is not None and np.abs(c).max() <= VANISHING * size:
            return None
    if crosses_zero(found[RANDOM : RANDOM + PATH]):
        return None
    numbers = [n for n, _ in lines]
    return numbers, numbers.index(asked.number), np.abs(shares).max(0)


def crosses_zero(path: Sequence[np.ndarray | None]) -> bool:
    """Whether coefficients vanish together between two states of a path: all change their sign, and
    are smaller there than they are elsewhere. Where they change it through infinity they are
    larger.
    """
    known = [c for c in path if c is not None]
    if len(known) < 2:
        return False
    usual = float(np.median([np.abs(c).max() for c in known]))
    return any(
        np.all(a * b <= 0) and max(np.abs(a).max(), np.abs(b).max()) < usual
        for a, b in pairwise(known)
    )


def _fitted(rows: np.ndarray, own: np.ndarray) -> np.ndarray | None:
    """Return the coefficients c, in units of the rows' sizes, with c . rows = own for all draws of
    one base, rows (rows, draws); None where there are none or values are not finite.
    """
    if not (np.isfinite(rows).all() and np.isfinite(own).all()):
        return None
    size = np.abs(rows).max(1)
    size[size == 0] = 1.0
    scaled = rows / size[:, None]
    c = np.linalg.lstsq(scaled.T, own, rcond=1e-11)[0]
    reach = (np.abs(scaled) * np.abs(c)[:, None]).sum(0) + np.abs(own)
    if np.abs(own).max() == 0 or np.any(np.abs(c @ scaled - own) > TOLERANCE * reach):
        return c * 0 if np.abs(own).max() == 0 else None
    return np.where(np.abs(c) > TOLERANCE * np.abs(c).max(), c, 0.0)


def from_the_ground(asked: Question, entries: Sequence[Any]) -> str | None:
    """Return a sentence where an answer is right with angles measured from the ground, for which
    the worksheet has relative ones.
    """
    d = asked.derivation
    turned = {
        k: sum(sign * sp.Symbol(d.names[role][i].symbol) for i, sign in row)
        for role in ("q", "v", "a")
        for own, row in d.ground_angles.items()
        for k in [sp.Symbol(d.names[role][own].symbol)]
    }
    if not turned or not any(sp.sympify(e).free_symbols & set(turned) for e in entries):
        return None
    own = [sp.sympify(e).xreplace(turned) for e in entries]
    for form in (AcceptedForm("as it is", equal), *ACCEPTED_FORMS.values()):
        if form.remark is not from_the_ground and form.remark(asked, own) is not None:
            names = [d.names["q"][k].text for k in d.ground_angles]
            return (
                f"with {', '.join(names)} measured from the ground; on the worksheet an angle is"
                " measured from the body before"
            )
    return None


register(AcceptedForm("another datum of the potential", other_datum))
register(AcceptedForm("equations multiplied, combined or solved", combination))
register(AcceptedForm("angles from the ground", from_the_ground))


def other_line(asked: Question, entries: Sequence[Any]) -> str:
    """Return which other line an answer belongs to; "" where there is none."""
    if all(e == 0 for e in entries):
        return ""
    for k, step in enumerate(asked.derivation.steps, 1):
        for n, line in enumerate(step.lines, 1):
            number = f"{k}.{n}"
            other = replace(asked, number=number, line=line, right=tuple(_sides(line)))
            if (
                number != asked.number
                and isinstance(line.left, Label)
                and len(other.right) == len(entries)
                and not asked.row
                and equal(other, entries) is not None
            ):
                return f"this is line {number}, {line.left.text}"
    return ""
