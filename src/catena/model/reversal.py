"""The joint catalogue, third page: each kind of joint seen from its other side.

A joint says X_PC = placement D(q) offset^-1. Read from the child it says X_CP = offset D(q)^-1 placement^-1: placement and
offset change places, and the motions run backwards. For one axis that is the same kind about the opposite axis, with the
same coordinate. Two or three turns come in the opposite order. A ball, a plane and a free body are groups: their inverse is
the same kind, at other coordinates. A general joint has no reverse in the catalogue.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..errors import MechanismError
from .mechanism import Joint
from .pose import Vector

Axes = tuple[Vector, ...]


@dataclass(frozen=True)
class Reverse:
    """How a kind is reversed: its axes, how much its coordinates suffer (0 none, 1 change meaning, 2 impossible), a word."""

    axes: Callable[[Axes], Axes]
    cost: int = 0
    remark: str = "its coordinates keep their meaning"


def _opposite(axes: Axes) -> Axes:
    return tuple((-x + 0.0, -y + 0.0, -z + 0.0) for x, y, z in reversed(axes))


def _same(axes: Axes) -> Axes:
    return axes


REVERSES: dict[str, Reverse] = {
    "fixed": Reverse(_same),
    "revolute": Reverse(_opposite),
    "prismatic": Reverse(_opposite),
    "helical": Reverse(_opposite),
    "cylindrical": Reverse(_opposite),
    "universal": Reverse(_opposite, 1, "its two angles change places"),
    "gimbal": Reverse(_opposite, 1, "its first and third angle change places"),
    "ball": Reverse(_same, 1, "its quaternion is the conjugate"),
    "planar": Reverse(_same, 1, "its coordinates are those of the inverse displacement"),
    "free": Reverse(_same, 1, "its coordinates are those of the inverse displacement"),
    "general": Reverse(_same, 2, "its sequence of freedoms has no reverse in the catalogue"),
}
EACH = ("lower", "upper", "effort", "speed", "damping", "friction", "armature")  # one value a speed: they turn round too


def reversal(joint: Joint) -> Reverse:
    """How this joint is reversed; an unknown kind costs nothing, since validate() refuses it by name."""
    return REVERSES.get(joint.kind, Reverse(_same))


def reverse(joint: Joint) -> Joint:
    """The same joint with parent and child interchanged.

    >>> knee = Joint("knee", "revolute", "thigh", "shank", axis=(0, 1, 0))
    >>> reverse(knee).parent, reverse(knee).axis
    ('shank', ((0.0, -1.0, 0.0),))
    """
    how = reversal(joint)
    if how.cost > 1:
        raise MechanismError(
            f"joint {joint.name!r} would have to be walked from {joint.child!r} to {joint.parent!r}, but {how.remark}; "
            "write it the other way round, or list it as a loop"
        )
    turned: dict[str, Any] = {name: tuple(reversed(getattr(joint, name))) for name in EACH}
    changes: dict[str, Any] = {"axis": how.axes(joint.axis)} if joint.axis else {}
    changes |= {"parent": joint.child, "child": joint.parent, "placement": joint.offset, "offset": joint.placement}
    return replace(joint, **changes, **turned)
