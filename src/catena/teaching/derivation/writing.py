"""A derivation as plain text and as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from textwrap import fill, wrap

from ...equations.readable import (
    LATEX,
    TEXT,
    Paper,
    Writer,
    broken,
    equation_lines,
    filled,
    joined,
    latex_writer,
    text_writer,
    width,
)
from .steps import Derivation, Label, Line, Step

WIDTH = 100  # characters of a line of text
NARROW = TEXT._replace(room=WIDTH - 9)
GAP = "________"
EQUALS = 1.4  # em of the sign between a label and its value


def text(d: Derivation, blank: bool = False) -> str:
    """Return the steps one below the other, numbered. blank: as a worksheet."""
    write = text_writer(d.names)
    head = (
        [f"{d.mechanism} by {d.formulation}, after {d.source}", _checked(d)]
        if not blank
        else [f"{d.mechanism} by {d.formulation}", *wrap(given(d), WIDTH)]
    )
    parts = ["\n".join(head)]
    for number, step in enumerate(d.steps, 1):
        lines = [
            f"{number}. {step.title}",
            fill(step.why, WIDTH, initial_indent="   ", subsequent_indent="   "),
        ]
        lines += [
            f"     {line}"
            for line in (None if blank else text_table(step, write))
            or [
                line
                for number_, x in enumerate(step.lines, 1)
                for line in text_line(x, write, f"{number}.{number_}" if blank else "")
            ]
        ]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def given(d: Derivation, how: str = "text") -> str:
    """Return the sentence on a worksheet that lists its symbols and says how an answer is checked.
    how: "text" or "latex".
    """
    roles = {
        "q": "coordinates",
        "v": "speeds",
        "a": "accelerations",
        "tau": "forces along them",
        "p": "parameters",
    }
    shown = {
        word: ", ".join(getattr(n, how) if how == "text" else f"${n.latex}$" for n in d.names[role])
        for role, word in roles.items()
        if d.names[role]
    }
    return (
        f"Write with {'; '.join(f'{word} {x}' for word, x in shown.items())}. An answer is checked"
        f" by its number: catena grade FILE NUMBER ANSWER --by {d.formulation}."
    )


def _checked(d: Derivation) -> str:
    return (
        f"{sum(len(s.lines) for s in d.steps)} lines in {len(d)} steps, each checked at {d.states}"
        f" random states; largest error {d.error:.0e}"
    )


def text_line(line: Line, write: Writer, blank: str = "") -> list[str]:
    """Return one equation over as many lines as it needs. blank: its number on a worksheet, with a
    gap in place of the result.
    """
    if isinstance(line.left, Label):
        means = f" = {line.means.text}" if line.means else ""
        head = f"{line.left.text}{means} ="
    else:
        head = f"{' '.join(joined(line.left, write, '*'))} ="
    if blank:
        shown = f"({', '.join([GAP] * 3)})" if line.vector else GAP
        head = head if isinstance(line.left, Label) else f"{GAP} ="
        return [f"({blank})  {head} {shown}{_axes(line)}"]
    if line.vector:
        entries = [joined(terms, write, "*") for terms in line.right]
        for entry in entries:
            entry[-1] += ","
        pieces = [
            f"({entries[0][0]}",
            *entries[0][1:],
            *entries[1],
            *entries[2][:-1],
            f"{entries[2][-1][:-1]}){_axes(line)}",
        ]
    else:
        pieces = joined(line.right[0], write, "*")
    lefts = [head] if isinstance(line.left, Label) else [*joined(line.left, write, "*"), "="]
    first, *more = (
        short
        for x in filled([*lefts, *pieces], NARROW)
        for short in wrap(x, WIDTH - 9, break_long_words=False, break_on_hyphens=False)
    )
    return [first, *(f"    {x}" for x in more)]


def text_table(step: Step, write: Writer) -> list[str]:
    """Return the lines of a step as a table; nothing where it has none or it is too wide."""
    if step.table is None:
        return []
    found = {line.left.text: line for line in step.lines if isinstance(line.left, Label)}

    def cell(label: str) -> str:
        if label not in found:
            return "0"
        entries = (" ".join(joined(terms, write, "*")) for terms in found[label].right)
        return f"({', '.join(entries)})"

    axes = {x.axes for x in step.lines}
    heads = ["", *(f"{c.text}_r" for c in step.table.columns)]
    rows = [[row.text, *map(cell, cells)] for row, cells in zip(step.table.rows, step.table.cells)]
    widths = [max(map(len, column)) for column in zip(heads, *rows)]
    if sum(widths) + 3 * len(widths) > WIDTH - 5:
        return []
    shown = ["   ".join(x.ljust(n) for x, n in zip(row, widths)).rstrip() for row in (heads, *rows)]
    own = axes - {"ground"}
    return shown + ["omega_r along the axes of its body"] * bool(own)


def latex_table(step: Step, d: Derivation) -> str:
    """Return the lines of a step as an array; nothing where it has none or it is too wide."""
    if step.table is None:
        return ""
    write = latex_writer(d.names)
    found = {line.left.text: line for line in step.lines if isinstance(line.left, Label)}

    def cell(label: str) -> str:
        if label not in found:
            return r"\mathbf{0}"
        entries = (" ".join(joined(terms, write, LATEX.times)) for terms in found[label].right)
        return r"\left(" + r",\; ".join(entries) + r"\right)"

    rows = [["r", *(rf"{c.latex}^{{\,r}}" for c in step.table.columns)]]
    rows += [
        [row.latex, *map(cell, cells)] for row, cells in zip(step.table.rows, step.table.cells)
    ]
    if sum(max(map(width, column)) + 1 for column in zip(*rows)) > LATEX.room:
        return ""
    body = " \\\\\n".join(" & ".join(row) for row in rows)
    return (
        f"\\begin{{align*}}\n\\begin{{array}}{{{'l' * len(rows[0])}}}\n{body}\n\\end{{array}}\n"
        "\\end{align*}"
    )


def _axes(line: Line) -> str:
    return f"   [axes of {line.axes}]" if line.vector and line.axes != "ground" else ""


def text_form(d: Derivation) -> str:
    """Return only the final steps, with a heading above each, unless the equations of motion are
    the only step.
    """
    write = text_writer(d.names)
    final = [step for step in d.steps if step.final]
    parts = []
    for step in final:
        lines = text_table(step, write) or [
            x for line in step.lines for x in text_line(line, write)
        ]
        parts.append("\n".join([f"# {step.title}", *lines] if len(final) > 1 else lines))
    return "\n\n".join(parts)


def latex_form(d: Derivation) -> str:
    """Return only the final steps, with one align* environment each."""
    return "\n".join(f"% {step.title}\n{latex_step(step, d)}" for step in d.steps if step.final)


# --- LaTeX
def latex(d: Derivation, blank: bool = False) -> str:
    """Return sections with align* environments (amsmath). blank: as a worksheet."""
    parts = [rf"\section*{{{words(d.mechanism)} by {words(d.formulation)}}}"]
    if blank:
        parts.append(given(d, "latex").replace(d.formulation, words(d.formulation)))
    parts += [
        f"\\subsection*{{{k}."
        f" {words(step.title)}}}\n{prose(step.why)}\n{latex_step(step, d, k if blank else 0, k)}"
        for k, step in enumerate(d.steps, 1)
    ]
    return "\n\n".join(parts)


def latex_step(step: Step, d: Derivation, blank: int = 0, number: int = 0) -> str:
    """Return the lines of a step as one align* environment, broken so that they fit on a page next
    to the widest label.

    blank: the step's number on a worksheet, with gaps in place of the results, each line numbered.
    number: the step's number where lines with results are numbered too, as (8.1), with the label
    eq:FORMULATION-8.1.
    """
    if not blank and (table := latex_table(step, d)):
        return table
    write = latex_writer(d.names)
    if blank:
        rows = [rf"{_gap(line)} \tag{{{blank}.{k}}}" for k, line in enumerate(step.lines, 1)]
    else:
        # a vector that is too wide is three numbers, whose labels are wider
        paper = _beside_labels(step.lines)
        parts = [
            _components(line) if line.vector and not _vector(line, write, paper) else [line]
            for line in step.lines
        ]
        paper = _beside_labels([x for part in parts for x in part])
        rows = []
        for k, part in enumerate(parts, 1):
            rows += [row for line in part for row in latex_line(line, write, paper)]
            if number:
                mark = f"{number}.{k}"
                rows[-1] += rf" \tag{{{mark}}}\label{{eq:{d.formulation}-{mark}}}"
    return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}"


def _beside_labels(lines: Sequence[Line]) -> Paper:
    """Return the line-breaking rules for the width that the widest label leaves to the right
    sides.
    """
    labels = [width(line.left.latex) + EQUALS for line in lines if isinstance(line.left, Label)]
    return LATEX._replace(room=LATEX.room - max(labels, default=0.0))


def latex_line(line: Line, write: Writer, paper: Paper) -> list[str]:
    """Return one equation as rows of an align* environment."""
    if not isinstance(line.left, Label):
        return _indented("& ", equation_lines(line.left, line.right[0], write, paper))
    head = f"{line.left.latex} &= "
    means = f"{line.means.latex}" if line.means else ""
    if line.vector:
        shown = _vector(line, write, paper)
        if not shown:  # only where the room shrank by the labels of other components
            return [row for entry in _components(line) for row in latex_line(entry, write, paper)]
        return (
            [f"{head}{means} = {shown}"]
            if means and width(f"{means} = {shown}") <= paper.room
            else _after(head, means, [shown])
        )
    rows = filled(broken(line.right[0], write, paper), paper)
    if means and len(rows) == 1 and width(f"{means} = {rows[0]}") <= paper.room:
        return [f"{head}{means} = {rows[0]}"]
    return _after(head, means, rows)


def _after(head: str, means: str, rows: list[str]) -> list[str]:
    """Return the rows of an equation with the label and its definition on their own line, followed
    by the value.
    """
    return [f"{head}{means}", *_indented("&= ", rows)] if means else _indented(head, rows)


def _indented(head: str, rows: list[str]) -> list[str]:
    return [f"{head}{rows[0]}", *(rf"& \quad {{}} {row}" for row in rows[1:])]


def _gap(line: Line) -> str:
    """Return an equation with an empty space for a student's answer."""
    gap = r"\underline{\hspace{6em}}"
    if not isinstance(line.left, Label):
        return f"{gap} &= {gap}"
    right = rf"\left({', '.join([gap] * 3)}\right)" if line.vector else gap
    return f"{line.left.latex} &= {f'{line.means.latex} = ' if line.means else ''}{right}"


