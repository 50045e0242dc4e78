"""The width in print of LaTeX of the kind that catena writes, in em of its font.

The advance widths are those of Computer Modern at 10 pt, the spaces those of TeX's mathematics; a
test compares them with a renderer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

PAGE = 34.0  # em: the text of an A4 page in LaTeX's article class has 34.5
SCRIPT = 0.7  # of the size
TOKEN = re.compile(r"\\[a-zA-Z]+\*?|\\.|[{}^_&]|\s+|.", re.DOTALL)
BINARY = ("+", "-", r"\cdot", r"\times")
RELATIONS = ("=", r"\approx", r"\leq", r"\geq")
SPACES = {r"\,": 0.167, r"\;": 0.278, r"\quad": 1.0, r"\qquad": 2.0, r"\ ": 0.333, r"\!": -0.167}
WORDS = (
    r"\sin",
    r"\cos",
    r"\tan",
    r"\exp",
    r"\log",
    r"\cosh",
    r"\sinh",
    r"\tanh",
    r"\operatorname",
)
ABOVE = (
    r"\dot",
    r"\ddot",
    r"\hat",
    r"\bar",
    r"\tilde",
    r"\mathbf",
    r"\boldsymbol",
    r"\mathit",
    r"\overline",
)
NARROW = {
    **dict.fromkeys("ijl'|.,:;!", 0.33),
    **dict.fromkeys("()[]", 0.39),
    "/": 0.5,
    "r": 0.46,
    "t": 0.37,
    "f": 0.55,
    "s": 0.47,
    "I": 0.45,
}
WIDE = {
    **dict.fromkeys("mMwW", 0.93),
    **dict.fromkeys("ABCDEFGHKLNOPQRSTUVXYZ", 0.72),
    r"\sum": 1.45,
    r"\int": 0.9,
    r"\omega": 0.64,
}
GREEK = {
    r"\tau": 0.5,
    r"\iota": 0.35,
    r"\phi": 0.6,
    r"\varphi": 0.65,
    r"\psi": 0.65,
    r"\alpha": 0.64,
    r"\partial": 0.57,
}


def width(latex: str) -> float:
    """Return the width of one line of LaTeX in em; for a matrix, that of its widest row."""
    return _of(_grouped(iter(TOKEN.findall(latex))))


def _grouped(tokens: Iterator[str], until: str = "") -> list[Any]:
    """Return a list of tokens in which the contents of braces are lists of their own."""
    found: list[Any] = []
    for token in tokens:
        if token == until:
            break
        if token == "{":
            found.append(_grouped(tokens, "}"))
        elif not token.isspace() or not found or found[-1] != " ":
            found.append(" " if token.isspace() else token)
    return found


def _of(items: list[Any]) -> float:
    """Return the sum of the widths of some items."""
    total, k = 0.0, 0
    while k < len(items):
        size, k = _item(items, k)
        total += size
    return total


def _item(items: list[Any], k: int) -> tuple[float, int]:
    """Return the width of item k with its arguments, and the index of the next item."""
    x = items[k]
    if isinstance(x, list):
        return _of(x), k + 1
    if x in ("^", "_"):
        return _scripts(items, k)
    if x in (r"\frac", r"\tfrac", r"\dfrac"):
        scale = SCRIPT if x == r"\tfrac" else 1.0
        return scale * max(_of(_argument(items, k + 1)), _of(_argument(items, k + 2))) + 0.24, k + 3
    if x == r"\sqrt":
        return 0.9 + _of(_argument(items, k + 1)), k + 2
    if x in (r"\mathrm", r"\operatorname", r"\text"):
        return (
            sum(
                0.33 if c == " " else 0.3 if c in "ijltf" else 0.83 if c in "mw" else 0.5
                for c in _letters(_argument(items, k + 1))
            ),
            k + 2,
        )
    if x in (r"\begin", r"\end"):
        return _matrix(items, k)
    if x in ABOVE:
        return _of(_argument(items, k + 1)), k + 2
    return _symbol(x, _binary(items, k)), k + 1


def _scripts(items: list[Any], k: int) -> tuple[float, int]:
    """Return the width of a subscript and a superscript above it: the wider one."""
    sizes = []
    while k < len(items) and items[k] in ("^", "_"):
        sizes.append(SCRIPT * _of(_argument(items, k + 1)))
        k += 2
    return max(sizes) + 0.05, k


def _argument(items: list[Any], k: int) -> list[Any]:
    """Return the argument of the command before item k."""
    if k >= len(items):
        return []
    return items[k] if isinstance(items[k], list) else [items[k]]


def _matrix(items: list[Any], k: int) -> tuple[float, int]:
    r"""Return the width of a matrix between \begin and \end: its widest row, and the brackets."""
    end = next((i for i in range(k + 1, len(items)) if items[i] == r"\end"), len(items))
    rows: list[list[Any]] = [[]]
    for x in items[k + 2 : end]:
        if x == r"\\":
            rows.append([])
        else:
            rows[-1].append(x)
    return max(_of(row) for row in rows) + 1.6, end + 2


def _binary(items: list[Any], k: int) -> bool:
    """Return whether a sign stands between two items, so that it has space around it."""
    before = next((x for x in reversed(items[:k]) if x not in (" ", "&")), None)
    return before is not None and before not in ("(", "[", "=", ",", r"\left", r"\quad")


def _symbol(x: str, binary: bool) -> float:
    """Return the width of a single sign; commands that print nothing have no width."""
    if x in BINARY:
        return (0.778 if x in "+-" else 0.5) + (0.444 if binary else 0.0)
    if x in RELATIONS:
        return 0.778 + 0.556
    if x in WORDS:
        return 0.43 * (len(x) - 1) + 0.05
    if x in SPACES:
        return SPACES[x]
    if x in (" ", "&", r"\left", r"\right", r"\\", r"\displaystyle"):
        return 0.0
    return NARROW.get(x) or WIDE.get(x) or GREEK.get(x) or 0.51


def _letters(items: list[Any]) -> str:
    return "".join(
        " " if x == "\\ " else x
        for x in items
        if isinstance(x, str) and (len(x) == 1 or x == "\\ ")
    )
