"""Actuators: what drives a joint is control, which a mechanism does not hold."""

from __future__ import annotations

from typing import Any

from ..mapping import MappingReport

JOINT, JOINT_IN_PARENT = 0, 1  # mjtTrn


def actuators(m: Any, mapping: MappingReport) -> None:
    """Say of each actuator that it is left out."""
    for a in range(m.nu):
        on_joint = m.actuator_trntype[a] in (JOINT, JOINT_IN_PARENT)
        why = "control is not part of a mechanism; give control= to a run" if on_joint else "it does not act on a joint"
        mapping.refuse("actuator", m.actuator(a).name or f"actuator{a}", why)
