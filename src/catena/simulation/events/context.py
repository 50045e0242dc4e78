"""What an event may read and do when it happens: the run, as the kinds of events see it.

`handlers.event_handler.EventHandler` has all of this; it stands above the kinds.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...machine import Machine
from ..terms.switched_constraints import SwitchedConstraints

Array = NDArray[np.float64]


class EventContext(Protocol):
    """A run at an instant at which something happens."""

    machine: Machine
    plan: Any
    constraints: SwitchedConstraints
    contacts: Any  # the handler of contacts, or None where the run has none
    p: Array

    @property
    def parameters(self) -> Any:
        """The values of the mechanism's parameters, by name."""

    def state_of(self) -> tuple[Array, Array]:
        """Return q (nq,) and v (nv,)."""

    def say(self, t: float, words: str) -> None:
        """Write what happens at t (s) into the log of the run."""

    def jump(self, t: float, P: Array | None = None) -> None:
        """Let speeds jump by the generalised impulse P (nv,), and choose modes anew."""

    def held_by(self, lock: Any) -> tuple[int, ...]:
        """Return the numbers of the switched constraints that a lock holds."""

    def set_mode(self, part: int, mode: Any) -> None:
        """Switch a constraint to another mode."""
