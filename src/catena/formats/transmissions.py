"""Transmissions of URDF and SDF: motors behind gears, and the inertias of their rotors.

    tau = n f,      armature = n^2 J

n is the reduction, f the motor's force (N m or N) and J its rotor's inertia (kg m2 or kg). URDF has
them in <transmission>, as ROS and Drake write them; SDF has Drake's elements in <joint>.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from xml.etree.ElementTree import Element

from ..model import Joint

# what files call these numbers; they stand as texts, or as attributes `value`
REDUCTION = ("mechanicalReduction", "gear_ratio", "gearRatio")
ROTOR = ("rotor_inertia", "rotorInertia")


@dataclass(frozen=True)
class Transmission:
    """A motor that drives one joint. reduction: n. rotor: J, zero where the file does not say."""

    name: str
    joint: str
    reduction: float = 1.0
    rotor: float = 0.0


def local(tag: object) -> str:
    """Return a tag without its namespace, declared or not."""
    return str(tag).rpartition("}")[2].rpartition(":")[2]


def value_of(elements: Iterable[Element], names: tuple[str, ...]) -> float | str | None:
    """Return the number in the first of these elements that has one of the names; None where there
    is none, the string where it is not a number.
    """
    for e in (child for element in elements for child in element):
        if local(e.tag) in names:
            text = e.get("value") or (e.text or "").strip()
            try:
                found = float(text)
            except ValueError:
                return text
            return found if math.isfinite(found) else text
    return None


def transmissions(robot: Element, joints: Mapping[str, Joint]) -> Iterator[Transmission | str]:
    """Yield the transmissions of a URDF; for one that cannot be taken, a sentence that says why."""
    for number, t in enumerate(robot.findall("transmission"), start=1):
        name = t.get("name") or f"number {number}"
        ends = {tag: [e for e in t if local(e.tag) == tag] for tag in ("joint", "actuator")}
        yield _simple(f"transmission {name!r}", ends["joint"], ends["actuator"], joints)


def _simple(
    where: str, led: list[Element], motors: list[Element], joints: Mapping[str, Joint]
) -> Transmission | str:
    if len(led) != 1 or len(motors) != 1:
        return (
            f"{where} is not taken: it has {len(led)} joints and {len(motors)} actuators, and one"
            " of each is read"
        )
    joint = led[0].get("name") or ""
    if joint not in joints:
        return f"{where} is not taken: the file has no joint {joint!r}"
    if len(joints[joint].coordinate_names) != 1:
        return f"{where} is not taken: joint {joint!r} has not one freedom"
    reduction = value_of((motors[0], led[0]), REDUCTION)
    rotor = value_of((motors[0], led[0]), ROTOR)
    return _taken(where, motors[0].get("name") or joint, joint, reduction, rotor)


def _taken(
    where: str, name: str, joint: str, reduction: float | str | None, rotor: float | str | None
) -> Transmission | str:
    n = 1.0 if reduction is None else reduction
    J = 0.0 if rotor is None else rotor
    if isinstance(n, str) or not n:
        return f"{where} is not taken: its reduction is {n!r}; a number other than zero is wanted"
    if isinstance(J, str) or J < 0:
        return f"{where} is not taken: its rotor inertia is {J!r}; zero or more is wanted"
    return Transmission(name, joint, n, J)


def of_joint(element: Element, joint: str) -> Transmission | str | None:
    """Return the motor that an SDF joint has by Drake's elements; None where it has no motor."""
    reduction = value_of((element,), REDUCTION)
    rotor = value_of((element,), ROTOR)
    if reduction is None and rotor is None:
        return None
    return _taken(f"the motor of joint {joint!r}", joint, joint, reduction, rotor)


def with_rotors(joints: Iterable[Joint], found: Iterable[Transmission]) -> tuple[Joint, ...]:
    """Return the joints with the inertias of rotors, reflected, as armature."""
    reflected: dict[str, float] = {}
    for t in found:
        reflected[t.joint] = reflected.get(t.joint, 0.0) + t.reduction**2 * t.rotor
    return tuple(
        replace(j, armature=j.armature[0] + reflected[j.name]) if reflected.get(j.name) else j
        for j in joints
    )


def motors(found: Iterable[Transmission], joints: Mapping[str, Joint]) -> list[dict[str, Any]]:
    """Return the motors as controllers of kind "actuator", limited by the effort of their joint."""
    laws = []
    for t in found:
        effort = float(joints[t.joint].effort[0])
        law: dict[str, Any] = {
            "kind": "actuator",
            "name": t.name,
            "gear": {t.joint: t.reduction},
        }
        if math.isfinite(effort):
            law["forces"] = [-effort / abs(t.reduction), effort / abs(t.reduction)]
        laws.append(law)
    return laws
