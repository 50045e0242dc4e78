"""Stiffness: how a run notices it, and the choice of a method that follows.

An explicit method whose step is limited by stability and not by its error is at the edge of its
region of stability: the product of step and largest rate, h |lambda|, hovers about a number of the
method. [Hairer1996], section IV.2, measures it from the last two stages, which are both at the end
of a step and differ most where the fastest part of the system is,

    h |lambda| ~ h |f(x_1) - f(y)| / |x_1 - y|

`lane_stiffness.py` does so, at every TEST_EVERY-th step at first. Where the product was large often
enough, the eigenvalues of the exact Jacobian are computed (`Stiffness.look`); if they confirm the
stiffness, the run continues with the implicit method that belongs to the explicit one.

Both methods are then compared by what they cost for a second of motion, counted in operations, so
that the choice is the same on every machine, alone or in a batch: the implicit one by the steps
that it took, the explicit one by the longest step that would be stable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .lane_stiffness import (
    HITS,
    IMPLICIT,
    LARGE_PRODUCT,
    LAST,
    LEFT,
    NEEDED,
    PRODUCT,
    SINCE,
    SPAN,
    TEST,
    TEST_EVERY,
    WATCHED,
)
from .methods import Method

Array = NDArray[np.float64]
ENOUGH_HITS = 40.0  # more hits than these are a reason to look at the Jacobian
# the same where there are contacts, the derivatives of whose rows take seconds to compile
HITS_WITH_CONTACTS = 2000.0
# operations of a derivative: with more, so many times more hits are asked, since the first look
# compiles the Jacobian, which takes seconds for a robot of 30 freedoms, as long as its explicit run
SMALL_DERIVATIVE = 3000.0
SHOWN_SWITCHES = 3  # changes of method that the ledger tells one by one
# steps of the implicit method relative to their mean: longer ones may soon be worth their cost
GROWING = 2.0
RELUCTANCE = 3.0  # hits needed after a change that was not worth while, relative to those before
PATIENCE = 1.25  # cost of the implicit method relative to the explicit one that is put up with
FIRST_SPAN, LONGEST_SPAN = 16.0, 400.0  # implicit steps until the methods are compared


class Switch(NamedTuple):
    """A change of the method of a run. t: the time, s. method: the name of the method from there
    on. why: a sentence with the reason.
    """

    t: float
    method: str
    why: str


def methods_sentence(method: Method, switches: Sequence[Switch], runs: int = 1) -> str:
    """Return a sentence about the methods that advanced the runs: the name of the method, or what
    the automatic choice chose, and when. switches: the changes of all runs, in any order.
    """
    begun = method.explicit or method.name
    if not switches:
        return begun
    if runs > 1:
        first = min(s for s in switches if s.method == method.stiff)
        return (
            f"{begun}, {first.method} in stiff runs, first from t = {first.t:.3g} s ({first.why})"
        )
    shown = [f"{s.method} from t = {s.t:.3g} s ({s.why})" for s in switches[:SHOWN_SWITCHES]]
    more = len(switches) - len(shown)
    return ", ".join([begun, *shown, *([f"and {more} more changes"] if more else [])])


class Costs(NamedTuple):
    """The cost of one step, in operations, of the explicit and of the implicit method."""

    explicit: float
    implicit: float


def costs(operations: tuple[int, int], stages: tuple[int, int], size: int, width: int) -> Costs:
    """Return the cost of steps. operations: of the derivative, and of its directional derivative in
    lanes; stages: of both methods; size: of the state; width: the number of lanes.
    """
    rate, tangent = operations
    explicit, implicit = stages
    jacobian = -(-(size + 1) // width) * LANES_COST * tangent
    linear = FLOP_COST * (size**3 / 1.5 / width + 2.0 * size**2 * implicit)
    return Costs(explicit * (rate + size), implicit * (rate + size) + jacobian + linear)


LANES_COST = 2.0  # of an operation on all lanes of a register, relative to one on a number
FLOP_COST = 0.5  # of an operation of linear algebra, relative to one of a tape


def new_watch(count: int, method: Method, contacts: bool = False, operations: float = 0.0) -> Array:
    """Return the initial record of the evidence of stiffness, for `count` runs. contacts: whether
    the system has contacts that switch; operations: the number of operations of its derivative.
    """
    watch = np.zeros((count, WATCHED))
    enough = HITS_WITH_CONTACTS if contacts else ENOUGH_HITS
    watch[:, TEST] = TEST_EVERY
    watch[:, NEEDED] = enough * max(1.0, operations / SMALL_DERIVATIVE)
    watch[:, IMPLICIT] = method.kind == "rosenbrock"
    return watch


@dataclass(frozen=True)
class Stiffness:
    """The automatic choice between two methods. explicit, implicit: their names. costs: of their
    steps.
    """

    explicit: str
    implicit: str
    costs: Costs

    def look(self, watch: Array, t: float, h: float, jacobian: Callable[[], Array]) -> Any:
        """Choose the method by which a run continues at t (s). watch (WATCHED,): the evidence of
        its stiffness, which is updated. h: its next step size, s. Return the Switch, or None where
        the method stays, and the next step size.
        """
        rate = largest_rate(jacobian())
        if watch[IMPLICIT]:
            return self._back(watch, t, h, rate)
        watch[HITS] = 0.0
        product = h * rate
        if not product > 0.5 * LARGE_PRODUCT:
            watch[NEEDED] *= RELUCTANCE
            return None, h
        watch[IMPLICIT], watch[PRODUCT] = 1.0, product
        watch[LEFT] = watch[SPAN] = FIRST_SPAN
        watch[SINCE], watch[LAST] = t, 0.0
        why = f"stiff: something changes within {1.0 / rate:.2g} s, steps were {h:.2g} s"
        return Switch(t, self.implicit, why), h

    def _back(self, watch: Array, t: float, h: float, rate: float) -> Any:
        """Compare the cost of both methods, and change back to the explicit one where it is
        cheaper.
        """
        mean = (t - watch[SINCE]) / watch[SPAN]
        stable = watch[PRODUCT] / rate if rate > 0.0 else np.inf
        worth = mean * self.costs.explicit * PATIENCE > stable * self.costs.implicit
        if worth or (h > GROWING * mean and watch[SPAN] < LONGEST_SPAN):
            watch[LEFT] = watch[SPAN] = min(2.0 * watch[SPAN], LONGEST_SPAN)
            watch[SINCE] = t
            return None, h
        watch[IMPLICIT], watch[TEST] = 0.0, TEST_EVERY
        watch[NEEDED] *= RELUCTANCE
        why = f"not stiff: steps of {min(stable, 1e9):.2g} s are stable, the others were {h:.2g} s"
        return Switch(t, self.explicit, why), min(h, 0.5 * stable)


def largest_rate(J: Array) -> float:
    """Return the largest |eigenvalue| of a Jacobian, 1/s; NaN where it is not finite."""
    return float(np.abs(np.linalg.eigvals(J)).max()) if np.isfinite(J).all() else float("nan")
