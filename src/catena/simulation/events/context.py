"""The interface of a run that the kinds of events use when an event happens.

`handlers.event_handler.EventHandler` implements it; it belongs to a higher layer than the kinds.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...machine import Machine
from ..terms.switched_constraints import SwitchedConstraints

Array = NDArray[np.float64]


class EventContext(Protocol):
    """A run at the instant of an event."""

    machine: Machine
    plan: Any
    constraints: SwitchedConstraints
    contacts: Any  # the contact handler, or None where the run has no contacts
    p: Array

    @property
    def parameters(self) -> Any:
        """Return the values of the mechanism's parameters, by name."""

    def state_of(self) -> tuple[Array, Array]:
        """Return the coordinates q (nq,) and the speeds v (nv,)."""

    def say(self, t: float, words: str) -> None:
        """Write a sentence about what happens at time t (s) into the log of the run."""

    def jump(self, t: float, P: Array | None = None) -> None:
        """Change the speeds by the generalised impulse P (nv,), and determine anew which joints and
        contacts stick, slip or open.
        """

    def held_by(self, lock: Any) -> tuple[int, ...]:
        """Return the indices of the switched constraints that a lock switches on."""

    def set_mode(self, part: int, mode: Any) -> None:
        """Set the mode of the switched constraint with index `part`."""
