"""Page: what an example shows. Frozen records; `writing.py` puts them on paper.

Example   what it is: a name, a source, a mechanism's file, what the print has wrong, how to run it
Page      what came out: numbers next to the print and the reference, pictures, tables
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure


@dataclass(frozen=True)
class Number:
    """One or several numbers of one kind: ours, as the source prints them, and an independent
    reference.

    printed: as they stand there, decimal point instead of comma. where: in the source. reference:
    computed without catena, or by another route; basis: which. within: the allowed difference from
    the reference, relative to the larger of one and the largest reference. last: the allowed
    difference from the print, in units of its last digit. wrong: the print is known to be wrong,
    and is shown but not compared.
    """

    what: str
    ours: tuple[float, ...]
    unit: str = ""
    printed: tuple[str, ...] = ()
    where: str = ""
    reference: tuple[float, ...] = ()
    basis: str = ""
    within: float = 1e-8
    last: float = 0.5
    wrong: bool = False

    @property
    def difference(self) -> float:
        """The largest difference from the reference, in the number's unit; NaN where there is
        none.
        """
        return (
            float(np.abs(np.subtract(self.ours, self.reference)).max())
            if self.reference
            else np.nan
        )

    @property
    def allowed(self) -> float:
        """The difference from the reference that is allowed, in the number's unit."""
        return (
            self.within * max(1.0, float(np.abs(self.reference).max()))
            if self.reference
            else np.nan
        )

    @property
    def as_printed(self) -> bool:
        """Whether every digit of the print is met, or its last one by so much as is allowed."""
        return all(
            abs(x - float(text)) <= (self.last + 1e-6) * unit_of(text)
            for x, text in zip(self.ours, self.printed)
        )

    @property
    def agrees(self) -> bool:
        """With the reference, and with the print where that is right."""
        return (not self.reference or self.difference <= self.allowed) and (
            self.wrong or self.as_printed
        )


def number(
    what: str, ours: Any, *, printed: str = "", reference: Any = None, **more: Any
) -> Number:
    """A Number; printed: the numbers as the source has them, between spaces."""
    texts = tuple(printed.replace(",", ".").split())
    values = () if reference is None else tuple(np.ravel(np.asarray(reference, float)).tolist())
    mine = tuple(np.ravel(np.asarray(ours, float)).tolist())
    for other in (texts, values):
        if other and len(other) != len(mine):
            raise ValueError(f"{what}: {len(mine)} numbers of ours for {len(other)}")
    return Number(what, mine, printed=texts, reference=values, **more)


def unit_of(text: str) -> float:
    """One in the last printed digit.

    >>> unit_of("-0.0477"), unit_of("1.99e-05"), unit_of("112")
    (0.0001, 1e-07, 1.0)
    """
    digits, _, power = text.lower().partition("e")
    decimals = len(digits.partition(".")[2])
    return float(f"1e{int(power or 0) - decimals}")


@dataclass(frozen=True)
class Picture:
    """A figure and the sentence below it."""

    figure: Figure
    caption: str


@dataclass(frozen=True)
class Table:
    """A title, the names of the columns, rows of texts, and a remark below."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    remark: str = ""


@dataclass(frozen=True)
class Misprint:
    """Where the print is wrong, what it has, what is right, how we know."""

    where: str
    printed: str
    right: str
    why: str


@dataclass(frozen=True)
class Page:
    """What came out of an example."""

    numbers: tuple[Number, ...]
    pictures: tuple[Picture, ...]
    tables: tuple[Table, ...] = ()
    text: str = ""

    @property
    def disagreements(self) -> tuple[Number, ...]:
        """The numbers that do not agree."""
        return tuple(n for n in self.numbers if not n.agrees)


@dataclass(frozen=True)
class Example:
    """A worked example. files: the mechanisms it uses, built-in examples by their names, the main
    one first.
    """

    title: str
    source: str
    shows: str
    files: tuple[str, ...]
    run: Callable[[], Page]
    misprints: tuple[Misprint, ...] = ()
    departures: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


def misprints(rows: Iterable[Sequence[str]]) -> tuple[Misprint, ...]:
    """Rows of four texts as records."""
    return tuple(Misprint(*row) for row in rows)
