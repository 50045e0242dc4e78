"""A round end flat on a plane: three of its points stand for all of its rim, if they are the right three.

Normal speeds (or accelerations) round the rim are v(psi) = v0 + v1 cos(psi - psi0), and those at three points 120 degrees apart say all of it, as do
their tangential ones: what a point has is sum_j w_j of what the three have, w_j = (1 + 2 cos(psi - psi_j))/3. So contact problems of other three
points are found from those of these, G' = S G S', b' = S b.

    0 <= v(psi) for all psi,     sum N >= |sum N r|/R      forces push within the circle, and where v is not zero all round, at its lowest point

A solution for three points is one for the rim if v is nowhere negative. It is where one of the three lies towards the centre of pressure:
then all three push until that reaches the circle, N_2 = N_3 = N (1 - rho/R)/3, and beyond that the first alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from ..errors import QuestionError, SingularError
from ..model.impact_laws import IMPACT_LAWS
from .contact_impact import blow
from .contact_modes import OPEN, Friction, held, row_sizes, slip_directions, solutions

Array = NDArray[np.float64]
POINTS = 2.0 * np.pi / 3.0 * np.arange(3)
ROUNDS = 12  # how often three points are turned towards the centre of pressure
GRID = 24  # directions tried where that does not find one, and an end tips or strikes with one point
NARROW = 1e-15  # rad
ROUNDING = 1e-10  # of the largest speed or acceleration: below zero by less is not below it


class Answer(NamedTuple):
    """What a contact problem of k points came to. found: what its solver says, None where it has no solution. pushes: normal forces (k,); closed (k,);
    above: of each quantity that is not negative at any point, (k,). small (k,): what of it is rounding."""

    found: Any
    pushes: Array
    closed: NDArray[np.bool_]
    above: tuple[Array, ...]
    small: Array


Solve = Callable[[Array, Sequence[int]], Answer]  # of S (3 k, 3 k), without some points


def lowest(values: Array) -> tuple[float, float]:
    """The least of what varies as a cosine round the rim and has these values (3,) at its points; and where, rad from the first."""
    c, s = 2.0 / 3.0 * (values @ np.cos(POINTS)), 2.0 / 3.0 * (values @ np.sin(POINTS))
    return float(values.mean() - np.hypot(c, s)), float(np.arctan2(-s, -c))


def turned(count: int, ends: Sequence[Sequence[int]], angles: Array) -> Array:
    """S (3 count, 3 count): rows of contact points, those of each end turned by an angle."""
    W = np.eye(count)
    for own, angle in zip(ends, angles):
        W[np.ix_(own, own)] = (1.0 + 2.0 * np.cos(angle + POINTS[:, None] - POINTS)) / 3.0 if angle else np.eye(3)
    return np.kron(W, np.eye(3))


def turn(ends: Sequence[Sequence[int]], problem: RimImpact | RimMotion) -> Array:
    """Angles by which the points of each end are turned, so that what is a solution for them is one for whole rims, where there is one."""
    angles, solve, pressing, count = np.zeros(len(ends)), problem.solve, problem.pressing, len(problem.u) // 3
    answer = solve(turned(count, ends, angles), ())
    for _ in range(2 if len(ends) > 1 else 1):
        for n, own in enumerate(ends):
            if not _whole(answer, own):
                angles, answer = _towards_pressure(count, ends, n, angles, answer, solve, pressing)
            if not _whole(answer, own):
                angles, answer = _on_one_point(count, ends, n, angles, answer, solve)
        if all(_whole(answer, own) for own in ends):
            break
    return _first_alone(ends, angles, answer)


def _whole(answer: Answer, own: Sequence[int]) -> bool:
    """Whether it is a solution for the whole rim."""
    if answer.found is None:
        return False
    return bool(answer.closed[list(own)].all()) or all(lowest(x[list(own)])[0] >= -answer.small[list(own)].max() for x in answer.above)


def _centre(N: Array) -> float:
    """The direction of the centre of pressure, rad from the first point."""
    return float(np.arctan2(N @ np.sin(POINTS), N @ np.cos(POINTS)))


def _towards_pressure(count: int, ends: Sequence[Sequence[int]], n: int, angles: Array, answer: Answer, solve: Solve,
                      pressing: Callable[[Array], Array]) -> tuple[Array, Answer]:  # fmt: skip
    own, first = list(ends[n]), (angles, answer)
    N = pressing(turned(count, ends, angles))[own]
    for _ in range(ROUNDS):
        if not N.any():
            break
        angles = angles + np.where(np.arange(len(ends)) == n, _centre(N), 0.0)
        answer = solve(turned(count, ends, angles), ())
        if _whole(answer, own):
            return angles, answer
        if answer.found is None:
            break
        N = answer.pushes[own]
    return first


def _on_one_point(count: int, ends: Sequence[Sequence[int]], n: int, angles: Array, answer: Answer, solve: Solve) -> tuple[Array, Answer]:
    """Where an end pushes with one point, that has the least speed of all."""
    own, here = list(ends[n]), np.arange(len(ends)) == n

    def beside(angle: float) -> float:
        one = solve(turned(count, ends, angles + here * angle), own[1:])
        if one.found is None:
            return np.nan
        return min(lowest(x[own]) for x in one.above)[1]

    grid = np.linspace(0.0, 2.0 * np.pi, GRID + 1)
    seen = np.array([beside(x) for x in grid])
    for a, b, x, y in zip(grid, grid[1:], seen, seen[1:]):
        if x == 0.0 or (x * y < 0.0 and max(abs(x), abs(y)) < 0.5 * np.pi):
            at = angles + here * (a if x == 0.0 else brentq(beside, a, b, xtol=NARROW))
            found = solve(turned(count, ends, at), ())
            if _whole(found, own):
                return at, found
    return angles, answer


def _first_alone(ends: Sequence[Sequence[int]], angles: Array, answer: Answer) -> Array:
    """Where one point of an end pushes, let it be the first."""
    more = angles.copy()
    for n, own in enumerate(ends):
        closed = answer.closed[list(own)]
        if closed.sum() == 1 and not closed[0]:
            more[n] += POINTS[int(closed.argmax())]
    return more


# ---------------------------------------------------------------------------------------------------- problems of contact
class RimImpact(NamedTuple):
    """An impact of k points: W, J (3 k, nv), u (3 k,), e and mu (k,), the law and how impacts act."""

    W: Array
    J: Array
    u: Array
    e: Array
    mu: Array
    law: str
    impacts: str

    def solve(self, S: Array, without: Sequence[int]) -> Answer:
        """By the law, of points turned by S."""
        (G, u), rows = self._turned(S), _rows(len(self.e), without)
        on, size = rows[::3] // 3, row_sizes(G)
        small = ROUNDING * float(np.abs(u / size).max()) * size[::3]
        try:
            one = blow(G[np.ix_(rows, rows)], u[rows], self.e[on], self.mu[on], self.law, self.impacts)
        except (SingularError, QuestionError):
            return Answer(None, 0.0 * self.e, self.e < 0.0, (), small)
        P = np.zeros(len(u))
        P[rows] = one.P
        after = (u + G @ P)[::3]
        bounds = (after, after + self.e * u[::3]) if IMPACT_LAWS[self.law].by_speeds and not one.order else (after,)
        return Answer(one, P[::3], P[::3] > 0.0, bounds, small)

    def pressing(self, S: Array) -> Array:
        """Normal impulses that would stop all points."""
        G, u = self._turned(S)
        return held(G, u, Friction.at_rest(self.mu, self.mu))[::3]

    def _turned(self, S: Array) -> tuple[Array, Array]:
        J = S @ self.J
        return J @ self.W @ J.T, S @ self.u


class RimMotion(NamedTuple):
    """The motion of k points that touch: G (3 k, 3 k), b (3 k,), u (3 k,), friction of the points where they are, still (k,): slips that are none, m/s."""

    G: Array
    b: Array
    u: Array
    static: Array
    kinetic: Array
    still: Array

    def solve(self, S: Array, without: Sequence[int]) -> Answer:
        """The first solution, of points turned by S."""
        G, b, friction = self._turned(S)
        rows, size = _rows(len(self.still), without), row_sizes(G)
        on = rows[::3] // 3
        small = ROUNDING * float(np.abs(b / size).max()) * size[::3]
        found = solutions(G[np.ix_(rows, rows)], b[rows], Friction(*(x[on] for x in friction)))
        if not found:
            return Answer(None, 0.0 * self.still, self.still < 0.0, (), small)
        f, closed = np.zeros(len(b)), np.zeros(len(self.still), bool)
        f[rows], closed[on] = found[0].force, [mode != OPEN for mode in found[0].modes]
        return Answer(found[0], f[::3], closed, ((b + G @ f)[::3],), small)

    def pressing(self, S: Array) -> Array:
        """Normal forces that would hold all points."""
        return held(*self._turned(S))[::3]

    def _turned(self, S: Array) -> tuple[Array, Array, Friction]:
        d = slip_directions(S @ self.u, self.still)
        return S @ self.G @ S.T, S @ self.b, Friction(self.static, self.kinetic, d, np.zeros(len(self.still)))


def _rows(count: int, without: Sequence[int]) -> NDArray[np.int_]:
    return np.array([3 * n + j for n in range(count) if n not in without for j in range(3)])
