"""Recursive dynamics in O(n): forces from motion (RNEA), the mass matrix (CRBA), motion from forces
(ABA).

    M(q) a + bias(q, v) = tau + sum of J' wrench          the sign convention everywhere

The forward sweep is the same for all of them: `net_forces` computes the force that each body alone
needs for its motion, by the tensors of [Merwe1995] chapter 3. RNEA adds these up towards the root.
ABA is Featherstone's articulated-body pass, written for the difference from the motion that the
mechanism would have with a = 0: the velocity terms then occur in `net_forces` alone.
"""

from __future__ import annotations

from ..spatial import (
    accumulate,
    add,
    apply,
    cross,
    dot,
    filled,
    get,
    get6,
    get33,
    inertia_tensor,
    inverse_symmetric,
    kernel,
    outer,
    outer_pair,
    product,
    put,
    put6,
    put33,
    rotate,
    sadd,
    scale,
    sub,
    sweep,
    tilde_times,
    torque,
    transpose,
    unrotate,
)
from .kinematics import accelerate
from .motion import (
    BALL,
    SCREW,
    SLIDE,
    component,
    direction,
    into,
    out,
    out_matrix,
    out_symmetric,
    place,
    speeds,
)


@sweep
def net_forces(tree, q, v, a, wrench, x):
    """Fill t and f of x: the torque and force that the joints together must exert on each node for
    its motion, minus the external wrench on it.

    wrench: (n, 6), torque about the node's origin and force, in the node's axes.
    """
    base = (-tree.gravity[0], -tree.gravity[1], -tree.gravity[2])
    place(tree, q, x)
    for i in range(len(tree.parent)):  # root to leaves
        T, du = accelerate(tree, i, v, a, base, x)
        h = get(tree.h, i)
        f = add(scale(tree.mass[i], du), rotate(T, h))
        t = add(torque(T, get6(tree.J, i)), cross(h, du))
        put(x.t, i, sub(t, (wrench[i, 0], wrench[i, 1], wrench[i, 2])))
        put(x.f, i, sub(f, (wrench[i, 3], wrench[i, 4], wrench[i, 5])))


@sweep
def inverse_dynamics(tree, q, v, a, wrench, x, tau):
    """Fill tau (nv,) of the motion (q, v, a) by the recursive Newton-Euler pass ([Merwe1995]
    section 4.4, with 2 w x u where its eq. 4.13 omits it).
    """
    net_forces(tree, q, v, a, wrench, x)
    for k in range(len(tree.armature)):
        tau[k] = tree.armature[k] * a[k]
    for i in range(len(tree.parent) - 1, -1, -1):  # leaves to root: what is carried adds up
        t = get(x.t, i)
        f = get(x.f, i)
        k = tree.vi[i]
        p = tree.parent[i]
        for j in range(speeds(tree.motion[i])):
            tau[k + j] += component(tree, i, j, t, f)
        if p >= 0:
            f = out(tree, i, x, f)
            accumulate(x.f, p, f)
            accumulate(x.t, p, add(out(tree, i, x, t), cross(get(x.r, i), f)))


@sweep
def mass_matrix(tree, q, x, M):
    """Fill M (nv, nv), zeros on entry, by the composite-rigid-body pass."""
    n = len(tree.parent)
    place(tree, q, x)
    for i in range(n):
        x.m[i] = tree.mass[i]
        put(x.h, i, get(tree.h, i))
        put6(x.J, i, get6(tree.J, i))
    for k in range(len(tree.armature)):
        M[k, k] += tree.armature[k]
    for i in range(n - 1, -1, -1):  # leaves to root: everything above a node, as one body
        m = x.m[i]
        h = get(x.h, i)
        J = get6(x.J, i)
        p = tree.parent[i]
        if p >= 0:
            r, Rh = get(x.r, i), out(tree, i, x, h)
            x.m[p] += m
            accumulate(x.h, p, add(Rh, scale(m, r)))
            shifted = sadd(outer_pair(Rh, r), _scaled(m, outer(r)))
            put6(x.J, p, sadd(get6(x.J, p), sadd(out_symmetric(tree, i, x, J), shifted)))
        for j in range(speeds(tree.motion[i])):
            w, u = direction(tree, i, j)
            t = add(apply(inertia_tensor(J), w), cross(h, u))
            f = add(scale(m, u), cross(w, h))
            row = tree.vi[i] + j
            for l in range(speeds(tree.motion[i])):
                M[tree.vi[i] + l, row] += component(tree, i, l, t, f)
            b = i
            # down to the root: the same force, seen from every node below
            while tree.parent[b] >= 0:
                f = out(tree, b, x, f)
                t = add(out(tree, b, x, t), cross(get(x.r, b), f))
                b = tree.parent[b]
                for l in range(speeds(tree.motion[b])):
                    value = component(tree, b, l, t, f)
                    M[tree.vi[b] + l, row] += value
                    M[row, tree.vi[b] + l] += value


