"""Steps: a derivation as a list of equations, each with one sentence of explanation and the error
found when it was checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import sympy as sp

from ...equations.readable import Names, Term
from ...model import Mechanism
from ...registry import loaded

Terms = tuple[Term, ...]


class Label(NamedTuple):
    """The left side of an equation, as plain text and as LaTeX."""

    text: str
    latex: str


@dataclass(frozen=True)
class Line:
    """One equation of a step.

    left: a label, or the terms of the left side of a row. means: the definition that is printed
    between the label and the result, where there is one. right: the terms of the result, one tuple
    for a number, three for a vector. axes: the body along whose axes the three are given. error:
    the largest difference to a second route to the same number, at random states, relative to its
    size. datum: whether it is a potential, to which a constant may be added.
    """

    left: Label | Terms
    right: tuple[Terms, ...]
    means: Label | None = None
    axes: str = ""
    error: float = 0.0
    datum: bool = False

    @property
    def values(self) -> list[Any]:
        """The right side in SymPy, entry by entry."""
        return [sp.Add(*(term.value for term in terms)) for terms in self.right]

    @property
    def vector(self) -> bool:
        """Whether it has three entries."""
        return len(self.right) > 1


class Table(NamedTuple):
    """The layout of a step's lines as a table: heads of columns and rows, and for each cell the
    label of its line; a cell without a line is zero.
    """

    columns: tuple[Label, ...]
    rows: tuple[Label, ...]
    cells: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Step:
    """A step of a derivation. title: a few words. why: one sentence. lines: its equations. final:
    whether it is part of the textbook's form. table: how the lines are laid out where there is
    room.
    """

    title: str
    why: str
    lines: tuple[Line, ...]
    final: bool = False
    table: Table | None = None

    @property
    def error(self) -> float:
        """The largest error of its lines."""
        return max((line.error for line in self.lines), default=0.0)


@dataclass(frozen=True)
class Derivation:
    """The derivation of one mechanism's equations of motion by one formulation, step by step, every
    line checked.

    states: the number of random states at which lines were checked. ground_angles: {place of a
    relative angle among the speeds: ((place, sign), ...) of the angles whose sum it is from the
    ground}, of planar linkages. free_bodies: the mechanism, where its bodies are cut free and pages
    show free-body diagrams. Iterating over it gives the steps; str() gives the text.
    """

    mechanism: str
    formulation: str
    source: str
    steps: tuple[Step, ...]
    names: Names
    states: int
    values: dict[str, float] = field(default_factory=dict)
    ground_angles: Mapping[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    free_bodies: Mechanism | None = field(default=None, repr=False)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __str__(self) -> str:
        return self.text()

    @property
    def error(self) -> float:
        """The largest error of any step."""
        return max(step.error for step in self.steps)

    def text(self, blank: bool = False) -> str:
        """Return the derivation as plain text. blank: with gaps in place of the results, as a
        worksheet.
        """
        return str(loaded("catena.teaching.derivation.writing:text")(self, blank))

    def latex(self, blank: bool = False) -> str:
        """Return the derivation as the body of a LaTeX document (amsmath). blank: as in `text`."""
        return str(loaded("catena.teaching.derivation.writing:latex")(self, blank))

    def html(self, blank: bool = False) -> str:
        """Return the derivation as one page that needs no other files. blank: as in `text`."""
        return str(loaded("catena.teaching.derivation.pages:html")(self, blank))

    def notebook(self, file: str = "mechanism.toml") -> str:
        """Return the derivation as a Jupyter notebook (JSON): a cell of LaTeX for each step, and a
        cell that derives it again from the mechanism's file.
        """
        return str(loaded("catena.teaching.derivation.pages:notebook")(self, file))


Make = Callable[[Any], Sequence[Step]]
