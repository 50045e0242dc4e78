"""The units of a joint's coordinates and speeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .motions import Motion

if TYPE_CHECKING:
    from .mechanism import Joint


def coordinate_units(joint: Joint) -> list[str]:
    """The unit of each coordinate: rad, m, or 1 for a quaternion's parts."""
    names = {Motion.SLIDE: "m", Motion.BALL: "1"}
    return [names.get(f.motion, "rad") for f in joint.freedoms for _ in f.labels]


def speed_units(joint: Joint) -> list[str]:
    """The unit of each speed: rad/s or m/s."""
    return [
        "m/s" if f.motion == Motion.SLIDE else "rad/s" for f in joint.freedoms for _ in f.speeds
    ]