@kernel
def _scaled(k, S):
    return (k * S[0], k * S[1], k * S[2], k * S[3], k * S[4], k * S[5])


@sweep
def forward_dynamics(tree, q, v, tau, wrench, zeros, x, a):
    """Fill a (nv,) of the forces tau by the articulated-body pass; `zeros` is (nv,) zeros, the
    reference motion.

    Every coordinate must move one node only; where joints mimic others, use
    `forward_dynamics_dense`.
    """
    net_forces(tree, q, v, zeros, wrench, x)
    articulate(tree, x)
    respond(tree, tau, x, a)


@sweep
def articulate(tree, x):
    """Compute, leaves to root, the articulated inertia [A B; B' C] of every node and its inverse
    pivot D. Nodes are placed.
    """
    rigid_inertias(tree, x)
    for i in range(len(tree.parent) - 1, -1, -1):
        articulate_node(tree, i, x)


@sweep
def rigid_inertias(tree, x):
    """Compute [A B; B' C] of every node alone."""
    for i in range(len(tree.parent)):
        put6(x.A, i, inertia_tensor(get6(tree.J, i)))
        h, m = get(tree.h, i), tree.mass[i]
        zero = 0.0 * m
        put33(x.B, i, ((zero, -h[2], h[1]), (h[2], zero, -h[0]), (-h[1], h[0], zero)))
        put6(x.C, i, (m, zero, zero, m, zero, m))


@kernel
def articulate_node(tree, i, x):
    """Compute the inverse pivot of node i, and add its remaining inertia to its parent's."""
    A = get6(x.A, i)
    B = get33(x.B, i)
    C = get6(x.C, i)
    p = tree.parent[i]
    if tree.motion[i] == BALL:
        K, _ = inverse_symmetric(_armoured3(A, tree.armature, tree.vi[i]))
        put6(x.D, i, K)
        if p >= 0:
            _carry(tree, i, p, x, *_without_ball(A, B, C, K))
    else:
        ut, uf = _column(tree, i, x)
        d = 1.0 / (component(tree, i, 0, ut, uf) + tree.armature[tree.vi[i]])
        x.D[i, 0] = d
        if p >= 0:
            _carry(tree, i, p, x, *_without_axis(A, B, C, ut, uf, d))


@kernel
def rigid_node(tree, i, x):
    """Add the whole inertia of node i to its parent's; used for a node whose motion is prescribed,
    which has no pivot.
    """
    for k in range(6):
        x.D[i, k] = 0.0 * tree.ratio[i]
    if tree.parent[i] >= 0:
        _carry(tree, i, tree.parent[i], x, get6(x.A, i), get33(x.B, i), get6(x.C, i))


@sweep
def respond(tree, tau, x, a):
    """Fill a (nv,), the accelerations caused by joint forces tau and node forces (-t, -f): M a =
    tau - J' (t, f), with the factorisation in x. Overwrites t and f. Leaves J a in dw and du of
    every node, about its origin in its axes.
    """
    press(tree, tau, x)
    follow(tree, x, a)


@sweep
def press(tree, tau, x):
    """Compute, leaves to root, the acceleration y of each degree of freedom with the parent at
    rest, under tau and the forces (t, f) that articulated inertias pass on.
    """
    for i in range(len(tree.parent) - 1, -1, -1):
        t, f = give_way(tree, i, x, get(x.t, i), get(x.f, i), tau)
        p = tree.parent[i]
        if p >= 0:
            f = out(tree, i, x, f)
            accumulate(x.f, p, f)
            accumulate(x.t, p, add(out(tree, i, x, t), cross(get(x.r, i), f)))


