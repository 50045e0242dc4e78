"""Kinds: URDF's joint types and catena's kinds, as the joint catalogue says."""

from __future__ import annotations

from ...model import JOINT_KINDS as KINDS
from ...model import JointKind


def types() -> dict[str, JointKind]:
    """The kind of each type of URDF."""
    return {word: kind for kind in KINDS.values() for word in kind.names.get("urdf", ()) if word}


def bounded(word: str) -> bool:
    """Whether URDF asks for limits of joints of this type."""
    return any(word == kind.names.get("urdf", ("", ""))[1] for kind in KINDS.values())


def type_of(kind: str, limited: bool) -> str:
    """The type of a joint of that kind, with limits or without; nothing where URDF has none."""
    plain, bound = KINDS[kind].names.get("urdf", ("", ""))
    return bound if limited and bound else plain
