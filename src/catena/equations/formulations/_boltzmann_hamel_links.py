"""Links for `boltzmann_hamel`: the rigid pieces of a tree, the joints between them, and how their
axes turn ([Quinn1991]).

    ground --joint 1-- O_1 [link 1] --L--> joint 2 -- O_2 [link 2] ...

The axes of link i sit at O_i, on the moving side of joint i.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import casadi as ca

from ...compiler import Tracer, matrix, vector
from ...kernels import motion, seated
from ...model import GROUND
from ...spatial import full, inertia_tensor

UNTURNED = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class TreeLink(NamedTuple):
    """A link and the joint that carries it. parent: the index of the link below, -1 for the ground.

    C: C_ki, from the link's axes to the parent's. L: from O_k to O_i in the parent's axes. Omega,
    U: relative angular velocity (link's axes) and L' (parent's axes), with dOmega, dU their rates
    at a = 0. D: (6 x nv), (Omega, U) = D v. m, S, I: mass and moments about O_i in the link's axes.
    name, node: the body, and the node on which it is.
    """

    name: str
    node: int
    parent: int
    C: ca.SX
    L: ca.SX
    Omega: ca.SX
    U: ca.SX
    dOmega: ca.SX
    dU: ca.SX
    D: ca.SX
    m: Any
    S: ca.SX
    I: ca.SX


def links(s: Tracer, melt: bool) -> list[TreeLink]:
    """Return the links in the order of the joints, parents first. melt: whether bodies on fixed
    joints are merged into the link that they are fixed to.
    """
    m = s.layout.mechanism
    rate = s.coordinate_rate()
    index = {GROUND: -1}
    used = 0
    rigid = {b.name for b in s.layout.rigid}
    found: list[TreeLink] = []
    for j in m.ordered:
        nodes = range(used, used + len(j.deflection.shifts if j.deflection else j.freedoms))
        used = nodes.stop
        seat = s.layout.seats[j.child]
        below = index[j.parent]
        mass, h, J = seated(m.body(j.child), seat, s.value)
        S = vector(h)
        I = matrix(full(inertia_tensor(J)))
        # the mass of a body that bends by modes is added by `_boltzmann_hamel_beams`
        if j.child not in rigid:
            mass = 0.0
            S = ca.SX(3, 1)
            I = ca.SX(3, 3)
        if melt and not nodes:
            index[j.child] = below
            if below >= 0:
                k = found[below]
                found[below] = k._replace(m=k.m + mass, S=k.S + S, I=k.I + I)
            continue
        C, L, Omega, U = joint_motion(s, nodes)
        both = ca.vertcat(Omega, U)
        # (28) and D' v of (33)
        D = ca.sparsify(ca.jacobian(both, s.v))
        rates = ca.jtimes(both, s.q, rate)
        index[j.child] = len(found)
        found.append(
            TreeLink(j.child, seat.node, below, C, L, Omega, U, rates[:3], rates[3:], D, mass, S, I)
        )
    return found


def joint_motion(s: Tracer, nodes: range) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
    """Return C_ki, L, Omega and U = L' of a joint, through its elementary motions."""
    C = ca.SX.eye(3)
    L = ca.SX.zeros(3)
    Omega = ca.SX.zeros(3)
    U = ca.SX.zeros(3)
    for i in nodes:
        step = ca.SX(matrix(motion.out_columns(s.tree, i, s.posed, UNTURNED)))
        r = ca.SX(vector(s.posed.r[i]))
        turn = ca.SX.zeros(3)
        slide = ca.SX.zeros(3)
        for k in range(motion.speeds(s.tree.motion[i])):
            S_turn, S_slide = motion.direction(s.tree, i, k)
            speed = s.V[s.layout.nodes[i].vi + k]
            turn = turn + vector(S_turn) * speed
            slide = slide + vector(S_slide) * speed
        L = L + C @ r
        U = U + C @ (ca.cross(Omega, r) + step @ slide)
        C = C @ step
        Omega = step.T @ Omega + turn
    return C, L, Omega, U


# C[i][j] = C_ij for j on the way from link i to the ground (-1), i included
Rotations = list[dict[int, ca.SX]]


def connectivity(chain: list[TreeLink]) -> Rotations:
    """Return C_ij = C_ik C_kj for every link j below link i, and C_iN."""
    C: Rotations = []
    for i, link in enumerate(chain):
        below = C[link.parent] if link.parent >= 0 else {-1: ca.SX.eye(3)}
        C.append({j: link.C.T @ C_kj for j, C_kj in below.items()} | {i: ca.SX.eye(3)})
    return C
