"""Where the tips of a mechanism go: the frames asked for, else those it names, else the far ends of
its chains.
"""

from __future__ import annotations

import numpy as np

from ..result import Result
from ..scene.skeleton import moved, tip_names, tips
from .series import Names


def positions(result: Result, frames: Names = None) -> dict[str, np.ndarray]:
    """{name: (time, 3)}, m, in the ground's axes."""
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
