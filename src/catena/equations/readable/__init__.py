"""The readable form: equations with the names of the mechanism as symbols, as SymPy, text, LaTeX,
Python or C.

    Equations -> Statement (the equations before they are solved) -> normal form, or intermediate
    variables -> Readable

The equations of a small mechanism are printed as in a textbook (`textbook`, `harmonics`). Where
that form would be longer than the computation itself, or is not found within the limits, they are a
list of named intermediate variables (`convert`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import sympy as sp

from ...doors import door
from ...errors import UnknownNameError
from ..statement import Derived, Statement
from . import printing, program
from .convert import sx_to_sympy
from .harmonics import Budget, NotHarmonic, OutOfBudget
from .names import Names, letter, names_of, words
from .program import Argument
from .textbook import EquationRow, Term, textbook

__all__ = ["Readable", "EquationRow", "Term", "c", "python", "read", "sx_to_sympy"]

EFFORT = 4_000_000  # budget of simplification: products of terms
TERMS = 1000  # the largest number of terms in one expression during simplification
INTERMEDIATE_LETTERS = ("z", "u", "y")  # the letters of intermediate variables, in order of choice
# the largest length of the textbook's form, relative to that of the steps, and in characters
TEXTBOOK_OVER_STEPS, TEXTBOOK_CHARACTERS = 3.0, 8000


@dataclass(frozen=True)
class Readable:
    """Equations of motion in SymPy.

    rows: each with the terms of its left and right side, in the order of print. intermediates:
    (symbol, expression) pairs in the order of computation; none in a textbook's form. note: a
    remark for the reader, one sentence or nothing.
    """

    rows: tuple[EquationRow, ...]
    intermediates: tuple[tuple[Any, Any], ...]
    note: str
    names: Names

    @property
    def equations(self) -> list[Any]:
        """The equations as a list of SymPy's Eq."""
        return [row.equation for row in self.rows]

    def text(self) -> str:
        """Return plain text, one row below the other."""
        return printing.text(self.rows, self.intermediates, self.note, self.names)

    def latex(self) -> str:
        """Return a LaTeX align* environment."""
        return printing.latex(self.rows, self.intermediates, self.note, self.names)

    def __str__(self) -> str:
        return self.text()


def read(equations: Derived, effort: int = EFFORT) -> Readable:
    """Return the readable form of equations. effort: the number of operations that may be spent on
    the textbook's form; 0 skips it.
    """
    if equations.readable is None:
        note = f"accelerations as {equations.formulation} computes them"
        return _in_steps(_solved(equations), names_of(equations.mechanism), note)
    statement = equations.readable()
    names = names_of(equations.mechanism, statement.size("lam"))
    try:
        if effort <= 0:
            raise OutOfBudget("simplification was not asked for")
        rows = textbook(statement, names, Budget(effort, TERMS))
    except (NotHarmonic, OutOfBudget) as why:
        return _in_steps(statement, names, f"not simplified: {why}")
    steps = _in_steps(statement, names, "")
    plain = Readable(tuple(rows), (), statement.note, names)
    length = len(plain.text())
    if length <= min(TEXTBOOK_CHARACTERS, TEXTBOOK_OVER_STEPS * len(steps.text())):
        return plain
    return _in_steps(statement, names, f"in full these equations have {length} characters")


def _solved(equations: Derived) -> Statement:
    """Return the statement a = ..., with the expression that the formulation computes."""
    f = equations.acceleration
    symbols = dict(zip(("t", "q", "v", "tau", "p"), f.sx_in()))
    a = ca.SX.sym("a", f.size1_out(0))
    return Statement.of({**symbols, "a": a}, a, f(*symbols.values()))


def _in_steps(statement: Statement, names: Names, note: str) -> Readable:
    """Return the statement as a list of assignments, with a name for every value that is used more
    than once.
    """
    inputs = [[name.symbol for name in names[role]] for role in statement.roles]
    sides, named = sx_to_sympy(statement.tape, inputs, letter(words(names), INTERMEDIATE_LETTERS))
    rows = tuple(EquationRow(*((Term(x, sp.Integer(1)),) for x in pair)) for pair in zip(*sides))
    count = f"{len(named)} intermediate variables, in the order of computation" if named else ""
    return Readable(
        rows, tuple(named), "; ".join(x for x in (statement.note, note, count) if x), names
    )


# --- programs
def python(equations: Derived, what: str = "acceleration") -> str:
    """Return the source of a Python function `acceleration(t, q, v, tau, p)` or `derivative(t, x,
    tau, p)` that uses only math.
    """
    return program.python(*_program(equations, what))


def c(equations: Derived, what: str = "acceleration") -> str:
    """Return the source of the same function in C, with math.h only. Results are written to its
    last argument.
    """
    return program.c(*_program(equations, what))


# the functions that can be written, and their arguments
PROGRAMS = {"acceleration": ("t", "q", "v", "tau", "p"), "derivative": ("t", "x", "tau", "p")}


def _program(equations: Derived, what: str) -> tuple[ca.Function, list[Argument], str, str]:
    if what not in PROGRAMS:
        raise UnknownNameError("program", what, PROGRAMS, "Equations.python and Equations.c")
    m = equations.mechanism
    names = names_of(equations.mechanism)
    used = words(names)
    entries = {role: tuple(name.symbol for name in group) for role, group in names.items()}
    entries["x"] = tuple(f"{letter(used, 'xs')}{k + 1}" for k in range(len(equations.state_names)))
    arguments = []
    for role in PROGRAMS[what]:
        name = entries["t"][0] if role == "t" else role + "_" * (role in used)
        arguments.append(
            Argument(
                name, entries[role], tuple(equations.parameters.tolist()) if role == "p" else None
            )
        )
    state = f"; x is {', '.join(equations.state_names)}" if what == "derivative" else ""
    about = (
        f"{what.capitalize()} of {m.name} by {equations.formulation}{state}. Written by catena; SI"
        " units."
    )
    return (
        getattr(equations, what),
        arguments,
        re.sub(r'[\\"*\s]+', " ", about),
        letter(used | set(entries["x"]), INTERMEDIATE_LETTERS),
    )


if TYPE_CHECKING:
    from .convert import number
    from .gravity import with_letter
    from .height import PAGE as PAGE_HEIGHT
    from .height import height
    from .mathml import mathml
    from .names import RESERVED, Name, symbols, texts, upright, with_letters
    from .printing import (
        LATEX,
        TEXT,
        WIDTH,
        Paper,
        Writer,
        broken,
        equation_lines,
        filled,
        joined,
        latex_writer,
        text_writer,
    )
    from .program import FUNCTIONS, SUM, Dialect, statements
    from .width import width

__getattr__, __dir__ = door(__name__)
