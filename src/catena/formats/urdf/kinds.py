"""Kinds: URDF's joint types and catena's kinds, from the joint catalogue."""

from __future__ import annotations

from ...model import JOINT_KINDS as KINDS
from ...model import JointKind


def types() -> dict[str, JointKind]:
    """Return {type of URDF: kind}."""
    return {word: kind for kind in KINDS.values() for word in kind.names.get("urdf", ()) if word}


def bounded(word: str) -> bool:
    """Return whether URDF requires limits for joints of this type."""
    return any(word == kind.names.get("urdf", ("", ""))[1] for kind in KINDS.values())


def type_of(kind: str, limited: bool) -> str:
    """Return URDF's type of a joint of that kind, with limits or without; "" where URDF has
    none.
    """
    plain, bound = KINDS[kind].names.get("urdf", ("", ""))
    return bound if limited and bound else plain
