"""The scales on which the error of each number of a state is judged: the norm of adaptive methods.
All code that judges errors uses the definitions given here.

    error allowed = max(rtol (|x - origin| + s), rounding),      root mean square over the state

    of positions     s = l min(far, 1)          far: how far anything has moved since the start,
                                                relative to l; origin: the start
    of speeds        s = l min(fast, pace)      fast: how fast anything has been, relative to l,
                                                1/s; origin: zero
    of work          s = m l^2 min(fast, pace)^2
    of other states  s = 1                      states of controllers, in their own unit;
                     s = l min(far, 1) / pace   integrals of a position over time

l is one for an angle, a cosine or a part of a quaternion, and the mechanism's own length for a
length; pace is the rate of a pendulum of that length or of the run, 1/s (`RunPlan.natural_rate`).
So the error of a usual motion, of a radian or of the mechanism's length, is judged relative to
these, as a state that passes through zero must be; that of a smaller motion is judged relative to
the motion itself, by what has moved most so far: a part that hardly moves compared with the others,
such as a stiff one, does not choose the steps. Nothing depends on the unit of length, mass or time.
Where the mechanism has no length (points that slide), l is what has moved so far.

An impact begins a motion anew: what has moved, and the origin, are counted from the last one (of a
contact, or of a joint's stop). A block that rocks, or a ball that bounces, loses its energy in many
impacts; relative to the first of these motions the last would not be resolved, though the instants
of all later impacts depend on it.

Below ROUND l there is nothing but rounding. For speeds that is ROUND l / h, by which a place
changes by rounding in a step h, but no more than rtol l pace, so that a motion that comes to rest
is followed as far as it goes: however small a motion is, and even where nothing moves, steps do not
follow noise. `resolution` in the ledger says what accuracy that leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...kernels import Layout
from ...model import Motion, value_of

if TYPE_CHECKING:
    from .symbols import SystemSymbols

Array = NDArray[np.float64]
ROUND = 1e-15  # change of a state relative to l: a step does not resolve less
REST = 1e-13  # how far something has moved relative to l: what moves less is at rest
TINY = 1e-290  # prevents division by zero where nothing moves and the mechanism has no length
FIRST = 0.01  # how far the first step moves anything, relative to l
SHARE = 0.05  # error of a single step relative to the tolerance of the run
FINEST = 2.3e-14  # the smallest relative tolerance that double precision allows
FAR, FAST, NEAR, SPEED, WORK, OTHER = range(6)  # rows of `ErrorScales.table`


@dataclass(frozen=True, eq=False)
class ErrorScales:
    """The scales of the errors of a state.

    table (6, size), rows FAR, FAST, NEAR, SPEED, WORK, OTHER: 1/l of positions, and of speeds, by
    which far and fast are measured; then l of positions, and of speeds; m l^2 of the work; one of
    other states; zero elsewhere. limits (4,): the upper bounds of far and fast; one where the
    mechanism has a length, else zero; pace, 1/s.
    """

    table: Array
    limits: Array

    def origin(self, x: Array) -> Array:
        """Return (..., size): the origin relative to which states that began at x are measured: x
        itself for positions, zero for the others.
        """
        return np.ascontiguousarray(np.where(self.table[FAR] > 0.0, x, 0.0))

    def with_others(self, more: int) -> ErrorScales:
        """Return these scales with those of `more` other states appended, whose scale is one."""
        own = np.zeros((len(self.table), more))
        own[OTHER] = 1.0
        return ErrorScales(np.ascontiguousarray(np.hstack([self.table, own])), self.limits)

    def allowed(
        self, rtol: float, x: Array, new: Array, origin: Array, far: float, fast: float, h: float
    ) -> Array:
        """Return (size,): the errors allowed in a step of h (s) from x to `new`, with this origin,
        far and fast; the formula of `lane_arithmetic.allowed`.
        """
        most_far, most_fast, natural, pace = self.limits
        own = np.maximum(np.abs(x - origin), np.abs(new - origin))
        place = float((np.abs(x) * self.table[FAR]).max())
        base = 1.0 if natural else max(far, place)
        slow = base * min(ROUND / h, rtol * pace)
        far = min(far, most_far)
        fast = min(fast, most_fast)
        size = (
            far * self.table[NEAR]
            + fast * self.table[SPEED]
            + fast**2 * self.table[WORK]
            + self.table[OTHER]
        )
        least = ROUND * base * self.table[NEAR] + slow * (
            self.table[SPEED] + base * pace * self.table[WORK]
        )
        return np.asarray(
            np.maximum(
                rtol * (own + size),
                np.maximum(least, ROUND * np.maximum(np.abs(x), np.abs(new)) + TINY),
            )
        )

    def first_step(self, most: float, x: Array, rate: Array) -> tuple[float, float]:
        """Return the length of the first step from x (s), at most `most`, as
        `lane_driver.first_step` computes it; and the largest speed in that step relative to the
        scale of its coordinate, 1/s.
        """
        place, speed, gain = (
            float((np.abs(y) * self.table[row]).max())
            for row, y in ((FAR, x), (FAST, x), (FAST, rate))
        )
        length = 1.0 if self.limits[2] > 0.0 else place or np.inf
        h = most / max(1.0, most * max(speed / length, np.sqrt(gain / length)) / FIRST)
        return h, max(speed, h * gain)

    def of_rates(self, h: float, x: Array) -> Array:
        """Return (..., size): the factors that turn rates of states into their change in a step of
        h (s) relative to the scale of the state, at states x. A speed is judged by the displacement
        that its error makes in that step. The factor of the work is zero, because nothing depends
        on the work.
        """
        place = (np.abs(x) * self.table[FAR]).max(axis=-1, keepdims=True)
        base = np.where((self.limits[2] > 0.0) | (place == 0.0), 1.0, place)
        return np.asarray(h * ((self.table[FAR] + h * self.table[FAST]) / base + self.table[OTHER]))

    def moved(self, x: Array, origin: Array) -> tuple[float, float]:
        """Return how far positions are from the origin, as the largest ratio to their scales; and
        how fast they move, as the largest ratio of a speed to its scale, 1/s.
        """
        return float((np.abs(x - origin) * self.table[FAR]).max()), float(
            (np.abs(x) * self.table[FAST]).max()
        )


def error_scales(system: SystemSymbols, pace: float = 1.0) -> ErrorScales:
    """Return the scales of the errors of a system's states, at the mechanism's own parameters.
    pace: 1/s.
    """
    table = system.error_table
    length = system.length
    integrals = system.nx + np.flatnonzero(np.array(system.controller.integrals) >= 0)
    if len(integrals):
        table = table.copy()
        table[NEAR, integrals] /= pace
    most = (1.0, pace) if length else (np.inf, np.inf)
    return ErrorScales(table, np.array([*most, float(length > 0.0), pace]))


def error_table(system: SystemSymbols, length: float) -> Array:
    """Return the table of `ErrorScales` for a mechanism of that length (m; zero where it has none),
    with integrals over time as if the pace were one.
    """
    q, v = coordinate_sizes(system.layout, length or 1.0)
    table = np.zeros((6, system.size))
    if system.equations.state_is_qv:
        table[NEAR, : system.nq], table[SPEED, system.nq : system.nx] = q, v
    else:
        table[NEAR, : system.nx], table[SPEED, : system.nx] = _encoded(system, q, v, length or 1.0)
    table[OTHER, system.nx : -1] = 1.0
    for k, at in enumerate(system.controller.integrals):
        if at >= 0:
            table[NEAR, system.nx + k], table[OTHER, system.nx + k] = q[at], 0.0
    table[WORK, -1] = _energy(system, length or 1.0)
    own = table[:, : system.nx]
    for row, of in ((FAR, NEAR), (FAST, SPEED)):
        own[row] = np.divide(1.0, own[of], out=np.zeros(system.nx), where=own[of] > 0.0)
    return table


def coordinate_sizes(layout: Layout, length: float) -> tuple[Array, Array]:
    """Return the scales (l in the module's documentation) of the coordinates (nq,) and of the
    speeds (nv,): the length of the mechanism for a translation, one otherwise.
    """
    q = np.ones(layout.nq)
    v = np.ones(layout.nv)
    for place in layout.coordinates:
        if place.motion == Motion.SLIDE:
            q[place.qi] = v[place.vi] = length
    return q, v


def _energy(system: SystemSymbols, length: float) -> float:
    """Return the sum of all m L^2 and moments of inertia of the mechanism, L its length, kg m2; one
    where it has no inertia.
    """
    m = system.mechanism
    parts = [
        [float(value_of(x, m.parameters)) for x in (b.mass, *(b.inertia[k] for k in (0, 3, 5)))]
        for b in m.bodies
    ]
    return sum(mass * length**2 + sum(inertia) for mass, *inertia in parts) or 1.0


def _encoded(system: SystemSymbols, q: Array, v: Array, length: float) -> tuple[Array, Array]:
    """Return the scales of positions and of speeds (nx,) for a formulation whose state is not (q,
    v); zero for other states.

    The scale of a state is the largest |d state / d coordinate| times the scale of the coordinate,
    and likewise for speeds, over three configurations, since the derivative of a cosine vanishes at
    its maximum.
    """
    encode = system.equations.encode
    near = np.zeros(system.nx)
    fast = np.zeros(system.nx)
    inputs = encode.name_in()
    output = encode.name_out(0)
    rates = encode.factory("rates", inputs, [f"jac:{output}:{name}" for name in inputs[:2]])
    for seed in range(3):
        place, p = system.layout.somewhere(seed)
        by_q, by_v = (np.abs(np.array(J)) for J in rates(place * q, np.zeros(system.nv), p))
        near = np.maximum(near, (by_q * q).max(axis=1, initial=0.0))
        fast = np.maximum(fast, (by_v * v).max(axis=1, initial=0.0))
    # a state that never moves: a length or a cosine
    still = np.where(near > 0.0, near, max(1.0, length))
    return np.where(fast > 0.0, 0.0, still), fast
