"""What contacts, stops and the choice of modes may read and do of a run at an event.

`event_handler.EventHandler` has all of this; it stands above them.
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

Array = NDArray[np.float64]


class HandlerContext(EventContext, Protocol):
    """A run at an event, with its engine. dry: the friction of each speed that can be held (N m or
    N). touching: the stops that a coordinate touches, (number of the part, side); impacts: the
    series of impacts at each stop. energy: twice the largest kinetic energy at an event (J).
    """

    engine: Engine
    system: System
    dry: Array
    touching: set[tuple[int, str]]
    impacts: dict[tuple[int, str], Impacts]
    energy: float

    def mode(self, part: int) -> Any:
        """Return the record of a part's mode."""

    def put(self, q: Array, v: Array, work: float = 0.0) -> None:
        """Set the state to (q, v), and add this work (J) to the balance."""

    def bilateral(self, t: float, impulsive: bool, stops: bool = True) -> tuple[Array, Metric]:
        """Return the rows that hold besides contacts, and their metric."""

    def limit(self, k: int, side: Bound) -> float:
        """Return where a stop is (rad or m)."""

    def stop_named(self, k: int, side: Bound) -> str:
        """Return a stop in words."""

    def say_met(self, t: float, k: int, side: Bound, approach: float, rebound: float) -> None:
        """Log that a coordinate has met its stop."""
