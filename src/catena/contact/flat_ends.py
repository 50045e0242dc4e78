"""The flat circular end of a cylinder on a plane: three points represent its whole rim, if they are
chosen well.

Normal speeds (or accelerations) along the rim are v(psi) = v0 + v1 cos(psi - psi0), so those at
three points 120 degrees apart determine all of them, and likewise the tangential ones: the value at
a point is sum_j w_j times the values at the three, w_j = (1 + 2 cos(psi - psi_j))/3. So the contact
problem of another three points follows from that of these, G' = S G S', b' = S b.

    0 <= v(psi) for all psi,  sum N >= |sum N r|/R  forces push within the circle, and where v is
        not zero all round, at its lowest point

A solution for three points is one for the rim if v is nowhere negative. This is so if one of the
three points lies towards the centre of pressure: then all three push until that reaches the circle,
N_2 = N_3 = N (1 - rho/R)/3, and beyond that the first alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import QuestionError, SingularError
from ..model import IMPACT_LAWS
from .friction import Friction
from .impact_laws import blow
from .modes import OPEN, forces_to_stay_closed, row_sizes, slip_directions, solutions

Array = NDArray[np.float64]
# Angles of the three points of an end, rad.
POINT_ANGLES = 2.0 * np.pi / 3.0 * np.arange(3)
# Turns of the three points of an end towards its centre of pressure.
MAX_TURNS = 12
# Directions that are tried if these turns find none, for an end that tips or strikes with one
# point.
DIRECTION_GRID = 48
# Sweeps over several ends that stand at one instant.
MAX_SWEEPS = 4
# Difference of angles below which the turns end, rad.
ANGLE_TOLERANCE = 1e-15
# Contacts that may begin to slip, at most, for which all solutions are found; for more, one is
# enough, because three points share friction in many ways.
END_PROVED_SLIPS = 2
# A value above minus this, relative to the largest speed or acceleration, is not negative.
NONNEGATIVE_RATIO = 1e-10


class Answer(NamedTuple):
    """The solution of a contact problem with k points.

    found: the result of the solver, or None if there is no solution. pushes (k,): normal forces.
    closed (k,): whether a point stays closed. above: arrays (k,) of the quantities that must not be
    negative at any point. small (k,): the rounding error of these.
    """

    found: Any
    pushes: Array
    closed: NDArray[np.bool_]
    above: tuple[Array, ...]
    small: Array


def lowest(values: Array) -> tuple[float, float]:
    """Return the minimum of the cosine along the rim that has the given values (3,) at its three
    points, and its angle from the first point, rad.
    """
    c = 2.0 / 3.0 * (values @ np.cos(POINT_ANGLES))
    s = 2.0 / 3.0 * (values @ np.sin(POINT_ANGLES))
    return float(values.mean() - np.hypot(c, s)), float(np.arctan2(-s, -c))


def turned(count: int, ends: Sequence[Sequence[int]], angles: Array) -> Array:
    """Return S (3 count, 3 count), which gives the rows of the contact points after the three
    points of each end are rotated about its axis by the end's angle (rad).
    """
    W = np.eye(count)
    for own, angle in zip(ends, angles):
        W[np.ix_(own, own)] = (
            (1.0 + 2.0 * np.cos(angle + POINT_ANGLES[:, None] - POINT_ANGLES)) / 3.0
            if angle
            else np.eye(3)
        )
    return np.asarray(np.kron(W, np.eye(3)), np.float64)


class Turn(NamedTuple):
    """The choice of points of each end: angles (n,) by which its three points are rotated, rad; and
    the set of points that are left out, for ends represented by their first point only.
    """

    angles: Array
    alone: frozenset[int]


def turn(ends: Sequence[Sequence[int]], problem: RimImpact | RimMotion) -> Turn:
    """Return a choice of three points, or of one, for each end, such that a solution for these
    points is a solution for the whole rims, if there is one.
    """
    now = Turn(np.zeros(len(ends)), frozenset())
    for _ in range(1 if len(ends) == 1 else MAX_SWEEPS):
        before = now
        for n in range(len(ends)):
            now = _rotate_end(ends, n, now, problem)
        if before.alone == now.alone and np.array_equal(before.angles, now.angles):
            break
    return now


def _rotate_end(
    ends: Sequence[Sequence[int]], n: int, now: Turn, problem: RimImpact | RimMotion
) -> Turn:
    """Return the choice with the points of end n rotated, the other ends unchanged: towards the
    centre of pressure, or to the one point with the smallest normal speed.
    """
    own = list(ends[n])
    count = len(problem.u) // 3
    here = np.arange(len(ends)) == n
    others = now.alone - set(own)
    S = lambda angle: turned(count, ends, now.angles + here * angle)  # noqa: E731
    one = lambda angle: problem.solve(S(angle), others | set(own[1:]))  # noqa: E731
    tried, angle = 0.0, 0.0
    for _ in range(MAX_TURNS):
        N = problem.pressing(S(angle))[own]
        pushes = bool((N > 0.0).all())
        three = problem.solve(S(angle), others) if pushes else None
        if three is not None and three.found is not None and three.closed[own].all():
            return Turn(now.angles + here * angle, others)
        if _holds_along_rim(one(angle), own):
            return Turn(now.angles + here * angle, others | set(own[1:]))
        tried = angle
        angle = angle + _pressure_direction(
            N if three is None or three.found is None else three.pushes[own]
        )
        if abs(angle - tried) < ANGLE_TOLERANCE:
            break
    return _find_one_point(now, here, own, one, others) or Turn(now.angles + here * angle, others)


def _holds_along_rim(answer: Answer, own: Sequence[int]) -> bool:
    """Whether the quantities of a solution are nowhere negative along the rim, up to rounding."""
    return answer.found is not None and all(
        lowest(x[own])[0] >= -answer.small[own].max() for x in answer.above
    )


def _pressure_direction(N: Array) -> float:
    """Return the direction of the centre of pressure of three normal forces, rad from the first
    point.
    """
    return float(np.arctan2(N @ np.sin(POINT_ANGLES), N @ np.cos(POINT_ANGLES)))


def _find_one_point(
    now: Turn, here: Array, own: list[int], one: Callable[[float], Answer], others: frozenset[int]
) -> Turn | None:
    """Return a choice in which an end pushes with one point only, which has the smallest normal
    speed along the rim; None if there is none.
    """

    def angle_to_lowest(angle: float) -> float:
        """Return the angle from the pushing point to the point of smallest normal speed, rad; NaN
        if there is no solution.
        """
        answer = one(angle)
        return np.nan if answer.found is None else min(lowest(x[own]) for x in answer.above)[1]

    from scipy.optimize import brentq

    grid = np.linspace(0.0, 2.0 * np.pi, DIRECTION_GRID + 1)
    seen = np.array([angle_to_lowest(x) for x in grid])
    for a, b, x, y in zip(grid, grid[1:], seen, seen[1:]):
        if x == 0.0 or (x * y < 0.0 and abs(x - y) < np.pi):
            angle = a if x == 0.0 else brentq(angle_to_lowest, a, b, xtol=ANGLE_TOLERANCE)
            if _holds_along_rim(one(angle), own):
                return Turn(now.angles + here * angle, others | set(own[1:]))
    return None


# --- problems of contact
class RimImpact(NamedTuple):
    """An impact of k points: response matrix W, Jacobian J (3 k, nv), speeds u (3 k,) before,
    restitution e and friction mu (k,), the name of the impact law, and whether impacts are
    simultaneous or sequential.
    """

    W: Array
    J: Array
    u: Array
    e: Array
    mu: Array
    law: str
    impacts: str

    def solve(self, S: Array, without: Collection[int]) -> Answer:
        """Return the solution of the impact law for points rotated by S, without the points in
        `without`.
        """
        (G, u), rows = self._rotated(S), _rows(len(self.e), without)
        on, size = rows[::3] // 3, row_sizes(G)
        small = NONNEGATIVE_RATIO * float(np.abs(u / size).max()) * size[::3]
        try:
            one = blow(
                G[np.ix_(rows, rows)],
                u[rows],
                self.e[on],
                self.mu[on],
                self.law,
                self.impacts,
                END_PROVED_SLIPS,
            )
        except (SingularError, QuestionError):
            return Answer(None, 0.0 * self.e, self.e < 0.0, (), small)
        P = np.zeros(len(u))
        P[rows] = one.P
        after = (u + G @ P)[::3]
        bounds = (
            (after, after + self.e * u[::3])
            if IMPACT_LAWS[self.law].by_speeds and not one.order
            else (after,)
        )
        return Answer(one, P[::3], P[::3] > 0.0, bounds, small)

    def pressing(self, S: Array) -> Array:
        """Return the normal impulses (k,) that would stop all points."""
        G, u = self._rotated(S)
        return forces_to_stay_closed(G, u, Friction.at_rest(self.mu, self.mu))[::3]

    def _rotated(self, S: Array) -> tuple[Array, Array]:
        """Return G and u for contact points rotated by S (`turned`)."""
        J = S @ self.J
        return J @ self.W @ J.T, S @ self.u


class RimMotion(NamedTuple):
    """The motion of k closed points: G (3 k, 3 k), b (3 k,), slip speeds u (3 k,), coefficients of
    friction, and still (k,), the speed below which a slip counts as rest, m/s.
    """

    G: Array
    b: Array
    u: Array
    static: Array
    kinetic: Array
    still: Array

    def solve(self, S: Array, without: Collection[int]) -> Answer:
        """Return the first solution for points rotated by S, without the points in `without`."""
        G, b, friction = self._rotated(S)
        rows = _rows(len(self.still), without)
        size = row_sizes(G)
        on = rows[::3] // 3
        small = NONNEGATIVE_RATIO * float(np.abs(b / size).max()) * size[::3]
        found = solutions(G[np.ix_(rows, rows)], b[rows], friction.of(on), END_PROVED_SLIPS)
        if not found:
            return Answer(None, 0.0 * self.still, self.still < 0.0, (), small)
        f = np.zeros(len(b))
        closed = np.zeros(len(self.still), bool)
        f[rows], closed[on] = found[0].force, [mode != OPEN for mode in found[0].modes]
        return Answer(found[0], f[::3], closed, ((b + G @ f)[::3],), small)

    def pressing(self, S: Array) -> Array:
        """Return the normal forces (k,) that would hold all points."""
        return forces_to_stay_closed(*self._rotated(S))[::3]

    def _rotated(self, S: Array) -> tuple[Array, Array, Friction]:
        """Return G, b and the friction for contact points rotated by S (`turned`)."""
        d = slip_directions(S @ self.u, self.still)
        return (
            S @ self.G @ S.T,
            S @ self.b,
            Friction(self.static, self.kinetic, d, np.zeros(len(self.still))),
        )


def _rows(count: int, without: Collection[int]) -> NDArray[np.int_]:
    """Return the row numbers of all points but those in `without`."""
    return np.array([3 * n + j for n in range(count) if n not in without for j in range(3)])
