"""Memory of the side of zero on which the conditions of events were last seen.

The condition of an event ("q_knee - 0.2") happens once each time its value goes from above zero to
zero or below. A run is advanced in segments: one ends at an event, at the end of a slice, or where
a controller is sampled. Between two segments the state is put back onto its constraints
(quaternions get unit length, loops are closed), which moves a condition by about the tolerance of
the run. A value that is read anew at the start of a segment can therefore be above zero once more
after its event has happened, or already below although it has not happened yet. Hence the side is
remembered from one segment to the next, and the value is read anew only where an event has changed
it.

    sides (R, n)   of n guards of R runs: 1 above zero, -1 at zero or below, 0 not known. It stays 0
                   for guards that are no conditions of events
    seen (R, n)    their values in the state with which the segment ended
    far (R, n)     how far from zero they were within the last step
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .guards import Guard, Meaning

Array = NDArray[np.float64]
# change of a guard by an event, relative to its largest distance from zero within the last step: by
# less (some sixty roundings of its terms) the guard stays on its side of zero
UNCHANGED_GUARD = 2.0**-46
JUST_ABOVE_ZERO = 1e-300  # stands for a value just above zero


class GuardSides(NamedTuple):
    """The memory of the sides of n guards of R runs. edge (n,): 1 for guards that are conditions of
    events, else 0. sides, seen, far (R, n): see the module's documentation.
    """

    edge: Array
    sides: Array
    seen: Array
    far: Array

    def to_list(self, run: int = 0) -> list[list[float]]:
        """Return the memory of one run as JSON values."""
        return [x[run].tolist() for x in (self.sides, self.seen, self.far)]

    def restore(self, memory: Any, run: int = 0) -> None:
        """Restore the memory of one run that `to_list` returned."""
        for x, kept in zip((self.sides, self.seen, self.far), memory):
            x[run] = kept


def guard_sides(guards: tuple[Guard, ...], runs: int) -> GuardSides:
    """Return the memory for runs that have not begun; it is empty where no guard is the condition
    of an event.
    """
    edge = np.array([float(g.meaning is Meaning.HAPPENS) for g in guards])
    n = len(edge) if edge.any() else 0
    return GuardSides(edge[:n], *(np.zeros((runs, n)) for _ in range(3)))


# --- in Python, and in machine code (`lane_driver.py`). values, before: guards of W lanes
def resume(memory: Any, values: Any, r: Any, l: Any, W: Any) -> None:
    """Correct the guard values with which run r begins its next segment, in lane l of W, such that
    each is on its remembered side of zero.
    """
    for j in range(len(memory.edge)):
        at = j * W + l
        if memory.sides[r, j] == 0.0 or not (
            abs(values[at] - memory.seen[r, j]) <= UNCHANGED_GUARD * memory.far[r, j]
        ):
            continue
        if memory.sides[r, j] < 0.0:
            values[at] = min(values[at], 0.0)
        elif values[at] <= 0.0:
            values[at] = JUST_ABOVE_ZERO


def record_step(memory: Any, start: Any, end: Any, r: Any, l: Any, W: Any) -> None:
    """Store how far from zero the guards of run r were at the start and at the end of a step."""
    for j in range(len(memory.edge)):
        at = j * W + l
        memory.far[r, j] = max(abs(start[at]), abs(end[at]))


def record_event(memory: Any, before: Any, values: Any, event: Any, r: Any, l: Any, W: Any) -> None:
    """Store the sides at an event: guard `event` has crossed zero. Other guards that fall at the
    same instant are stored as above zero, so that their events happen next.
    """
    for j in range(len(memory.edge)):
        if memory.edge[j] > 0.0:
            at = j * W + l
            above = before[at] > 0.0 or values[at] > 0.0
            memory.sides[r, j] = 1.0 if above and j != event else -1.0


def record_pause(memory: Any, values: Any, r: Any, l: Any, W: Any) -> None:
    """Store the sides where a segment of run r ends without an event."""
    for j in range(len(memory.edge)):
        if memory.edge[j] > 0.0:
            memory.sides[r, j] = 1.0 if values[j * W + l] > 0.0 else -1.0


def record_values(memory: Any, values: Any, r: Any, l: Any, W: Any) -> None:
    """Store the guard values in the state with which a segment of run r ended."""
    for j in range(len(memory.edge)):
        memory.seen[r, j] = values[j * W + l]
