"""Names of coordinates, speeds, forces and parameters in printed equations.

    role      symbol           text         LaTeX                  of a joint called theta1
    q         theta1           theta1       \\theta_{1}             coordinate
    v         theta1_dot       theta1'      \\dot{\\theta}_{1}       speed
    a         theta1_ddot      theta1''     \\ddot{\\theta}_{1}      acceleration
    tau       tau_theta1       tau_theta1   \\tau_{\\theta_{1}}      force along the speed
    h         p_theta1         p_theta1     p_{\\theta_{1}}         momentum
    h_rate    p_theta1_dot     p_theta1'    \\dot{p}_{\\theta_{1}}   its rate
    q_rate                                   the coordinate's rate, where the speed has its own name
    lam       lambda1     lambda1      \\lambda_{1}  force of a row: loops, nonholonomic constraints

A speed with a name of its own (a ball's wx) has no dot. Parameters keep their names; other names
are changed where they would coincide with one.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...model import Mechanism

DOTS = (("", ""), ("_dot", r"\dot"), ("_ddot", r"\ddot"))  # of a symbol, of LaTeX
LETTERS = {"tau": r"\tau", "p": "p"}
# the last part of a coordinate's name that counts
ORDINALS = {"first": "1", "second": "2", "third": "3"}
LABELS = {  # and the parts that are letters of their own, with an index
    **{f"q{x}": ("q", x) for x in "wxyz"},
    **{f"w{x}": (r"\omega", x) for x in "xyz"},
    **{f"v{x}": ("v", x) for x in "xyz"},
    **{x: (x, "") for x in "xyz"},
}
RESERVED = {
    *keyword.kwlist,
    "math",
    "auto",
    "case",
    "char",
    "const",
    "default",
    "do",
    "double",
    "enum",
    "extern",
    "float",
    "goto",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "main",
}


@dataclass(frozen=True)
class Name:
    """The names of one quantity: of its symbol (valid in Python and C), in plain text, and in
    LaTeX.
    """

    symbol: str
    text: str
    latex: str


Names = Mapping[str, tuple[Name, ...]]  # role -> a name for each entry of its vector


def names_of(mechanism: Mechanism, rows: int = 0) -> dict[str, tuple[Name, ...]]:
    """Return the names of every role, in the order of the mechanism's own vectors. rows: the number
    of multipliers.
    """
    coordinates = list(mechanism.coordinate_names)
    several = {
        joint
        for name in (*coordinates, *mechanism.speed_names)
        for joint, _, label in [name.rpartition(".")]
        if joint and label in LABELS
    }
    letters = {LABELS[n][0] for n in LABELS} & {
        upright(n).partition("_{")[0] for n in (*mechanism.parameters, *coordinates) if "." not in n
    }
    alone = len(several) == 1 and not letters
    speeds = [(n, 1 if n in coordinates else 0) for n in mechanism.speed_names]
    named = {
        "p": [_name(n) for n in mechanism.parameters],
        "t": [Name("t", "t", "t")],
        "q": [_name(n, alone=alone) for n in coordinates],
        "v": [_name(n, dots, alone=alone) for n, dots in speeds],
        "a": [_name(n, dots + 1, alone=alone) for n, dots in speeds],
        "tau": [_name(n, of="tau", alone=alone) for n, _ in speeds],
        "h": [_name(n, of="p", alone=alone) for n, _ in speeds],
        "h_rate": [_name(n, 1, of="p", alone=alone) for n, _ in speeds],
        "q_rate": [_name(n, 1, alone=alone) for n in coordinates],
        "lam": [_name(f"lambda{k + 1}") for k in range(rows)],
    }
    taken: set[str] = set(RESERVED)
    return {role: tuple(_unique(name, taken) for name in names) for role, names in named.items()}


def with_letters(names: Names, letters: Mapping[str, str]) -> dict[str, tuple[Name, ...]]:
    """Return the names with other letters for some of them. letters: {new letter: the present name
    of a quantity in plain text}. The names of its speed, acceleration and force change accordingly.
    """
    found = {role: list(group) for role, group in names.items()}
    for other, ours in letters.items():
        for role, group in names.items():
            for n in group:
                base = n.text.rstrip("'")
                dots = len(n.text) - len(n.text.rstrip("'"))
                owner = next((of for of in LETTERS if role != "p" and base == f"{of}_{ours}"), "")
                if owner or base == ours:
                    found[role].append(replace(_name(other, dots, of=owner), symbol=n.symbol))
    return {role: tuple(group) for role, group in found.items()}


def words(names: Names) -> set[str]:
    """Return every name of a symbol."""
    return {name.symbol for group in names.values() for name in group}


def letter(used: Collection[str], choices: Sequence[str]) -> str:
    """Return the first of some letters that can name a series z1, z2, ... without a conflict with
    the used names.
    """
    return next(
        z
        for z in (*choices, "aux", "catena")
        if not any(re.fullmatch(rf"{z}(\d+|_out)", word) for word in used)
    )


def texts(names: Names, how: str) -> dict[Any, str]:
    """Return {symbol: its "text" or "latex"}, for SymPy's printers."""
    import sympy

    return {
        sympy.Symbol(name.symbol): getattr(name, how) for group in names.values() for name in group
    }