def _components(line: Line) -> list[Line]:
    """Return the line of a vector as three lines of numbers."""
    label = line.left.latex if isinstance(line.left, Label) else ""
    return [
        Line(Label("", rf"\left({label}\right)_{{{x}}}"), (terms,))
        for x, terms in zip("xyz", line.right)
    ]


def _vector(line: Line, write: Writer, paper: Paper) -> str:
    """Return three entries side by side where there is room, else as a column; "" where one of them
    is wider than a line.
    """
    entries = [" ".join(joined(terms, write, paper.times)) for terms in line.right]
    row = r"\left(" + r",\; ".join(entries) + r"\right)"
    column = r"\begin{pmatrix}" + r" \\ ".join(entries) + r"\end{pmatrix}"
    return next((x for x in (row, column) if width(x) <= paper.room), "")


def _euler_lagrange(match: re.Match[str]) -> str:
    """Return the head of Lagrange's equations, in quasi-velocities with the three-index symbols
    that are not zero.
    """
    speed, turning, place, index = match.groups()
    shown = {"w_r": r"\omega_r", "v": "v", "pi_r": r"\pi_r", "q": "q"}
    v, q = shown[speed], shown[place]
    more = r" + \gamma^{s}_{rk}\omega_k\frac{\partial T}{\partial\omega_s}" if turning else ""
    return (
        rf"\frac{{d}}{{dt}}\frac{{\partial T}}{{\partial {v}}}{more}"
        rf" - \frac{{\partial T}}{{\partial {q}}} + \frac{{\partial V}}{{\partial {q}}}"
        rf" = Q{'_r' if index else ''}"
    )


