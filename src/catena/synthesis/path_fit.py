"""Path generation: four-bars whose coupler point passes given points, by least squares from
thousands of starts at once.

    minimise  sum_i |P(theta_i; x) - p_i|^2     over nine dimensions x and the crank angles theta_i

Levenberg-Marquardt steps for all starts, each with its own damping. P and its exact derivatives are
one function compiled for lanes. The angles are eliminated point by point (a Schur complement), so
that each step solves nine equations per start, whatever the number of points.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..compiler import LaneKernel, compile_lanes
from ..errors import QuestionError
from .four_bar import PARAMETERS, FourBar, template

Array = NDArray[np.float64]
GRID = 48  # crank angles at which the start curves are sampled
TRIED = 20  # random linkages per start that is kept
STEPS = 150
SAME_DIMENSION = 0.02  # relative to the largest dimension: nearer linkages count as the same
DONE_STEP = 1e-13  # relative reduction of the cost below which a start has converged


@dataclass(frozen=True)
class PathFit:
    """A four-bar found for a path: the crank angles (n,) at the points, and the root mean square
    distance (m) of the points.
    """

    four_bar: FourBar
    angles: Array
    error: float


def fit_path(
    points: ArrayLike,
    starts: int = 500,
    seed: int = 0,
    timing: ArrayLike | None = None,
    size: float | None = None,
) -> list[PathFit]:
    """Return four-bars whose coupler point passes near given points, the best first.

    Parameters
    ----------
    points : array (n, 2)
        The points, m, in the order of the path.
    starts : int, default 500
        The number of linkages from which the search begins; they are the best of twenty times as
        many random ones.
    seed : int, default 0
        Of the random numbers.
    timing : array (n,), optional
        Crank angles at the points relative to the first one, rad. By default they are free.
    size : float, optional
        The largest length of a link, m, which the search does not exceed. By default any.

    Returns
    -------
    list of PathFit
        Different linkages, sorted by their error.

    Raises
    ------
    QuestionError
        Where there are fewer than three points.
    """
    p = np.asarray(points, float)
    if p.ndim != 2 or p.shape[1:] != (2,) or len(p) < 3 or not np.isfinite(p).all():
        raise QuestionError(
            f"path generation: points have shape {p.shape}; give at least three rows x, y (m)"
        )
    centre, scale = p.mean(axis=0), float(np.sqrt(((p - p.mean(axis=0)) ** 2).sum(axis=1).mean()))
    if not scale > 0:
        raise QuestionError("path generation: all points are the same; give a path")
    z = (p - centre) / scale
    given = None if timing is None else np.asarray(timing, float)
    if given is not None and given.shape != (len(p),):
        raise QuestionError(
            f"path generation: timing has shape {given.shape}; it is one angle per point ({len(p)})"
        )
    x, theta, sign = _starts(z, starts, seed, given)
    largest = np.inf if size is None else size / scale
    x, theta, cost = _minimise(z, x, theta, sign, given is not None, largest)
    return _different(x, theta, sign, cost, centre, scale)


@cache
def kernel() -> LaneKernel:
    """Return the compiled function of the residual (2), its Jacobian by the dimensions (2, 9) and
    by the crank angle (2).
    """
    d = template().decomposition
    P = template().points[:2]
    target = ca.SX.sym("target", 2)
    p = d.planar.p
    order = [list(template().mechanism.parameters).index(name) for name in PARAMETERS]
    Jx = ca.jacobian(P, p)[:, order]
    f = ca.Function(
        "path_residual",
        [p, d.q, d.signs, target],
        [ca.densify(y) for y in (P - target, Jx, ca.jacobian(P, d.q))],
    )
    return compile_lanes(f, quick=False)


def _evaluate(z: Array, x: Array, theta: Array, sign: Array) -> tuple[Array, Array, Array]:
    """Return the residuals (s, n, 2) of s linkages at n points, and their Jacobians by the
    dimensions (s, n, 2, 9) and by the crank angles (s, n, 2).
    """
    s, n = theta.shape
    whole = [
        np.repeat(x, n, axis=0),
        theta.reshape(-1, 1).copy(),
        np.repeat(sign, n)[:, None].copy(),
        np.tile(z, (s, 1)),
    ]
    (r, Jx, Jt), _ = kernel()(whole, s * n)
    return r.reshape(s, n, 2), Jx.reshape(s, n, 2, 9), Jt.reshape(s, n, 2)


def _starts(z: Array, count: int, seed: int, timing: Array | None) -> tuple[Array, Array, Array]:
    """Return dimensions (s, 9), crank angles (s, n) and signs (s,) of the best random linkages,
    each moved, turned and scaled so that its curve lies on the points.
    """
    rng = np.random.default_rng(seed)
    many = TRIED * count
    grid = 2 * np.pi * np.arange(GRID) / GRID
    x = np.zeros((many, 9))
    x[:, 2] = 1.0
    x[:, 4] = rng.uniform(0.1, 1.2, many)
    x[:, 5:7] = rng.uniform(0.3, 2.5, (many, 2))
    x[:, 7:9] = rng.uniform(-2.0, 2.0, (many, 2))
    sign = rng.choice([-1.0, 1.0], many)
    found = template().positions(
        grid, modes=sign[:, None, None], parameters=_named(x[:, None, :]), coordinates=False
    )
    curve = found.points[..., 0, :2] @ np.array([1.0, 1j])
    w = z @ np.array([1.0, 1j])
    fits = [_aligned(c, w, grid, timing) for c in curve]
    cost = np.array([f[0] for f in fits])
    best = np.argsort(cost, kind="stable")[:count]
    best = best[np.isfinite(cost[best])]
    factor = np.array([fits[k][1] for k in best])
    shift = np.array([fits[k][2] for k in best])
    theta = np.array([fits[k][3] for k in best]).reshape(len(best), len(z))
    return _moved(x[best], factor, shift), theta + np.angle(factor)[:, None], sign[best]


def _named(x: Array) -> dict[str, Array]:
    return {name: x[..., k] for k, name in enumerate(PARAMETERS)}


def _aligned(
    curve: NDArray[np.complex128],
    w: NDArray[np.complex128],
    grid: Array,
    timing: Array | None,
) -> tuple[float, complex, complex, Array]:
    """Return the cost of the best similarity w = factor curve + shift, and the crank angles.

    Without timing the points are spread evenly over a part of the curve: all phases, and a few
    lengths in both directions, are compared.
    """
    none = (np.inf, 1.0 + 0j, 0j, np.zeros(len(w)))
    if not np.isfinite(curve).all():
        return none
    n = len(w)
    u = np.arange(n) / max(n - 1, 1)
    spans = (
        [timing / (2 * np.pi) * GRID]
        if timing is not None
        else [s * u * GRID for s in (0.3, -0.3, 0.6, -0.6, (n - 1) / n, -(n - 1) / n)]
    )
    offsets = np.arange(0, GRID, 3)
    at = np.array([(k + s) for s in spans for k in offsets])
    c = curve[np.rint(at).astype(int) % GRID]
    mean = c.mean(axis=1, keepdims=True)
    centred = c - mean
    power = (np.abs(centred) ** 2).sum(axis=1)
    factor = (centred.conj() @ w) / np.maximum(power, 1e-300)
    cost = np.abs(w - factor[:, None] * centred).__pow__(2).sum(axis=1)
    k = int(cost.argmin())
    shift = -factor[k] * mean[k, 0]
    return float(cost[k]), factor[k], shift, at[k] * 2 * np.pi / GRID


def _moved(x: Array, factor: Any, shift: Any) -> Array:
    """Return linkages after the similarity z -> factor z + shift."""
    size = np.broadcast_to(np.abs(factor), len(x))
    A, B = (factor * (x[:, k] + 1j * x[:, k + 1]) + shift for k in (0, 2))
    return np.concatenate(
        [np.stack([A.real, A.imag, B.real, B.imag], axis=1), x[:, 4:] * size[:, None]], axis=1
    )


def _minimise(
    z: Array, x: Array, theta: Array, sign: Array, timed: bool, largest: float
) -> tuple[Array, Array, Array]:
    """Return the dimensions, angles and mean square errors after damped steps of all starts. A step
    to a link longer than `largest` is refused.
    """
    mu = np.full(len(x), 1e-2)
    r, Jx, Jt = _evaluate(z, x, theta, sign)
    cost = np.where(_longest(x) <= largest, (r**2).sum(axis=(1, 2)), np.inf)
    active = np.isfinite(cost)
    for _ in range(STEPS):
        k = np.flatnonzero(active)
        if not len(k):
            break
        dx, dtheta = _step(r[k], Jx[k], Jt[k], mu[k], timed)
        trial_x, trial_theta = x[k] + dx, theta[k] + dtheta
        new = _evaluate(z, trial_x, trial_theta, sign[k])
        inside = _longest(trial_x) <= largest
        value = np.where(inside, (new[0] ** 2).sum(axis=(1, 2)), np.inf)
        better = value < cost[k]
        won = k[better]
        converged = better & (cost[k] - value <= DONE_STEP * cost[k]) & (mu[k] < 1e-6)
        x[won], theta[won] = trial_x[better], trial_theta[better]
        for old, fresh in zip((r, Jx, Jt), new):
            old[won] = fresh[better]
        cost[won] = value[better]
        mu[k] = np.where(better, np.maximum(0.2 * mu[k], 1e-14), 5.0 * mu[k])
        active[k] = ~converged & (mu[k] < 1e8) & (cost[k] > 1e-26)
    return x, theta, cost / len(z)


def _longest(x: Array) -> Array:
    """Return the length (s,) of the longest link or side of the coupler's triangle."""
    ground = np.hypot(x[:, 2] - x[:, 0], x[:, 3] - x[:, 1])
    sides = (np.hypot(x[:, 7], x[:, 8]), np.hypot(x[:, 5] - x[:, 7], x[:, 8]))
    return np.asarray(np.max([ground, *sides, *np.abs(x[:, 4:7]).T], axis=0))


