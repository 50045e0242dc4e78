"""Comparison: two derivations of one mechanism side by side, with their terms that are equal.

A named number of one derivation is looked for among the named numbers of the other: as it is, with
the opposite sign, or as the sum or difference of two of them, forces included: F*_x = dT/dx - d/dt
dT/dx'. What is found holds at random values of all symbols.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from . import pages, writing
from .answers import random_values
from .steps import Derivation, Label

SAME_VALUE = 1e-9  # tolerance of `_same`
SIGNS = ((1, 1), (1, -1), (-1, 1), (-1, -1))


class Quantity(NamedTuple):
    """A named number of a derivation, and its values at some states."""

    label: Label
    values: np.ndarray


class Correspondence(NamedTuple):
    """A number of the second derivation (left), expressed by numbers of the first (right)."""

    left: Label
    right: Label


@dataclass(frozen=True)
class Comparison:
    """Two derivations of one mechanism."""

    one: Derivation
    two: Derivation

    @property
    def title(self) -> str:
        """The title, in words."""
        return f"{self.one.mechanism}: {self.one.formulation} and {self.two.formulation}"

    @cached_property
    def correspondences(self) -> tuple[Correspondence, ...]:
        """The numbers of the second derivation that equal one number of the first, or a sum or
        difference of two.
        """
        ours = _quantities(self.one)
        theirs = _quantities(self.two)
        known = {q.label.text for q in ours}
        ours += _forces(self.one, known)
        found = []
        for q in (q for q in theirs if q.label.text not in known):
            if right := next(_matches(q.values, ours), None):
                found.append(Correspondence(q.label, right))
        return tuple(found)

    def text(self) -> str:
        """Return the terms that correspond, then both derivations, as text."""
        table = [f"  {c.left.text} = {c.right.text}" for c in self.correspondences]
        head = [
            self.title,
            "",
            f"Which terms of {self.two.formulation} are which of {self.one.formulation}:",
            *(table or ["  none that has a name in both"]),
        ]
        return "\n\n".join(("\n".join(head), self.one.text(), self.two.text()))

    def latex(self) -> str:
        """Return the terms that correspond, then both derivations, as the body of a LaTeX
        document.
        """
        rows = [f"{c.left.latex} &= {c.right.latex}" for c in self.correspondences]
        table = ["\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}"] if rows else []
        about = writing.words(
            f"Which terms of {self.two.formulation} are which of {self.one.formulation}"
        )
        return "\n\n".join((rf"\section*{{{about}}}", *table, self.one.latex(), self.two.latex()))

    def html(self) -> str:
        """Return both derivations as two columns on one page."""
        return pages.side_by_side(
            self.one, self.two, [(c.left.text, c.right.text) for c in self.correspondences]
        )

    def notebook(self, file: str = "mechanism.toml") -> str:
        """Return both derivations as one notebook, with the table of corresponding terms before
        them. file: the mechanism's file, for the cells that derive the equations again.
        """
        first, second = (json.loads(d.notebook(file)) for d in (self.one, self.two))
        rows = "\n".join(f"| ${c.left.latex}$ | ${c.right.latex}$ |" for c in self.correspondences)
        table = (
            f"# {self.title}\n\n| {self.two.formulation} | {self.one.formulation}"
            f" |\n|---|---|\n{rows}"
        )
        cells = [
            {"cell_type": "markdown", "id": "table", "metadata": {}, "source": table},
            *first["cells"],
        ]
        cells += [{**cell, "id": f"second-{cell['id']}"} for cell in second["cells"]]
        return json.dumps({**first, "cells": cells}, indent=1)


def _quantities(d: Derivation) -> list[Quantity]:
    """Return the lines that give one number a name and do not vanish, without those with symbols
    that other derivations lack.
    """
    states = random_values(d.names)
    found: dict[str, Quantity] = {}
    common = {
        s
        for role in ("t", "q", "v", "a", "tau", "p")
        for s in (sp.Symbol(n.symbol) for n in d.names[role])
    }
    for line in (line for step in d.steps for line in step.lines):
        if (
            isinstance(line.left, Label)
            and not line.vector
            and line.values[0].free_symbols <= common
        ):
            values = _at(line.values[0], states)
            if np.any(values):
                found.setdefault(line.left.text, Quantity(line.left, values))
    return list(found.values())


def _forces(d: Derivation, known: set[str]) -> list[Quantity]:
    """Return the generalised forces along the speeds as named quantities."""
    states = random_values(d.names)
    return [
        Quantity(Label(n.text, n.latex), _at(sp.Symbol(n.symbol), states))
        for n in d.names["tau"]
        if n.text not in known
    ]


def _at(e: Any, states: list[dict[Any, float]]) -> np.ndarray:
    return np.array([float(sp.N(sp.sympify(e).xreplace(state))) for state in states])


def _matches(values: np.ndarray, ours: list[Quantity]) -> Iterator[Label]:
    """Yield the labels whose values equal the given ones: first one number with either sign, then
    sums and differences of two.
    """
    for q in ours:
        for sign in (1, -1):
            if _same(values, sign * q.values):
                yield _sum([(sign, q.label)])
    for x, y in combinations(ours, 2):
        for one, two in SIGNS:
            if _same(values, one * x.values + two * y.values):
                yield _sum(sorted([(one, x.label), (two, y.label)], key=lambda z: -z[0]))


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays are equal within SAME_VALUE, relative to the sum of their absolute
    values.
    """
    return bool(np.all(np.abs(a - b) <= SAME_VALUE * (np.abs(a) + np.abs(b))))


def _sum(terms: list[tuple[int, Label]]) -> Label:
    """Return a sum of labels with signs."""
    text = latex = ""
    for sign, label in terms:
        mark = ("-" if sign < 0 else "") if not text else (" - " if sign < 0 else " + ")
        text = text + mark + label.text
        latex = latex + mark + label.latex
    return Label(text, latex)
