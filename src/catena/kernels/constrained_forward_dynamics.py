"""Forward dynamics under constraint rows, in O(n): one articulated-body pass, and one walk from its
nodes to the root for each row.

    M a + bias = tau + A' lambda,      A a = gamma

Redundant rows are dropped, also where only a configuration makes them redundant: the result is
always bounded, and exact where the rows are consistent. A second route computes the same from the
dense mass matrix and rows.
"""

from __future__ import annotations

from ..spatial import accumulate, add, cross, filled, get, kernel, put, select, sweep, vanishes
from .constraint_rows import evaluate_rows, row_jacobian, rows_of_motion
from .dynamics import articulate, factor, follow, give_way, net_forces, press, solve
from .dynamics import inverse_dynamics as _inverse_dynamics
from .dynamics import mass_matrix as _mass_matrix
from .motion import component, out, speeds
from .rank import independent

# how often the multipliers are refined: the residual of the rows is rounding times the ratio of
# inertias after one step, its square after two
REFINEMENT_STEPS = 2
PIVOT_ROUNDING = 1e-14  # a pivot that is smaller, relative to its diagonal entry, is rounding


@sweep
def meet(A, H, S, G, size, b, lam, L, a):
    """Change a so that A a = b, along the rows of H = A M^-1, and store the multipliers in lam
    (m,). S = A M^-1 A' and G = A C A' are overwritten. The rank is decided in the metric C
    (`rank`), which does not depend on inertias. A row that depends on others is dropped, and its
    multiplier is zero. The residual of the rows is recomputed from a itself: where rows share a
    light body, lam is a small difference of large numbers, but a is accurate. Scratch: L (2, m).
    """
    m, y, keep = len(b), L[0], L[1]
    independent(G, size, keep)
    factor_rows(S, keep, y)
    for k in range(m):
        lam[k] = 0.0 * b[0]
    for _ in range(REFINEMENT_STEPS):
        for k in range(m):
            row, left = A[k], b[k]
            for i in filled(row, len(a)):
                left -= row[i] * a[i]
            y[k] = left
        solve(S, y)
        for k in range(m):
            row, far = H[k], y[k]
            lam[k] += far
            for i in filled(row, len(a)):
                a[i] += row[i] * far


@sweep
def factor_rows(S, keep, y):
    """Factor S = L' D L in its lower half, from the last row, with 1/D on the diagonal and zero for
    rows that are not kept.
    """
    m = len(keep)
    for k in range(m):
        y[k] = PIVOT_ROUNDING * S[k, k]
    for k in range(m - 1, -1, -1):
        pivot = select(S[k, k] > y[k], S[k, k], y[k])
        S[k, k] = keep[k] / select(keep[k] > 0.5, pivot, 1.0 + 0.0 * pivot)
        pushed, d = S[k], S[k, k]
        for i in filled(pushed, k):
            row, g = S[i], d * pushed[i]
            for j in filled(pushed, i + 1):
                row[j] -= g * pushed[j]
            pushed[i] = g


@kernel
def _higher(i, j):
    """Return the index of that one of two nodes that is visited first on the way to the root, and
    the other; -1 where they are the same.
    """
    if i < j:
        return j, i
    return i, (-1 if i == j else j)


@sweep
def _resist(tree, con, k, W, zeros, x, u):
    """Fill u (nv,): the forces along the speeds that one unit of row k causes, leaves to root,
    through the articulated inertias. Leaves D u in y. For two rows, A_l M^-1 A_k' is the sum of u_l
    D u_k over the nodes that are on the paths of both to the root.
    """
    i, j = con.node[k, 0], con.node[k, 1]
    zero = 0.0 * W[k, 0]
    while i >= 0 or j >= 0:
        i, j = _higher(i, j)
        put(x.t, i, (zero, zero, zero))
        put(x.f, i, (zero, zero, zero))
        i = tree.parent[i]
    i, j = con.node[k, 0], con.node[k, 1]
    for side in range(2):
        if con.node[k, side] >= 0:
            for d in range(3):
                x.t[con.node[k, side], d] -= W[k, 6 * side + d]
                x.f[con.node[k, side], d] -= W[k, 6 * side + 3 + d]
    while i >= 0 or j >= 0:  # the nodes below either end, each once, leaves first
        i, j = _higher(i, j)
        t = get(x.t, i)
        f = get(x.f, i)
        p = tree.parent[i]
        for c in range(speeds(tree.motion[i])):
            u[tree.vi[i] + c] = -component(tree, i, c, t, f)
        t, f = give_way(tree, i, x, t, f, zeros)
        if p >= 0:
            f = out(tree, i, x, f)
            accumulate(x.f, p, f)
            accumulate(x.t, p, add(out(tree, i, x, t), cross(get(x.r, i), f)))
        i = p


