"""udwadia_kalaba: the accelerations of free bodies, with the smallest correction that satisfies the
constraints ([Udwadia1992], [Udwadia2010]).

Every link is free, with V = (u, w) and its own mass; all joints are constraints, differentiated
twice, and so is all that closes the tree or ties joints together:

    a = M^-1 Q                                            without constraints
    A V' = b                                              all rows
    V' = a + M^-1/2 (A M^-1/2)^+ (b - A a)                of all V' that obey the rows, the nearest
                                                          to a (Gauss)

It contains no multipliers and no choice of coordinates. With B = A M^-1/2, B^+ = B' (B B')^+, and
the correction is M^-1 A' (A M^-1 A')^+ (b - A a): the roots of M cancel, and the Gram matrix A M^-1
A' is all that is inverted. Rows of a tree's joints are independent; of the rows that close it some
may be redundant given those of the tree, which is decided in the metric of `kernels.rank`, so that
the pseudo-inverse of the Gram matrix is that of the independent rows.

Where M is singular (a point mass, a massless frame) the theory takes M + A' W A and Q + A' W b in
place of M and Q ([Udwadia2010]), which changes nothing where A V' = b; W is the mechanism's mass,
for angles times the square of its length.

State: pose and velocity of each link, 6 first-order equations per link in the plane, 13 in space.
"""

from __future__ import annotations

from itertools import pairwise

import casadi as ca
import numpy as np

from ...compiler import met, vector
from ...kernels import motion_without_energy, usual_length
from ...model import Mechanism
from ..absolute.charts import State, chart, state
from ..absolute.constraint_rows import BodyRows, joint, mimics, nonholonomic, speeds
from ..absolute.joint_constraints import Bodies
from ..equations import Equations, assembled
from ..formulation import Formulation, StateKind, register
from ._free_links import gyration, loads, masses, needed, weights
from ._inertia import require_inertia
from ._joint_cuts import joint_wrenches
from ._saddle_point import total_mass


def udwadia_kalaba(mechanism: Mechanism) -> Equations:
    """Return the fundamental equation of Udwadia and Kalaba on free bodies. State: every link's own
    position and velocity.
    """
    b = Bodies(mechanism)
    s = b.tracer
    x = state(b, [chart(b, k) for k in range(len(b.links))])
    found, largest = _system(b, x)
    require_inertia("udwadia_kalaba", b.tracer, b.tracer.mass_matrix())
    _, a, lam, moved = found(*b.motion, s.t, s.q, s.v, s.tau, s.p)
    rate = found(x.P, x.R, x.V, s.t, x.q, x.v, s.tau, s.p)[0]
    closed = bool(mechanism.constrained)
    V = ca.SX.sym("moved", moved.numel())
    force = ca.SX.sym("lam", lam.numel())
    cut = ca.Function(
        "cut",
        [b.P, b.R, b.V, s.t, s.q, s.v, s.p, V, force],
        [joint_wrenches(s, needed(b, V), force if closed else None)],
    )
    return assembled(
        s,
        "udwadia_kalaba",
        x.names,
        x.x,
        derivative=ca.vertcat(x.rate, rate),
        encode=x.start,
        decode=[x.q, x.v],
        acceleration=a,
        largest=largest,
        reactions=None if mechanism.constraints else cut(*b.motion, s.t, s.q, s.v, s.p, moved, lam),
        multipliers=lam if closed else None,
    )


