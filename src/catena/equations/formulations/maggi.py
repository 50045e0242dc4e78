"""maggi: constraints between free bodies, and the velocities that they allow ([Maggi1896],
[Kurdila1990]).

Every link is a free body with the velocity V = (u of its centre of mass in the ground's axes, w in
its own axes):

    M V' = F + A' mu              its own Newton and Euler, with the forces mu of all constraints
    A V' = -bias                  joints, differentiated twice
    G V' = E v' + e - g           the joints' speeds, read from the two bodies of each; E = 1, e = 0
                                  but for those that follow others

The rows A and G together are square and regular on a tree, so the velocities that the constraints
allow are

    V' = R v' + N,        R = [A; G]^-1 [0; E],     N = [A; G]^-1 [-bias; e - g]

and with A R = 0 Maggi's equations have no forces of constraints in them:

    R' (M (R v' + N) - F) + J v' = tau          J: rotors, F: weights, -w x I w and loads

The kinematics consists of rows between two bodies, solved by elimination; no recursion over the
tree is used. Loops and speed rows A_c V' = -bias_c leave A_c R v' = -bias_c - A_c N, and of the v'
an orthogonal complement (`_independent_speeds`).
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...compiler import vector
from ...model import Mechanism
from ..absolute.constraint_rows import BodyRows, JointSpeeds, follows, joint, nonholonomic, speeds
from ..absolute.joint_constraints import Bodies
from ..equations import Equations, assembled
from ..formulation import Formulation, register
from ._free_links import gyration, loads, masses, needed, weights
from ._independent_speeds import complement, independent_rows, measures, own_rows, units
from ._inertia import require_inertia
from ._joint_cuts import joint_wrenches


def maggi(mechanism: Mechanism) -> Equations:
    """Return Maggi's equations. State: coordinates q and speeds v of the joints."""
    b = Bodies(mechanism, planar=False)
    s, u = b.tracer, speeds(b)
    tree = [joint(b, pair) for pair in b.pairs]
    closing = [*(joint(b, pair) for pair in b.loops), *nonholonomic(b, u)]
    R, N = _left_free(b, u, tree)
    m = masses(b)
    J = ca.diag(vector(s.tree.armature))
    M = R.T @ (m @ R) + J
    r = s.tau + s.applied.forces - R.T @ (m @ N - weights(b) - gyration(b) - loads(b))
    A = ca.vertcat(ca.SX(0, R.shape[0]), *(x.A for x in closing))
    bias = ca.vertcat(ca.SX(0, 1), *(x.bias for x in closing))
    given = [b.P, b.R, b.V, s.t, s.q, s.v, s.p]
    found = ca.Function(
        "found",
        [*given, s.tau],
        [ca.densify(x) for x in ca.cse([M, r, A @ R, -bias - A @ N, R, N])],
    )
    M, r, C, gamma, R, N = (ca.sparsify(x) for x in found(*b.motion, s.t, s.q, s.v, s.p, s.tau))
    require_inertia("maggi", b.tracer, M)
    a, lam, size = _solved(b, M, r, C, gamma)

    moved = ca.SX.sym("moved", R.shape[0])
    force = ca.SX.sym("lam", 0 if lam is None else lam.numel())
    cut = joint_wrenches(s, needed(b, moved), None if lam is None else force)
    wrenches = ca.Function("wrenches", [*given, moved, force], [cut])
    x = ca.vertcat(s.q, s.v)
    return assembled(
        s,
        "maggi",
        mechanism.coordinate_names + tuple(f"{name}'" for name in mechanism.speed_names),
        x,
        derivative=ca.vertcat(s.coordinate_rate(), a),
        encode=x,
        decode=[s.q, s.v],
        acceleration=a,
        multipliers=lam,
        largest=size,
        reactions=(
            None
            if mechanism.constraints
            else wrenches(*b.motion, s.t, s.q, s.v, s.p, R @ a + N, force if lam is None else lam)
        ),
    )


