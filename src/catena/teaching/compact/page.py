"""Page: a compact form as blocks of sentences and equations, with the index sets in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..derivation.writing import words
from .frames import Frames
from .language import Equation, Expr, Symbol

Part = Expr | tuple[str, str]  # an expression, or letters as text and as LaTeX


@dataclass(frozen=True)
class Sentence:
    """A sentence with expressions in place of {}."""

    template: str
    parts: tuple[Part, ...] = ()

    def text(self) -> str:
        """Return the sentence as plain text."""
        return self.template.format(
            *(x.text() if isinstance(x, Expr) else x[0] for x in self.parts)
        )

    def latex(self) -> str:
        """Return the sentence as LaTeX, with expressions in math mode."""
        shown = (x.latex() if isinstance(x, Expr) else x[1] for x in self.parts)
        return words(self.template).format(*(f"${x}$" if x else "" for x in shown))

    def __add__(self, other: Sentence) -> Sentence:
        return (
            Sentence(f"{self.template} {other.template}", (*self.parts, *other.parts))
            if other.template
            else self
        )


def say(template: str, *parts: Part) -> Sentence:
    """Return a Sentence from a template with {} and the expressions for these places."""
    return Sentence(template, parts)


NOTHING = Sentence("")


@dataclass(frozen=True)
class Block:
    """A sentence, and the equations below it."""

    words: Sentence
    equations: tuple[Equation, ...]


@dataclass(frozen=True)
class Statement:
    """The equations of motion in the compact form of a formulation. blocks: in the order of
    print.
    """

    frames: Frames
    blocks: tuple[Block, ...]

    @property
    def equations(self) -> list[Equation]:
        """All equations of all blocks."""
        return [x for block in self.blocks for x in block.equations]

    @property
    def definitions(self) -> dict[str, list[Equation]]:
        """The equations that define symbols, {name of the symbol: equations}."""
        return by_name(self.equations)

    @property
    def symbols(self) -> set[str]:
        """The names by which all its symbols are evaluated."""
        return {s.key for x in self.equations for side in (x.left, x.right) for s in side.symbols()}


def by_name(equations: Iterable[Equation]) -> dict[str, list[Equation]]:
    """Return {name of the symbol: equations that define it}."""
    found: dict[str, list[Equation]] = {}
    for x in equations:
        if isinstance(x.left, Symbol) and not x.row:
            found.setdefault(x.left.key, []).append(x)
    return found


def row(left: Expr, right: Expr, each: object) -> Equation:
    """Return an equation that is checked, not a definition."""
    return Equation(left, right, each, row=True)  # type: ignore[arg-type]
