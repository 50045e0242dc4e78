"""Curves: modal flexible bodies as bent lines of short straight pieces, which are placed like
bodies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...model import Mechanism, value_of

Array = np.ndarray
PIECES = 12  # the least number of pieces of a line; four per mode shape where that is more


def pieces(m: Mechanism) -> dict[str, float]:
    """Return {name: length in m} for the pieces of every modal flexible body, from root to tip."""
    return {
        name: length
        for modal in _modal(m)
        for name, length in zip(_names(modal), _lengths(m, modal))
    }


def curved(m: Mechanism, q: Array, at: dict[str, Array]) -> dict[str, Array]:
    """Return {name: (..., 4, 4)}: the poses of the pieces at coordinates q (..., nq), with x along
    each piece. at: the poses of the bodies.
    """
    index = {name: k for k, name in enumerate(m.coordinate_names)}
    found: dict[str, Array] = {}
    for modal in _modal(m):
        e = q[..., [index[f"{modal.body}.{label}"] for label in modal.integrals.basis.labels]]
        # (pieces + 1, ..., 3)
        points = np.stack(
            [_point(m, modal, s, e) for s in np.linspace(0, 1, len(_names(modal)) + 1)]
        )
        X = at[modal.body]
        points = np.einsum("...ij,p...j->p...i", X[..., :3, :3], points) + X[..., :3, 3]
        side = X[..., :3, 2]
        for k, name in enumerate(_names(modal)):
            found[name] = _along(points[k], points[k + 1], side)
    return found


def _modal(m: Mechanism) -> list[Any]:
    return [flexed.modal for flexed in m.beams if flexed.modal]


def _names(modal: Any) -> list[str]:
    count = max(PIECES, 4 * max(modal.integrals.basis.counts.values()))
    return [f"{modal.body} piece {k + 1} of {count}" for k in range(count)]


def _lengths(m: Mechanism, modal: Any) -> list[float]:
    names = _names(modal)
    return [float(value_of(modal.length, m.parameters)) / len(names)] * len(names)


def _point(m: Mechanism, modal: Any, s: float, e: Array) -> Array:
    """Return a point of the beam in its body's frame, (..., 3), m. s: its place along the beam from
    0 to 1; e: the amplitudes.
    """
    p = np.zeros((*e.shape[:-1], 3))
    p[..., 0] = s * float(value_of(modal.length, m.parameters))
    for shift in modal.shifts(float(s)):
        if shift.motion[0] == "D":
            a, B = (
                np.array([[float(value_of(x, m.parameters)) for x in row] for row in rows])
                for rows in ((shift.a,), shift.B)
            )
            z = e @ a[0] + (0.5 * np.einsum("...i,ij,...j->...", e, B, e) if len(B) else 0.0)
            p[..., "xyz".index(shift.motion[1])] += z
    return p


def _along(start: Array, end: Array, side: Array) -> Array:
    """Return poses at `start` with x towards `end` and z near `side`."""
    X = np.zeros((*start.shape[:-1], 4, 4))
    x = (end - start) / np.linalg.norm(end - start, axis=-1, keepdims=True)
    y = np.cross(side, x)
    y /= np.maximum(np.linalg.norm(y, axis=-1, keepdims=True), 1e-12)
    X[..., :3, 0], X[..., :3, 1], X[..., :3, 2], X[..., :3, 3], X[..., 3, 3] = (
        x,
        y,
        np.cross(x, y),
        start,
        1.0,
    )
    return X
