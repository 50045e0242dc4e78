"""Equalities: connect and weld close loops, those of joints become mimics, those of fixed tendons
couple coordinates. MuJoCo's equalities are soft, catena's are exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.polynomial import Polynomial

from ...model import CoordinateFunction, Joint, Mimic, Pose
from ...model.loads import Constraint, Coupling, Holonomic, identifier
from ..mapping import MappingReport
from .names import Names
from .poses import pose

CONNECT, WELD, JOINT, TENDON = range(4)  # mjtEq
WRAP_JOINT = 1  # mjtWrap
SITE = 6  # mjOBJ_SITE

Followed = Mapping[int, tuple[int, Polynomial]]  # {joint: (leader, polynomial of its coordinate)}


def equalities(
    m: Any, names: Names, mapping: MappingReport
) -> tuple[list[Joint], dict[str, Mimic], list[Holonomic]]:
    """Return the joints that close loops, the mimics of joints that follow others, and the
    couplings of coordinates.
    """
    loops: list[Joint] = []
    followed: dict[int, tuple[int, Polynomial]] = {}
    held: list[Holonomic] = []
    rows: list[tuple[int, str]] = []  # joint equalities that no follower can hold, with names
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
        elif kind == JOINT and _leads(m, e, followed):
            followed[int(m.eq_obj1id[e])] = (int(m.eq_obj2id[e]), _polynomial(m, e))
            mapping.approximate(
                "equality", name, "the joint follows the other exactly, MuJoCo's equality is soft"
            )
        elif kind == JOINT:
            rows.append((e, name))
            mapping.approximate(
                "equality", name, "a constraint that holds exactly, MuJoCo's equality is soft"
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
    held += [_row(m, e, name, names, followed) for e, name in rows]
    return loops, _mimics(followed, names), held


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


def _leads(m: Any, e: int, followed: Followed) -> bool:
    """Return whether a joint equality makes its first joint follow its second. It does not if the
    first joint follows another already, is held at a value, leads the second, or would follow by a
    nonlinear function and has losses or an armature, which such a follower cannot have.
    """
    follower, leader = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
    if leader < 0 or follower in followed or not m.eq_data[e, 1:5].any():
        return False
    dof = m.jnt_dofadr[follower]
    own = (m.dof_damping[dof], m.dof_armature[dof], m.dof_frictionloss[dof])
    if m.eq_data[e, 2:5].any() and any(own):
        return False
    return _led(leader, followed)[0] != follower


def _polynomial(m: Any, e: int) -> Polynomial:
    """Return f of q1 = f(q2), from q1 - r1 = a0 + a1 (q2 - r2) + ... + a4 (q2 - r2)^4, r being the
    joints' coordinates in the file.
    """
    r1, r2 = (float(m.qpos0[m.jnt_qposadr[int(j)]]) for j in (m.eq_obj1id[e], m.eq_obj2id[e]))
    return Polynomial(m.eq_data[e, :5])(Polynomial([-r2, 1.0])) + r1


def _led(joint: int, followed: Followed) -> tuple[int, Polynomial]:
    """Return the joint at the head of a chain of followers (the joint itself if it follows none),
    and the coordinate as a polynomial of the head's coordinate.
    """
    leader, f = joint, Polynomial([0.0, 1.0])
    while leader in followed:
        leader, g = followed[leader]
        f = f(g)
    return leader, f


def _mimics(followed: Followed, names: Names) -> dict[str, Mimic]:
    """Return the mimics by name, each of the joint at the head of its chain."""
    found = {}
    for follower in followed:
        leader, f = _led(follower, followed)
        c = [*map(float, f.trim().coef), 0.0, 0.0]
        found[names.joint(follower)] = (
            Mimic(names.joint(leader), c[1], c[0])
            if not any(c[2:])
            else Mimic(
                names.joint(leader), function=CoordinateFunction("polynomial", y=tuple(c[:-2]))
            )
        )
    return found


def _row(m: Any, e: int, name: str, names: Names, followed: Followed) -> Constraint:
    """Return the constraint q1 - f(q2) = 0, or q1 - r1 - a0 = 0 where there is no second joint, in
    the coordinates of joints that follow none.
    """
    first, second = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
    head, q1 = _led(first, followed)
    if second < 0:
        value = float(m.qpos0[m.jnt_qposadr[first]] + m.eq_data[e, 0])
        return Constraint(name, f"{_written(q1, names.joint(head))} - ({value!r})")
    other, q2 = _led(second, followed)
    f = _polynomial(m, e)(q2)
    return Constraint(
        name, f"{_written(q1, names.joint(head))} - ({_written(f, names.joint(other))})"
    )


def _written(f: Polynomial, joint: str) -> str:
    """Return a polynomial of a joint's coordinate as an expression string."""
    q = f"q_{identifier(joint)}"
    powers = ["", f" * {q}", *(f" * {q}**{k}" for k in range(2, len(f.coef)))]
    return " + ".join(f"({float(c)!r}){p}" for c, p in zip(f.coef, powers) if c) or "0.0"


def _uncoupled(m: Any, e: int) -> str:
    """Return the reason why an equality of tendons is not a linear coupling; "" for a linear
    one.
    """
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
