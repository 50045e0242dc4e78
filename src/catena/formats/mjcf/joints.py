"""Joints of a body. MuJoCo applies them one after the other in the body's own frame,

    X_PB = X0 T1 T2 ...,    T = Disp(p) Rot(axis, q - q0) Disp(-p), or Disp(axis (q - q0)),

so several of them are a chain of joints with massless bodies between. A free joint replaces X0, and
its coordinates are MuJoCo's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ...model import Body, Joint, Pose
from ...model.loads import JointSpring, Load
from ..mapping import MappingReport
from .actuation import rotors
from .names import Names
from .poses import pose

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
KINDS = {FREE: "free", BALL: "ball", SLIDE: "prismatic", HINGE: "revolute"}
WIDTH = {FREE: 6, BALL: 3, SLIDE: 1, HINGE: 1}


@dataclass(frozen=True)
class BodyJoints:
    """The joints that carry one body, root to leaf, the massless bodies between them, and their
    springs.
    """

    joints: tuple[Joint, ...]
    between: tuple[Body, ...]
    loads: tuple[Load, ...]


def joints(m: Any, b: int, names: Names, mapping: MappingReport) -> BodyJoints:
    """Return the joints of body b, or the fixed joint that attaches it to its parent."""
    first = int(m.body_jntadr[b])
    count = int(m.body_jntnum[b])
    X0 = pose(m.body_pos[b], m.body_quat[b])
    parent = names.body(m.body_parentid[b])
    child = names.body(b)
    if not count:
        return BodyJoints((Joint(names.weld(b), "fixed", parent, child, placement=X0),), (), ())
    between = [names.between(b, k) for k in range(count - 1)]
    ends = [parent, *between, child]
    found = [
        _joint(m, first + k, names, ends[k], ends[k + 1], Pose() if k else X0) for k in range(count)
    ]
    springs = [s for k in range(count) if (s := _spring(m, first + k, names, mapping))]
    for k in range(count):
        _report_joint(m, first + k, names.joint(first + k), mapping)
    return BodyJoints(tuple(found), tuple(Body.massless(name) for name in between), tuple(springs))


def _joint(m: Any, j: int, names: Names, parent: str, child: str, X: Pose) -> Joint:
    kind = int(m.jnt_type[j])
    at = m.jnt_pos[j]
    dofs = slice(int(m.jnt_dofadr[j]), int(m.jnt_dofadr[j]) + WIDTH[kind])
    turns = kind in (BALL, HINGE)
    placed = {
        FREE: Pose(),
        SLIDE: X @ Pose(position=-m.jnt_axis[j] * _ref(m, j)),
        HINGE: (
            X @ Pose(position=at) @ Pose.turn(m.jnt_axis[j], -_ref(m, j))
            if _ref(m, j)
            else X @ Pose(position=at)
        ),
        BALL: X @ Pose(position=at),
    }[kind]
    return Joint(
        names.joint(j),
        KINDS[kind],
        parent,
        child,
        placement=placed,
        axis=m.jnt_axis[j] if kind in (SLIDE, HINGE) else None,
        offset=Pose(position=at) if turns else Pose(),
        damping=tuple(m.dof_damping[dofs]),
        friction=tuple(m.dof_frictionloss[dofs]),
        armature=tuple(m.dof_armature[dofs] + (rotors(m, j) if kind in (SLIDE, HINGE) else 0.0)),
        **_limits(m, j),
    )


def _ref(m: Any, j: int) -> float:
    """Return the coordinate at which the joint's displacement is zero."""
    return float(m.qpos0[m.jnt_qposadr[j]]) if m.jnt_type[j] in (SLIDE, HINGE) else 0.0


def _limits(m: Any, j: int) -> dict[str, Any]:
    one = m.jnt_type[j] in (SLIDE, HINGE)
    found = (
        {"lower": float(m.jnt_range[j, 0]), "upper": float(m.jnt_range[j, 1])}
        if one and m.jnt_limited[j]
        else {}
    )
    return found | (
        {"effort": float(abs(m.jnt_actfrcrange[j]).max())} if one and m.jnt_actfrclimited[j] else {}
    )


def _spring(m: Any, j: int, names: Names, mapping: MappingReport) -> JointSpring | None:
    if not m.jnt_stiffness[j]:
        return None
    if m.jnt_type[j] not in (SLIDE, HINGE):
        mapping.refuse(
            "joint stiffness",
            names.joint(j),
            "a spring on a ball or free joint is not taken; a bushing load may do",
        )
        return None
    rest = float(m.qpos_spring[m.jnt_qposadr[j]])
    return JointSpring(f"spring {names.joint(j)}", names.joint(j), float(m.jnt_stiffness[j]), rest)


def _report_joint(m: Any, j: int, name: str, mapping: MappingReport) -> None:
    """Report how the joint was treated."""
    if m.jnt_limited[j] and m.jnt_type[j] == BALL:
        mapping.approximate("joint", name, "the cone that limits a ball joint is not taken")
    elif m.jnt_limited[j] and m.jnt_type[j] in (SLIDE, HINGE):
        mapping.take(
            "joint", name, "its range is a rigid stop where a run asks for stops, MuJoCo's is soft"
        )
    else:
        mapping.take("joint", name)
    dofs = slice(int(m.jnt_dofadr[j]), int(m.jnt_dofadr[j]) + WIDTH[int(m.jnt_type[j])])
    for values, word in (
        (m.dof_dampingpoly[dofs], "damping"),
        (m.jnt_stiffnesspoly[j], "stiffness"),
    ):
        if values.any():
            mapping.approximate(
                "joint", name, f"its {word} is linear here, the file adds higher powers"
            )
    if m.jnt_actgravcomp[j]:
        mapping.approximate(
            "joint",
            name,
            "the compensation of weight is a load here, which the range of actuator forces does not"
            " limit",
        )
    if m.jnt_actfrclimited[j] and not math.isclose(
        m.jnt_actfrcrange[j, 0], -m.jnt_actfrcrange[j, 1]
    ):
        mapping.approximate("joint", name, "its range of actuator forces is taken as symmetric")
