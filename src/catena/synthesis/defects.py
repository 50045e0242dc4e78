"""The registry of defects of a four-bar that satisfies the equations of its task. A linkage found
by equations reaches every precision position in some assembly. Whether it can move through them in
order, without being taken apart, is examined here. [Chase1993], [Balli2002]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..linkages import Branch
from ..registry import Registry
from .four_bar import FourBar

Array = NDArray[np.float64]
SAMPLES = 181
# how far a position may lie outside of a branch, rad: positions at a dead point are on it
END_TOLERANCE = 1e-7


@dataclass(frozen=True)
class Limits:
    """The requirements of a linkage in addition to its task.

    full_turn: the crank must turn fully. transmission_angle: its smallest allowed value, rad; None
    for any. size: the largest allowed length of a link, m; None for any. box: (x0, y0, x1, y1), m,
    in which both pivots must lie; None for anywhere. ordered: the positions must be taken in the
    given order.
    """

    full_turn: bool = False
    transmission_angle: float | None = None
    size: float | None = None
    box: tuple[float, float, float, float] | None = None
    ordered: bool = True


@dataclass(frozen=True)
class Examination:
    """A linkage at its precision positions: crank angles (n,), rad, and the sign of the assembly at
    each, (n,).
    """

    four_bar: FourBar
    angles: Array
    signs: NDArray[Any]
    limits: Limits

    def branch(self, k: int) -> Branch | None:
        """Return the branch on which position k lies."""
        for b in self.four_bar.circuits.branches:
            reach = b.upper - b.lower
            inside = np.mod(self.angles[k] - b.lower + END_TOLERANCE, 2 * np.pi)
            if b.signs == (int(self.signs[k]),) and inside <= reach + 2 * END_TOLERANCE:
                return b
        return None

    @property
    def circuit_numbers(self) -> list[int]:
        """The circuit of every position; -1 where there is none."""
        found = [self.branch(k) for k in range(len(self.angles))]
        return [-1 if b is None else b.circuit for b in found]

    @property
    def smallest_transmission_angle(self) -> float:
        """The smallest transmission angle (rad): over a full turn where the crank turns fully, else
        between the positions.
        """
        first = self.branch(0)
        if first is not None and first.full_turn:
            path = np.linspace(-np.pi, np.pi, 2 * SAMPLES)
        else:
            u = np.linspace(0, len(self.angles) - 1, SAMPLES)
            path = np.interp(u, np.arange(len(self.angles)), np.unwrap(self.angles))
        found = self.four_bar.linkage.positions(path, modes=[int(self.signs[0])], coordinates=False)
        smallest = found.transmission_angles.min()
        return float(smallest) if np.isfinite(smallest) else 0.0


@dataclass(frozen=True)
class Defect:
    """A kind of defect. doc: one line. find(examination) returns a sentence, or None for a linkage
    that does not have the defect.
    """

    name: str
    doc: str
    find: Callable[[Examination], str | None]


DEFECTS: Registry[Defect] = Registry("defect")
register = DEFECTS.register


def _branch(x: Examination) -> str | None:
    other = np.flatnonzero(x.signs != x.signs[0])
    if not len(other):
        return None
    return f"position {other[0] + 1} is on the other branch than position 1"


def _circuit(x: Examination) -> str | None:
    numbers = x.circuit_numbers
    for k, n in enumerate(numbers):
        if n < 0:
            return f"position {k + 1} cannot be assembled"
        if n != numbers[0]:
            return f"position {k + 1} is on another circuit than position 1"
    return None


def _order(x: Examination) -> str | None:
    if not x.limits.ordered or len(x.angles) < 3 or (x.signs != x.signs[0]).any():
        return None
    first = x.branch(0)
    full = first is not None and first.full_turn
    steps = [
        np.diff(np.mod(s * (x.angles - x.angles[0]), 2 * np.pi))
        if full
        else np.diff(s * np.unwrap(x.angles))
        for s in (1, -1)
    ]
    if any((d > 0).all() for d in steps):
        return None
    return "the crank passes the positions in another order"


def _grashof(x: Examination) -> str | None:
    if not x.limits.full_turn or x.four_bar.kind in ("crank-rocker", "double-crank"):
        return None
    return f"the crank does not turn fully: a {x.four_bar.kind}"


def _transmission(x: Examination) -> str | None:
    limit = x.limits.transmission_angle
    if limit is None or x.smallest_transmission_angle >= limit:
        return None
    least = np.degrees(x.smallest_transmission_angle)
    return f"the transmission angle falls to {least:.1f} deg, below {np.degrees(limit):.1f} deg"


def _size(x: Examination) -> str | None:
    longest = x.four_bar.size
    if x.limits.size is not None and longest > x.limits.size:
        return f"the longest link is {longest:.4g} m, above {x.limits.size:.4g} m"
    if x.limits.box is not None:
        x0, y0, x1, y1 = x.limits.box
        for p in (x.four_bar.pivot, x.four_bar.second_pivot):
            if not (x0 <= p.real <= x1 and y0 <= p.imag <= y1):
                return f"the pivot at ({p.real:.4g}, {p.imag:.4g}) m is outside of the box"
    return None


for _defect in (
    Defect("branch", "positions lie on different branches", _branch),
    Defect("circuit", "positions lie on different circuits", _circuit),
    Defect("order", "the positions are passed in another order", _order),
    Defect("grashof", "the crank does not turn fully", _grashof),
    Defect("transmission angle", "the transmission angle is too small", _transmission),
    Defect("size", "a link is too long, or a pivot outside of the box", _size),
):
    register(_defect)
