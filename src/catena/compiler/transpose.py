"""Between rows of states, (batch, n), and lanes, [n][W]: a transposition on the way in and another on the way out.

Columns are taken in pairs. Two doubles of each of the W rows are read at once; the pairs of the even rows side by side
make one vector, those of the odd rows another, and two shuffles of these are the two columns:

    row 0  a b             even = a b e f             a c e g   column j
    row 1  c d     ->      odd  = c d g h     ->      b d f h   column j + 1
    row 2  e f
    row 3  g h

A pair fills an aligned half of a vector register, so that no shuffle crosses from one half to the other.
"""

from __future__ import annotations

from collections.abc import Callable

from .text import Text

UNROLLED = 16  # up to so many columns are written out, beyond they are a loop


def gather(t: Text, name: str, rows: list[str], n: int, x: str) -> None:
    """Read n columns of the rows that begin at the pointers `rows`, one for each lane, into the lanes at x."""

    def pair(j: int | str) -> None:
        pairs = [t.load(t.at(row, j, "double"), of="<2 x double>") for row in rows]
        even, odd = _joined(t, pairs[0::2]), _joined(t, pairs[1::2])
        for half in (0, 1):
            t.store(t(f"shufflevector {t.V} {even}, {t.V} {odd}, {_crossing(t.width, half)}"), t.at(x, j), half)

    def single(j: int | str) -> None:
        lanes = "poison"
        for l, row in enumerate(rows):
            lanes = t(f"insertelement {t.V} {lanes}, double {t.load(row, j, 'double')}, i64 {l}")
        t.store(lanes, x, j)

    _columns(t, name, n, pair, single)


def scatter(t: Text, name: str, rows: list[str], n: int, y: str) -> None:
    """Write n columns from the lanes at y to the rows that begin at the pointers `rows`.

    Rows beyond the end of a batch are all its last row; their lanes hold the same values, so the order is of no matter.
    """

    def pair(j: int | str) -> None:
        first, second = t.load(y, j), t.load(t.at(y, j), 1)
        crossed = [t(f"shufflevector {t.V} {first}, {t.V} {second}, {_crossing(t.width, parity)}") for parity in (0, 1)]
        for l, row in enumerate(rows):
            even = l - l % 2
            two = t(f"shufflevector {t.V} {crossed[l % 2]}, {t.V} poison, <2 x i32> <i32 {even}, i32 {even + 1}>")
            t.store(two, t.at(row, j, "double"), of="<2 x double>")

    def single(j: int | str) -> None:
        lanes = t.load(y, j)
        for l, row in enumerate(rows):
            t.store(t(f"extractelement {t.V} {lanes}, i64 {l}"), row, j, "double")

    _columns(t, name, n, pair, single)


def _columns(t: Text, name: str, n: int, pair: Callable[[int | str], None], single: Callable[[int | str], None]) -> None:
    """All columns: in pairs, and the odd one at the end by itself. One lane has no pairs to shuffle."""
    paired = n - n % 2 if t.width > 1 else 0
    if t.width == 1 and n > UNROLLED:
        with t.loop(name, n) as counter:
            single(counter)
        return
    if paired > UNROLLED:
        with t.loop(name, paired, step=2) as counter:
            pair(counter)
    else:
        for j in range(0, paired, 2):
            pair(j)
    for j in range(paired, n):
        single(j)


def _joined(t: Text, parts: list[str], size: int = 2) -> str:
    """Vectors of `size` doubles, side by side in one."""
    while len(parts) > 1:
        order = ", ".join(f"i32 {k}" for k in range(2 * size))
        kind = f"<{size} x double>"
        parts = [
            t(f"shufflevector {kind} {a}, {kind} {b}, <{2 * size} x i32> <{order}>") for a, b in zip(parts[0::2], parts[1::2])
        ]
        size *= 2
    return parts[0]


def _crossing(width: int, half: int) -> str:
    """The mask that takes, of two vectors a and b, the elements a0 b0 a2 b2 ... (half 0) or a1 b1 a3 b3 ... (half 1)."""
    picks = ", ".join(f"i32 {l + half if l % 2 == 0 else width + l - 1 + half}" for l in range(width))
    return f"<{width} x i32> <{picks}>"