def _left_free(b: Bodies, u: JointSpeeds, tree: list[BodyRows]) -> tuple[ca.SX, ca.SX]:
    """Return R (size of V x nv) and N with V' = R v' + N. The rows of each joint, six including its
    speeds, give the motion of its link, from root to leaves.
    """
    (driven, drift), n, links = _driven(b, u), b.tracer.layout.nv, 6 * len(tree)
    # the amplitudes of bodies that bend are speeds as they are
    found = ca.SX(0, n + 1)
    bent = ca.SX(b.V.numel() - links, n + 1)
    for x in b.bending.values():
        bent[x.V.start - links : x.V.stop - links, x.v] = ca.SX.eye(x.v.stop - x.v.start)
    for k, (rows, own, pair) in enumerate(zip(tree, u.columns, b.pairs)):
        K = rows.A
        right = ca.horzcat(ca.SX(len(rows), n), -rows.bias)
        if not pair.joint.deflection:
            K = ca.vertcat(K, u.G[own, :])
            right = ca.vertcat(right, ca.horzcat(driven[own, :], drift[own] - u.g[own]))
        right = right - K[:, : 6 * k] @ found - K[:, links:] @ bent
        found = ca.vertcat(
            found, ca.sparsify(_motion(ca.sparsify(K[:, 6 * k : 6 * k + 6]), ca.sparsify(right)))
        )
    found = ca.vertcat(found, bent)
    return ca.sparsify(found[:, :n]), ca.sparsify(found[:, n])


def _motion(K: ca.SX, right: ca.SX) -> ca.SX:
    """Return (u', w') of one link with K (u', w') = right: first its angular acceleration, from the
    rows that contain nothing else, then the acceleration of its centre of mass. Metres and radians
    are thus eliminated separately, so that rounding does not depend on the unit of length.
    """
    turning = [k for k in range(6) if not K[k, :3].nnz()]
    if len(turning) != 3:
        return ca.solve(K, ca.SX.eye(6)) @ right
    moving = [k for k in range(6) if k not in turning]
    w = ca.solve(K[turning, 3:], ca.SX.eye(3)) @ right[turning, :]
    return ca.vertcat(
        ca.solve(K[moving, :3], ca.SX.eye(3)) @ (right[moving, :] - K[moving, 3:] @ w), w
    )


def _driven(b: Bodies, u: JointSpeeds) -> tuple[ca.SX, ca.SX]:
    """Return E (all joints' speeds x nv) and e with u' = E v' + e: one for a joint's own speeds,
    the ratio for one that follows another.
    """
    E = ca.SX(u.u.numel(), len(u.own))
    e = ca.SX(u.u.numel(), 1)
    for k, row in enumerate(u.own):
        E[row, k] = 1.0
    following = {
        pair.joint.name: pair.joint
        for pair in b.pairs
        if pair.joint.mimic is not None and not pair.joint.deflection
    }
    while following:  # one that follows a follower waits for it
        name = next(n for n, j in following.items() if j.mimic and j.mimic.joint not in following)
        joint = following.pop(name)
        (ratio, drift), leader = follows(b, joint), u.first[joint.mimic.joint]  # type: ignore[union-attr]
        E[u.first[name], :], e[u.first[name]] = ratio * E[leader, :], ratio * e[leader] + drift
    return E, e


def _solved(
    b: Bodies, M: ca.SX, r: ca.SX, C: ca.SX, gamma: ca.SX
) -> tuple[ca.SX, ca.SX | None, int]:
    """Return v' with M v' = r + C' lambda and C v' = gamma, lambda, and the size of the system."""
    if not C.shape[0]:
        return _by_ldl(M, r), None, M.shape[0]
    s, own = b.tracer, own_rows(b.tracer)
    at = ca.Function("at", [s.t, s.q, s.p], [ca.densify(C), ca.densify(M)])
    values = [[np.array(x) for x in at(0.0, *place)] for place in own.places]
    unit = units(
        np.array(
            [C for C, _ in values]
            + [np.array(at(0.0, *s.layout.somewhere(k))[0]) for k in range(3)]
        )
    )
    rank = len(independent_rows(values[0][0], unit))
    free = complement(C, values[0][0], measures(np.array([M for _, M in values])), rank, unit)
    Z, z = free.Z, free.particular(gamma)
    a = Z @ _by_ldl(Z.T @ M @ Z, Z.T @ (r - M @ z)) + z if Z.shape[1] else z
    return a, free.multipliers(M @ a - r), Z.shape[1]


def _by_ldl(M: ca.SX, b: ca.SX) -> ca.SX:
    """Return M^-1 b for a symmetric positive definite M."""
    return ca.ldl_solve(b, *ca.ldl(ca.sparsify((M + M.T) / 2), False))


register(
    Formulation(
        "maggi",
        maggi,
        unknowns="speeds, with the velocities of free bodies that the constraints allow",
        source="[Maggi1896], [Kurdila1990]",
        year=1896,
    )
)
