"""The units of a joint's coordinates and speeds, and the dimensions of its other values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .motions import Motion

if TYPE_CHECKING:
    from .mechanism import Joint

MEASURES = {  # of each value of a joint: its dimension where the joint slides, and where it turns
    "lower": ("length", "angle"),
    "upper": ("length", "angle"),
    "effort": ("force", "torque"),
    "speed": ("speed", "angular speed"),
    "damping": ("damping", "angular damping"),
    "friction": ("force", "torque"),
    "armature": ("mass", "inertia"),
}


def coordinate_units(joint: Joint) -> list[str]:
    """Return the unit of each coordinate of a joint: rad, m, or 1 for the parts of a quaternion."""
    names = {Motion.SLIDE: "m", Motion.BALL: "1"}
    return [names.get(f.motion, "rad") for f in joint.freedoms for _ in f.labels]


def speed_units(joint: Joint) -> list[str]:
    """Return the unit of each speed of a joint: rad/s or m/s."""
    return [
        "m/s" if f.motion == Motion.SLIDE else "rad/s" for f in joint.freedoms for _ in f.speeds
    ]


def slides(joints: Iterable[Joint]) -> dict[str, bool]:
    """Return {speed: whether it is the speed of a translation}; the others are speeds of
    rotations.
    """
    return {
        name: f.motion == Motion.SLIDE
        for j in joints
        if j.sound
        for name, f in zip(j.speed_names, (f for f in j.freedoms for _ in f.speeds))
    }
