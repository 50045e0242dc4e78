"""The Coriolis matrix C(q, v) with C v + gravity = bias and Mdot - 2 C skew ([Echeandia2021], in
the ground's axes).

Each body adds B = 1/2 [(v x*) I + (I v) xbar* - I (v x)], so that B - 1/2 Idot is skew; sums over
subtrees need no rotation because everything is expressed in the ground's axes.
"""

from __future__ import annotations

from ..spatial import (
    add,
    cross,
    get,
    get6,
    get33,
    inertia_tensor,
    kernel,
    rotate,
    sweep,
    transpose,
    unrotate_symmetric,
)
from .kinematics import poses, velocities
from .motion import direction, speeds


@kernel
def _inertia6(tree, i, x, I):
    """Fill I[i] with the 6 x 6 inertia of node i about the ground's origin, in the ground's
    axes.
    """
    R = get33(x.R, i)
    p = get(x.p, i)
    m = tree.mass[i]
    # first moment about the ground's origin
    h = add(rotate(R, get(tree.h, i)), (m * p[0], m * p[1], m * p[2]))
    own = rotate(R, get(tree.h, i))
    S = unrotate_symmetric(transpose(R), inertia_tensor(get6(tree.J, i)))  # about the node's origin
    ph = p[0] * own[0] + p[1] * own[1] + p[2] * own[2]
    pp = p[0] * p[0] + p[1] * p[1] + p[2] * p[2]
    full = ((S[0], S[1], S[2]), (S[1], S[3], S[4]), (S[2], S[4], S[5]))
    for a in range(3):
        for b in range(3):
            same = 2.0 * ph + m * pp if a == b else 0.0 * m
            I[i, a, b] = full[a][b] + same - (p[a] * own[b] + own[a] * p[b]) - m * (p[a] * p[b])
            I[i, 3 + a, 3 + b] = m if a == b else 0.0 * m
    skew = ((0.0 * m, -h[2], h[1]), (h[2], 0.0 * m, -h[0]), (-h[1], h[0], 0.0 * m))
    for a in range(3):
        for b in range(3):
            I[i, a, 3 + b] = skew[a][b]
            I[i, 3 + a, b] = skew[b][a]


@kernel
def _cross6(v, X):
    """Fill X = (v x), 6 x 6 for motions; its negative transpose is (v x*) for forces."""
    for a in range(6):
        for b in range(6):
            X[a, b] = 0.0 * v[0]
    for o, a in ((0, 0), (3, 3)):
        X[a, o + 1], X[a, o + 2] = -v[2], v[1]
        X[a + 1, o], X[a + 1, o + 2] = v[2], -v[0]
        X[a + 2, o], X[a + 2, o + 1] = -v[1], v[0]
    X[3, 1], X[3, 2], X[4, 0], X[4, 2], X[5, 0], X[5, 1] = -v[5], v[4], v[5], -v[3], -v[4], v[3]


@sweep
def coriolis_matrix(tree, q, v, x, S, dS, I, B, X, F, C):
    """Fill C (nv, nv), zeros on entry. Scratch: S, dS (degrees of freedom, 6), I, B (n, 6, 6), X
    (6, 6), F (3, 6).

    S and dS hold one row per degree of freedom, in node order; I and B are summed over subtrees in
    place.
    """
    velocities(tree, q, v, x)
    poses(tree, q, x)
    n = len(tree.parent)
    row = 0
    for i in range(n):
        R, p = get33(x.R, i), get(x.p, i)
        w = rotate(R, get(x.w, i))
        u = rotate(R, get(x.u, i))
        o = add(u, cross(p, w))  # velocity of the body point at the ground's origin
        V = (w[0], w[1], w[2], o[0], o[1], o[2])
        _cross6(V, X)
        for j in range(speeds(tree.motion[i])):
            a, b = direction(tree, i, j)
            a, b = rotate(R, a), rotate(R, b)
            b = add(b, cross(p, a))
            for k in range(3):
                S[row, k], S[row, 3 + k] = a[k], b[k]
            for k in range(6):
                total = 0.0 * V[0]
                for l in range(6):
                    total += X[k, l] * S[row, l]
                dS[row, k] = total
            row += 1
        _inertia6(tree, i, x, I)
        _body(V, X, i, I, B, F)
    last = row
    for i in range(n - 1, -1, -1):
        first = last - speeds(tree.motion[i])
        for s in range(first, last):
            _column(tree, i, s, first, S, dS, I, B, F, C)
        last = first
        p = tree.parent[i]
        if p >= 0:
            for a in range(6):
                for b in range(6):
                    I[p, a, b] += I[i, a, b]
                    B[p, a, b] += B[i, a, b]


@kernel
def _body(V, X, i, I, B, F):
    """Fill B[i], the velocity-dependent matrix of a body, with 1/2 [-(v x)' I + (I v) xbar* - I (v
    x)], where (f xbar*) v = v x* f.
    """
    f = F[0]
    for a in range(6):
        f[a] = 0.0 * V[0]
        for b in range(6):
            f[a] += I[i, a, b] * V[b]
    for a in range(6):
        for b in range(6):
            total = 0.0 * V[0]
            for l in range(6):
                total -= X[l, a] * I[i, l, b] + I[i, a, l] * X[l, b]
            B[i, a, b] = 0.5 * total
    for o, a, b in ((0, 0, 0), (3, 0, 3), (3, 3, 0)):  # -(f~) blocks: [-n~ -f~; -f~ 0]
        B[i, a, b + 1] += 0.5 * f[o + 2]
        B[i, a, b + 2] -= 0.5 * f[o + 1]
        B[i, a + 1, b] -= 0.5 * f[o + 2]
        B[i, a + 1, b + 2] += 0.5 * f[o]
        B[i, a + 2, b] += 0.5 * f[o + 1]
        B[i, a + 2, b + 1] -= 0.5 * f[o]


@sweep
def _column(tree, i, s, first, S, dS, I, B, F, C):
    """Fill row and column of degree of freedom s of node i, for the degrees of freedom j of the
    node and its ancestors: C_js = S_j' F1, C_sj = dS_j' F2 + S_j' F3.
    """
    zero = 0.0 * S[s, 0]
    F1, F2, F3 = F[0], F[1], F[2]
    for a in range(6):
        F1[a], F2[a], F3[a] = zero, zero, zero
        for b in range(6):
            F1[a] += I[i, a, b] * dS[s, b] + B[i, a, b] * S[s, b]
            F2[a] += I[i, a, b] * S[s, b]
            F3[a] += B[i, b, a] * S[s, b]
    here = tree.vi[i] + s - first
    b, start = i, first
    while b >= 0:
        for j in range(speeds(tree.motion[b])):
            up, down = zero, zero
            for a in range(6):
                up += S[start + j, a] * F1[a]
                down += dS[start + j, a] * F2[a] + S[start + j, a] * F3[a]
            C[tree.vi[b] + j, here] += up
            if b != i:
                C[here, tree.vi[b] + j] += down
        p = tree.parent[b]
        if p >= 0:  # the parent's rows stand before those of every node between them
            for between in range(p, b):
                start -= speeds(tree.motion[between])
        b = p