@sweep
def _met(tree, con, k, Y, H, x, S, G):
    """Fill A_l M^-1 A_k' and A_l C A_k' for the rows l up to k, and H_k, after `_resist` of row
    k.
    """
    for l in range(k + 1):
        S[k, l] = 0.0 * x.y[0, 0]
        G[k, l] = 0.0 * x.y[0, 0]
    i, j = con.node[k, 0], con.node[k, 1]
    while i >= 0 or j >= 0:
        i, j = _higher(i, j)
        for c in range(speeds(tree.motion[i])):
            n = tree.vi[i] + c
            far = x.y[i, c]
            here = con.column[n] * Y[k, n]
            H[k, n] = far
            for l in range(k + 1):
                there = Y[l, n]
                if vanishes(there):
                    continue
                S[k, l] += there * far
                G[k, l] += there * here
        i = tree.parent[i]


@sweep
def constrained_dynamics(
    tree, con, q, v, tau, wrench, zeros, x, W, gamma, error, rate, Y, H, S, G, L, a, lam
):
    """Fill a (nv,) and lam (m,) of the forces tau under the constraint rows: one articulated-body
    pass, and half a pass per row along its path to the root.

    Y are the rows along the freedoms of the articulated bodies: A times a triangle of unit
    diagonal, of the same rank. Scratch: W (m, 12), gamma, error, rate (m,), Y, H (m, nv), S, G (m,
    m), L (2, m).
    """
    m = len(con.kind)
    n = len(tree.parent)
    nv = len(a)
    for k in range(m):
        for i in range(nv):
            Y[k, i] = 0.0
            H[k, i] = 0.0
    net_forces(tree, q, v, zeros, wrench, x)
    # the same for all ends, so that it falls out of the rows
    base = (-tree.gravity[0], -tree.gravity[1], -tree.gravity[2])
    rows_of_motion(tree, con, v, base, x, W, gamma, error, rate)
    articulate(tree, x)
    press(tree, tau, x)
    for i in range(n):
        for c in range(speeds(tree.motion[i])):
            a[tree.vi[i] + c] = x.y[i, c]
    for k in range(m):
        _resist(tree, con, k, W, zeros, x, Y[k])
        _met(tree, con, k, Y, H, x, S, G)
    meet(Y, H, S, G, con.size, gamma, lam, L, a)
    for i in range(n):
        for c in range(speeds(tree.motion[i])):
            x.y[i, c] = a[tree.vi[i] + c]
    follow(tree, x, a)


@sweep
def constrained_dynamics_dense(
    tree, con, q, v, tau, wrench, zeros, x, W, gamma, error, rate, Y, H, S, G, L, a, lam, M, A
):
    """Fill a and lam as `constrained_dynamics`, from the dense mass matrix M and rows A (both zeros
    on entry): a second route.
    """
    m, nv = len(con.kind), len(a)
    evaluate_rows(tree, con, q, v, zeros, x, W, gamma, error, rate)
    row_jacobian(tree, con, W, x, A)
    _inverse_dynamics(tree, q, v, zeros, wrench, x, a)
    _mass_matrix(tree, q, x, M)
    factor(M)
    for i in range(nv):
        a[i] = tau[i] - a[i]
    solve(M, a)
    for k in range(m):
        for i in range(nv):
            H[k, i] = A[k, i]
            Y[k, i] = con.column[i] * A[k, i]
        solve(M, H[k])
        _product(A, H[k], k, S)
        _product(A, Y[k], k, G)
    meet(A, H, S, G, con.size, gamma, lam, L, a)


@sweep
def _product(A, y, k, S):
    """Fill row k of the lower half of S with A y."""
    for l in range(k + 1):
        S[k, l] = 0.0 * y[0]
        for i in range(len(y)):
            S[k, l] += A[l, i] * y[i]
