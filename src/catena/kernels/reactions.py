"""The six-component wrench in every joint: the action of the parent on the child through the joint,
motors included.

Bodies on fixed joints are merged into nodes, but their joints carry loads too; so this pass walks
over bodies, not nodes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..model import GROUND, Body
from ..spatial import add, cross, get, get6, get33, neg, rotate, scale, sweep, torque, unrotate
from .kinematics import accelerations
from .motion import out
from .tree import Layout, as_array, seated


class BodyTable(NamedTuple):
    """One row per body, parents first: the node that carries it, and its own mass there."""

    node: np.ndarray  # (b,) -1 for a body fixed to the ground
    parent: np.ndarray  # (b,) index of the parent body, -1 for the ground
    R: np.ndarray  # (b, 3, 3) R_NB
    p: np.ndarray  # (b, 3) p_NB
    mass: np.ndarray  # (b,)
    h: np.ndarray  # (b, 3) in the node's frame
    J: np.ndarray  # (b, 6) Euler tensor about the node's origin, node's axes


def body_table(layout: Layout, value: Any) -> BodyTable:
    """Return the poses and inertias of the bodies of a mechanism as arrays, one row per body, in
    the order of the joints whose child the body is.
    """
    m = layout.mechanism
    names = [j.child for j in m.ordered]
    index = {name: k for k, name in enumerate(names)} | {GROUND: -1}
    rows: dict[str, list[Any]] = {"R": [], "p": [], "mass": [], "h": [], "J": []}
    rigid = {b.name: b for b in layout.rigid}
    for name in names:
        seat = layout.seats[name]
        mass, h, J = seated(rigid.get(name) or Body.massless(name), seat, value)
        rows["R"].append([[value(x) for x in row] for row in seat.pose.rotation])
        rows["p"].append([value(x) for x in seat.pose.position])
        rows["mass"].append(mass)
        rows["h"].append(h)
        rows["J"].append(J)
    n = len(names)
    shapes = {"R": (n, 3, 3), "p": (n, 3), "mass": (n,), "h": (n, 3), "J": (n, 6)}
    return BodyTable(
        np.array([layout.seats[name].node for name in names], np.int64),
        np.array([index[j.parent] for j in m.ordered], np.int64),
        **{key: as_array(value_, shapes[key]) for key, value_ in rows.items()},
    )


@sweep
def joint_wrenches(tree, table, q, v, a, wrench, x, W):
    """Fill W (b, 6): torque about the child body's origin and force, in the child body's axes, on
    the child.

    wrench: (b, 6), the external wrench on each body, torque about its node's origin and force, in
    the node's axes.
    """
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    accelerations(tree, q, v, a, neg(g), x)
    count = len(table.node)
    for b in range(count):
        i = table.node[b]
        h = get(table.h, b)
        m = table.mass[b]
        if i < 0:
            f = scale(m, neg(g))
            t = cross(h, neg(g))
        else:
            T, du = get33(x.T, i), get(x.du, i)
            f = add(scale(m, du), rotate(T, h))
            t = add(torque(T, get6(table.J, b)), cross(h, du))
        for k in range(3):
            W[b, k], W[b, 3 + k] = t[k] - wrench[b, k], f[k] - wrench[b, 3 + k]
    for b in range(count - 1, -1, -1):  # leaves to root, about the nodes' origins
        p, i = table.parent[b], table.node[b]
        if p >= 0:
            t = (W[b, 0], W[b, 1], W[b, 2])
            f = (W[b, 3], W[b, 4], W[b, 5])
            while i != table.node[p]:
                f = out(tree, i, x, f)
                t = add(out(tree, i, x, t), cross(get(x.r, i), f))
                i = tree.parent[i]
            for k in range(3):
                W[p, k] += t[k]
                W[p, 3 + k] += f[k]
    for b in range(count):  # about the bodies' own origins, in their own axes
        t = (W[b, 0], W[b, 1], W[b, 2])
        f = (W[b, 3], W[b, 4], W[b, 5])
        R = get33(table.R, b)
        p = get(table.p, b)
        t = unrotate(R, add(t, neg(cross(p, f))))
        f = unrotate(R, f)
        for k in range(3):
            W[b, k], W[b, 3 + k] = t[k], f[k]
