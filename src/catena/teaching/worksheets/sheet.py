"""A worksheet: a problem stated with a sketch, the lines to fill in, and its solutions apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from textwrap import fill

from ...equations import Derived
from ...errors import CatenaError
from ...model import Mechanism
from ...registry import loaded
from ..derivation import Derivation, derivation
from . import statement
from .problems import PROBLEMS, Problem
from .sketch import Sketch, free_bodies, sketch

WIDTH = 100  # characters of a line of text


@dataclass(frozen=True)
class Worksheet:
    """The worksheet of a mechanism by one formulation.

    mechanism: what it is about. derivation: its lines. problem: the problem's text and source where
    it is one of the classics. file: what a notebook loads where it is none.
    """

    mechanism: Mechanism
    derivation: Derivation
    problem: Problem | None = None
    file: str = ""

    @property
    def title(self) -> str:
        """The problem's name and the method."""
        return f"{self.mechanism.name} by {self.derivation.formulation}"

    @property
    def asked(self) -> str:
        """What is asked, in a sentence or two."""
        own = f"{self.problem.text} ({self.problem.source}) " if self.problem else ""
        return f"{own}Derive its equations of motion by {self.derivation.formulation}."

    @cached_property
    def given(self) -> list[str]:
        """The sentences of the statement."""
        return statement.given(self.mechanism)

    @cached_property
    def sketch(self) -> Sketch:
        """The mechanism with its coordinates."""
        return sketch(self.mechanism)

    @cached_property
    def free_bodies(self) -> Sketch | None:
        """The free-body diagrams, for derivations with the forces of joints in them."""
        return free_bodies(self.mechanism) if self.derivation.free_bodies else None

    def write(self, form: str = "text", solutions: bool = False) -> str:
        """Return the worksheet in a form of FORMS, or its solutions on a sheet of their own."""
        if form not in FORMS:
            raise CatenaError(f"a worksheet has no form {form!r}; forms are: {', '.join(FORMS)}")
        return str(loaded(FORMS[form])(self, solutions))


def worksheet(equations: Derived, problem: str = "") -> Worksheet:
    """Return the worksheet of equations of motion. problem: the name of one of PROBLEMS, whose
    text is added.
    """
    known = PROBLEMS.get(problem)
    return Worksheet(equations.mechanism, derivation(equations), known)


# --- text
def text(sheet: Worksheet, solutions: bool) -> str:
    """Return the statement and the lines as plain text."""
    if solutions:
        return f"Solutions: {sheet.title}\n\n{sheet.derivation.text()}"
    said = [
        fill(sheet.asked, WIDTH),
        *(fill(x, WIDTH, subsequent_indent="  ") for x in sheet.given),
    ]
    return "\n".join([*said, "", sheet.derivation.text(blank=True)])


def html(sheet: Worksheet, solutions: bool) -> str:
    """Return a page that grades in place, or the page of solutions."""
    if solutions:
        return sheet.derivation.html()
    return str(loaded("catena.teaching.worksheets.page:page")(sheet))


# name of a form: (worksheet, solutions) -> its text, or where that function is
FORMS: dict[str, Callable[[Worksheet, bool], str] | str] = {
    "text": text,
    "latex": "catena.teaching.worksheets.exam:exam",
    "html": html,
    "notebook": "catena.teaching.worksheets.exercise_notebook:exercise_notebook",
}