def _name(raw: str, dots: int = 0, of: str = "", alone: bool = False) -> Name:
    """Return the name of a joint's quantity, with this number of dots; `of` is the letter of a
    force or a momentum. alone: whether no other joint has coordinates with the same letters, so
    that LaTeX needs no index for the joint.
    """
    word = re.sub(r"\W", "_", raw)
    word = f"j{word}" if word[:1].isdigit() else word
    latex = _of_joint(raw, alone) or upright(word)
    head, _, index = (LETTERS[of], "", f"{latex}}}") if of else latex.partition("_{")
    head = f"{DOTS[dots][1]}{{{head}}}" if dots else head
    owner = f"{of}_" if of else ""
    return Name(
        owner + word + DOTS[dots][0],
        owner + raw + "'" * dots,
        head + (f"_{{{index}" if index else ""),
    )


def _of_joint(raw: str, alone: bool = False) -> str:
    """Return a joint's coordinate or speed in LaTeX, where the joint has several: tip.qw is
    q_{w,tip}, hinge.first is hinge_{1}. Else None.
    """
    joint, dot, label = raw.rpartition(".")
    if not dot or not joint:
        return ""
    head, _, below = upright(joint).partition("_{")
    if label in ORDINALS:
        return f"{head}_{{{below.removesuffix('}') + ',' if below else ''}{ORDINALS[label]}}}"
    letter, index = LABELS.get(label, ("", ""))
    if letter and alone:
        return f"{letter}_{{{index}}}" if index else letter
    return (
        f"{letter}_{{{index},{upright(joint)}}}"
        if letter and index
        else f"{letter}_{{{upright(joint)}}}"
        if letter
        else ""
    )


def upright(word: str) -> str:
    r"""Return a name in LaTeX: Greek letters and single letters in italics, words of several
    letters upright.

    >>> upright("theta1"), upright("crank pin"), upright("l_upper")
    ('\\theta_{1}', '\\mathrm{crank\\ pin}', 'l_{\\mathrm{upper}}')
    """
    from sympy import Symbol, latex
    from sympy.printing.conventions import split_super_sub

    def piece(x: str) -> str:
        shown = latex(Symbol(x)) if "_" not in x else x
        whole = shown.startswith("\\") or len(x) == 1 or x.isdigit()
        return shown if whole else rf"\mathrm{{{re.sub(r'[_ ]+', lambda _: chr(92) + ' ', x)}}}"

    if " " in word:
        return piece(word)
    head, above, below = split_super_sub(word)
    return piece(head) + (
        f"_{{{' '.join(map(piece, (*above, *below)))}}}" if above or below else ""
    )


def _unique(name: Name, taken: set[str]) -> Name:
    symbol = name.symbol
    while symbol in taken:
        symbol += "_"
    taken.add(symbol)
    return Name(symbol, name.text, name.latex)


def symbols(names: Iterable[Name]) -> list[Any]:
    """Return the SymPy symbols for some names."""
    import sympy

    return [sympy.Symbol(name.symbol) for name in names]