def _step(r: Array, Jx: Array, Jt: Array, mu: Array, timed: bool) -> tuple[Array, Array]:
    """Return the damped steps of dimensions (s, 9) and angles (s, n)."""
    if timed:  # one angle for all points, the tenth unknown
        J = np.concatenate([Jx, Jt[..., None]], axis=-1)
        H = np.einsum("snia,snib->sab", J, J)
        d = _solved(H, -np.einsum("snia,sni->sa", J, r), mu)
        return d[:, :9], np.repeat(d[:, 9:], r.shape[1], axis=1)
    h = np.einsum("sni,sni->sn", Jt, Jt) * (1.0 + mu[:, None]) + 1e-12
    cross = np.einsum("snia,sni->sna", Jx, Jt)
    gt = np.einsum("sni,sni->sn", Jt, r)
    H = np.einsum("snia,snib->sab", Jx, Jx)
    reduced = H - np.einsum("sna,snb->sab", cross / h[..., None], cross)
    g = np.einsum("snia,sni->sa", Jx, r) - np.einsum("sna,sn->sa", cross, gt / h)
    dx = _solved(reduced, -g, mu, np.einsum("saa->sa", H))
    return dx, -(gt + np.einsum("sna,sa->sn", cross, dx)) / h


def _solved(H: Array, g: Array, mu: Array, diagonal: Array | None = None) -> Array:
    d = np.einsum("saa->sa", H) if diagonal is None else diagonal
    damping = mu[:, None] * d + 1e-13 * d.max(axis=1, keepdims=True)
    return np.linalg.solve(H + damping[:, :, None] * np.eye(H.shape[1]), g[..., None])[..., 0]


def _different(
    x: Array, theta: Array, sign: Array, cost: Array, centre: Array, scale: float
) -> list[PathFit]:
    """Return the linkages whose dimensions differ, sorted by error, in metres."""
    found: list[PathFit] = []
    seen: list[Array] = []
    for k in np.argsort(cost, kind="stable"):
        if not np.isfinite(cost[k]) or (x[k, 4:7] <= 0).any():
            continue
        if any(np.abs(x[k] - y).max() < SAME_DIMENSION * np.abs(y).max() for y in seen):
            continue
        seen.append(x[k])
        whole = _moved(x[k : k + 1], scale, complex(*centre))[0]
        error = scale * float(np.sqrt(cost[k]))
        found.append(PathFit(FourBar.of_vector(whole, int(sign[k])), theta[k].copy(), error))
    return found
