"""Equalities: connect and weld close loops, those of joints become mimics, those of fixed tendons
couple coordinates. MuJoCo's are soft, these are exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...model import CoordinateFunction, Joint, Mimic, Pose
from ...model.loads import Constraint, Coupling, Holonomic, identifier
from ..mapping import MappingReport
from .names import Names
from .poses import pose

CONNECT, WELD, JOINT, TENDON = range(4)  # mjtEq
WRAP_JOINT = 1  # mjtWrap
SITE = 6  # mjOBJ_SITE


def equalities(
    m: Any, names: Names, mapping: MappingReport
) -> tuple[list[Joint], dict[str, Mimic], list[Holonomic]]:
    """Return the joints that close loops, the mimics of joints that follow others, and the
    couplings of coordinates.
    """
    loops: list[Joint] = []
    mimics: dict[str, Mimic] = {}
    held: list[Holonomic] = []
    for e in range(m.neq):
        name = m.equality(e).name or f"equality{e}"
        kind = int(m.eq_type[e])
        if not m.eq_active0[e]:
            mapping.refuse(
                "equality",
                name,
                "it is not active at the start; what switches on later is an event of a scenario",
            )
        elif kind in (CONNECT, WELD):
            loops.append(_closing(m, e, name, names))
            mapping.approximate(
                "equality",
                name,
                "it holds exactly, MuJoCo's is soft (solref and solimp are left out)",
            )
        elif kind == JOINT and (why := _nonlinear(m, e)):
            mapping.refuse("equality", name, why)
        elif kind == JOINT:
            j1 = int(m.eq_obj1id[e])
            j2 = int(m.eq_obj2id[e])
            mimics[names.joint(j1)] = _following(m, e, j1, j2, names.joint(j2))
            mapping.approximate(
                "equality", name, "the joint follows the other exactly, MuJoCo's equality is soft"
            )
        elif kind == TENDON and not (why := _uncoupled(m, e)):
            held.append(_coupling(m, e, name, names))
            mapping.approximate(
                "equality", name, "a coupling that holds exactly, MuJoCo's equality is soft"
            )
        else:
            mapping.refuse(
                "equality",
                name,
                why if kind == TENDON else "equalities of flexible bodies are not taken",
            )
    return loops, mimics, held


def _closing(m: Any, e: int, name: str, names: Names) -> Joint:
    """Return the loop joint of an equality. connect: two points coincide. weld: two frames do."""
    kind = "ball" if m.eq_type[e] == CONNECT else "fixed"
    data = m.eq_data[e]
    ids = (int(m.eq_obj1id[e]), int(m.eq_obj2id[e]))
    if m.eq_objtype[e] == SITE:
        bodies = [int(m.site_bodyid[s]) for s in ids]
        poses = [pose(m.site_pos[s], m.site_quat[s]) for s in ids]
    elif kind == "ball":
        bodies = list(ids)
        poses = [Pose(position=data[:3]), Pose(position=data[3:6])]
    else:
        bodies = list(ids)
        poses = [pose(data[3:6], data[6:10]), Pose(position=data[:3])]
    return Joint(
        name,
        kind,
        names.body(bodies[0]),
        names.body(bodies[1]),
        placement=poses[0],
        offset=poses[1],
    )


def _following(m: Any, e: int, j1: int, j2: int, leader: str) -> Mimic:
    """Return the mimic q1 - r1 = a0 + a1 (q2 - r2) + ... + a4 (q2 - r2)^4, r being the joints'
    coordinates in the file.
    """
    r1, r2 = (float(m.qpos0[m.jnt_qposadr[j]]) for j in (j1, j2))
    a = np.polynomial.Polynomial(m.eq_data[e, :5])(np.polynomial.Polynomial([-r2, 1.0])) + r1
    c = [*map(float, a.trim().coef), 0.0, 0.0]
    return (
        Mimic(leader, c[1], c[0])
        if not any(c[2:])
        else Mimic(leader, function=CoordinateFunction("polynomial", y=tuple(c[:-2])))
    )


def _nonlinear(m: Any, e: int) -> str:
    """Return why a joint equality is no mimic; "" where it is one."""
    if m.eq_obj2id[e] < 0:
        return "a joint that is held at a value: lock it in the file instead"
    if not m.eq_data[e, 1:5].any():
        return (
            "the joint does not follow the other, it is held at a value: lock it in the file"
            " instead"
        )
    return ""


def _uncoupled(m: Any, e: int) -> str:
    """Return why an equality of tendons is no linear coupling; "" where it is one."""
    tendons = [t for t in (int(m.eq_obj1id[e]), int(m.eq_obj2id[e])) if t >= 0]
    if any(m.wrap_type[w] != WRAP_JOINT for t in tendons for w in _wraps(m, t)):
        return (
            "an equality of tendons is taken where they are fixed ones, sums of coordinates; this"
            " is one of spatial tendons"
        )
    return (
        "an equality of tendons is taken where it is linear; this polynomial is not"
        if len(tendons) > 1 and m.eq_data[e, 2:5].any()
        else ""
    )


def _wraps(m: Any, t: int) -> range:
    return range(int(m.tendon_adr[t]), int(m.tendon_adr[t] + m.tendon_num[t]))


def _coupling(m: Any, e: int, name: str, names: Names) -> Holonomic:
    """Return the coupling l1 - r1 = a0 + a1 (l2 - r2), each l a sum of coordinates and r its value
    at the joints' coordinates in the file.
    """
    first = int(m.eq_obj1id[e])
    second = int(m.eq_obj2id[e])
    parts = [(first, 1.0)] + ([(second, -float(m.eq_data[e, 1]))] if second >= 0 else [])
    ratios: dict[str, float] = {}
    for t, share in parts:
        for w in _wraps(m, t):
            joint = names.joint(int(m.wrap_objid[w]))
            ratios[joint] = ratios.get(joint, 0.0) + share * float(m.wrap_prm[w])
    ratios = {joint: r for joint, r in ratios.items() if r}
    value = float(m.eq_data[e, 0]) + sum(share * float(m.tendon_length0[t]) for t, share in parts)
    if len(ratios) < 2:
        return Constraint(
            name,
            " + ".join(f"{r!r} * q_{identifier(joint)}" for joint, r in ratios.items())
            + f" - ({value!r})",
        )
    return Coupling(name, tuple(ratios), tuple(ratios.values()), value)
