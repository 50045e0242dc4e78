"""The linear system of free bodies held together by rows, [H A^T; A 0], for formulations whose
unknowns include the rows' forces.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...compiler import met, vector
from ...model import value_of
from ..absolute.joint_constraints import Bodies


def saddle_point(
    b: Bodies, H: ca.SX, A: ca.SX, F: ca.SX, gamma: ca.SX, order: list[int]
) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Return w' and lambda of [H A^T; A 0] (w', -lambda) = (F, gamma), and the pivots of the tree,
    each relative to its diagonal entry (pivots of rows are not scaled).

    order: the unknowns of the tree. The other rows of A, which close loops, come last.
    """
    n, k = A.shape[1], len(order)
    tree = A[: k - n, :]
    closing = A[k - n :, :]
    K = ca.sparsify(ca.vertcat(ca.horzcat(H, tree.T), ca.horzcat(tree, ca.SX(k - n, k - n))))
    K = ca.project(K, K.sparsity() + K.T.sparsity())[order, order]
    D, LT, p = ca.ldl(K, False)
    back = np.argsort(order).tolist()
    forces = ca.horzcat(
        ca.vertcat(F, gamma[: k - n, :]), ca.vertcat(closing.T, ca.SX(k - n, closing.shape[0]))
    )
    z, Y = ca.horzsplit(
        ca.ldl_solve(forces[order, :], D, LT, p)[back, :], [0, 1, 1 + closing.shape[0]]
    )
    whole, lam = ca.diag(K), ca.SX.zeros(0)
    if closing.shape[0]:
        s = b.tracer
        rows = ca.sparsify(s.constraint_rows()[3])
        G = rows @ ca.diag(vector(s.con.column)) @ rows.T
        _, lam = met(closing, Y[:n, :], gamma[k - n :] - closing @ z[:n], G, s.row_scales())
        z = z + Y @ lam
    return (
        z[:n],
        ca.vertcat(-z[n:, :], lam),
        ca.vertcat(*(D[i] if whole[i].is_zero() else D[i] / whole[i] for i in range(k))),
    )


def total_mass(b: Bodies) -> float:
    """Return the mechanism's mass, kg."""
    return sum(value_of(body.mass, b.mechanism.parameters) for body in b.mechanism.bodies) or 1.0
