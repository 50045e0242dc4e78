"""Layout: a compact form as text and as LaTeX, with sentences, tables, and equations side by side
where they fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from ...equations.readable import LATEX, WIDTH, filled, latex_writer, text_writer, width
from ..derivation.board import Board
from ..derivation.writing import words as escaped
from .frames import Frames
from .kinematics import rotors
from .language import Equation, Expr
from .letters import I, P, Q, b, c, d, e, kappa, m, q, q1, tau
from .page import Sentence, Statement, say
from .tables import Cells, Column, frame_columns, row_columns

FULL = say(
    "Every line holds at random states, with the accelerations that the formulation computes."
    " Multiplied out: {}, {}; with the computation's intermediate values: {}, {}.",
    *(
        (x, rf"\texttt{{{x.replace('--', '-{}-')}}}")
        for x in ("text(full=True)", "--full", "text(effort=0)", "--effort 0")
    ),
)
LINE_EM = 37.5  # width of a line of the article class, in em of small type
TABLE_EM = 42.0  # width of a table, in em of its smaller type
PAPER = LATEX._replace(room=LINE_EM)
# the page's spacing, inside its group
TIGHT = (
    r"\small\abovedisplayskip=3pt \belowdisplayskip=3pt \abovedisplayshortskip=3pt"
    r" \belowdisplayshortskip=3pt \jot=1pt \topsep=3pt \partopsep=0pt \parskip=0pt "
)


def legend(fr: Frames) -> Sentence:
    """Return the sentences that explain the table of frames."""
    said = say("Frame {} sits in frame {} at {}", ("i", "i"), ("p", "p"), b("i"))
    said = Sentence(
        said.template + (", turned by {}." if fr.has(lambda f: f.turned) else "."),
        said.parts + ((P("i"),) if fr.has(lambda f: f.turned) else ()),
    )
    said += say(
        "It turns by {} about {}, that is {}, or slides by {} along {}; what is not listed is"
        " zero.",
        q("i"),
        e("i"),
        Q("i"),
        q("i"),
        d("i"),
    )
    if fr.has(lambda f: f.ball):
        said += say(
            "Of a ball {} is the rotation, {}, and {} the angular velocity along its own axes.",
            Q("i"),
            ("e_i = 1", r"\mathbf{e}_i = 1"),
            q1("i"),
        )
    said += say(
        "Mass {}, centre of mass {}, inertia {} about it (xx, yy, zz; xy, xz, yz): SI units, own"
        " axes. {} is the force of the motor.",
        m("i"),
        c("i"),
        I("i"),
        tau("i"),
    )
    if rotors(fr):
        said += say("{} is the inertia of a motor's rotor as its joint feels it.", kappa("i"))
    return said


# --- text
def text(statement: Statement, board: Board, title: str) -> str:
    """Return a compact form as plain text."""
    write = text_writer(board.names)
    cells = Cells(write, "text")
    parts = [f"# {title}", _sentence(legend(statement.frames).text())]
    parts += [
        "\n".join(
            _text_table(frame_columns(statement.frames, cells, [x.text for x in board.names["q"]]))
        )
    ]
    if statement.frames.rows:
        parts += ["\n".join(_text_table(row_columns(statement.frames, cells)))]
    parts += [f"G = {cells.vector(statement.frames.mechanism.gravity) or '0'}, gravity"]
    for block in statement.blocks:
        lines = [
            line
            for x, said in zip(block.equations, _headings(block.equations))
            for line in _text_equation(x, said)
        ]
        parts.append("\n".join([_sentence(block.words.text()), *lines]))
    return "\n\n".join([*parts, _sentence(FULL.text())])


def _sentence(x: str) -> str:
    return "\n".join(f"# {line}" for line in wrap(x, WIDTH - 2, break_on_hyphens=False))


def _text_equation(x: Equation, said: str) -> list[str]:
    first, *more = wrap(
        f"{said + ': ' if said else ''}{x.left.text()} = {x.right.text()}",
        WIDTH - 5,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [f"  {first}", *(f"      {line}" for line in more)]


def _text_table(columns: Sequence[Column]) -> list[str]:
    """Return columns side by side, each as wide as its widest cell."""
    rows = [
        [c.text for c in columns],
        *([c.cells[k] for c in columns] for k in range(len(columns[0].cells))),
    ]
    wide = [max(len(row[k]) for row in rows) for k in range(len(columns))]
    return ["  " + "  ".join(x.ljust(w) for x, w in zip(row, wide)).rstrip() for row in rows]


# --- LaTeX
def latex(statement: Statement, board: Board, title: str) -> str:
    """Return a compact form as the body of a LaTeX document (amsmath)."""
    write = latex_writer(board.names)
    cells = Cells(write, "latex")
    names = [x.latex for x in board.names["q"]]
    parts = [
        rf"\noindent\textbf{{{escaped(title)}.}} {legend(statement.frames).latex()}",
        *_latex_table(frame_columns(statement.frames, cells, names)),
    ]
    if statement.frames.rows:
        parts += _latex_table(row_columns(statement.frames, cells))
    gravity = cells.vector(statement.frames.mechanism.gravity) or "0"
    for k, block in enumerate(statement.blocks):
        said = rf" Gravity is $\mathbf{{g}} = {gravity}$." if k == 0 else ""
        parts.append(rf"\noindent {block.words.latex()}{said}" + "\n" + _display(block.equations))
    return "\n".join([rf"{{{TIGHT}", *parts, rf"\noindent {FULL.latex()}\par}}"])


def _display(equations: Sequence[Equation]) -> str:
    """Return equations side by side where they fit, else one below the other; long ones over
    several lines.
    """
    rows: list[str] = []
    for x, said in zip(equations, _headings(equations)):
        one = (rf"\text{{{said}: }}" if said else "") + f"{x.left.latex()} = {x.right.latex()}"
        if rows and width(rows[-1] + one) + 2.0 <= LINE_EM and not rows[-1].startswith(r"\quad"):
            rows[-1] += rf",\qquad {one}"
        elif width(one) <= LINE_EM:
            rows.append(one)
        else:
            first, *more = filled([*_pieces(x.left), "=", *_pieces(x.right)], PAPER)
            rows += [first, *(rf"\quad {{}} {line}" for line in more)]
    return "\\begin{align*}\n" + " \\\\\n".join(f"& {row}" for row in rows) + "\n\\end{align*}"


def _headings(equations: Sequence[Equation]) -> list[str]:
    """Return for each equation the word for its index set, if the equation before it has another
    set; else "".
    """
    said = [x.each.said if x.each else "" for x in equations]
    return [word if word and (k == 0 or said[k - 1] != word) else "" for k, word in enumerate(said)]


def _pieces(side: Expr) -> list[str]:
    """Return the terms of a side with their signs."""
    terms = getattr(side, "terms", ((1, side),))
    shown = [term.show("latex", 2) for _, term in terms]
    signs = ["-" if sign < 0 else "+" if k else "" for k, (sign, _) in enumerate(terms)]
    return [f"{sign} {y}".strip() for sign, y in zip(signs, shown)]


def _latex_table(columns: Sequence[Column]) -> list[str]:
    """Return a tabular. Cells that would make a column too wide are written below it, by name."""
    below: list[tuple[str, str]] = []
    shown = list(columns)
    while _wide(shown) > TABLE_EM and any(width(x) > 9.0 for c in shown for x in c.cells):
        widest = max(range(len(shown)), key=lambda k: max(width(x) for x in shown[k].cells))
        c = shown[widest]
        limit = max(width(x) for x in c.cells) - 1e-9
        letter = c.latex.partition("_")[0]
        named = [rf"{letter}_{{{x}}}" for x in shown[0].cells]
        below += [(named[k], x) for k, x in enumerate(c.cells) if width(x) >= limit]
        shown[widest] = Column(
            c.text,
            c.latex,
            tuple(named[k] if width(x) >= limit else x for k, x in enumerate(c.cells)),
        )
    head = " & ".join(f"${c.latex}$" for c in shown)
    rows = [
        " & ".join(f"${c.cells[k]}$" if c.cells[k] else "" for c in shown)
        for k in range(len(shown[0].cells))
    ]
    made = (
        "\\begin{center}\\footnotesize\\tabcolsep=4pt\\renewcommand{\\arraystretch}{0.93}\n\\begin{tabular}{@{}"
        + "l" * len(shown)
        + "@{}}\n"
        + " \\\\\n".join([head + r" \\ \hline", *rows])
        + "\n\\end{tabular}\n\\end{center}"
    )
    made = made.replace(r"\\ \hline \\", r"\\ \hline")
    return [made, *([rf"{{\raggedright\noindent with {_listed(below)}.\par}}"] if below else [])]


def _listed(below: Sequence[tuple[str, str]]) -> str:
    """Return names with their values; names with the same value are listed together."""
    by_value: dict[str, list[str]] = {}
    for name, value in below:
        by_value.setdefault(value, []).append(name)
    return ", ".join(f"${' = '.join([*names, value])}$" for value, names in by_value.items())


def _wide(columns: Sequence[Column]) -> float:
    return sum(max(width(c.latex), *(width(x) for x in c.cells)) + 1.0 for c in columns)
