"""Actuators and keyframes, as the plain data of a [scenario] table.

    force = clip(gain clip(signal) + b0 + b1 l + b2 l'),     tau = gear force,     l = sum of gear q
    gain = g0 + g1 l + g2 l'

is MuJoCo's law of motors (gain 1), position servos (kp, -kp l), velocity servos (kv, -kv l'),
dampers (gain -kv l') and cylinders, on joints and fixed tendons. The range of actuator forces of a
joint (actuatorfrcrange) is part of the clip where one actuator drives the joint. Where an actuator
has activation dynamics, a filter or an integrator, the gain acts on its activation instead of on
the signal.
"""

from __future__ import annotations

import math
from typing import Any

from ..mapping import MappingReport
from .names import Names

JOINT, JOINT_IN_PARENT, TENDON, SITE = 0, 1, 3, 4  # mjtTrn
HINGES = (2, 3)  # slide, hinge of mjtJoint
WRAP_JOINT = 1  # mjtWrap
INTEGRATOR, FILTERS = 1, (2, 3)  # integrator; filter, filterexact of mjtDyn
AFFINE = 1  # of mjtGain and mjtBias, whose 0 is fixed and none
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
        law: dict[str, Any] = {
            "kind": "actuator",
            "name": name,
            "gear": path,
            "gain": float(m.actuator_gainprm[a, 0]),
        }
        if m.actuator_gaintype[a] == AFFINE:
            law["gain_slopes"] = [float(x) for x in m.actuator_gainprm[a, 1:3]]
        if m.actuator_biastype[a]:
            law["bias"] = [float(x) for x in m.actuator_biasprm[a, :3]]
        if m.actuator_ctrllimited[a]:
            law["signals"] = [float(x) for x in m.actuator_ctrlrange[a]]
        spans, shared = _force_ranges(m, a)
        if spans:
            law["forces"] = [float(x) for x in _nested(spans)]
        if shared:
            mapping.approximate("actuator", name, f"{SERVO}; {shared}")
        else:
            mapping.take("actuator", name, SERVO)
        found.append(law | _activation(m, a))
        if m.actuator_actearly[a]:
            mapping.approximate(
                "actuator", name, "its force follows its activation at once, not one step early"
            )
    return found


def _force_ranges(m: Any, a: int) -> tuple[list[tuple[float, float]], str]:
    """Return the ranges to which the force of an actuator is clipped, in this order: its own, that
    of its tendon and that of its joint; and a phrase about the ranges that are left out because
    several actuators share them.
    """
    spans: list[tuple[float, float]] = []
    shared = ""
    on, gear = int(m.actuator_trnid[a, 0]), float(m.actuator_gear[a, 0])
    kind = int(m.actuator_trntype[a])
    if m.actuator_forcelimited[a]:
        spans.append(_span(m.actuator_forcerange[a]))
    limited, ranges, of = (
        (m.tendon_actfrclimited, m.tendon_actfrcrange, (TENDON,))
        if kind == TENDON
        else (m.jnt_actfrclimited, m.jnt_actfrcrange, (JOINT, JOINT_IN_PARENT))
    )
    if limited[on] and gear:
        alone = sum(
            m.actuator_trntype[k] in of and m.actuator_trnid[k, 0] == on for k in range(m.nu)
        )
        if alone == 1:
            # a tendon's range is that of the actuator's force, a joint's that of gear times force
            spans.append(_span(ranges[on], 1.0 if kind == TENDON else gear))
        else:
            shared = "the range of the forces of all actuators together there is not taken"
    if kind == TENDON and any(m.jnt_actfrclimited[j] for j in _tendon_joints(m, on)):
        shared = "the ranges of actuator forces of the joints of its tendon are not taken"
    return spans, shared


def _span(ends: Any, unit: float = 1.0) -> tuple[float, float]:
    """Return a range (lowest, highest) in a unit; its ends may be negative."""
    low, high = sorted(float(x) / unit for x in ends)
    return low, high


