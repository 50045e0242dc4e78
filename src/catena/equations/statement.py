"""Statement: the equations that a formulation writes before anything is solved; and the interface
by which `readable` reads `Equations`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..model import Mechanism


@dataclass(frozen=True)
class Statement:
    """The equations left = right that a formulation writes before anything is solved. tape: a
    function from one vector per role to the left and right sides.

    roles: the meaning of its arguments, out of t, q, v, a, tau, p (time, coordinates, speeds,
    accelerations, joint forces, parameters), h, h_rate, q_rate, lam (momenta, their rates, the
    coordinates' rates, multipliers). note: a remark for the reader.
    """

    tape: ca.Function
    roles: tuple[str, ...]
    note: str = ""

    @staticmethod
    def of(symbols: Mapping[str, ca.SX], left: ca.SX, right: ca.SX, note: str = "") -> Statement:
        """Return the equations left = right of these symbols, by role."""
        sides = [ca.densify(side) for side in ca.cse([left, right])]
        return Statement(
            ca.Function("statement", list(symbols.values()), sides), tuple(symbols), note
        )

    def size(self, role: str) -> int:
        """Return the number of entries of a role; zero where it is absent."""
        return self.tape.numel_in(self.roles.index(role)) if role in self.roles else 0


class Derived(Protocol):
    """The interface by which `readable` reads equations of motion; `Equations` describes each
    attribute.
    """

    @property
    def mechanism(self) -> Mechanism: ...
    @property
    def formulation(self) -> str: ...
    @property
    def state_names(self) -> tuple[str, ...]: ...
    @property
    def derivative(self) -> ca.Function: ...
    @property
    def acceleration(self) -> ca.Function: ...
    @property
    def readable(self) -> Callable[[], Statement] | None: ...
    @property
    def parameters(self) -> NDArray[np.float64]: ...
