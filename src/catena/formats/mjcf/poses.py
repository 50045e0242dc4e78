"""Poses as MuJoCo stores them: a position and a quaternion, scalar first."""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Pose


def pose(position: Sequence[float], quaternion: Sequence[float]) -> Pose:
    """Return the pose of a frame in its parent."""
    w, x, y, z = (float(c) for c in quaternion)
    return Pose.quaternion(w, x, y, z, position=position)
