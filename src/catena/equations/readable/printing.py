"""Rows of equations as text and as LaTeX, with as many terms on a line as fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from textwrap import fill
from typing import Any, NamedTuple

import sympy as sp
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

from .names import Names, texts
from .textbook import EquationRow, Term
from .width import PAGE, width

WIDTH = 100  # characters of a line of text

# an expression, and whether it stands in a product, as a string
Writer = Callable[[Any, bool], str]


class Paper(NamedTuple):
    """The rules by which lines are broken: the room on a line, a function that measures a string,
    the sign of a product, and the indentation of later lines.
    """

    room: float
    measure: Callable[[str], float]
    times: str
    indent: float


TEXT = Paper(WIDTH, len, "*", 0)
LATEX = Paper(PAGE, width, r" \, ", 1.45)


DIGITS = 15  # of a number that is printed


def with_whole_numbers(e: Any) -> Any:
    """Return an expression with integers in place of floats that are whole as printed: I, not 1*I
    or 1.0 I.
    """
    shown = {x: float(f"{float(x):.{DIGITS}g}") for x in e.atoms(sp.Float)}
    whole = {x: sp.Integer(int(y)) for x, y in shown.items() if y.is_integer() and abs(y) < 1e15}
    return e.xreplace(whole) if whole else e


def text_writer(names: Names) -> Writer:
    """Return a function that writes expressions as plain text: powers with ^, speeds and
    accelerations with ' and ''.
    """
    known = texts(names, "text")

    class TextPrinter(StrPrinter):
        def _print_Symbol(self, expr: Any) -> str:
            return known.get(expr, expr.name)

        def _print_Float(self, expr: Any) -> str:
            return f"{float(expr):.{DIGITS}g}"

    printer = TextPrinter()

    def write(e: Any, factor: bool) -> str:
        shown = printer.doprint(with_whole_numbers(e)).replace("**", "^")
        return f"({shown})" if factor and e.is_Add else shown

    return write


def latex_writer(names: Names) -> Writer:
    """Return a function that writes expressions as LaTeX, with a thin space between factors where
    some names are words.
    """
    known = texts(names, "latex")
    words = any(r"\mathrm" in x for x in known.values())
    printer = LatexPrinter(
        {
            "symbol_names": known,
            "fold_func_brackets": True,
            "mul_symbol": r" \, " if words else None,
        }
    )

    def write(e: Any, factor: bool) -> str:
        shown = printer.doprint(with_whole_numbers(e))
        return rf"\left({shown}\right)" if factor and e.is_Add else shown

    return write


def text(
    rows: Sequence[EquationRow], intermediates: Sequence[tuple[Any, Any]], note: str, names: Names
) -> str:
    """Return plain text: powers with ^, speeds and accelerations with ' and ''."""
    write = text_writer(names)
    lines = [f"# {note}"] if note else []
    lines += [
        fill(f"{write(s, False)} = {write(e, False)}", WIDTH, subsequent_indent="    ")
        for s, e in intermediates
    ]
    steps = len(lines)
    lines += ["\n    ".join(equation_lines(row.left, row.right, write, TEXT)) for row in rows]
    return (
        ("\n" if steps > 1 else "\n\n").join(lines)
        if any("\n" in line for line in lines[steps:])
        else "\n".join(lines)
    )


def latex(
    rows: Sequence[EquationRow], intermediates: Sequence[tuple[Any, Any]], note: str, names: Names
) -> str:
    """Return an align* environment; a long row goes over several lines."""
    write = latex_writer(names)
    lines = [f"{write(s, False)} &= {write(e, False)}" for s, e in intermediates]
    for row in rows:
        first, *more = equation_lines(row.left, row.right, write, LATEX)
        lines += [f"& {first}", *(rf"& \quad {{}} {line}" for line in more)]
    comment = f"% {note}\n" if note else ""
    return comment + "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}"


def equation_lines(
    lefts: Iterable[Term], rights: Iterable[Term], write: Writer, paper: Paper
) -> list[str]:
    """Return the lines of an equation, each with as many terms as fit; the right side stays
    together where possible.
    """
    left, right = (broken(side, write, paper) for side in (lefts, rights))
    together = f"= {' '.join(right)}"
    whole = len(left) > 1 and paper.measure(together) <= paper.room - paper.indent
    return filled([*left, *([together] if whole else [f"= {right[0]}", *right[1:]])], paper)


def filled(pieces: Sequence[str], paper: Paper) -> list[str]:
    """Return the pieces joined into lines, each with as many pieces as fit. The caller indents
    lines after the first.
    """
    lines = [""]
    for piece in pieces:
        room = paper.room - (paper.indent if len(lines) > 1 else 0.0)
        longer = f"{lines[-1]} {piece}" if lines[-1] else piece
        if lines[-1] and paper.measure(longer) > room:
            lines.append(piece)
        else:
            lines[-1] = longer
    return lines


def broken(terms: Iterable[Term], write: Writer, paper: Paper) -> list[str]:
    """Return the terms of one side, with signs in front of all but the first; a coefficient that is
    too long for a line is split into its terms.
    """
    found: list[Term] = []
    for term in terms:
        for whole in (term.coefficient, sp.expand(term.coefficient)):
            found_here = (
                [Term(x, term.of) for x in whole.as_ordered_terms()]
                if whole.is_Add
                else [Term(whole, term.of)]
            )
            if paper.measure(joined([term], write, paper.times)[0]) <= paper.room - paper.indent:
                found_here = [term]
            if all(
                paper.measure(joined([x], write, paper.times)[0]) <= paper.room - paper.indent
                for x in found_here
            ):
                break
        found += found_here
    return joined(found, write, paper.times)


def joined(terms: Iterable[Term], write: Writer, times: str) -> list[str]:
    """Return the terms of one side, with signs in front of all but the first."""
    shown: list[str] = []
    for coefficient, of in _single(terms):
        negative = coefficient.could_extract_minus_sign()
        size = -coefficient if negative else coefficient
        factors = times.join([write(x, of != 1) for x in (size, of) if x != 1] or ["1"])
        sign = ("-" if negative else "+") if shown else ("-" if negative else "")
        shown.append(f"{sign} {factors}" if shown else f"{sign}{factors}")
    return shown or ["0"]


def _single(terms: Iterable[Term]) -> Iterable[Term]:
    """Split a sum that is a single term into its terms."""
    for term in terms:
        alone = term.of == 1 and term.coefficient.is_Add
        yield from (
            (Term(x, term.of) for x in term.coefficient.as_ordered_terms()) if alone else [term]
        )
