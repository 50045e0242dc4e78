"""Actuators and keyframes: what a file says of a run, as the plain data of a [scenario] table.

    force = clip(gain clip(signal) + b0 + b1 l + b2 l'),     tau = gear force,     l = sum of gear q

is MuJoCo's law of motors (gain 1), position servos (kp, -kp l) and velocity servos (kv, -kv l'), on
joints and fixed tendons. Where an actuator has activation dynamics, a filter or an integrator, the
gain acts on its activation instead of on the signal.
"""

from __future__ import annotations

import math
from typing import Any

from ..mapping import MappingReport
from .names import Names

JOINT, JOINT_IN_PARENT, TENDON, SITE = 0, 1, 3, 4  # mjtTrn
HINGES = (2, 3)  # slide, hinge of mjtJoint
WRAP_JOINT = 1  # mjtWrap
# filter, filterexact of mjtDyn
INTEGRATOR = 1
FILTERS = (2, 3)
WIDTHS = {0: (7, 6), 1: (4, 3), 2: (1, 1), 3: (1, 1)}  # coordinates and speeds of mjtJoint
SERVO = "a controller of the scenario, held at the signal that the file or its keyframe gives"


def actuators(m: Any, names: Names, mapping: MappingReport) -> list[dict[str, Any]]:
    """Return the actuators as controllers of kind "actuator"."""
    found = []
    for a in range(m.nu):
        name = m.actuator(a).name or f"actuator{a}"
        if m.actuator_trntype[a] == SITE and not (why := _no_thruster(m, a)):
            mapping.take("actuator", name, SERVO)
            found.append(_thruster(m, a, name, names))
            continue
        path = _path(m, a, names)
        if why := _other_law(m, a) or (
            ""
            if path
            else (
                "it acts neither on joints of one freedom, nor on a fixed tendon, nor as a motor at"
                " a site"
            )
        ):
            mapping.refuse("actuator", name, why)
            continue
        mapping.take("actuator", name, SERVO)
        law: dict[str, Any] = {
            "kind": "actuator",
            "name": name,
            "gear": path,
            "gain": float(m.actuator_gainprm[a, 0]),
        }
        if m.actuator_biastype[a]:
            law["bias"] = [float(x) for x in m.actuator_biasprm[a, :3]]
        for key, limited, span in (
            ("signals", m.actuator_ctrllimited, m.actuator_ctrlrange),
            ("forces", m.actuator_forcelimited, m.actuator_forcerange),
        ):
            if limited[a]:
                law[key] = [float(x) for x in span[a]]
        found.append(law | _activation(m, a))
        if m.actuator_actearly[a]:
            mapping.approximate(
                "actuator", name, "its force follows its activation at once, not one step early"
            )
    return found


def _no_thruster(m: Any, a: int) -> str:
    """Return why an actuator at a site is no thruster; "" where it is one."""
    if m.actuator_trnid[a, 1] >= 0:
        return "its site moves against a reference site, which is not taken"
    return _other_law(m, a) or (
        "it has a state or a bias at a site"
        if m.actuator_dyntype[a] or m.actuator_biastype[a]
        else ""
    )


def _thruster(m: Any, a: int, name: str, names: Names) -> dict[str, Any]:
    """Return a motor at a site: force and torque along the site's axes, gear times gain per unit of
    the signal.
    """
    gain, (low, high) = float(m.actuator_gainprm[a, 0]), (-math.inf, math.inf)
    if m.actuator_ctrllimited[a]:
        low, high = (float(x) for x in m.actuator_ctrlrange[a])
    if m.actuator_forcelimited[a] and gain:
        ends = sorted(float(x) / gain for x in m.actuator_forcerange[a])
        low = min(max(low, ends[0]), ends[1])
        high = max(min(high, ends[1]), ends[0])
    gear = [gain * float(x) for x in m.actuator_gear[a]]
    law = {
        "kind": "thruster",
        "name": name,
        "frame": names.site(int(m.actuator_trnid[a, 0])),
        "force": gear[:3],
        "torque": gear[3:],
    }
    return law | ({"signals": [low, high]} if math.isfinite(low) else {})


