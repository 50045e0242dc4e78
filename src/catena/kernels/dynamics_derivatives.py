"""Derivatives of the inverse dynamics in closed form: one sweep to the leaves, one back, and a walk
to the root for each speed.

After [Singh2022], in node axes. A freedom has the motion S; psi1 = v0 x S and psi2 = a0 x S + v0 x
psi1 are the changes of the motion (v0, a0) of its parent with its coordinate, and S1 = v x S is the
rate of S. With I the inertia, f the force and B the velocity part of the subtree of a node, for
node i an ancestor of node j or the same:

    d tau_i / d q_j = S_i' (2 B_j psi1_j + I_j psi2_j + S_j x* f_j)
    d tau_j / d q_i = S_j' (2 B_j psi1_i + I_j psi2_i)
    d tau_i / d v_j = S_i' (2 B_j S_j + I_j (psi1_j + S1_j))
    d tau_j / d v_i = S_j' (2 B_j S_i + I_j (psi1_i + S1_i))

where S_j x* f_j is left out for i = j. B takes twelve numbers here, not 36: of the particles m at x
with velocities v it is B y = (tr(K) y_w - K' y_w, y_w x P), P = sum m v, K = sum m x v'.
"""

from __future__ import annotations

from typing import Any

from ..spatial import (
    add,
    angular_acceleration_tensor,
    apply,
    cross,
    dot,
    get,
    get6,
    inertia_tensor,
    kernel,
    outer,
    outer_pair,
    product,
    rotate,
    sadd,
    scale,
    sub,
    sweep,
    tilde,
    torque,
    unrotate,
)
from .motion import direction, into, out, out_matrix, out_symmetric, place, speeds


@sweep
def inverse_dynamics_derivatives(tree, q, v, a, x, dq, dv, M):
    """Fill d tau / d q along the speeds, d tau / d v and the mass matrix, each (nv, nv) and zeros
    on entry.
    """
    place(tree, q, x)
    moving = _motions(tree, v, a, x)
    carried = [_alone(tree, i, moving[i]) for i in range(len(tree.parent))]
    for k in range(len(tree.armature)):
        M[k, k] += tree.armature[k]
    for i in range(len(tree.parent) - 1, -1, -1):  # leaves to root
        for k in range(speeds(tree.motion[i])):
            _walk(tree, i, k, x, moving, carried[i], dq, dv, M)
        p = tree.parent[i]
        if p >= 0:
            carried[p] = _together(carried[p], _below(tree, i, x, carried[i]))


# --- motions: pairs (w, u)
@kernel
def _crossed(a, b):
    """Return the spatial cross product a x b of two motions."""
    return cross(a[0], b[0]), add(cross(a[0], b[1]), cross(a[1], b[0]))


@kernel
def _sum(a, b):
    return add(a[0], b[0]), add(a[1], b[1])


@kernel
def _twice(a):
    return scale(2.0, a[0]), scale(2.0, a[1])


@kernel
def _work(f, y):
    """Return the power of a torque and force along a motion."""
    return dot(f[0], y[0]) + dot(f[1], y[1])


@sweep
def _motions(tree, v, a, x):
    """Return for each node its velocity, its spatial acceleration including gravity, and (S, psi1,
    psi2, S1) of its degrees of freedom; root to leaves.
    """
    found: list[Any] = []
    for i in range(len(tree.parent)):
        p, r = tree.parent[i], get(x.r, i)
        zero = 0.0 * tree.ratio[i]
        v0 = (zero, zero, zero), (zero, zero, zero)
        a0 = (
            (zero, zero, zero),
            into(tree, i, x, (-tree.gravity[0], -tree.gravity[1], -tree.gravity[2])),
        )
        if p >= 0:
            v0, a0 = (
                (into(tree, i, x, y[0]), into(tree, i, x, add(y[1], cross(y[0], r))))
                for y in found[p][:2]
            )
        S = [direction(tree, i, k) for k in range(speeds(tree.motion[i]))]
        vi, ai = v0, a0
        for k in range(len(S)):
            z = v[tree.vi[i] + k]
            vi = _sum(vi, (scale(z, S[k][0]), scale(z, S[k][1])))
        rates = [_crossed(vi, s) for s in S]
        for k in range(len(S)):
            z = v[tree.vi[i] + k]
            dz = a[tree.vi[i] + k]
            ai = _sum(
                ai,
                (
                    add(scale(dz, S[k][0]), scale(z, rates[k][0])),
                    add(scale(dz, S[k][1]), scale(z, rates[k][1])),
                ),
            )
        psi1 = [_crossed(v0, s) for s in S]
        psi2 = [_sum(_crossed(a0, s), _crossed(v0, y)) for s, y in zip(S, psi1)]
        found.append((vi, ai, S, psi1, psi2, rates))
    return found