@sweep
def follow(tree, x, a):
    """Fill the accelerations a, root to leaves: y, minus the part due to the acceleration of the
    parent. Leaves J a in dw and du.
    """
    n = len(tree.parent)
    for i in range(n):
        p = tree.parent[i]
        k = tree.vi[i]
        motion = tree.motion[i]
        zero = 0.0 * tree.ratio[i]
        dw = (zero, zero, zero)
        du = (zero, zero, zero)
        if p >= 0:
            dp = get(x.dw, p)
            dw = into(tree, i, x, dp)
            du = into(tree, i, x, add(get(x.du, p), cross(dp, get(x.r, i))))
        if motion == BALL:
            K = get6(x.D, i)
            A = get6(x.A, i)
            B = get33(x.B, i)
            z = sub(get(x.y, i), apply(K, add(apply(A, dw), rotate(B, du))))
            a[k], a[k + 1], a[k + 2] = z[0], z[1], z[2]
            dw = add(dw, z)
        else:
            ut, uf = _column(tree, i, x)
            z1 = x.y[i, 0] - x.D[i, 0] * (dot(ut, dw) + dot(uf, du))
            a[k] = z1
            z1 = tree.ratio[i] * z1
            if motion == SLIDE:
                du = (du[0], du[1], du[2] + z1)
            else:
                dw = (dw[0], dw[1], dw[2] + z1)
                if motion == SCREW:
                    du = (du[0], du[1], du[2] + tree.pitch[i] * z1)
        put(x.dw, i, dw)
        put(x.du, i, du)


@kernel
def give_way(tree, i, x, t, f, tau):
    """Return the part of the force (t, f) that node i passes on to its parent, and store in y the
    acceleration of its degrees of freedom with the parent at rest.
    """
    k = tree.vi[i]
    if tree.motion[i] == BALL:
        y = apply(get6(x.D, i), sub((tau[k], tau[k + 1], tau[k + 2]), t))
        put(x.y, i, y)
        return add(t, apply(get6(x.A, i), y)), add(f, unrotate(get33(x.B, i), y))
    ut, uf = _column(tree, i, x)
    y1 = x.D[i, 0] * (tau[k] - component(tree, i, 0, t, f))
    x.y[i, 0] = y1
    return add(t, scale(y1, ut)), add(f, scale(y1, uf))


@kernel
def _armoured3(A, armature, k):
    return (A[0] + armature[k], A[1], A[2], A[3] + armature[k + 1], A[4], A[5] + armature[k + 2])


@kernel
def _column(tree, i, x):
    """Return U = IA S of a node with one degree of freedom."""
    A = get6(x.A, i)
    B = get33(x.B, i)
    C = get6(x.C, i)
    ratio = tree.ratio[i]
    motion = tree.motion[i]
    if motion == SLIDE:
        ut = (B[0][2], B[1][2], B[2][2])
        uf = (C[2], C[4], C[5])
    else:
        ut, uf = (A[2], A[4], A[5]), B[2]
        if motion == SCREW:
            h = tree.pitch[i]
            ut = add(ut, scale(h, (B[0][2], B[1][2], B[2][2])))
            uf = add(uf, scale(h, (C[2], C[4], C[5])))
    return scale(ratio, ut), scale(ratio, uf)


@kernel
def _without_axis(A, B, C, ut, uf, d):
    """Return the inertia IA - U U'/D that remains after eliminating the degree of freedom of a
    node.
    """
    gt, gf = scale(-d, ut), scale(-d, uf)
    A = sadd(
        A,
        (gt[0] * ut[0], gt[0] * ut[1], gt[0] * ut[2], gt[1] * ut[1], gt[1] * ut[2], gt[2] * ut[2]),
    )
    C = sadd(
        C,
        (gf[0] * uf[0], gf[0] * uf[1], gf[0] * uf[2], gf[1] * uf[1], gf[1] * uf[2], gf[2] * uf[2]),
    )
    return (
        A,
        (add(B[0], scale(gt[0], uf)), add(B[1], scale(gt[1], uf)), add(B[2], scale(gt[2], uf))),
        C,
    )


