"""Guards that touch zero between two steps, or pass it there and come back: the run sees no event,
and its outcome has no derivative.

Within a step of size h a guard is the cubic through its values and rates at both ends. Where it
falls at the beginning and rises at the end it has a minimum inside; steps in which that is low are
taken once more in FINE_STEPS, and the minimum is refused where

    g <= 1/2 g'' (GRAZING_RATE L)^2

with the duration L of the segment: the same measure as at an event (`saltation.py`), whose guard
has the rate GRAZING_RATE g'' L if it dips so deep.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..errors import StudyError
from ..simulation.system import System
from ..simulation.terms import Guard, Meaning
from .adjoint import Steps
from .linearised import Linearised
from .smooth_segments import Segment

Array = NDArray[np.float64]
# a guard grazes if its rate at zero, relative to g'' times the duration of the segment, is lower
GRAZING_RATE = 1e-4
# a minimum below this part of the guard's change within the step is examined in finer steps
LOW_MINIMUM = 0.5
FINE_STEPS = 32  # finer steps within a step that is examined
ADVICE = (
    "There the run has no derivative: change the start or the parameters a little, or end the run"
    " before"
)


class Minimum(NamedTuple):
    """A minimum of a guard within a step.

    guard, step: their indices. t: its time, s. value: the guard there. bend: the second derivative
    of the guard with respect to time. before: the highest value of the guard before it.
    """

    guard: int
    step: int
    t: float
    value: float
    bend: float
    before: float


class Guards:
    """The guards of a system and their rates along its motion."""

    def __init__(self, tapes: Linearised):
        self.tapes = tapes
        self.of = tapes.system.guards
        value = ca.vertcat(*(g.value for g in self.of))
        t, X, _, _ = tapes.inputs
        rate = ca.jtimes(value, X, tapes.flow(*tapes.inputs)) + ca.jacobian(value, t)
        self._both = ca.Function("guards", tapes.inputs, [ca.densify(value), ca.densify(rate)])

    def refuse_grazing(self, steps: Steps, segment: Segment) -> None:
        """Raise StudyError where a guard grazes zero within the steps of a segment, or passes it
        unseen.

        A guard that begins at zero does neither.
        """
        highest = np.full(len(self.of), -np.inf)
        for first, X, after in steps.states():
            T = steps.T[first : first + len(X)]
            H = steps.H[first : first + len(X)]
            for coarse in self._minima(steps, T, H, X, after, highest, LOW_MINIMUM):
                k = coarse.step
                t = T[k] + H[k] / FINE_STEPS * np.arange(FINE_STEPS)
                h = np.full(FINE_STEPS, H[k] / FINE_STEPS)
                fine = Steps(steps.tapes, steps.method, X[k], steps.held, steps.p, t, h)
                for low in self._minima(
                    fine,
                    t,
                    h,
                    *next(fine.states())[1:],
                    np.full(len(self.of), coarse.before),
                    np.inf,
                ):
                    grazing_depth = (
                        0.5 * low.bend * (GRAZING_RATE * (segment.end - segment.begin)) ** 2
                    )
                    if low.guard == coarse.guard and low.value <= grazing_depth < min(
                        low.before, low.before - low.value
                    ):
                        raise StudyError(
                            _sentence(
                                guard_name(self.tapes.system, self.of[low.guard]),
                                low,
                                grazing_depth,
                            )
                        )

    def _minima(
        self, steps: Steps, T: Array, H: Array, X: Array, after: Array, highest: Array, low: float
    ) -> Iterator[Minimum]:
        """Yield the minima within steps that are below `low` times the guard's change in the step.

        highest: the largest value of each guard so far, updated in place.
        """
        states = np.vstack([X, after]).T
        times = np.append(T, T[-1] + H[-1])
        g, r = (np.array(y) for y in self._both(times[None], states, steps.held, steps.p))
        before = np.maximum.accumulate(np.column_stack([highest, g]), axis=1)[:, 1:]
        highest[:] = before[:, -1]
        for i, k in zip(*np.nonzero((r[:, :-1] < 0.0) & (r[:, 1:] >= 0.0))):
            at, value = _cubic_minimum(g[i, k], g[i, k + 1], H[k] * r[i, k], H[k] * r[i, k + 1])
            if value <= low * (max(g[i, k], g[i, k + 1]) - value):
                yield Minimum(
                    int(i),
                    int(k),
                    float(T[k] + at * H[k]),
                    value,
                    float((r[i, k + 1] - r[i, k]) / H[k]),
                    float(before[i, k]),
                )


def _cubic_minimum(a: float, b: float, da: float, db: float) -> tuple[float, float]:
    """Return where in (0, 1) the cubic with values a, b and slopes da < 0 <= db at 0 and 1 is
    least, and its value there.

    >>> _cubic_minimum(1.0, 1.0, -4.0, 4.0)
    (0.5, 0.0)
    """
    # a + da s + c s^2 + d s^3
    c = 3.0 * (b - a) - 2.0 * da - db
    d = da + db - 2.0 * (b - a)
    below = c + float(np.sqrt(max(c * c - 3.0 * d * da, 0.0)))
    s = min(-da / below, 1.0) if below > 0.0 else 1.0  # the root of the slope at which it rises
    return s, float(a + s * (da + s * (c + s * d)))


def guard_name(system: System, guard: Guard) -> str:
    """Return the name of the part to which a guard belongs, for messages."""
    if guard.meaning is Meaning.HAPPENS:
        return "its condition"
    return f"{system.holding.parts[guard.subject].name!r}"


def _sentence(name: str, low: Minimum, grazing_depth: float) -> str:
    """Return the message about a guard that grazes, or that passes zero between two steps."""
    if low.value < -grazing_depth:
        return (
            f"near t = {low.t:.9g} s {name} passes its stop or limit by {-low.value:.3g} and comes"
            " back between two steps, which the run does not see. Bound its steps by largest_step,"
            " or take a smaller step"
        )
    return (
        f"near t = {low.t:.9g} s {name} grazes: between two steps its distance to an event comes"
        f" down to {low.value:.3g} and grows again. {ADVICE}"
    )
