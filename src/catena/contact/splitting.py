"""Approximate forces of many contacts with Coulomb friction, by operator splitting, as a start for
the exact solution (`modes.py`).

    a = G f + b + (mu |a_t|, 0, 0),  K contains f, orthogonal to a in its dual
            K: the friction cones

The shift mu |a_t| of the normals makes Coulomb's law a cone problem [DeSaxce1998]. Alternating
directions: f minimises 1/2 f' G f + (b + shift)' f near z, z is the projection of f onto the cones,
and the shift comes from the accelerations of the last round. G is decomposed once, so that the
penalty rho can be changed freely; redundant contacts (a table on many legs) do no harm. Contacts
that slip already have friction along a known direction, in proportion to the normal force of the
last round.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .friction import Friction

Array = NDArray[np.float64]
# Rounds after which the forces are yielded.
YIELD_ROUNDS = (40, 80, 160, 320, 640, 1280, 2560)
# Over-relaxation factor.
OVER_RELAXATION = 1.6
# Share of a new shift that is used; its square after STRONGER_DAMPING_ROUND.
SHIFT_DAMPING = 0.3
# Rounds after which the square of SHIFT_DAMPING is used.
STRONGER_DAMPING_ROUND = 640
# Rounds between changes of the penalty rho.
PENALTY_UPDATE_ROUNDS = 20
# rho is changed if primal and dual residuals differ by more than this factor.
RESIDUAL_IMBALANCE = 5.0


def split(G: Array, b: Array, friction: Friction) -> Iterator[Array]:
    """Yield approximate forces f (3 k,), each more accurate than the one before."""
    k = len(friction.static)
    size = np.repeat(np.sqrt(np.maximum(np.diagonal(G).reshape(k, 3).max(axis=1), 1e-300)), 3)
    G = G / np.outer(size, size)
    b = b / size
    scale = float(np.abs(np.append(b, G[:, ::3] @ (friction.base * size[::3]))).max()) or 1.0
    b = b / scale
    base = friction.base * size[::3] / scale
    slides = np.isfinite(friction.direction[:, 0])
    free = np.repeat(~slides, 3)
    free[::3] = True  # normals, and tangents of contacts at rest
    w, V = np.linalg.eigh(G[np.ix_(free, free)])
    w, rho = np.maximum(w, 0.0), 0.1 * float(w[-1])
    z = np.zeros(3 * k)
    y = np.zeros(3 * k)
    shift = np.zeros(k)
    drag = np.zeros(2 * int(slides.sum()))
    for turn in range(1, YIELD_ROUNDS[-1] + 1):
        c = b + G[:, ~free] @ drag
        c[::3] += shift
        x = V @ ((V.T @ (rho * (z - y)[free] - c[free])) / (w + rho))
        before = z
        r = y.copy()
        r[free] += OVER_RELAXATION * x + (1.0 - OVER_RELAXATION) * z[free]
        z = _projected(r, friction, base, slides)
        y = np.where(free, r - z, 0.0)
        a = G @ z + b
        a += G[:, ~free] @ (drag - z[~free])
        damp = SHIFT_DAMPING if turn <= STRONGER_DAMPING_ROUND else SHIFT_DAMPING**2
        shift += damp * (
            np.where(slides, 0.0, friction.static * np.hypot(a[1::3], a[2::3])) - shift
        )
        drag += damp * (_drag(z, friction, slides) - drag)
        if turn % PENALTY_UPDATE_ROUNDS == 0:
            primal = float(np.abs(x - z[free]).max())
            dual = float(rho * np.abs(z - before).max())
            change = (
                2.0
                if primal > RESIDUAL_IMBALANCE * dual
                else 0.5
                if dual > RESIDUAL_IMBALANCE * primal
                else 1.0
            )
            rho, y = rho * change, y / change
        if turn in YIELD_ROUNDS:
            found = z.copy()
            found[~free] = _drag(z, friction, slides)
            yield found * scale / size


def _drag(z: Array, friction: Friction, slides: NDArray[np.bool_]) -> Array:
    """Return the friction of slipping contacts, from their normal forces."""
    return (-(friction.kinetic * z[::3])[slides, None] * friction.direction[slides]).ravel()


def _projected(r: Array, friction: Friction, base: Array, slides: NDArray[np.bool_]) -> Array:
    """Return the projection of forces onto the cones, with normal forces of at least `base`."""
    N = r[::3]
    t = r.reshape(-1, 3)[:, 1:]
    mu = np.where(slides, 0.0, friction.static)
    drag = np.hypot(t[:, 0], t[:, 1])
    onto = np.maximum(
        (N + mu * drag) / (1.0 + mu * mu), 0.0
    )  # the projection of a force outside its cone
    N = np.where(drag <= mu * N, N, onto)
    N = np.maximum(N, base)
    held = np.minimum(drag, mu * N) / np.where(drag > 0.0, drag, 1.0)
    return np.column_stack([N, t * held[:, None]]).ravel()
