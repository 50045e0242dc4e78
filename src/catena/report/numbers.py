"""Numbers, vectors and counts as text, for the terminal and for reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def plain(text: str) -> str:
    """Return a string without characters that would move the cursor or colour the screen."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def number(x: float | None) -> str:
    """Return a number with six digits; "" for None, a limit that does not exist."""
    return "" if x is None else f"{x:.6g}"


def vector(values: Sequence[float]) -> str:
    """Return a vector as a string, such as (1, 0.5, 0)."""
    return f"({', '.join(number(x + 0.0) for x in values)})"


def axes(vectors: Sequence[Sequence[float]]) -> str:
    """Return unit axes by their letters, x or -z, and others by their components."""
    letters = {
        tuple(sign if k == i else 0.0 for k in range(3)): ("-" if sign < 0 else "") + name
        for i, name in enumerate("xyz")
        for sign in (1.0, -1.0)
    }
    return ", ".join(letters.get(tuple(x + 0.0 for x in a), vector(a)) for a in vectors)


def count(things: Sequence[Any], one: str, many: str) -> str:
    """Return a number of things with its noun: "1 body", "3 bodies"."""
    return f"{len(things)} {one if len(things) == 1 else many}"


def span(first: int, count: int) -> str:
    """Return a range of indices as a string: "3", "0-6", or "" for none."""
    return "" if not count else str(first) if count == 1 else f"{first}-{first + count - 1}"


def series(values: Sequence[Any], join: str = ", ") -> str:
    """Return numbers joined by `join`; only one where all are equal, "" where there is none."""
    shown = [number(x) for x in values]
    return (
        shown[0]
        if len(set(shown)) == 1
        else join.join(x or "-" for x in shown)
        if any(shown)
        else ""
    )
