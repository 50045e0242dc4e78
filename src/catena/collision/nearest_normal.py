"""The direction in which two convex shapes are farthest apart, or overlap least, by their support
functions.

    f(n) = min over A of n . a - max over B of n . b
            its maximum over unit n is the signed distance; n leads from B to A

For shapes that are apart: the point of least norm of A - B [Gilbert1988]. Shapes that touch or
overlap are first moved apart along a direction, repeatedly, until this direction is also the one
that is found.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from .support_features import SupportShape

Array = np.ndarray
# How far shapes that touch are moved apart, relative to the size.
SEPARATION_RATIO = 1e-3
# Difference of upper and lower bound of a distance, relative to the size, at which the search ends.
DISTANCE_BOUND_RATIO = 1e-7
_SUBSETS = {
    k: [list(c) for m in range(1, k + 1) for c in combinations(range(k), m)] for k in range(1, 5)
}


def difference(A: SupportShape, B: SupportShape, R: Array, p: Array) -> Callable[[Array], Array]:
    """Return the function that maps n (3,) to the point of A - B that is lowest along n, in the
    axes of B; X_BA = (R, p).
    """
    return lambda n: R @ A.support(-(R.T @ n)) + p - B.support(n)


def nearest_normal(A: SupportShape, B: SupportShape, R: Array, p: Array) -> Array:
    """Return the unit normal n (3,) from B to A, accurate enough to identify the
    nearest features.
    """
    lowest = difference(A, B, R, p)
    size = min(A.radius, B.radius)
    middle = R @ A.middle + p - B.middle
    n = middle / np.linalg.norm(middle) if middle.any() else np.array([0.0, 0.0, 1.0])
    n = _least_norm(lowest, n, np.zeros(3), size)
    if n @ lowest(n) > SEPARATION_RATIO * size:
        return n
    others = np.vstack([n, -n, A.axes @ R.T, -A.axes @ R.T, B.axes])
    n = others[int(np.argmax([x @ lowest(x) for x in others]))]
    for _ in range(20):
        before = n
        n = _least_norm(lowest, n, (SEPARATION_RATIO * size - n @ lowest(n)) * n, size)
        if n @ before > 1.0 - 1e-8:
            break
    return n


def _least_norm(lowest: Callable[[Array], Array], n: Array, away: Array, size: float) -> Array:
    """Return the direction of the point of A - B + away that is nearest to zero,
    starting from n.
    """
    points = [lowest(n) + away]
    for _ in range(100):
        v, spanning = _nearest(points)
        length = float(np.linalg.norm(v))
        if length < 1e-12 * size or not spanning:
            return n
        n = v / length
        w = lowest(n) + away
        if length - n @ w <= DISTANCE_BOUND_RATIO * size or len(spanning) == 4:
            return n
        points = [*spanning, w]
    return n


def _nearest(points: list[Array]) -> tuple[Array, list[Array]]:
    """Return the point of a simplex of up to four corners that is nearest to zero, and the corners
    that span it.
    """
    best = np.inf
    found = points[-1]
    spanning = points[-1:]
    for own in _SUBSETS[len(points)]:
        W = np.array([points[k] for k in own])
        E = W[1:] - W[0]
        part = np.linalg.lstsq(E @ E.T, -E @ W[0], rcond=1e-14)[0] if len(own) > 1 else np.zeros(0)
        weights = np.append(1.0 - part.sum(), part)
        if weights.min() < -1e-12:
            continue
        v = weights @ W
        if v @ v < best * (1.0 - 1e-12):
            best = float(v @ v)
            found = v
            spanning = list(W)
    return found, spanning


def farthest_apart(r: Array, Q_a: Array, Q_b: Array, n: Array, line: Array) -> Array:
    """Return the unit n, perpendicular to `line` if that is not zero, at which n . r - |Q_a' n| -
    |Q_b' n| has a local maximum near the n given: Newton's method with a line search.
    """
    n = n - (n @ line) * line
    n = n / np.linalg.norm(n)
    value = lambda n: n @ r - np.linalg.norm(Q_a.T @ n) - np.linalg.norm(Q_b.T @ n)  # noqa: E731
    for _ in range(60):
        T = _across(n, line)
        g, H = r, np.zeros((3, 3))
        for Q in (Q_a, Q_b):
            q = Q.T @ n
            length = float(np.linalg.norm(q))
            if length > 0.0:
                u = Q @ q / length
                g = g - u
                H = H + (Q @ Q.T - np.outer(u, u)) / length
        curved, V = np.linalg.eigh(T.T @ H @ T + (g @ n) * np.eye(T.shape[1]))
        step = T @ (
            V
            @ ((V.T @ (T.T @ g)) / np.maximum(np.abs(curved), 1e-9 * np.abs(curved).max() + 1e-300))
        )
        step *= min(1.0, 0.5 / max(float(np.linalg.norm(step)), 1e-300))
        if np.linalg.norm(step) < 1e-15:
            break
        now = value(n)
        for _ in range(40):
            m = (n + step) / np.linalg.norm(n + step)
            if value(m) >= now - 1e-15 * abs(now):
                break
            step = 0.5 * step
        if np.abs(m - n).max() == 0.0:
            break
        n = m
    return n


def _across(n: Array, line: Array) -> Array:
    """Return directions perpendicular to n, (3, 2), or to n and to the line, (3, 1)."""
    if line.any():
        return np.cross(line, n)[:, None]
    t = np.cross(np.eye(3)[np.argmin(np.abs(n))], n)
    t = t / np.linalg.norm(t)
    return np.column_stack([t, np.cross(n, t)])
