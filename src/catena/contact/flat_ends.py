"""A round end flat on a plane: three of its points stand for all of its rim, if they are the right
three.

Normal speeds (or accelerations) round the rim are v(psi) = v0 + v1 cos(psi - psi0), and those at
three points 120 degrees apart say all of it, as do their tangential ones: what a point has is sum_j
w_j of what the three have, w_j = (1 + 2 cos(psi - psi_j))/3. So contact problems of other three
points are found from those of these, G' = S G S', b' = S b.

    0 <= v(psi) for all psi,  sum N >= |sum N r|/R  forces push within the circle, and where v is
        not zero all round, at its lowest point

A solution for three points is one for the rim if v is nowhere negative. It is where one of the
three lies towards the centre of pressure: then all three push until that reaches the circle, N_2 =
N_3 = N (1 - rho/R)/3, and beyond that the first alone.
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
from .modes import OPEN, held, row_sizes, slip_directions, solutions

Array = NDArray[np.float64]
POINTS = 2.0 * np.pi / 3.0 * np.arange(3)
ROUNDS = 12  # how often three points are turned towards the centre of pressure
# directions tried where that does not find one, and an end tips or strikes with one point
GRID = 48
SWEEPS = 4  # over ends that stand at one instant
NARROW = 1e-15  # rad
# contacts that may begin to slip, of more one solution is enough: three points share friction in
# many ways
ENOUGH = 2
ROUNDING = 1e-10  # of the largest speed or acceleration: below zero by less is not below it


class Answer(NamedTuple):
    """What a contact problem of k points came to. found: what its solver says, None where it has no
    solution. pushes: normal forces (k,); closed (k,); above: of each quantity that is not negative
    at any point, (k,). small (k,): what of it is rounding.
    """

    found: Any
    pushes: Array
    closed: NDArray[np.bool_]
    above: tuple[Array, ...]
    small: Array


def lowest(values: Array) -> tuple[float, float]:
    """The least of what varies as a cosine round the rim and has these values (3,) at its points;
    and where, rad from the first.
    """
    c = 2.0 / 3.0 * (values @ np.cos(POINTS))
    s = 2.0 / 3.0 * (values @ np.sin(POINTS))
    return float(values.mean() - np.hypot(c, s)), float(np.arctan2(-s, -c))


def turned(count: int, ends: Sequence[Sequence[int]], angles: Array) -> Array:
    """S (3 count, 3 count): rows of contact points, those of each end turned by an angle."""
    W = np.eye(count)
    for own, angle in zip(ends, angles):
        W[np.ix_(own, own)] = (
            (1.0 + 2.0 * np.cos(angle + POINTS[:, None] - POINTS)) / 3.0 if angle else np.eye(3)
        )
    return np.asarray(np.kron(W, np.eye(3)), np.float64)


class Turn(NamedTuple):
    """How ends stand: angles (n,) by which their points are turned; alone: points that take no
    part, where the first of an end does alone.
    """

    angles: Array
    alone: frozenset[int]


def turn(ends: Sequence[Sequence[int]], problem: RimImpact | RimMotion) -> Turn:
    """Three points for each end, or one, so that what is a solution for them is one for whole rims,
    where there is one.
    """
    now = Turn(np.zeros(len(ends)), frozenset())
    for _ in range(1 if len(ends) == 1 else SWEEPS):
        before = now
        for n in range(len(ends)):
            now = _turned_end(ends, n, now, problem)
        if before.alone == now.alone and np.array_equal(before.angles, now.angles):
            break
    return now


def _turned_end(
    ends: Sequence[Sequence[int]], n: int, now: Turn, problem: RimImpact | RimMotion
) -> Turn:
    """One end, the others as they are: towards the centre of pressure, or where one point has the
    least speed of all.
    """
    own = list(ends[n])
    count = len(problem.u) // 3
    here = np.arange(len(ends)) == n
    others = now.alone - set(own)
    S = lambda angle: turned(count, ends, now.angles + here * angle)  # noqa: E731
    one = lambda angle: problem.solve(S(angle), others | set(own[1:]))  # noqa: E731
    tried, angle = 0.0, 0.0
    for _ in range(ROUNDS):
        N = problem.pressing(S(angle))[own]
        pushes = bool((N > 0.0).all())
        three = problem.solve(S(angle), others) if pushes else None
        if three is not None and three.found is not None and three.closed[own].all():
            return Turn(now.angles + here * angle, others)
        if _whole(one(angle), own):
            return Turn(now.angles + here * angle, others | set(own[1:]))
        tried = angle
        angle = angle + _centre(N if three is None or three.found is None else three.pushes[own])
        if abs(angle - tried) < NARROW:
            break
    return _on_one_point(now, here, own, one, others) or Turn(now.angles + here * angle, others)


def _whole(answer: Answer, own: Sequence[int]) -> bool:
    """Whether a solution is nowhere negative round the rim."""
    return answer.found is not None and all(
        lowest(x[own])[0] >= -answer.small[own].max() for x in answer.above
    )


def _centre(N: Array) -> float:
    """The direction of the centre of pressure, rad from the first point."""
    return float(np.arctan2(N @ np.sin(POINTS), N @ np.cos(POINTS)))


def _on_one_point(
    now: Turn, here: Array, own: list[int], one: Callable[[float], Answer], others: frozenset[int]
) -> Turn | None:
    """Where an end pushes with one point, which has the least speed of all."""

    def beside(angle: float) -> float:
        answer = one(angle)
        return np.nan if answer.found is None else min(lowest(x[own]) for x in answer.above)[1]

    from scipy.optimize import brentq

    grid = np.linspace(0.0, 2.0 * np.pi, GRID + 1)
    seen = np.array([beside(x) for x in grid])
    for a, b, x, y in zip(grid, grid[1:], seen, seen[1:]):
        if x == 0.0 or (x * y < 0.0 and abs(x - y) < np.pi):
            angle = a if x == 0.0 else brentq(beside, a, b, xtol=NARROW)
            if _whole(one(angle), own):
                return Turn(now.angles + here * angle, others | set(own[1:]))
    return None


# --- problems of contact
class RimImpact(NamedTuple):
    """An impact of k points: W, J (3 k, nv), u (3 k,), e and mu (k,), the law and how impacts
    act.
    """

    W: Array
    J: Array
    u: Array
    e: Array
    mu: Array
    law: str
    impacts: str

    def solve(self, S: Array, without: Collection[int]) -> Answer:
        """By the law, of points turned by S."""
        (G, u), rows = self._turned(S), _rows(len(self.e), without)
        on, size = rows[::3] // 3, row_sizes(G)
        small = ROUNDING * float(np.abs(u / size).max()) * size[::3]
        try:
            one = blow(
                G[np.ix_(rows, rows)],
                u[rows],
                self.e[on],
                self.mu[on],
                self.law,
                self.impacts,
                ENOUGH,
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
        """Normal impulses that would stop all points."""
        G, u = self._turned(S)
        return held(G, u, Friction.at_rest(self.mu, self.mu))[::3]

    def _turned(self, S: Array) -> tuple[Array, Array]:
        J = S @ self.J
        return J @ self.W @ J.T, S @ self.u


class RimMotion(NamedTuple):
    """The motion of k points that touch: G (3 k, 3 k), b (3 k,), u (3 k,), friction of the points
    where they are, still (k,): slips that are none, m/s.
    """

    G: Array
    b: Array
    u: Array
    static: Array
    kinetic: Array
    still: Array

    def solve(self, S: Array, without: Collection[int]) -> Answer:
        """The first solution, of points turned by S."""
        G, b, friction = self._turned(S)
        rows = _rows(len(self.still), without)
        size = row_sizes(G)
        on = rows[::3] // 3
        small = ROUNDING * float(np.abs(b / size).max()) * size[::3]
        found = solutions(
            G[np.ix_(rows, rows)], b[rows], Friction(*(x[on] for x in friction)), ENOUGH
        )
        if not found:
            return Answer(None, 0.0 * self.still, self.still < 0.0, (), small)
        f = np.zeros(len(b))
        closed = np.zeros(len(self.still), bool)
        f[rows], closed[on] = found[0].force, [mode != OPEN for mode in found[0].modes]
        return Answer(found[0], f[::3], closed, ((b + G @ f)[::3],), small)

    def pressing(self, S: Array) -> Array:
        """Normal forces that would hold all points."""
        return held(*self._turned(S))[::3]

    def _turned(self, S: Array) -> tuple[Array, Array, Friction]:
        d = slip_directions(S @ self.u, self.still)
        return (
            S @ self.G @ S.T,
            S @ self.b,
            Friction(self.static, self.kinetic, d, np.zeros(len(self.still))),
        )


def _rows(count: int, without: Collection[int]) -> NDArray[np.int_]:
    return np.array([3 * n + j for n in range(count) if n not in without for j in range(3)])
