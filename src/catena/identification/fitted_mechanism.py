"""A mechanism with the estimates of a fit: masses, friction, rotors, parameters, and consistent
inertias.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..machine import Machine
from ..model import Body, Joint, Mechanism

if TYPE_CHECKING:
    from .consistency import Inertias

OF_JOINTS = {"damping": "damping", "friction": "friction", "armature": "armature"}


def fitted_mechanism(
    machine: Machine, values: Mapping[str, float], inertias: Inertias | None = None
) -> Mechanism:
    """Return the machine's mechanism with these values.

    Combinations of parameters and masses below zero leave the mechanism as it was.
    """
    m = machine.mechanism
    bodies = [_body(b, values, inertias) for b in m.bodies]
    joints = [_joint(j, values) for j in m.joints]
    parameters = {n: float(values.get(n, x)) for n, x in m.parameters.items()}
    return m.with_(bodies=bodies, joints=joints, parameters=parameters)


def _body(b: Body, values: Mapping[str, float], inertias: Inertias | None) -> Body:
    """Return a body with its consistent inertia, or with its fitted mass."""
    if inertias is not None and b.name in inertias.bodies:
        mass, com, inertia = inertias.of(b.name)
        return replace(b, mass=mass, com=com, inertia=inertia)
    mass = values.get(f"mass of {b.name}", -1.0)
    return replace(b, mass=mass) if mass >= 0.0 else b


def _joint(j: Joint, values: Mapping[str, float]) -> Joint:
    """Return a joint with its fitted damping, friction and armature, which are zero or above."""
    changes: dict[str, Any] = {}
    for word, attribute in OF_JOINTS.items():
        names = [f"{word} of {n}" for n in j.speed_names]
        if any(n in values for n in names):
            changes[attribute] = tuple(
                max(0.0, values[n]) if n in values else x
                for n, x in zip(names, getattr(j, attribute))
            )
    return replace(j, **changes) if changes else j
