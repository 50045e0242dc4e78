"""A board on which the angles of a planar linkage are measured from the ground ([Baysec1996] eq.
56-58, 60-65).

theta = A q, so q = B theta with B = A^-1. Expressions are written in theta in place of q; momenta,
gradients and forces along the speeds become those along theta', B^T times the joints' own. Values
are computed in the joints' own coordinates, and printed lines are evaluated at theta.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
import sympy as sp

from ...equations import Derived, ground_angles
from ...equations.readable import EquationRow, Name, symbols
from ...errors import FormulationError
from .board import Board
from .steps import Label, Line, Step, Terms

MAPPED_ROLES = ("q", "v", "a")
MOMENTA = ("h", "h_rate")  # symbols that are along the angles from the ground already


class GroundBoard(Board):
    """A board in angles from the ground."""

    def __init__(self, equations: Derived):
        super().__init__(equations)
        self.B = np.round(np.linalg.inv(ground_angles(self.s.layout)))

    @property
    def turned(self) -> list[str]:
        """The names of the angles that differ from those of the joints."""
        names = self.names["q"]
        return [names[k].text for k, row in enumerate(self.B) if np.count_nonzero(row) > 1]

    @cached_property
    def loads(self) -> ca.SX:
        """The generalised forces of loads along the joints' speeds. Raise where they are too long
        to be written out.
        """
        found = super().loads
        if "Q" in self.symbols:
            raise FormulationError(
                f"steps: the loads of {self.mechanism.name!r} are too long to write in angles from"
                " the ground; leave out coordinates='absolute'"
            )
        return found

    def more(self, role: str, names: Sequence[Name], values: ca.SX) -> ca.SX:
        """Return further symbols; momenta are those along the angles from the ground."""
        return super().more(role, names, self._along(values) if role in MOMENTA else values)

    def terms(self, left: ca.SX, right: ca.SX) -> list[EquationRow]:
        """Return rows in the textbook's form, written in angles from the ground."""
        s = self.s
        own = [s.q, s.v, s.a]
        return super().terms(
            *ca.substitute([ca.SX(left), ca.SX(right)], own, [self._joint(x) for x in own])
        )

    def lines(
        self,
        labels: Sequence[Label],
        x: ca.SX,
        reference: ca.SX,
        means: Sequence[Label] | None = None,
        scale: ca.SX | None = None,
    ) -> list[Line]:
        """Return one line for each entry of x, along the angles from the ground."""
        return super().lines(
            labels,
            self._along(x),
            self._along(reference),
            means,
            None if scale is None else ca.fabs(scale),
        )

    def rows(self, left: ca.SX, right: ca.SX, scale: ca.SX | None = None) -> list[Line]:
        """Return the equations along the angles from the ground."""
        return super().rows(self._along(left), self._along(right), scale)

    def _joint(self, x: ca.SX) -> ca.SX:
        """Return what stands for the joints' own coordinates, speeds or accelerations."""
        return ca.densify(ca.sparsify(ca.DM(self.B)) @ x)

    def _along(self, x: ca.SX) -> ca.SX:
        """Return forces along the angles from the ground; anything else unchanged."""
        own = ca.vertcat(*(self.symbols[role] for role in MOMENTA if role in self.symbols))
        if x.numel() != self.s.layout.nv or (own.numel() and ca.depends_on(x, own)):
            return x
        return ca.densify(ca.sparsify(ca.DM(self.B.T)) @ ca.densify(x))

    # --- values of what is printed
    def _shown(self, state: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return a state with angles from the ground."""
        A = np.linalg.inv(self.B)
        return {k: A @ x if k in MAPPED_ROLES else x for k, x in state.items()}

    @property
    def _symbol_values(self) -> list[dict[Any, float]]:
        return [
            {
                s: float(x)
                for role in self.symbols
                for s, x in zip(symbols(self.names[role]), state[role])
            }
            for state in map(self._shown, self.values)
        ]

    def _evaluated(self, terms: Terms) -> list[list[float]]:
        found = [x for term in terms for x in sp.Add.make_args(term.value)] or [sp.Float(0)]
        inputs = [s for role in self.symbols for s in symbols(self.names[role])]
        f = sp.lambdify(inputs, found, "math")
        return [
            [float(x) for x in f(*(values[s] for s in inputs))] for values in self._symbol_values
        ]


def with_ground_angles(board: GroundBoard, steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps, with a sentence in the first one on the angles from the ground."""
    first, *more = steps
    are = "is" if len(board.turned) == 1 else "are"
    said = f"{', '.join(board.turned)} {are} measured from the ground, not from the body before."
    return (replace(first, why=f"{first.why} {said}"), *more)
