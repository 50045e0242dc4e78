"""A compact statement as text and as LaTeX: words, equations side by side where there is room,
tables.
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
ROOM = 37.5  # em of small type across a page of the article class; a table has smaller type and 42
PAPER = LATEX._replace(room=ROOM)
TABLE = 42.0
# the page's spaces, inside its group
TIGHT = (
    r"\small\abovedisplayskip=3pt \belowdisplayskip=3pt \abovedisplayshortskip=3pt"
    r" \belowdisplayshortskip=3pt \jot=1pt \topsep=3pt \partopsep=0pt \parskip=0pt "
)


def legend(fr: Frames) -> Sentence:
    """What the table says."""
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
    """Plain text."""
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
    """Columns side by side, as wide as their widest cell."""
    rows = [
        [c.text for c in columns],
        *([c.cells[k] for c in columns] for k in range(len(columns[0].cells))),
    ]
    wide = [max(len(row[k]) for row in rows) for k in range(len(columns))]
    return ["  " + "  ".join(x.ljust(w) for x, w in zip(row, wide)).rstrip() for row in rows]


# --- LaTeX
def latex(statement: Statement, board: Board, title: str) -> str:
    """The body of a LaTeX document (amsmath)."""
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
    """Equations side by side where there is room, one below the other else; long ones over several
    lines.
    """
    rows: list[str] = []
    for x, said in zip(equations, _headings(equations)):
        one = (rf"\text{{{said}: }}" if said else "") + f"{x.left.latex()} = {x.right.latex()}"
        if rows and width(rows[-1] + one) + 2.0 <= ROOM and not rows[-1].startswith(r"\quad"):
            rows[-1] += rf",\qquad {one}"
        elif width(one) <= ROOM:
            rows.append(one)
        else:
            first, *more = filled([*_pieces(x.left), "=", *_pieces(x.right)], PAPER)
            rows += [first, *(rf"\quad {{}} {line}" for line in more)]
    return "\\begin{align*}\n" + " \\\\\n".join(f"& {row}" for row in rows) + "\n\\end{align*}"


def _headings(equations: Sequence[Equation]) -> list[str]:
    """For each the word of its set, where it begins."""
    said = [x.each.said if x.each else "" for x in equations]
    return [word if word and (k == 0 or said[k - 1] != word) else "" for k, word in enumerate(said)]


def _pieces(side: Expr) -> list[str]:
    """The terms of a side, with their signs."""
    terms = getattr(side, "terms", ((1, side),))
    shown = [term.show("latex", 2) for _, term in terms]
    signs = ["-" if sign < 0 else "+" if k else "" for k, (sign, _) in enumerate(terms)]
    return [f"{sign} {y}".strip() for sign, y in zip(signs, shown)]


def _latex_table(columns: Sequence[Column]) -> list[str]:
    """A tabular; cells of a column that would make it too wide stand below, by name."""
    below: list[tuple[str, str]] = []
    kept = list(columns)
    while _wide(kept) > TABLE and any(width(x) > 9.0 for c in kept for x in c.cells):
        widest = max(range(len(kept)), key=lambda k: max(width(x) for x in kept[k].cells))
        c = kept[widest]
        limit = max(width(x) for x in c.cells) - 1e-9
        letter = c.latex.partition("_")[0]
        named = [rf"{letter}_{{{x}}}" for x in kept[0].cells]
        below += [(named[k], x) for k, x in enumerate(c.cells) if width(x) >= limit]
        kept[widest] = Column(
            c.text,
            c.latex,
            tuple(named[k] if width(x) >= limit else x for k, x in enumerate(c.cells)),
        )
    head = " & ".join(f"${c.latex}$" for c in kept)
    rows = [
        " & ".join(f"${c.cells[k]}$" if c.cells[k] else "" for c in kept)
        for k in range(len(kept[0].cells))
    ]
    made = (
        "\\begin{center}\\footnotesize\\tabcolsep=4pt\\renewcommand{\\arraystretch}{0.93}\n\\begin{tabular}{@{}"
        + "l" * len(kept)
        + "@{}}\n"
        + " \\\\\n".join([head + r" \\ \hline", *rows])
        + "\n\\end{tabular}\n\\end{center}"
    )
    made = made.replace(r"\\ \hline \\", r"\\ \hline")
    return [made, *([rf"{{\raggedright\noindent with {_listed(below)}.\par}}"] if below else [])]


def _listed(below: Sequence[tuple[str, str]]) -> str:
    """Names with their values; those of one value together."""
    by_value: dict[str, list[str]] = {}
    for name, value in below:
        by_value.setdefault(value, []).append(name)
    return ", ".join(f"${' = '.join([*names, value])}$" for value, names in by_value.items())


def _wide(columns: Sequence[Column]) -> float:
    return sum(max(width(c.latex), *(width(x) for x in c.cells)) + 1.0 for c in columns)
