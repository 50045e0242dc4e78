"""Path generation through five points with given pivots: all four-bars, by homotopy continuation.

With the coupler point at p_0 + d_j and the coupler turned by T_j = e^(i t_j) at point j, x the
vector from the coupler point to the moving pin of the crank and a its pivot relative to p_0,

    (x T_j + d_j - a)(x' T_j^-1 + d_j' - a') = (x - a)(x' - a'),        j = 1 ... 4

and the same for the rocker with y and b. Primes are conjugates, which are independent unknowns
here, so that the equations are analytic: eight equations for x, x', y, y', T_1 ... T_4. For generic
data they have 36 solutions [Morgan1990]. They are found once by monodromy: known solutions are
followed along closed loops of the data, on which they change places. From these, a path of the data
leads to the solutions of given points; those whose primes are conjugates are linkages.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import QuestionError
from .four_bar import FourBar

Complex = NDArray[np.complex128]
QUIET_LOOPS = 12  # loops without a new solution after which monodromy ends
SAME_SOLUTION = 1e-6  # distance of solutions relative to their size
CORRECTED = 1e-10  # size of the last Newton step, relative to the solution
MIN_STEP, MAX_STEP = 1e-7, 0.1
REAL_SOLUTION = 1e-7


def _parts(u: Complex, p: Complex, k: int) -> tuple[Complex, ...]:
    """Return the factors of the four equations of one dyad (k = 0: crank, 1: rocker)."""
    x, xh, T = u[:, 2 * k, None], u[:, 2 * k + 1, None], u[:, 4:]
    a, ah, d, dh = p[:, 2 * k, None], p[:, 2 * k + 1, None], p[:, 4:8], p[:, 8:]
    return x, xh, T, x * T + d - a, xh / T + dh - ah, x - a, xh - ah


def equations(u: Complex, p: Complex) -> Complex:
    """Return the residuals (n, 8) of the equations of n linkages. u (n, 8): the unknowns x, x', y,
    y', T. p (n, 12): the data a, a', b, b', d, d'.
    """
    both = [_parts(u, p, k) for k in range(2)]
    return np.concatenate([A * B - C * D for *_, A, B, C, D in both], axis=1)


def _jacobian(u: Complex, p: Complex) -> Complex:
    J = np.zeros((len(u), 8, 8), complex)
    for k in range(2):
        x, xh, T, A, B, C, D = _parts(u, p, k)
        rows = slice(4 * k, 4 * k + 4)
        J[:, rows, 2 * k] = T * B - D
        J[:, rows, 2 * k + 1] = A / T - C
        i = np.arange(4)
        J[:, 4 * k + i, 4 + i] = x * B - A * xh / T**2
    return J


def _slope(u: Complex, p: Complex, rate: Complex) -> Complex:
    """Return the rate du/ds of the solutions when the data change at dp/ds = `rate`."""
    columns = []
    for k in range(2):
        _, _, _, A, B, C, D = _parts(u, p, k)
        a, ah = rate[:, 2 * k, None], rate[:, 2 * k + 1, None]
        columns.append(B * (rate[:, 4:8] - a) + D * a + A * (rate[:, 8:] - ah) + C * ah)
    F = np.concatenate(columns, axis=1)[..., None]
    return np.asarray(-np.linalg.solve(_jacobian(u, p), F)[..., 0], complex)


def track(u: Complex, start: Complex, end: Complex) -> tuple[Complex, NDArray[np.bool_]]:
    """Follow solutions u (n, 8) while the data move on a straight line from `start` (12,) to `end`
    (12,). Return the solutions, and for each whether it was followed to the end.
    """
    u = u.copy()
    s, h = np.zeros(len(u)), np.full(len(u), 0.02)
    alive = np.ones(len(u), bool)
    rate = end - start
    while (busy := np.flatnonzero(alive & (s < 1.0))).size:
        step = np.minimum(h[busy], 1.0 - s[busy])
        new, good = _advance(u[busy], start, rate, s[busy], step)
        moved = busy[good]
        u[moved], s[moved] = new[good], s[moved] + step[good]
        h[busy] = np.where(good, np.minimum(1.6 * h[busy], MAX_STEP), 0.4 * h[busy])
        alive[busy] &= h[busy] > MIN_STEP
    return u, alive


def _advance(
    u: Complex, start: Complex, rate: Complex, s: NDArray[np.float64], h: NDArray[np.float64]
) -> tuple[Complex, NDArray[np.bool_]]:
    """Return one Runge-Kutta step with Newton's corrections, and where these converged."""

    def slope(v: Complex, at: NDArray[np.float64]) -> Complex:
        return _slope(v, start + at[:, None] * rate, np.broadcast_to(rate, (len(v), 12)))

    w = h[:, None]
    with np.errstate(all="ignore"):
        try:
            k1 = slope(u, s)
            k2 = slope(u + 0.5 * w * k1, s + 0.5 * h)
            k3 = slope(u + 0.5 * w * k2, s + 0.5 * h)
            v = u + w / 6 * (k1 + 2 * k2 + 2 * k3 + slope(u + w * k3, s + h))
            p = start + (s + h)[:, None] * rate
            change = np.full(len(u), np.inf)
            for _ in range(3):
                d = np.linalg.solve(_jacobian(v, p), equations(v, p)[..., None])[..., 0]
                v = v - d
                change = np.abs(d).max(axis=1) / (1 + np.abs(v).max(axis=1))
        except np.linalg.LinAlgError:
            return u, np.zeros(len(u), bool)
    return v, np.isfinite(v).all(axis=1) & (change < CORRECTED)


