"""Forward dynamics under rows, in O(n): one articulated pass, and one walk from its nodes to the root for each row.

    M a + bias = tau + A' lambda,      A a = gamma

Rows that say the same thing twice, and configurations where rows lose rank, are met by a proximal solve: bounded always, exact
where the rows are consistent. A second route goes by the mass matrix and the rows written out.
"""

from __future__ import annotations

from ..spatial import accumulate, add, apply, cross, get, get6, kernel, put, scale, select, sweep
from .constraint_rows import evaluate_rows, row_jacobian, rows_of_motion
from .dynamics import articulate, factor, follow, give_way, net_forces, press, solve
from .dynamics import inverse_dynamics as _inverse_dynamics
from .dynamics import mass_matrix as _mass_matrix
from .motion import BALL, component, out, speeds

KEEP = 30.0  # a pivot below so many e belongs to a row that repeats others
PROXIMAL, ROUNDS = 1e-9, 4  # damping beside the mean diagonal of A M^-1 A', and how often the solve is repeated


@sweep
def proximal(S, b, lam, L):
    """lam with S lam = b: repeated (S + e) lam' = b + e lam from zero, without the rows that say what others say.

    A row is left out (its lam is zero) where its pivot is no more than what e makes of it. Off the loops by a small d a
    redundant row would get a pivot of d^2 and a right side of d, and their ratio would come into the motion.
    """
    m = len(b)
    size = 0.0 * b[0]
    for k in range(m):
        size += S[k, k]
    e = (PROXIMAL / m) * size
    for i in range(m):
        for j in range(m):
            L[i, j] = S[i, j]
        L[i, i] += e
        lam[i] = 0.0 * b[0]
    for k in range(m - 1, -1, -1):  # L' D L, with D inverted, zero for a row left out
        kept = L[k, k] > KEEP * e
        d = select(kept, 1.0 / select(kept, L[k, k], 1.0 + 0.0 * e), 0.0 * e)
        L[k, k] = d
        for i in range(k - 1, -1, -1):
            g = d * L[k, i]
            for j in range(i, -1, -1):
                L[i, j] -= g * L[k, j]
            L[k, i] = g
    y = L[m]
    for _ in range(ROUNDS):
        for i in range(m):
            y[i] = b[i]
        for j in range(m):
            for i in range(m):
                y[i] -= S[j, i] * lam[j]
        for i in range(m - 1, -1, -1):
            for j in range(i):
                y[j] -= L[i, j] * y[i]
        for i in range(m):
            y[i] = y[i] * L[i, i]
        for j in range(m):
            for i in range(j + 1, m):
                y[i] -= L[i, j] * y[j]
        for i in range(m):
            lam[i] += y[i]


@kernel
def _higher(i, j):
    """Of two nodes the one to visit first on the way down, and the other: -1 where they are the same."""
    if i < j:
        return j, i
    return i, (-1 if i == j else j)


@sweep
def _resist(tree, con, k, W, zeros, x, u):
    """u (nv,): what the freedoms feel of one unit of row k, leaves to root, each giving way with its articulated inertia.

    Leaves D u in y. For two rows A_l M^-1 A_k' is the sum of u_l D u_k over the nodes below both.
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
        t, f, p = get(x.t, i), get(x.f, i), tree.parent[i]
        for c in range(speeds(tree.motion[i])):
            u[tree.vi[i] + c] = -component(tree, i, c, t, f)
        t, f = give_way(tree, i, x, t, f, zeros)
        if p >= 0:
            f = out(tree, i, x, f)
            accumulate(x.f, p, f)
            accumulate(x.t, p, add(out(tree, i, x, t), cross(get(x.r, i), f)))
        i = p


@sweep
def _met(tree, con, k, Y, x, S):
    """A_l M^-1 A_k' for the rows l up to k, where `_resist` has been for row k last."""
    for l in range(k + 1):
        S[k, l] = 0.0 * x.y[0, 0]
    i, j = con.node[k, 0], con.node[k, 1]
    while i >= 0 or j >= 0:
        i, j = _higher(i, j)
        for c in range(speeds(tree.motion[i])):
            for l in range(k + 1):
                S[k, l] += Y[l, tree.vi[i] + c] * x.y[i, c]
        i = tree.parent[i]
    for l in range(k):
        S[l, k] = S[k, l]


@sweep
def constrained_dynamics(tree, con, q, v, tau, wrench, zeros, x, W, gamma, error, rate, Y, S, L, a, lam):
    """a and lam of the forces tau under the rows, by one articulated pass, and half a one a row along its way down.

    Scratch: W (m, 12), gamma, error, rate (m,), Y (m, nv), S (m, m), L (m + 1, m). gamma comes in as what is to be added
    to it (a stabilising term, or zeros).
    """
    m, n, nv = len(con.kind), len(tree.parent), len(a)
    for k in range(m):
        lam[k] = gamma[k]
        for i in range(nv):
            Y[k, i] = 0.0 * gamma[k]
    net_forces(tree, q, v, zeros, wrench, x)
    base = (-tree.gravity[0], -tree.gravity[1], -tree.gravity[2])  # the same for all ends, so that it falls out of the rows
    rows_of_motion(tree, con, v, base, x, W, gamma, error, rate)
    articulate(tree, x)
    press(tree, tau, x)
    for i in range(n):
        for c in range(speeds(tree.motion[i])):
            a[tree.vi[i] + c] = x.y[i, c]
    for k in range(m):
        _resist(tree, con, k, W, zeros, x, Y[k])
        _met(tree, con, k, Y, x, S)
        gamma[k] += lam[k]
        for i in range(nv):
            gamma[k] -= Y[k, i] * a[i]  # A_k times the motion without rows
    proximal(S, gamma, lam, L)
    for i in range(n):
        t, v0 = (0.0 * a[0], 0.0 * a[0], 0.0 * a[0]), tree.vi[i]
        if tree.motion[i] == BALL:
            for k in range(m):
                t = add(t, scale(lam[k], (Y[k, v0], Y[k, v0 + 1], Y[k, v0 + 2])))
            put(x.y, i, add((a[v0], a[v0 + 1], a[v0 + 2]), apply(get6(x.D, i), t)))
        else:
            total = 0.0 * a[0]
            for k in range(m):
                total += lam[k] * Y[k, v0]
            x.y[i, 0] = a[v0] + x.D[i, 0] * total
    follow(tree, x, a)


@sweep
def constrained_dynamics_dense(tree, con, q, v, tau, wrench, zeros, x, W, gamma, error, rate, Y, S, L, a, lam, M, A):
    """The same by the mass matrix M and the rows A written out (both zeros on entry): a second route."""
    m, nv = len(con.kind), len(a)
    for k in range(m):
        lam[k] = gamma[k]
    evaluate_rows(tree, con, q, v, zeros, x, W, gamma, error, rate)
    row_jacobian(tree, con, W, x, A)
    _inverse_dynamics(tree, q, v, zeros, wrench, x, a)
    _mass_matrix(tree, q, x, M)
    factor(M)
    for i in range(nv):
        a[i] = tau[i] - a[i]
    solve(M, a)
    for k in range(m):
        gamma[k] += lam[k]
        for i in range(nv):
            gamma[k] -= A[k, i] * a[i]
            Y[k, i] = A[k, i]
        solve(M, Y[k])
        for l in range(k + 1):
            total = 0.0 * gamma[k]
            for i in range(nv):
                total += A[l, i] * Y[k, i]
            S[l, k] = total
            S[k, l] = total
    proximal(S, gamma, lam, L)
    for k in range(m):
        for i in range(nv):
            a[i] += Y[k, i] * lam[k]