def _system(b: Bodies, x: State) -> tuple[ca.Function, int]:
    """Return a function (P, R, V, t, q, v, tau, p) -> w' of the charts, a of the joints, lambda of
    the closing rows, V'; and the number of rows. The speeds w of the charts are related by V = B w
    with a constant B: in the plane there are three numbers per link.
    """
    s, u = b.tracer, speeds(b)
    # leaves first: little fill in the Gram matrix
    tree = [joint(b, pair) for pair in reversed(b.pairs)]
    held = [*mimics(b, u), *tree]
    closing = [*(joint(b, pair) for pair in b.loops), *nonholonomic(b, u)]
    B = ca.sparsify(ca.diagcat(*(ca.jacobian(c.V, c.w) for c in x.charts)))
    (A, r), (C, d) = (_stacked(rows, B) for rows in (held, closing))
    G = u.G[u.own, :] @ B
    g = u.g[u.own]
    J = ca.diag(vector(s.tree.armature))
    M = ca.sparsify(B.T @ masses(b) @ B + G.T @ J @ G)
    Q = B.T @ (weights(b) + gyration(b) + loads(b)) + G.T @ (s.tau + s.applied.forces - J @ g)
    W = _fill(b, x, M, held)
    M = ca.sparsify(M + A.T @ W @ A)
    Q = Q + A.T @ (W @ r)

    mass = ca.ldl(ca.project(M, M.sparsity() + M.T.sparsity()))
    Y = ca.sparsify(ca.ldl_solve(ca.densify(ca.horzcat(Q, A.T, C.T)), *mass))
    free, Y_A, Y_C = ca.horzsplit(Y, [0, 1, 1 + A.shape[0], 1 + A.shape[0] + C.shape[0]])
    K = ca.sparsify(A @ Y_A)
    gram = ca.ldl(ca.project(K, K.sparsity() + K.T.sparsity()), False)

    def corrected(y: ca.SX, right: ca.SX) -> ca.SX:
        """Return y with the smallest correction to A y = right, column by column."""
        return y + Y_A @ ca.ldl_solve(ca.densify(right - A @ y), *gram) if A.shape[0] else y

    w = corrected(free, r)
    lam = ca.SX.zeros(0)
    if C.shape[0]:
        rows = ca.sparsify(s.constraint_rows()[3])
        metric = rows @ ca.diag(vector(s.con.column)) @ rows.T
        change, lam = met(
            C, corrected(Y_C, ca.SX(A.shape[0], C.shape[0])), d - C @ w, metric, s.row_scales()
        )
        w = w + change
    out = [w, G @ w + g, lam, B @ w]
    given = [b.P, b.R, b.V, s.t, s.q, s.v, s.tau, s.p]
    return ca.Function("found", given, [ca.densify(y) for y in ca.cse(out)]), max(
        A.shape[0] + C.shape[0], 1
    )


def _stacked(rows: list[BodyRows], B: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return the matrix A and the right side b of some constraint rows, A w' = b."""
    A = ca.vertcat(ca.SX(0, B.shape[0]), *(x.A for x in rows))
    return ca.sparsify(A @ B), -ca.vertcat(ca.SX(0, 1), *(x.bias for x in rows))


def _fill(b: Bodies, x: State, M: ca.SX, rows: list[BodyRows]) -> ca.SX:
    """Return W for all rows, if some link lacks inertia, or may lack it at other parameter values;
    else None.
    """
    starts = np.cumsum([0, *(c.w.numel() for c in x.charts)])
    blocks = [M[i:j, i:j] for i, j in pairwise(starts)]
    own = [
        ca.sparsify(ca.substitute(z, ca.vertcat(b.P, b.R), ca.SX.zeros(b.P.numel() + b.R.numel())))
        for z in blocks
    ]
    light = any(
        ca.symvar(z) or motion_without_energy(np.array(ca.evalf(z))) is not None for z in own
    )
    turn = usual_length(b.tracer.layout) ** 2
    m = total_mass(b)
    angles = [angle for r in rows for angle in r.angles]
    return (
        ca.sparsify(
            ca.diag(ca.SX([m * (turn if angle else 1.0) if light else 0.0 for angle in angles]))
        )
        if angles
        else ca.SX(0, 0)
    )


register(
    Formulation(
        "udwadia_kalaba",
        udwadia_kalaba,
        unknowns="every body free, then the smallest correction that obeys all joints",
        source="[Udwadia1992], [Udwadia2010]",
        year=1992,
        state=StateKind.BODIES,
    )
)
