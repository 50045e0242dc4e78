"""Tendons: springs along a combination of coordinates, or along a path of sites."""

from __future__ import annotations

from typing import Any

from ...model.loads import Cable, CoordinateSpring, Load
from ..mapping import MappingReport
from .names import Names

JOINT, SITE = 1, 3  # mjtWrap


def tendons(m: Any, names: Names, mapping: MappingReport) -> list[Load]:
    """Return the springs of the tendons that have stiffness or damping."""
    return [load for t in range(m.ntendon) if (load := _tendon(m, t, names, mapping))]


def _tendon(m: Any, t: int, names: Names, mapping: MappingReport) -> Load | None:
    name = m.tendon(t).name or f"tendon{t}"
    wraps = range(int(m.tendon_adr[t]), int(m.tendon_adr[t] + m.tendon_num[t]))
    kinds = {int(m.wrap_type[w]) for w in wraps}
    objects = [int(m.wrap_objid[w]) for w in wraps]
    for given, what in (
        (m.tendon_limited[t], "limits"),
        (m.tendon_frictionloss[t], "friction"),
        (m.tendon_armature[t], "armature"),
    ):
        if given:
            mapping.refuse("tendon", name, f"{what} of a tendon are not taken")
    stiffness = float(m.tendon_stiffness[t])
    damping = float(m.tendon_damping[t])
    low, high = (float(x) for x in m.tendon_lengthspring[t])
    slack = low < high
    if not kinds <= {JOINT} and not kinds <= {SITE}:
        mapping.refuse("tendon", name, "pulleys and wrapping around geoms are not taken")
    elif not (stiffness or damping):
        mapping.take("tendon", name, "it has neither stiffness nor damping: nothing acts along it")
    elif slack and (low > 0 or kinds == {JOINT}):
        mapping.refuse(
            "tendon",
            name,
            "a spring with a range of rest lengths is taken only along sites and from zero",
        )
    elif kinds == {JOINT}:
        mapping.take("tendon", name, "a coordinate_spring")
        ratios = tuple(float(m.wrap_prm[w]) for w in wraps)
        return CoordinateSpring(
            name, tuple(names.joint(j) for j in objects), ratios, stiffness, high, damping
        )
    else:
        if slack and damping:
            mapping.approximate(
                "tendon",
                name,
                "a cable; its damping acts while it is taut, MuJoCo's also while it is slack",
            )
        else:
            mapping.take("tendon", name, "a cable")
        return Cable(
            name,
            tuple(names.site(s) for s in objects),
            stiffness,
            high,
            damping,
            "tension" if slack else "both",
        )
    return None
