"""Answers in plain notation, Python's or as written by hand: m l^2 theta'^2, mlx', sin^2(theta).

text -> names of the worksheet, numbers, + - * / ^ ( ) and functions, a sign * between factors ->
the parser of model files
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...equations.readable import Names
from ...errors import ExpressionError

FUNCTIONS = ("sin", "cos", "tan", "sqrt", "exp", "log", "sinh", "cosh", "tanh")
MODULES = re.compile(
    rf"(?<![\w.])(?:np|numpy|math|sp|sympy)\.(?=(?:{'|'.join((*FUNCTIONS, 'pi'))})\b)"
)


def plain_text(text: str, names: Names) -> str:
    """Return a text with names as symbols, a sign * between adjacent factors, and brackets around
    the arguments of functions.
    """
    shown = {n.text: n.symbol for _, group in reversed(list(names.items())) for n in group}
    text = MODULES.sub("", text)
    for word in sorted(shown, key=len, reverse=True):
        text = re.sub(
            rf"(?<![\w.@]){re.escape(word)}(?![\w'])",
            lambda _, word=word: f" @{shown[word]} ",  # type: ignore[misc]
            text,
        )
    pieces = re.findall(r"\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+|@?[^\W\d][\w']*|\*\*|\S", text)
    known = {n.symbol for group in names.values() for n in group}
    return with_products(_bracketed([y for x in pieces for y in _word(x, known, names)]))


def _bracketed(pieces: list[str]) -> list[str]:
    """Return the pieces with brackets around the argument of a function, and its power after them:
    cos theta, sin 2 theta, sin^2(theta).
    """
    out: list[str] = []
    while pieces:
        name, *pieces = pieces
        if name not in FUNCTIONS:
            out.append(name)
            continue
        power: list[str] = []
        if pieces[:1] in (["^"], ["**"]):
            end = _end(pieces, 1) if pieces[1:2] == ["("] else 2
            power = ["^", *pieces[1:end]]
            pieces = pieces[end:]
            refuse_inverse(name, power)
        taken, pieces = _taken(pieces)
        out += ["(", name, "(", *_bracketed(taken), ")", ")", *power] if taken or power else [name]
    return out


def _taken(pieces: list[str]) -> tuple[list[str], list[str]]:
    """Return the argument of a function, and the pieces after it. The argument is in brackets, a
    name, or a number and a name.
    """
    if pieces[:1] == ["("]:
        end = _end(pieces, 0)
        return pieces[1 : end - 1], pieces[end:]
    if not pieces or not re.match(r"[\w.]", pieces[0]):
        return [], pieces
    number = (
        pieces[0][0].isdigit()
        and len(pieces) > 1
        and bool(re.match(r"[^\W\d]", pieces[1]))
        and pieces[1] not in FUNCTIONS
    )
    return pieces[: 1 + number], pieces[1 + number :]


def _end(pieces: list[str], start: int) -> int:
    """Return the place behind the bracket that closes the one at `start`."""
    depth = 0
    for k, piece in enumerate(pieces[start:], start):
        depth += (piece == "(") - (piece == ")")
        if not depth:
            return k + 1
    raise refused("a ')' is missing")


def refuse_inverse(name: str, power: list[str]) -> None:
    """Raise an error for the power -1 of a function, because sin^-1 has two meanings."""
    if "-" in power:
        raise refused(f"{name}^-1 may be 1/{name} or the inverse function; write 1/{name}(...)")


def _word(piece: str, known: set[str], names: Names) -> list[str]:
    """Return a word as a name, as a function, or as the product of the names and functions that are
    written together in it.
    """
    if not re.match(r"@?[^\W\d]", piece):
        return [piece.replace("[", "(").replace("]", ")")]
    word = piece.removeprefix("@")
    if word in known or word in FUNCTIONS or word in ("pi", "e"):
        return [word]
    if alike := [
        n.symbol
        for group in names.values()
        for n in group
        if _bare(word) in (_bare(n.symbol), _bare(n.text))
    ]:
        return alike[:1]
    spelt = {
        **{x: x for x in (*FUNCTIONS, "pi", *known)},
        **{n.text: n.symbol for _, group in reversed(list(names.items())) for n in group},
    }
    if together := _split(word, spelt):
        return together
    raise refused(f"there is no quantity {word!r} here; {listed(names, 'text')}")


def _split(word: str, spelt: Mapping[str, str]) -> list[str]:
    """Return the fewest names that make a word when written together, as mlx' is m l x'; an empty
    list if there are none.
    """
    best: dict[int, list[str]] = {0: []}
    for end in range(1, len(word) + 1):
        found = [
            [*best[start], spelt[word[start:end]]] for start in best if word[start:end] in spelt
        ]
        if found:
            best[end] = min(found, key=len)
    return best.get(len(word), [])


def _bare(word: str) -> str:
    """Return a name without the signs that join its parts: theta_1_dot, theta1_dot and theta1dot
    are the same.
    """
    return word.replace("_", "").replace(".", "")


def listed(names: Names, how: str) -> str:
    """Return the quantities of a worksheet in the notation that `how` names."""
    shown = dict.fromkeys(
        getattr(n, how) for role in ("q", "v", "a", "tau", "p") for n in names[role]
    )
    return (
        f"quantities are: {', '.join(shown)}. A letter of your own for one of them is said by"
        " --letter YOURS=OURS, letters= in Python"
    )


def with_products(pieces: list[str]) -> str:
    """Return the pieces as one text, with a sign * between adjacent factors."""
    out: list[str] = []
    for piece in pieces:
        begins = piece == "(" or bool(re.match(r"[\w.]", piece))
        ended = (
            bool(out)
            and (out[-1] == ")" or bool(re.match(r"[\w.]", out[-1])))
            and out[-1] not in FUNCTIONS
        )
        out += ["*", piece] if begins and ended else [piece]
    return "".join(out)


def refused(said: str) -> ExpressionError:
    """Return an error with this message, to which the answer can be prepended."""
    error = ExpressionError(said)
    error.said = said  # type: ignore[attr-defined]
    return error
