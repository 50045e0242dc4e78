"""Paths of the tips of a mechanism: the frames asked for, else the frames it names, else the far
ends of its chains; and paths of joints for a mechanism without ends.
"""

from __future__ import annotations

import numpy as np

from ...model import GROUND, Joint, Motion, Pose, value_of
from ..result import Result
from ..scene.skeleton import moved, tip_names, tips
from .series import Names

# Distance of two paths, relative to the largest extent of a path, below which they are one path.
SAME_PATH = 1e-9


def positions(result: Result, frames: Names = None) -> dict[str, np.ndarray]:
    """Return {name: (time, 3)}, m, in the ground's axes."""
    if frames is not None:
        names = [frames] if isinstance(frames, str) else list(frames)
        found = result.poses(names)["position"].values
        return {name: found[:, k] for k, name in enumerate(names)}
    m = result.mechanism
    ends = tips(m)
    if not ends:
        return {}  # a closed mechanism that names no frame
    bodies = list(dict.fromkeys(body for body, _ in ends))
    poses = result.poses(bodies)
    X = np.zeros((*poses["position"].shape[:-1], 4, 4))
    X[..., :3, :3], X[..., :3, 3] = poses["rotation"].values, poses["position"].values
    return {
        name: moved(X[:, bodies.index(body)], point)
        for name, (body, point) in zip(tip_names(m), ends)
    }


def pins(result: Result) -> dict[str, np.ndarray]:
    """Return {name: (time, 3)}, m, in the ground's axes, for the moving joints by their names; for
    a joint that slides, the origin of its child by the child's name.

    Paths that coincide with an earlier one, or do not move, are left out; all are returned where
    nothing moves.
    """
    m = result.mechanism
    joints = [j for j in (*m.ordered, *m.loops) if j.nv]
    places = [
        (j.child, j.child, Pose()) if _slides(j) else (j.name, j.parent, j.placement)
        for j in joints
        if not (_slides(j) and j.child == GROUND)
    ]
    bodies = [b.name for b in m.bodies]
    poses = result.poses(bodies)
    R = dict(zip(bodies, np.moveaxis(poses["rotation"].values, 1, 0)))
    p = dict(zip(bodies, np.moveaxis(poses["position"].values, 1, 0)))
    found: dict[str, np.ndarray] = {}
    for name, body, pose in places:
        at = np.array([value_of(x, m.parameters) for x in pose.position], float)
        still = np.tile(at, (len(result.time), 1))
        found[name] = p[body] + R[body] @ at if body in p else still
    size = max((float(np.ptp(x, axis=0).max()) for x in found.values()), default=0.0)
    moving: dict[str, np.ndarray] = {}
    for name, path in found.items():
        known = any(np.abs(path - x).max() <= SAME_PATH * size for x in moving.values())
        if np.ptp(path, axis=0).max() > SAME_PATH * size and not known:
            moving[name] = path
    return moving or found


def _slides(j: Joint) -> bool:
    return any(f.motion != Motion.TURN and f.motion != Motion.BALL for f in j.freedoms)
