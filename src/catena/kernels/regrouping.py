"""Inertia that is moved towards the root without a change of the forces along the speeds, so that
the remaining inertia of a node requires fewer products.

Mass on the axis of a turning node moves as its parent does, and so does mass at the centre of a
ball; the second moments of a sliding node turn with its parent. So a node that turns keeps seven of
the ten numbers (m, h, J): m, h_z and J_zz go to its parent; a ball gives away m, a slide its J.
These are the base parameters of [Gautier1990], which are all that measured forces can identify.
Accelerations and forces along the freedoms stay the same; forces across them (reactions) do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..spatial import add, outer, outer_pair, sadd, scale, unrotate, unrotate_symmetric
from .motion import BALL, SLIDE, TURN
from .tree import Tree, cleaned

NOTHING = (0.0, (0.0,) * 3, (0.0,) * 6)


def regrouped(tree: Tree) -> Tree:
    """Return the tree with as many zeros among masses and moments as the joints permit without
    changing the forces along the speeds; a tree with symbols is returned unchanged.
    """
    if not len(tree.parent) or any(
        x.dtype == object for x in (tree.mass, tree.h, tree.J, tree.E, tree.r)
    ):
        return tree
    nodes = [(m, tuple(h), tuple(J)) for m, h, J in zip(tree.mass, tree.h, tree.J)]
    for i in range(len(nodes) - 1, -1, -1):  # leaves to root
        p = tree.parent[i]
        nodes[i], moved = _divided(int(tree.motion[i]), *nodes[i])
        if p >= 0:
            nodes[p] = _sum(nodes[p], _carried(tree.E[i], tuple(tree.r[i]), *moved))
    mass, *moments = zip(*nodes)
    h, J = (np.array([cleaned(x) for x in rows]) for rows in moments)
    return tree._replace(mass=np.array(mass), h=h, J=J)


def _divided(motion: int, m: Any, h: Any, J: Any) -> tuple[Any, Any]:
    """Return the part of (m, h, J) that remains with a node, and the part that is moved to its
    parent.
    """
    if motion == TURN:
        return (0.0, (h[0], h[1], 0.0), (*J[:5], 0.0)), (
            m,
            (0.0, 0.0, h[2]),
            (0.0, 0.0, 0.0, 0.0, 0.0, J[5]),
        )
    if motion == SLIDE:
        return (m, h, NOTHING[2]), (0.0, NOTHING[1], J)
    if motion == BALL:
        return (0.0, h, J), (m, *NOTHING[1:])
    return (m, h, J), NOTHING


def _carried(E: Any, r: Any, m: Any, h: Any, J: Any) -> tuple[Any, Any, Any]:
    """Return (m, h, J) of a node about its parent's origin in its parent's axes; for the part that
    is moved, this does not depend on the coordinate.
    """
    h = unrotate(E, h)
    shifted = sadd(outer_pair(h, r), tuple(m * x for x in outer(r)))
    return m, add(h, scale(m, r)), sadd(unrotate_symmetric(E, J), shifted)


def _sum(a: Any, b: Any) -> tuple[Any, Any, Any]:
    return a[0] + b[0], add(a[1], b[1]), sadd(a[2], b[2])
