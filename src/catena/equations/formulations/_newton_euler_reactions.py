"""The wrench in every joint, for newton_euler: from the forces of its rows and its motor, and by
cuts for joints without rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca

from ...compiler import elements, matrix
from ...spatial import add, apply, cross, dot, neg, rotate, scale, sub, unrotate
from ..absolute.joint_constraints import Bodies
from ..absolute.links import JointSide, Member
from ._free_beams import beam_wrenches

Wrench = tuple[
    tuple[Any, ...], tuple[Any, ...]
]  # torque about the ground's origin and force, in the ground's axes


def reactions(
    b: Bodies,
    held: Sequence[ca.SX],
    pushed: Sequence[tuple[tuple[str, str], list[ca.SX]]],
    moved: ca.SX,
) -> ca.SX:
    """Return the wrench of each joint on its child, (joints, 6), about the child's origin in its
    axes, torque first.

    held: (force, torque) on each link by its own joint, about its centre of mass. pushed: for rows
    that close the tree, the two bodies that they are between, and their wrench on each link. moved:
    V'. The wrench that everything beyond a cut requires is summed from leaves to root; in welds,
    and across the plane, it is the wrench in the joint.
    """
    seen = {x.name: (k, x) for k, link in enumerate(b.links) for x in link.members} | {
        x.name: (-1, x) for x in b.ground
    }
    needed = {name: _needed(b, k, x, moved) for name, (k, x) in seen.items()}
    found = []
    bent = {
        body: (tuple(elements(w[:3])), tuple(elements(w[3:])))
        for body, w in beam_wrenches(b, moved).items()
    }

    def pass_on(body: str, w: Wrench) -> None:
        if body in needed:
            needed[body] = add(needed[body][0], w[0]), add(needed[body][1], w[1])

    for name, wrench in bent.items():
        pass_on(name, wrench)
    for bodies, on in pushed:
        body, other = bodies if bodies[0] in seen and seen[bodies[0]][0] >= 0 else reversed(bodies)
        t, f = _about_ground(b, seen[body][0], on[seen[body][0]])
        pass_on(body, (neg(t), neg(f)))
        pass_on(other, (t, f))
    for j in reversed(b.mechanism.ordered):
        k, x = seen[j.child]
        t, f = _in_joint(b, k, held[k], needed[j.child]) if j.nv else needed[j.child]
        pass_on(j.parent, (t, f))
        R, p = b.pose(JointSide(k, x.R, x.origin))
        found.append((*unrotate(R, sub(t, cross(p, f))), *unrotate(R, f)))
    return matrix(reversed(found))


def _about_ground(b: Bodies, k: int, on: ca.SX) -> Wrench:
    """Return a (force, torque) on link k, given about its centre of mass with the torque in its
    axes, as a wrench about the ground's origin.
    """
    f = tuple(elements(on[:3]))
    return add(rotate(b.axes(k), elements(on[3:])), cross(b.centre(k), f)), f


def _in_joint(b: Bodies, k: int, held: ca.SX, cut: Wrench) -> Wrench:
    """Return the wrench in a joint from its rows and motors, and across the plane from the cut."""
    (t, f), n = _about_ground(b, k, held), b.normal
    if n is None:
        return t, f
    return add(cut[0], scale(dot(n, sub(t, cut[0])), n)), add(f, scale(dot(n, sub(cut[1], f)), n))


def _needed(b: Bodies, k: int, x: Member, moved: ca.SX) -> Wrench:
    """Return the wrench that the motion of a body requires, in addition to its weight and its
    loads.
    """
    g = tuple(b.value(z) for z in b.mechanism.gravity)
    loads = b.tracer.applied.wrenches
    t, f = _inertia(b, k, x, moved, g)
    if x.name not in loads:
        return t, f
    (torque, force), (_, p) = (
        (elements(z) for z in loads[x.name]),
        b.pose(JointSide(k, x.R, x.origin)),
    )
    return sub(t, add(torque, cross(p, force))), sub(f, force)


def _inertia(b: Bodies, k: int, x: Member, moved: ca.SX, g: tuple[Any, ...]) -> Wrench:
    """Return the force m (a - g), and the torque I w' + w x I w with the moment of that force."""
    if k < 0:
        f = scale(-x.mass, g)
        return cross(x.com, f), f
    R = b.axes(k)
    w = b.spin(k)
    du = elements(moved[6 * k : 6 * k + 3])
    dw = elements(moved[6 * k + 3 : 6 * k + 6])
    f = scale(x.mass, sub(add(du, rotate(R, add(cross(dw, x.com), cross(w, cross(w, x.com))))), g))
    t = rotate(R, add(apply(x.inertia, dw), cross(w, apply(x.inertia, w))))
    return add(t, cross(add(b.centre(k), rotate(R, x.com)), f)), f
