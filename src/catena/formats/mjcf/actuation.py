"""Actuators: what drives a joint is control, not mechanism; the mapping says which joint each one drives and how."""

from __future__ import annotations

from typing import Any

from ..mapping import Mapping
from .names import Names

JOINT, JOINT_IN_PARENT = 0, 1  # mjtTrn
FIXED, AFFINE = 0, 1  # mjtGain, mjtBias


def actuators(m: Any, names: Names, mapping: Mapping) -> None:
    """Say of each actuator what it would be as a controller."""
    for a in range(m.nu):
        name = m.actuator(a).name or f"actuator{a}"
        if m.actuator_trntype[a] not in (JOINT, JOINT_IN_PARENT):
            mapping.refuse("actuator", name, "it does not act on a joint")
            continue
        joint, gear = names.joint(int(m.actuator_trnid[a, 0])), float(m.actuator_gear[a, 0])
        mapping.refuse("actuator", name, f"control is not part of a mechanism; give control= for {joint!r} (gear {gear:g})")