def _activation(m: Any, a: int) -> dict[str, Any]:
    """Return the keys of a controller for the state between signal and force."""
    kind = int(m.actuator_dyntype[a])
    if not kind:
        return {}
    law: dict[str, Any] = (
        {"integrates": True}
        if kind == INTEGRATOR
        else {"time_constant": float(m.actuator_dynprm[a, 0])}
    )
    return law | (
        {"activations": [float(x) for x in m.actuator_actrange[a]]}
        if m.actuator_actlimited[a]
        else {}
    )


def _other_law(m: Any, a: int) -> str:
    """Return why an actuator's law is not affine; "" where it is."""
    if m.actuator_dyntype[a] and m.actuator_dyntype[a] not in (INTEGRATOR, *FILTERS):
        return "it has the activation dynamics of a muscle or a user's own, which is not taken"
    if m.actuator_dyntype[a] in FILTERS and not m.actuator_dynprm[a, 0] > 0:
        return "its filter has no time constant above zero"
    if m.actuator_gaintype[a] or m.actuator_biastype[a] > 1:
        return (
            "its gain is not constant or its bias not affine (a muscle or a user's own law), which"
            " is not taken"
        )
    return ""


def _path(m: Any, a: int, names: Names) -> dict[str, float]:
    """Return {coordinate: gear} of an actuator's length; empty where it has another
    transmission.
    """
    gear = float(m.actuator_gear[a, 0])
    on = int(m.actuator_trnid[a, 0])
    kind = int(m.actuator_trntype[a])
    if kind in (JOINT, JOINT_IN_PARENT):
        return {names.joint(on): gear} if m.jnt_type[on] in HINGES else {}
    if kind != TENDON:
        return {}
    wraps = range(int(m.tendon_adr[on]), int(m.tendon_adr[on] + m.tendon_num[on]))
    if any(m.wrap_type[w] != WRAP_JOINT for w in wraps):
        return {}
    return {names.joint(int(m.wrap_objid[w])): gear * float(m.wrap_prm[w]) for w in wraps}


def rotors(m: Any, j: int) -> float:
    """Return the inertia of the rotors of the actuators on a hinge or slide, reflected to the
    joint, kg m2 or kg.
    """
    return sum(
        float(m.actuator_armature[a] * m.actuator_gear[a, 0] ** 2)
        for a in range(m.nu)
        if m.actuator_trntype[a] in (JOINT, JOINT_IN_PARENT) and m.actuator_trnid[a, 0] == j
    )


def keyframes(m: Any, names: Names, mapping: MappingReport) -> dict[str, Any]:
    """Return {name: {q, v, signals}} of the keyframes."""
    found = {}
    for k in range(m.nkey):
        name = m.key(k).name or f"key{k}"
        mapping.take("keyframe", name, f"a named state of the scenario: initial = {name!r}")
        if m.na and m.key_act[k].any():
            mapping.approximate("keyframe", name, "activations of actuators begin at zero")
        found[name] = {
            "q": _by_joint(m, names, m.key_qpos[k], 0),
            "v": _by_joint(m, names, m.key_qvel[k], 1),
            "signals": {
                m.actuator(a).name or f"actuator{a}": float(m.key_ctrl[k, a]) for a in range(m.nu)
            },
        }
    return found


def _by_joint(m: Any, names: Names, values: Any, which: int) -> dict[str, Any]:
    """Return {joint: its coordinates or speeds}."""
    found = {}
    for j in range(m.njnt):
        first = int((m.jnt_qposadr, m.jnt_dofadr)[which][j])
        width = WIDTHS[int(m.jnt_type[j])][which]
        own = [float(x) for x in values[first : first + width]]
        found[names.joint(j)] = own[0] if width == 1 else own
    return found


def scenario(m: Any, names: Names, mapping: MappingReport) -> dict[str, Any]:
    """Return time step, controllers and named states. The initial state is that of the file's
    joints.
    """
    mapping.take(
        "option",
        "timestep",
        "the step of integrators of equal steps; adaptive ones choose their own",
    )
    found: dict[str, Any] = {
        "step": float(m.opt.timestep),
        "states": keyframes(m, names, mapping),
        "initial": {"q": _by_joint(m, names, m.qpos0, 0)},
    }
    laws = actuators(m, names, mapping)
    return found | ({"control": laws} if laws else {})