def _nested(spans: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the single range that clips in the same way as several ranges applied one after the
    other.

    >>> _nested([(-3.0, 5.0), (-4.0, 2.0)]), _nested([(0.0, 1.0), (2.0, 3.0)])
    ((-3.0, 2.0), (2.0, 2.0))
    """
    low, high = spans[0]
    for a, b in spans[1:]:
        low, high = min(max(low, a), b), min(max(high, a), b)
    return low, high


def _tendon_joints(m: Any, t: int) -> list[int]:
    """Return the joints of a fixed tendon."""
    wraps = range(int(m.tendon_adr[t]), int(m.tendon_adr[t] + m.tendon_num[t]))
    return [int(m.wrap_objid[w]) for w in wraps if m.wrap_type[w] == WRAP_JOINT]


def _no_thruster(m: Any, a: int) -> str:
    """Return the reason why an actuator at a site is not a thruster; "" for a thruster."""
    if m.actuator_trnid[a, 1] >= 0:
        return "its site moves against a reference site, which is not taken"
    return _other_law(m, a) or (
        "it has a state, a bias or a gain that varies, which is not taken at a site"
        if m.actuator_dyntype[a] or m.actuator_biastype[a] or m.actuator_gaintype[a]
        else ""
    )


def _thruster(m: Any, a: int, name: str, names: Names) -> dict[str, Any]:
    """Return a motor at a site: force and torque along the site's axes, gear times gain per unit of
    the signal.
    """
    gain, spans = float(m.actuator_gainprm[a, 0]), [(-math.inf, math.inf)]
    if m.actuator_ctrllimited[a]:
        spans.append(_span(m.actuator_ctrlrange[a]))
    if m.actuator_forcelimited[a] and gain:
        spans.append(_span(m.actuator_forcerange[a], gain))
    low, high = _nested(spans)
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
    """Return the keys of a controller that describe the state between signal and force
    (activation).
    """
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
    """Return the reason why the law of an actuator is not affine; "" for an affine law."""
    if m.actuator_plugin[a] >= 0:
        return "its law is that of a plugin, which is a program and is not run"
    if m.actuator_dyntype[a] and m.actuator_dyntype[a] not in (INTEGRATOR, *FILTERS):
        return "it has the activation dynamics of a muscle or a user's own, which is not taken"
    if m.actuator_dyntype[a] in FILTERS and not m.actuator_dynprm[a, 0] > 0:
        return "its filter has no time constant above zero"
    if m.actuator_gaintype[a] > AFFINE or m.actuator_biastype[a] > AFFINE:
        return (
            "its gain or its bias is not affine (a muscle or a user's own law), which is not taken"
        )
    return ""


def _path(m: Any, a: int, names: Names) -> dict[str, float]:
    """Return {coordinate: gear} of the length of an actuator; empty for another kind of
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
            _placing(m): _by_joint(m, names, m.key_qpos[k], 0),
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


def _placing(m: Any) -> str:
    """Return the key of a start: coordinates "q", or where equalities may move them, what they are
    "near".
    """
    return "near" if m.neq else "q"


def _within_ranges(m: Any, q: Any) -> Any:
    """Return the coordinates (nq,) of slides and hinges, each clamped to its range; others as they
    are.
    """
    q = q.copy()
    for j in range(m.njnt):
        if m.jnt_limited[j] and m.jnt_type[j] in HINGES:
            k = m.jnt_qposadr[j]
            q[k] = min(max(q[k], m.jnt_range[j][0]), m.jnt_range[j][1])
    return q


def scenario(m: Any, names: Names, mapping: MappingReport) -> dict[str, Any]:
    """Return time step, controllers and named states. The initial state is near that of the file's
    joints: within their ranges, with loops closed.
    """
    mapping.take(
        "option",
        "timestep",
        "the step of integrators of equal steps; adaptive ones choose their own",
    )
    found: dict[str, Any] = {
        "step": float(m.opt.timestep),
        "states": keyframes(m, names, mapping),
        "initial": {_placing(m): _by_joint(m, names, _within_ranges(m, m.qpos0), 0)},
    }
    laws = actuators(m, names, mapping)
    return found | ({"control": laws} if laws else {})
