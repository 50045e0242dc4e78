"""The part of a run that handlers of contacts, stops and modes may read and change at an event.

`event_handler.EventHandler` implements all of it; these handlers do not import it.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...machine import Metric
from ..events.context import EventContext
from ..integrators.engine import Engine
from ..system.first_order import System
from ..terms.guards import Bound
from .accumulation import Impacts
from .inertia import Inertia

Array = NDArray[np.float64]


class HandlerContext(EventContext, Protocol):
    """A run at an event, with its engine.

    Parts are the constraints that can be switched, by index; a holdable speed is one that friction,
    a stop or a lock can hold. dry: the dry friction of each holdable speed (N m or N). touching:
    the stops that coordinates touch, {(part, side)}. impacts: the series of impacts at each stop.
    energy: twice the largest kinetic energy at an event so far (J). indices: the index in v of each
    holdable speed. is_open: whether the mechanism has no constraint rows other than those of single
    speeds.
    """

    engine: Engine
    system: System
    dry: Array
    touching: set[tuple[int, str]]
    impacts: dict[tuple[int, str], Impacts]
    energy: float
    indices: NDArray[np.intp]
    is_open: bool

    @property
    def inertia(self) -> Inertia:
        """The mass matrix at the present configuration, and its inverse."""

    def mode(self, part: int) -> Any:
        """Return the mode record of a switched constraint, by its index."""

    def put(self, q: Array, v: Array, work: float = 0.0) -> None:
        """Set the state to (q, v), and add this work (J) to the energy balance."""

    def bilateral(self, t: float, impulsive: bool, stops: bool = True) -> tuple[Array, Metric]:
        """Return the constraint rows that hold besides those of contacts, and their metric.
        impulsive: whether they are for an impact, in which friction has no part; stops: whether
        stops of joints are included.
        """

    def limit(self, k: int, side: Bound) -> float:
        """Return the position of a stop (rad or m)."""

    def stop_named(self, k: int, side: Bound) -> str:
        """Return the description of a stop, for messages."""

    def say_met(self, t: float, k: int, side: Bound, approach: float, rebound: float) -> None:
        """Log that a coordinate has reached its stop."""
