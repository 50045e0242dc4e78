"""Rows that couple joints, for `penalty`: followers and rotors are held by springs, so that no
larger system has to be solved; and links without inertia.

    follower   a joint that mimics another: f' = u - ratio u_leader is pulled back like a joint's
               own rows
    rotor      the armature J of a joint between two moving links turns by itself at z, held to the
               joint by a spring: J z' = -beta f, f' = z - v. A rotor's row is multiplied by sqrt(J
               / mass), so that it oscillates with the same frequency as the mechanism's mass on its
               springs

Angles that are computed from poses are between -pi and pi, and a ratio of such an angle has no
meaning; so f of these rows is integrated in addition to the poses, one more entry of the state
each, from f = 0.

A link that lacks inertia along some axis (a point mass, a frame without mass) has nothing to divide
by in (71), (72). The inertia m l^2 step / T about that axis is added to it, with l its longest arm:
the error that this causes falls with the step, as the stretch of the springs does. A link on the
ground keeps its joint's coordinates, and needs none where these have inertia (a bob that swings
about a pivot).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ...compiler import matrix
from ...model import Motion
from ...spatial import full
from ..absolute.constraint_rows import JointSpeeds, mimics
from ..absolute.joint_constraints import Bodies
from ._saddle_point import total_mass

# An inertia is zero below this, relative to the largest, or to the mass times the arm squared.
ZERO_INERTIA_RATIO = 1e-12


@dataclass(frozen=True)
class Ties:
    """Rows A V' + S z' + bias for f = slip, with rate f'. names: of slips and spins z. J (spins,):
    the rotors' inertia. scale: of the rows.
    """

    names: tuple[tuple[str, ...], tuple[str, ...]]
    slip: ca.SX
    spin: ca.SX
    start: ca.SX
    rate: ca.SX
    A: ca.SX
    S: ca.SX
    bias: ca.SX
    J: ca.SX
    scale: list[Any]


def ties(b: Bodies, u: JointSpeeds, length: float, hinged: set[int]) -> Ties:
    """Return the followers and rotors of a mechanism. hinged: the speeds whose rotor is part of
    their link's own inertia.
    """
    s = b.tracer
    turning = {
        j.name: all(f.motion != Motion.SLIDE for f in j.freedoms) for j in b.mechanism.joints
    }
    following = list(mimics(b, u))
    J = [ca.SX(x) for x in s.tree.armature]
    rotors = [k for k, x in enumerate(J) if not x.is_zero() and k not in hinged]
    names = [f"{r.name} slip" for r in following] + [
        f"{s.layout.mechanism.speed_names[k]} rotor slip" for k in rotors
    ]
    slip = ca.SX.sym("slip", len(names))
    spin = ca.SX.sym("spin", len(rotors))
    own = [u.own[k] for k in rotors]
    n, none = len(following), ca.SX(0, 1)
    v, g = (ca.vertcat(none, *(x[k] for k in own)) for x in (u.u, u.g))
    S = ca.SX(len(names), len(rotors))
    for k in range(len(rotors)):
        S[n + k, k] = 1.0
    return Ties(
        (tuple(names), tuple(f"{s.layout.mechanism.speed_names[k]} rotor'" for k in rotors)),
        slip,
        spin,
        ca.vertcat(none, *(s.v[k] for k in rotors)),
        ca.vertcat(none, *(r.rate for r in following), spin - v),
        ca.vertcat(ca.SX(0, b.V.numel()), *(r.A for r in following), -u.G[own, :]),
        S,
        ca.vertcat(none, *(r.bias for r in following), -g),
        ca.vertcat(none, *(J[k] for k in rotors)),
        [length if turning[r.name] else 1.0 for r in following]
        + [ca.sqrt(J[k] / total_mass(b)) for k in rotors],
    )


def added_inertia(b: Bodies, share: float, sound: set[int]) -> ca.SX:
    """Return a matrix of the size of V: the inertia that is added to links without mass, or without
    inertia about some axis. share: step / T. sound: the links that do not need it.
    """
    blocks = []
    p = list(b.mechanism.parameters.values())
    for k, link in enumerate(b.links):
        if k in sound:
            blocks.append(ca.DM(6, 6))
            continue
        at = ca.Function("at", [b.tracer.p], [ca.SX(link.mass), ca.SX(matrix(full(link.inertia)))])
        mass, I = at(p)
        m, arm = float(mass), _arm(b, k, p)
        sizes, axes = np.linalg.eigh(np.array(I))
        lacking = axes[:, sizes <= ZERO_INERTIA_RATIO * max(sizes[-1], m * arm**2)]
        weight = m or total_mass(b)
        blocks.append(
            ca.diagcat(
                (0.0 if m > 0 else share * weight) * ca.DM.eye(3),
                share * weight * arm**2 * ca.DM(lacking @ lacking.T),
            )
        )
    bent = b.V.numel() - 6 * len(b.links)
    return ca.sparsify(ca.SX(ca.diagcat(*blocks, ca.DM(bent, bent))))


def regular(m: np.ndarray) -> bool:
    """Whether the inertia m (n, n) is positive definite, after scaling to a unit diagonal."""
    own = np.diag(m)
    return bool(
        (own > 0).all()
        and np.linalg.eigvalsh(m / np.sqrt(np.outer(own, own)))[0] > ZERO_INERTIA_RATIO
    )


def _arm(b: Bodies, k: int, p: list[float]) -> float:
    """Return the longest distance from the centre of mass of link k to a joint, m; 1 m where it is
    zero.
    """
    sides = [
        side.p
        for pair in (*b.pairs, *b.loops)
        for side in (pair.parent, pair.child)
        if side.link == k
    ]
    ways = np.array(
        ca.Function("ways", [b.tracer.p], [ca.horzcat(*(ca.vertcat(*x) for x in sides))])(p)
    )
    return float(np.linalg.norm(ways, axis=0).max()) or 1.0
