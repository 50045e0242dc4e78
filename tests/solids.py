"""Solids for tests and benchmarks of distances: sizes, support functions, how far points are
outside, and all pairs asked at once.
"""

from __future__ import annotations

import casadi as ca
import coal
import numpy as np

from catena.analysis.clearance import _traced
from catena.collision import CONTACT_PAIRS

# the pairs of kinds whose distance has a closed form
PAIRS = [pair.kinds for pair in CONTACT_PAIRS.values() if pair.distance is not None]

SIZES = {
    "plane": (),
    "sphere": (0.3,),
    "capsule": (0.15, 0.8),
    "box": (0.4, 0.6, 0.9),
    "cylinder": (0.3, 0.8),
    "ellipsoid": (0.2, 0.35, 0.5),
}
COAL = {
    "plane": lambda: coal.Halfspace(0, 0, 1, 0),
    "sphere": coal.Sphere,
    "capsule": coal.Capsule,
    "box": coal.Box,
    "cylinder": coal.Cylinder,
    "ellipsoid": coal.Ellipsoid,
}


def support(kind, size, x):
    """h(x) of a shape in its own frame, x (..., 3)."""
    s = np.array(size)
    if kind == "plane":
        return np.where(
            np.abs(x[..., :2]).max(axis=-1) + np.abs(x[..., 2] - 1) < 1e-12, 0.0, np.inf
        )
    return {
        "sphere": lambda: s[0] + 0 * x[..., 0],
        "capsule": lambda: s[0] + s[1] / 2 * abs(x[..., 2]),
        "box": lambda: (abs(x) * s / 2).sum(axis=-1),
        "ellipsoid": lambda: np.linalg.norm(x * s, axis=-1),
        "cylinder": lambda: s[0] * np.hypot(x[..., 0], x[..., 1]) + s[1] / 2 * abs(x[..., 2]),
    }[kind]()


def outside(kind, size, x):
    """How far points are outside of a shape in its own frame, about."""
    s = np.array(size)
    z = np.abs(x[..., 2])
    return {
        "plane": lambda: x[..., 2],
        "sphere": lambda: np.linalg.norm(x, axis=-1) - s[0],
        "capsule": lambda: (
            np.hypot(np.hypot(x[..., 0], x[..., 1]), np.maximum(z - s[1] / 2, 0)) - s[0]
        ),
        "box": lambda: (abs(x) - s / 2).max(axis=-1),
        "ellipsoid": lambda: np.linalg.norm(x / s, axis=-1) - 1,
        "cylinder": lambda: np.maximum(np.hypot(x[..., 0], x[..., 1]) - s[0], z - s[1] / 2),
    }[kind]()


def asked(kinds, sizes, R, p):
    """d (n,), a, b and normals (n, 3) of pairs at rotations R[2] (n, 3, 3) and origins p[2] (n,
    3).
    """
    f = _traced(*kinds)

    def columns(x):
        return x.reshape(len(x), -1).T

    rows = [
        columns(R[0].transpose(0, 2, 1)),
        columns(p[0]),
        np.tile(np.array(sizes[0])[:, None], len(p[0])),
        columns(R[1].transpose(0, 2, 1)),
        columns(p[1]),
        np.tile(np.array(sizes[1])[:, None], len(p[0])),
    ]
    wide = [
        (
            x
            if k % 3
            else np.concatenate(
                [x[:, i].reshape(3, 3, order="F") for i in range(x.shape[1])], axis=1
            )
        )
        for k, x in enumerate(rows)
    ]
    d, w = f.map(len(p[0]))(*wide)
    d = np.array(ca.DM(d)).ravel()
    w = np.array(ca.DM(w)).T
    return d, w[:, :3], w[:, :3] + d[:, None] * w[:, 3:], w[:, 3:]


def gap(kinds, sizes, R, p, n):
    own = [np.einsum("bji,...bj->...bi", R[k], (1 - 2 * k) * n) for k in range(2)]
    return np.einsum("...bi,bi->...b", n, p[1] - p[0]) - sum(
        support(kinds[k], sizes[k], own[k]) for k in range(2)
    )
