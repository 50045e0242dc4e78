"""States at which answers are compared with lines of a worksheet.

A state is a base (coordinates, parameters, time) with several draws of everything else: speeds,
accelerations, forces. Within one base a factor or a combination of equations has constant
coefficients, whatever the draw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import sympy as sp

from ...equations.readable import Names, texts
from .steps import Derivation, Label

SAME_PARAMETERS = 4  # the number of first bases that differ in coordinates alone
RANDOM = 8  # the number of bases with random coordinates
PATH, REACH = 41, 3.0  # bases on a straight path, on which coordinates go from -REACH to REACH
SPECIAL = (0.0, np.pi / 2, np.pi)  # values at which factors such as sin(theta) vanish
MOST_SPECIAL = 27  # the largest number of bases at special coordinates
MORE_DRAWS = 3  # draws beyond the number of equations that may be combined
BASE_ROLES = ("q", "p", "t")


@dataclass(frozen=True)
class AnswerStates:
    """Values of all symbols of a worksheet. symbols: their names. values: (symbols, bases, draws).

    The first RANDOM bases are random, and of these the first SAME_PARAMETERS share their
    parameters; PATH bases on a straight path follow, then special coordinates, then equal
    parameters.
    """

    symbols: tuple[str, ...]
    values: np.ndarray

    @cached_property
    def inputs(self) -> list[Any]:
        """The symbols in SymPy."""
        return [sp.Symbol(s) for s in self.symbols]

    def at(self, expression: Any) -> np.ndarray:
        """Return the values of an expression, (bases, draws); NaN where it is not real or too
        large.
        """
        shape = self.values.shape[1:]
        with np.errstate(all="ignore"):
            try:
                found = sp.lambdify(self.inputs, expression, "numpy")(*self.values)
                return np.array(np.broadcast_to(np.asarray(found, float), shape))
            except (TypeError, ValueError, OverflowError, NameError, ZeroDivisionError):
                return np.full(shape, np.nan)


def answer_states(d: Derivation) -> AnswerStates:
    """Return the states of a derivation's worksheet. The same worksheet has the same numbers."""
    rows = max(sum(not isinstance(x.left, Label) for x in step.lines) for step in d.steps)
    return draw(d.names, rows + MORE_DRAWS)


def draw(names: Names, draws: int) -> AnswerStates:
    """Return random and special states of some names."""
    of = {n.symbol: role for role, group in names.items() for n in group}
    known = sorted({s.name for s in texts(names, "text")})
    coordinates = [s for s in known if of.get(s) in ("q",)]
    special = special_coordinates(coordinates)
    first = RANDOM + PATH
    bases = first + len(special) + 1
    values = np.empty((len(known), bases, draws))
    for k, s in enumerate(known):
        values[k] = _drawn(s, of.get(s, "v"), bases, draws)
        if s in coordinates:
            shift = 0.1 * (coordinates.index(s) + 1)  # so that the path meets no symmetric points
            values[k, RANDOM:first] = np.linspace(-REACH, REACH, PATH)[:, None] + shift
            values[k, first:-1] = np.array([x[s] for x in special])[:, None]
        if of.get(s) in ("p", "t"):
            values[k, RANDOM:first] = values[k, 0]
        if of.get(s) == "p":  # a factor such as m1 - m2 vanishes where they are equal
            values[k, -1] = 1.0
    return AnswerStates(tuple(known), values)


def _drawn(symbol: str, role: str, bases: int, draws: int) -> np.ndarray:
    """Return random values of one symbol: parameters and time positive, all others with both
    signs; the same in all draws of a base for coordinates, parameters and time.
    """
    rng = np.random.default_rng(list(symbol.encode()))
    shape = (bases, 1) if role in BASE_ROLES else (bases, draws)
    if role in ("p", "t"):
        found = rng.uniform(0.4, 1.6, shape)
        found[:SAME_PARAMETERS] = found[0]
    else:
        found = rng.uniform(0.4, 2.8, shape) * rng.choice((-1.0, 1.0), shape)
    return np.broadcast_to(found, (bases, draws))


def special_coordinates(coordinates: Sequence[str]) -> list[Mapping[str, float]]:
    """Return coordinates at special values: all combinations of a few, else a choice of them."""
    n = len(coordinates)
    if len(SPECIAL) ** n <= MOST_SPECIAL:
        grid: list[Any] = list(product(SPECIAL, repeat=n))
    else:
        rng = np.random.default_rng(n)
        chosen = rng.integers(len(SPECIAL), size=(MOST_SPECIAL - len(SPECIAL), n))
        grid = [*([x] * n for x in SPECIAL), *np.array(SPECIAL)[chosen]]
    return [dict(zip(coordinates, map(float, x))) for x in grid]