@kernel
def _without_ball(A, B, C, K):
    """Return the inertia that remains after eliminating three degrees of freedom at once: U = [A;
    B'], D = K^-1.
    """
    # rows of A K
    KA = (apply(K, (A[0], A[1], A[2])), apply(K, (A[1], A[3], A[4])), apply(K, (A[2], A[4], A[5])))
    KB = product(_matrix(K), B)
    AA = product(KA, _matrix(A))
    BB = product(transpose(B), KB)
    A2 = (
        A[0] - AA[0][0],
        A[1] - AA[0][1],
        A[2] - AA[0][2],
        A[3] - AA[1][1],
        A[4] - AA[1][2],
        A[5] - AA[2][2],
    )
    C2 = (
        C[0] - BB[0][0],
        C[1] - BB[0][1],
        C[2] - BB[0][2],
        C[3] - BB[1][1],
        C[4] - BB[1][2],
        C[5] - BB[2][2],
    )
    AB = product(_matrix(A), KB)
    return A2, (sub(B[0], AB[0]), sub(B[1], AB[1]), sub(B[2], AB[2])), C2


@kernel
def _matrix(S):
    return ((S[0], S[1], S[2]), (S[1], S[3], S[4]), (S[2], S[4], S[5]))


@kernel
def _carry(tree, i, p, x, A, B, C):
    """Add the inertia [A B; B' C] of node i to its parent's: rotated by E', then shifted by r.

    [1 r~; 0 1] [A B; B' C] [1 0; -r~ 1] = [A + r~B' - (B + r~C) r~,  B + r~C;  .,  C]
    """
    r = get(x.r, i)
    A = out_symmetric(tree, i, x, A)
    B = out_matrix(tree, i, x, B)
    C = out_symmetric(tree, i, x, C)
    rC = tilde_times(r, _matrix(C))
    BC = (add(B[0], rC[0]), add(B[1], rC[1]), add(B[2], rC[2]))
    rB = tilde_times(r, transpose(B))
    right = (cross(r, BC[0]), cross(r, BC[1]), cross(r, BC[2]))  # rows of -(BC) r~
    A = (
        A[0] + rB[0][0] + right[0][0],
        A[1] + rB[0][1] + right[0][1],
        A[2] + rB[0][2] + right[0][2],
        A[3] + rB[1][1] + right[1][1],
        A[4] + rB[1][2] + right[1][2],
        A[5] + rB[2][2] + right[2][2],
    )
    put6(x.A, p, sadd(get6(x.A, p), A))
    P = get33(x.B, p)
    put33(x.B, p, (add(P[0], BC[0]), add(P[1], BC[1]), add(P[2], BC[2])))
    put6(x.C, p, sadd(get6(x.C, p), C))


@sweep
def factor(M):
    """Factor M = L' D L in place, leaves first, so that entries between independent branches stay
    zero: 1 / D on the diagonal, L below it.
    """
    for k in range(len(M) - 1, -1, -1):
        pushed, d = M[k], 1.0 / M[k, k]
        M[k, k] = d
        for i in filled(pushed, k):
            row, g = M[i], d * pushed[i]
            for j in filled(pushed, i + 1):
                row[j] -= g * pushed[j]
            pushed[i] = g


@sweep
def solve(L, b):
    """Overwrite b with M^-1 b, for the factor L of M; zero in the rows that the factorisation
    dropped.
    """
    n = len(L)
    for i in range(n - 1, -1, -1):  # L' y = b
        row, known = L[i], b[i]
        for j in filled(row, i):
            b[j] -= row[j] * known
    for i in range(n):  # D L z = y
        row, left = L[i], b[i] * L[i, i]
        for j in filled(row, i):
            left -= row[j] * b[j]
        b[i] = left


@kernel
def forward_dynamics_dense(tree, q, v, tau, wrench, zeros, x, a, M):
    """Fill a = M^-1 (tau - bias) from the dense mass matrix M (zeros on entry): a second route, and
    the only one where joints mimic others.
    """
    inverse_dynamics(tree, q, v, zeros, wrench, x, a)
    mass_matrix(tree, q, x, M)
    factor(M)
    for k in range(len(a)):
        a[k] = tau[k] - a[k]
    solve(M, a)
