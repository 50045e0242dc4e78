"""Coordinates of a machine: neutral and random ones, their rates, and displacements along the
speeds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import StateError
from ..kernels import BALL
from . import arguments
from .spec import Spec

Array = NDArray[np.float64]


def neutral(spec: Spec) -> Array:
    """Return q (nq,) with every coordinate zero and every quaternion the identity."""
    q = np.zeros(spec.sizes.nq)
    q[list(spec.quaternions)] = 1.0
    return q


def sample(spec: Spec, rng: np.random.Generator, *shape: int) -> Array:
    """Return random coordinates (*shape, nq): standard normal numbers, folded into the limits of
    their joints; quaternions of length one, small amplitudes of flexible bodies.
    """
    q = rng.standard_normal((*shape, spec.sizes.nq))
    limits = [x for j in spec.mechanism.moving for x in zip(j.lower, j.upper)]  # one per speed
    for c in spec.layout.coordinates:
        if c.motion != BALL:
            q[..., c.qi] = _folded(q[..., c.qi], *map(float, limits[c.vi]))
    for k in spec.quaternions:
        q[..., k : k + 4] /= np.linalg.norm(q[..., k : k + 4], axis=-1, keepdims=True)
    for modal in spec.layout.modal:
        for name, size in modal.sizes(spec.mechanism.parameters).items():
            q[..., spec.coordinate_names.index(name)] *= size
    return q


def _folded(x: Array, lower: float, upper: float) -> Array:
    """Return the numbers reflected at the limits until they lie between them; numbers between the
    limits do not change. A limit may be infinite.

    >>> _folded(np.array([0.5, 1.25, -0.5, 2.5]), 0.0, 1.0)
    array([0.5 , 0.75, 0.5 , 0.5 ])
    """
    if np.isfinite(lower) and np.isfinite(upper) and upper > lower:
        span = upper - lower
        x = np.where((x < lower) | (x > upper), upper - np.abs((x - lower) % (2 * span) - span), x)
    elif np.isfinite(lower):
        x = lower + np.abs(x - lower)
    elif np.isfinite(upper):
        x = upper - np.abs(x - upper)
    return np.clip(x, lower, upper)


def coordinate_rate(spec: Spec, q: ArrayLike, v: ArrayLike) -> Array:
    """Return qdot (..., nq): the speeds; for a quaternion, half the quaternion times the angular
    velocity.
    """
    q, v = (_finite(spec, "coordinate_rate", name, x) for name, x in (("q", q), ("v", v)))
    rate = np.zeros((*np.broadcast_shapes(q.shape[:-1], v.shape[:-1]), spec.sizes.nq))
    for c in spec.layout.coordinates:
        k, l = c.qi, c.vi
        if c.motion == BALL:
            pure = np.concatenate([np.zeros((*v.shape[:-1], 1)), v[..., l : l + 3]], axis=-1)
            rate[..., k : k + 4] = 0.5 * quaternion_product(q[..., k : k + 4], pure)
        else:
            rate[..., k] = v[..., l]
    return rate


def move(spec: Spec, q: ArrayLike, change: ArrayLike) -> Array:
    """Return the coordinates after a displacement `change` (..., nv) along the speeds (rad, m). A
    ball joint turns exactly by its rotation vector.
    """
    q = _finite(spec, "move", "q", q)
    d = _finite(spec, "move", "change", change)
    q, d = (
        np.broadcast_to(x, np.broadcast_shapes(q.shape[:-1], d.shape[:-1]) + x.shape[-1:])
        for x in (q, d)
    )
    moved: Array = q.copy()
    for c in spec.layout.coordinates:
        k, l = c.qi, c.vi
        if c.motion == BALL:
            half = 0.5 * d[..., l : l + 3]
            angle = np.linalg.norm(half, axis=-1, keepdims=True)
            turn = np.concatenate([np.cos(angle), np.sinc(angle / np.pi) * half], axis=-1)
            moved[..., k : k + 4] = quaternion_product(q[..., k : k + 4], turn)
        else:
            moved[..., k] = q[..., k] + d[..., l]
    return moved


def _finite(spec: Spec, question: str, name: str, x: ArrayLike) -> Array:
    """Return an argument as doubles. Raise a StateError where its last size is wrong or a value is
    not finite.
    """
    found = arguments.array(spec, question, name, x)
    bad = ~np.isfinite(found)
    if bad.any():
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        names = spec.coordinate_names if name == "q" else spec.speed_names
        at = arguments.place_in(found.shape[:-1], int(np.flatnonzero(bad.any(axis=-1))[0]))
        raise StateError(
            f"{question}: {name} of {names[index[-1]]!r}{at} is {found[index]}; it takes finite"
            " numbers"
        )
    return found


def quaternion_product(a: Array, b: Array) -> Array:
    """Return the product a b of quaternions (..., 4), scalar first."""
    w, x, y, z = np.moveaxis(a, -1, 0)
    k, l, m, n = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            w * k - x * l - y * m - z * n,
            w * l + x * k + y * n - z * m,
            w * m + y * k + z * l - x * n,
            w * n + z * k + x * m - y * l,
        ],
        axis=-1,
    )