# --- what a node carries
@kernel
def _alone(tree, i, moving):
    """Return, for a node without its subtree, mass m, first moment h, second moments J, momentum P,
    K = sum m x v' over its particles, and the torque t and force f of its motion.
    """
    (w, u), (dw, s) = moving[0], moving[1]
    m = tree.mass[i]
    h = get(tree.h, i)
    J = get6(tree.J, i)
    P = add(scale(m, u), cross(w, h))
    Jw = product(((J[0], J[1], J[2]), (J[1], J[3], J[4]), (J[2], J[4], J[5])), tilde(w))
    # h u' - J w~
    K = (sub(scale(h[0], u), Jw[0]), sub(scale(h[1], u), Jw[1]), sub(scale(h[2], u), Jw[2]))
    T = angular_acceleration_tensor(w, dw)
    du = add(s, cross(w, u))
    return m, h, J, P, K, add(torque(T, J), cross(h, du)), add(scale(m, du), rotate(T, h))


@kernel
def _below(tree, i, x, carried):
    """Return the sums of `_alone`, (m, h, J, P, K, t, f), over the subtree of node i, about its
    parent's origin in its parent's axes.
    """
    m, h, J, P, K, t, f = carried
    r = get(x.r, i)
    h = out(tree, i, x, h)
    P = out(tree, i, x, P)
    f = out(tree, i, x, f)
    shifted = sadd(outer_pair(h, r), tuple(m * e for e in outer(r)))
    J = sadd(out_symmetric(tree, i, x, J), shifted)
    K = out_matrix(tree, i, x, K)
    K = (add(K[0], scale(r[0], P)), add(K[1], scale(r[1], P)), add(K[2], scale(r[2], P)))
    return m, add(h, scale(m, r)), J, P, K, add(out(tree, i, x, t), cross(r, f)), f


@kernel
def _together(a, b):
    K = (add(a[4][0], b[4][0]), add(a[4][1], b[4][1]), add(a[4][2], b[4][2]))
    return (
        a[0] + b[0],
        add(a[1], b[1]),
        sadd(a[2], b[2]),
        add(a[3], b[3]),
        K,
        add(a[5], b[5]),
        add(a[6], b[6]),
    )


@kernel
def _inertia(carried, y):
    """Return the torque and force I y of an inertia I for the motion y."""
    m = carried[0]
    h = carried[1]
    J = carried[2]
    return add(apply(inertia_tensor(J), y[0]), cross(h, y[1])), add(scale(m, y[1]), cross(y[0], h))


@kernel
def _velocity_part(carried, w):
    """Return B y of a motion with angular part w."""
    P, K = carried[3], carried[4]
    return sub(scale(K[0][0] + K[1][1] + K[2][2], w), unrotate(K, w)), cross(w, P)


# --- walks
@sweep
def _walk(tree, i, k, x, moving, carried, dq, dv, M):
    """Fill the entries of the k-th degree of freedom of node i with those of its own node and of
    its ancestors.
    """
    S, psi1, psi2, rate = (part[k] for part in moving[i][2:])
    P = carried[3]
    K = carried[4]
    n = tree.vi[i] + k
    by_q = _sum(_twice(_velocity_part(carried, psi1[0])), _inertia(carried, psi2))
    by_v = _sum(_twice(_velocity_part(carried, S[0])), _inertia(carried, _sum(psi1, rate)))
    by_a = _inertia(carried, S)
    # 2 B' S
    back = scale(
        2.0, add(sub(scale(K[0][0] + K[1][1] + K[2][2], S[0]), rotate(K, S[0])), cross(P, S[1]))
    )
    for l in range(len(moving[i][2])):
        own = moving[i][2][l]
        row = tree.vi[i] + l
        dq[row, n] += _work(by_q, own)
        dv[row, n] += _work(by_v, own)
        M[row, n] += _work(by_a, own)
    t, f = carried[5], carried[6]
    by_q = _sum(by_q, (add(cross(S[0], t), cross(S[1], f)), cross(S[0], f)))
    b = i
    while tree.parent[b] >= 0:
        by_q = _out(tree, b, x, by_q)
        by_v = _out(tree, b, x, by_v)
        by_a = _out(tree, b, x, by_a)
        back = out(tree, b, x, back)
        b = tree.parent[b]
        for l in range(len(moving[b][2])):
            S, psi1, psi2, rate = (part[l] for part in moving[b][2:])
            row = tree.vi[b] + l
            value = _work(by_a, S)
            dq[row, n] += _work(by_q, S)
            dv[row, n] += _work(by_v, S)
            M[row, n] += value
            M[n, row] += value
            dq[n, row] += dot(back, psi1[0]) + _work(by_a, psi2)
            dv[n, row] += dot(back, S[0]) + _work(by_a, _sum(psi1, rate))


@kernel
def _out(tree, i, x, pair):
    """Return a torque and force, given about node i's origin in its axes, about its parent's origin
    in its parent's axes.
    """
    f = out(tree, i, x, pair[1])
    return add(out(tree, i, x, pair[0]), cross(get(x.r, i), f)), f
