"""The scenario of a file in which joints follow others: initial states and gears of actuators,
rewritten in terms of the joints that lead.

A follower has no coordinate of its own, q_f = r q + c. Its start follows from its leader's; an
actuator on it acts on the leader through r, and its length has the constant c:

    l = g q_f = g r q + g c,      f = (k + g1 l + ...) u + b0 + b1 l + ...
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model import Mechanism, Mimic


def led(scenario: Mapping[str, Any], mechanism: Mechanism) -> tuple[Mapping[str, Any], list[str]]:
    """Return the scenario in terms of joints that lead, and sentences about controllers that had to
    be left out.
    """
    mimics = {j.name: j.mimic for j in mechanism.joints if j.mimic}
    if not mimics or not scenario:
        return scenario, []
    found = dict(scenario)
    if "initial" in found:
        found["initial"] = _start(found["initial"], mimics)
    if "states" in found:
        found["states"] = {name: _start(x, mimics) for name, x in found["states"].items()}
    curved = [law for law in found.get("control", ()) if _curved(law, mimics)]
    if "control" in found:
        kept = [_geared(law, mimics) for law in found["control"] if law not in curved]
        found.pop("control")
        found |= {"control": kept} if kept else {}
    return found, [
        f"actuator {law['name']!r} is not taken: it drives a joint that follows another by a"
        " function; load(..., mimic=False) lets that joint move on its own"
        for law in curved
    ]


def _start(state: Mapping[str, Any], mimics: Mapping[str, Mimic]) -> dict[str, Any]:
    """Return a state without the coordinates and speeds of followers."""
    return {
        key: {name: x for name, x in value.items() if name not in mimics}
        if key in ("q", "near", "v")
        else value
        for key, value in state.items()
    }


def _curved(law: Mapping[str, Any], mimics: Mapping[str, Mimic]) -> bool:
    """Return whether a controller drives a joint that follows another by a nonlinear function."""
    return any(name in mimics and mimics[name].function for name in law.get("gear", ()))


def _geared(law: dict[str, Any], mimics: Mapping[str, Mimic]) -> dict[str, Any]:
    """Return an actuator with its gear on the joints that lead."""
    if not any(name in mimics for name in law.get("gear", ())):
        return law
    gear: dict[str, float] = {}
    constant = 0.0
    for name, ratio in law["gear"].items():
        mimic = mimics.get(name)
        leader, share = (mimic.joint, ratio * mimic.multiplier) if mimic else (name, ratio)
        gear[leader] = gear.get(leader, 0.0) + share
        constant += ratio * mimic.offset if mimic else 0.0
    found = {**law, "gear": gear}
    if "bias" in law:
        b0, b1, b2 = law["bias"]
        found["bias"] = [b0 + b1 * constant, b1, b2]
    if "gain_slopes" in law:
        found["gain"] = law.get("gain", 1.0) + law["gain_slopes"][0] * constant
    return found