# formulas in sentences, as text and as LaTeX, which a function may write
FORMULAS: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (
        r"d/dt dT/d(w_r|v) (\+ gamma\^s_rk w_k dT/dw_s )?- dT/d(pi_r|q) \+ dV/d(?:pi_r|q) = Q(_r)?",
        _euler_lagrange,
    ),
    (r"\bd/dpi_r\b", r"\\partial/\\partial\\pi_{r}"),
    (r"\bW\^T tau\b", r"W^{T}\\tau"),
    (r"F \+ F\* = 0", r"F + F^{*} = 0"),
    (r"\bp' = Q - dH/dx\b", r"\\dot p = Q - \\partial H/\\partial x"),
    (r"\bdH/dp = x'", r"\\partial H/\\partial p = \\dot x"),
    (r"-dT/dx \+ dV/dx", r"-\\partial T/\\partial x + \\partial V/\\partial x"),
    (r"\bdH/dx\b", r"\\partial H/\\partial x"),
    (r"gamma\^s_(rk|kr)", r"\\gamma^{s}_{\1}"),
    (r"\bw_([rsk])\b", r"\\omega_{\1}"),
    (r"\b([du])_?(\d|i)\b", r"\1_{\2}"),
    (r"\bw(\d)\b", r"\\omega_{\1}"),
    (r"A' lambda", r"A^{T}\\lambda"),
    (r"\bm v\^2\b", r"m v^{2}"),
    (r"\bomega\.I omega\b", r"\\omega\\cdot I\\omega"),
    (r"-\(I alpha \+ omega x I omega\)", r"-(I\\alpha + \\omega\\times I\\omega)"),
)


def prose(sentence: str) -> str:
    """Return a sentence in LaTeX, with its formulas in math mode.

    >>> prose("Set w4 to zero, so that A' lambda vanishes.")
    'Set $\\\\omega_{4}$ to zero, so that $A^{T}\\\\lambda$ vanishes.'
    """
    found: list[str] = []

    def put(shown: str | Callable[[re.Match[str]], str], match: re.Match[str]) -> str:
        found.append(f"${shown(match) if callable(shown) else match.expand(shown)}$")
        return f"\x00{len(found) - 1}\x01"

    for pattern, shown in FORMULAS:
        sentence = re.sub(pattern, partial(put, shown), sentence)
    return re.sub("\x00(\\d+)\x01", lambda m: found[int(m.group(1))], words(sentence))


def words(x: str) -> str:
    """Return plain text with the characters escaped that LaTeX would interpret."""
    return "".join(
        {"_": r"\_", "&": r"\&", "%": r"\%", "#": r"\#", "$": r"\$", "^": r"\^{}"}.get(c, c)
        for c in x
    )