@cache
def generic_solutions(seed: int = 5) -> tuple[Complex, Complex]:
    """Return generic data (12,) and all solutions (36, 8) of the equations for them."""
    rng = np.random.default_rng(seed)

    def draw(*shape: int) -> Complex:
        return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)

    u, data = draw(1, 8), draw(12)
    for j in range(4):  # the displacements for which a random linkage is a solution
        data[[4 + j, 8 + j]] = _displacement(u[0], data, j, draw(2))
    quiet = 0
    while quiet < QUIET_LOOPS:
        corners = [data, draw(12), draw(12), data]
        v = u
        for a, b in pairwise(corners):
            v, arrived = track(v, a, b)
            v = v[arrived]
        before = len(u)
        for one in v:
            if (np.abs(u - one).max(axis=1) > SAME_SOLUTION * (1 + np.abs(one).max())).all():
                u = np.concatenate([u, one[None]])
        quiet = 0 if len(u) > before else quiet + 1
    return data, u


def _displacement(u: Complex, data: Complex, j: int, z: Complex) -> Complex:
    """Return d_j and d_j' at which the linkage u satisfies both equations, by Newton's method."""
    x, T = u[[0, 2]], u[4 + j]
    xh, a, ah = u[[1, 3]], data[[0, 2]], data[[1, 3]]
    for _ in range(100):
        A, B = x * T + z[0] - a, xh / T + z[1] - ah
        step = np.linalg.solve(np.stack([B, A], axis=1), A * B - (x - a) * (xh - ah))
        z = z - step
        if np.abs(step).max() < 1e-15 * np.abs(z).max():
            break
    return z


def four_bars_through(
    points: ArrayLike, pivot: complex, second_pivot: complex
) -> list[tuple[FourBar, NDArray[np.float64], NDArray[np.int64]]]:
    """Return all four-bars with given pivots whose coupler point passes five points.

    Parameters
    ----------
    points : array (5, 2)
        The points, m.
    pivot, second_pivot : complex
        The pivots of crank and rocker, m.

    Returns
    -------
    list of (FourBar, array (5,), array (5,))
        Each linkage with its crank angles (rad) and signs at the points.

    Raises
    ------
    QuestionError
        Where the points are not five.
    """
    z = np.asarray(points, float)
    if z.shape != (5, 2) or not np.isfinite(z).all():
        raise QuestionError(f"five points: points have shape {z.shape}; give five rows x, y (m)")
    w = z @ np.array([1.0, 1j])
    scale = float(np.abs(w - w[0]).max()) or 1.0
    d, a, b = (w[1:] - w[0]) / scale, (pivot - w[0]) / scale, (second_pivot - w[0]) / scale
    end = np.array([a, np.conj(a), b, np.conj(b), *d, *np.conj(d)])
    data, solutions = generic_solutions()
    found, arrived = track(solutions, data, end)
    linkages = []
    for u in found[arrived]:
        x, y = u[[0, 2]]
        miss = np.abs([np.conj(x) - u[1], np.conj(y) - u[3]]).max()
        turned = np.abs(np.abs(u[4:]) - 1).max()
        if max(miss, turned) < REAL_SOLUTION * (1 + np.abs(u).max()):
            linkages.append(_linkage(x, y, np.array([1.0, *u[4:]]), w, scale, pivot, second_pivot))
    return linkages


def _linkage(
    x: complex, y: complex, T: Complex, w: Complex, scale: float, pivot: complex, other: complex
) -> tuple[FourBar, NDArray[np.float64], NDArray[np.int64]]:
    A, B = w + scale * x * T, w + scale * y * T
    side = B[0] - A[0]
    signs = np.where(((B - A) * np.conj(other - A)).imag > 0, 1, -1)
    four_bar = FourBar(
        pivot,
        other,
        float(abs(A[0] - pivot)),
        float(abs(side)),
        float(abs(B[0] - other)),
        complex((w[0] - A[0]) * abs(side) / side),
        int(signs[0]),
    )
    return four_bar, np.angle(A - pivot), signs
