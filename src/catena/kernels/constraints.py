"""Closed loops in O(n): the rows that loop joints add, and forward dynamics under them.

    M a + bias = tau + A' lambda,      A a = gamma

A row is a pair of wrenches, one on each of the two bodies it joins, about their nodes' origins in their nodes' axes: the
wrench that one unit of its multiplier exerts. A and A' then never need to be written out: A' lambda is a pair of wrenches,
and A a is what those wrenches do along the motion of the two nodes. `constrained_dynamics` needs one articulated pass, and
one walk from its nodes to the root for each row. Rows that say the same thing twice, and configurations where rows lose rank, are met by a
proximal solve: bounded always, exact where the rows are consistent, least-norm multipliers where they are redundant.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..closure import Row, RowKind, rows
from ..mechanism import Joint
from ..spatial import (
    accumulate,
    add,
    apply,
    atan2,
    cross,
    dot,
    floor,
    get,
    get6,
    get33,
    kernel,
    neg,
    put,
    rotate,
    scale,
    select,
    sub,
    sweep,
    unrotate,
)
from ..validate import value_of
from .dynamics import articulate, factor, follow, give_way, net_forces, press, solve
from .dynamics import inverse_dynamics as _inverse_dynamics
from .dynamics import mass_matrix as _mass_matrix
from .kinematics import accelerations, states
from .lifting import Lift
from .motion import BALL, component, out, speeds
from .tree import Layout, as_array
from .work import Work

ACROSS_P, ACROSS_C, ANGLE, SCREW_ROW = (int(k) for k in RowKind)
TURN = 6.283185307179586
KEEP = 30.0  # a pivot below so many e belongs to a row that repeats others
PROXIMAL, ROUNDS = 1e-9, 4  # damping beside the mean diagonal of A M^-1 A', and how often the solve is repeated


class Constraints(NamedTuple):
    """Arrays over m rows: the two seats of each row, and its vectors there."""

    kind: np.ndarray  # (m,) a RowKind
    node: np.ndarray  # (m, 2) the nodes of P and C, -1 for the ground
    p: np.ndarray  # (m, 2, 3) origin of the joint's frame on its node
    a: np.ndarray  # (m, 3) the row's vector a on P, in its node's axes
    b: np.ndarray  # (m, 3) the row's vector b on C, in its node's axes
    c: np.ndarray  # (m, 3) b on P, in its node's axes: where b lies when a screw has not turned
    value: np.ndarray  # (m,) cosine or pitch
    loop: np.ndarray  # (m,) index of the loop joint


def constraints(layout: Layout, value: Any, keep: Any = None) -> Constraints:
    """The table of a layout's loops; `keep` lists the rows to keep, by default all."""
    found: list[tuple[int, Joint, Row]] = [(k, j, row) for k, j in enumerate(layout.mechanism.loops) for row in loop_rows(j)]
    found = [found[k] for k in keep] if keep is not None else found
    m = len(found)
    columns: dict[str, list] = {name: [] for name in ("p", "a", "b", "c", "value")}
    nodes = np.zeros((m, 2), np.int64)
    for k, (_, j, row) in enumerate(found):
        seats = [(layout.seats[j.parent], j.placement), (layout.seats[j.child], j.offset)]
        X = [seat.pose @ pose for seat, pose in seats]
        nodes[k] = [seat.node for seat, _ in seats]
        P, C = (tuple(tuple(value(x) for x in r) for r in pose.rotation) for pose in X)
        columns["p"].append([[value(x) for x in pose.position] for pose in X])
        columns["a"].append(list(rotate(P, row.a)))
        columns["b"].append(list(rotate(C, row.b)))
        columns["c"].append(list(rotate(P, row.b)))
        columns["value"].append(value(row.value))
    shapes = {"p": (m, 2, 3), "a": (m, 3), "b": (m, 3), "c": (m, 3), "value": (m,)}
    kinds = np.array([int(row.kind) for _, _, row in found], np.int64)
    loops = np.array([k for k, _, _ in found], np.int64)
    arrays = {n: as_array(columns[n], shapes[n]) for n in shapes}
    return Constraints(kind=kinds, node=nodes, loop=loops, **arrays)


def loop_rows(j: Joint) -> tuple[Row, ...]:
    """What a loop joint forbids."""
    return rows(j.kind, j.axis, j.pitch, j.sequence)


def active_rows(layout: Layout) -> list[int]:
    """The rows that can ever act: those that are not zero, whatever the configuration.

    A planar loop in space says nothing across its plane that its joints do not say already; such rows are left out.
    """
    value = lambda x: x if isinstance(x, float) else value_of(x, layout.mechanism.parameters)  # noqa: E731
    con, tree = constraints(layout, value), layout.tree()
    m, n, rng = len(con.kind), layout.nv + len(layout.followers), np.random.default_rng(0)
    size = np.zeros(m)
    for _ in range(3 if m else 0):
        q, x = rng.standard_normal(layout.nq), Work.empty(len(layout.nodes))
        for node in layout.nodes:
            if node.motion == BALL:
                q[node.qi : node.qi + 4] /= np.linalg.norm(q[node.qi : node.qi + 4])
        W, A, zeros = np.zeros((m, 12)), np.zeros((m, n)), np.zeros(n)
        lift = Lift(layout, value, q)
        evaluate_rows(tree, con, np.array(lift.q), zeros, zeros, x, W, *np.zeros((3, m)))
        row_jacobian(tree, con, W, x, A)
        size = np.maximum(size, np.abs([lift.back(row) for row in A]).max(axis=1))
    return [k for k in range(m) if size[k] > 1e-9 * size.max(initial=0.0)]


def row_names(layout: Layout) -> list[tuple[str, str]]:
    """(joint, direction) of every active row, in order."""
    found = [(j.name, row.label) for j in layout.mechanism.loops for row in loop_rows(j)]
    return [found[k] for k in active_rows(layout)]


@kernel
def _end(con, k, side, base, x):
    """One end of row k in the ground's axes: its node's rotation, its origin, angular velocity and velocity, and the
    accelerations it has with a = 0, where the ground has `base`."""
    i = con.node[k, side]
    p0 = get(con.p[k], side)
    zero = 0.0 * p0[0]
    none = (zero, zero, zero)
    if i < 0:
        one = 1.0 + zero
        return ((one, zero, zero), (zero, one, zero), (zero, zero, one)), p0, none, none, none, base
    N, w = get33(x.R, i), get(x.w, i)
    u, du = add(get(x.u, i), cross(w, p0)), add(get(x.du, i), rotate(get33(x.T, i), p0))
    return N, add(get(x.p, i), rotate(N, p0)), rotate(N, w), rotate(N, u), rotate(N, get(x.dw, i)), rotate(N, du)


@kernel
def _pull(con, k, side, x, n, f, W):
    """Store the wrench of row k on one side: torque n at the joint's frame and force f, ground's axes, into W[k]."""
    i = con.node[k, side]
    o = 6 * side
    if i < 0:
        for d in range(6):
            W[k, o + d] = 0.0 * n[0]
        return
    N = get33(x.R, i)
    f = unrotate(N, f)
    n = add(unrotate(N, n), cross(get(con.p[k], side), f))
    for d in range(3):
        W[k, o + d] = n[d]
        W[k, o + 3 + d] = f[d]


@sweep
def evaluate_rows(tree, con, q, v, zeros, x, W, gamma, error, rate):
    """The rows at a state: wrench pairs W (m, 12), gamma with A a = gamma, residuals and their rates.

    error and rate are what assembly and projection drive to zero. Leaves poses and velocities in x.
    """
    base = (zeros[0] * 0.0, zeros[0] * 0.0, zeros[0] * 0.0)
    accelerations(tree, q, v, zeros, base, x)
    rows_of_motion(tree, con, v, base, x, W, gamma, error, rate)


@sweep
def rows_of_motion(tree, con, v, base, x, W, gamma, error, rate):
    """The same where `accelerations` with a = 0 and that base are in x already."""
    states(tree, v, x)
    if len(con.kind) == 0:
        return
    RP, pP, wP, uP, dwP, aP = _end(con, 0, 0, base, x)
    RC, pC, wC, uC, dwC, aC = _end(con, 0, 1, base, x)
    for k in range(len(con.kind)):
        if k > 0 and con.loop[k] != con.loop[k - 1]:  # the rows of one joint have the same ends
            RP, pP, wP, uP, dwP, aP = _end(con, k, 0, base, x)
            RC, pC, wC, uC, dwC, aC = _end(con, k, 1, base, x)
        if con.kind[k] == ANGLE:
            A, B = rotate(RP, get(con.a, k)), rotate(RC, get(con.b, k))
            axis = cross(A, B)  # (A.B)' = (A x B).(wP - wC)
            A1, B1 = cross(wP, A), cross(wC, B)
            error[k] = dot(A, B) - con.value[k]
            rate[k] = dot(axis, sub(wP, wC))
            curved = dot(add(cross(dwP, A), cross(wP, A1)), B) + 2.0 * dot(A1, B1)
            gamma[k] = -(curved + dot(A, add(cross(dwC, B), cross(wC, B1))))
            zero = 0.0 * axis[0]
            _pull(con, k, 0, x, axis, (zero, zero, zero), W)
            _pull(con, k, 1, x, neg(axis), (zero, zero, zero), W)
        else:
            gap, opening = sub(pC, pP), sub(uC, uP)
            by_C = con.kind[k] == ACROSS_C
            D = rotate(RC, get(con.b, k)) if by_C else rotate(RP, get(con.a, k))
            w, dw = (wC, dwC) if by_C else (wP, dwP)
            D1 = cross(w, D)
            D2 = add(cross(dw, D), cross(w, D1))
            turn = cross(D, gap)  # (w x D).gap = w.(D x gap)
            error[k] = dot(D, gap)
            rate[k] = dot(D, opening) + dot(D1, gap)
            gamma[k] = -(dot(D, sub(aC, aP)) + 2.0 * dot(D1, opening) + dot(D2, gap))
            onP, onC = turn, scale(0.0, turn)
            if by_C:
                onP, onC = onC, onP
            if con.kind[k] == SCREW_ROW:
                h, side_C, side_P = con.value[k], rotate(RC, get(con.b, k)), rotate(RP, get(con.c, k))
                error[k] -= h * atan2(dot(side_C, cross(D, side_P)), dot(side_C, side_P))
                error[k] -= (TURN * h) * floor(error[k] / (TURN * h) + 0.5)  # whole turns do not count
                rate[k] -= h * dot(D, sub(wC, wP))
                gamma[k] += h * (dot(D, sub(dwC, dwP)) + dot(D1, sub(wC, wP)))
                onP, onC = add(onP, scale(h, D)), sub(onC, scale(h, D))
            _pull(con, k, 0, x, onP, neg(D), W)
            _pull(con, k, 1, x, onC, D, W)


@sweep
def row_jacobian(tree, con, W, x, A):
    """A (m, nv) written out, zeros on entry: each wrench pair carried down to the root. Needs placed nodes in x."""
    for k in range(len(con.kind)):
        for side in range(2):
            i, o = con.node[k, side], 6 * side
            if i < 0:
                continue
            t, f = (W[k, o], W[k, o + 1], W[k, o + 2]), (W[k, o + 3], W[k, o + 4], W[k, o + 5])
            while i >= 0:
                for j in range(speeds(tree.motion[i])):
                    A[k, tree.vi[i] + j] += component(tree, i, j, t, f)
                f = out(tree, i, x, f)
                t = add(out(tree, i, x, t), cross(get(x.r, i), f))
                i = tree.parent[i]


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


@sweep
def _resist(tree, con, k, W, zeros, x, u):
    """u (nv,): what the freedoms feel of one unit of row k, leaves to root, each giving way with its articulated inertia.

    Leaves D u in y. For two rows A_l M^-1 A_k' is the sum of u_l D u_k over the nodes below both.
    """
    i, j = con.node[k, 0], con.node[k, 1]
    zero = 0.0 * W[k, 0]
    while i >= 0 or j >= 0:
        if i < j:
            i, j = j, i
        if i == j:
            j = -1
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
        if i < j:
            i, j = j, i
        if i == j:
            j = -1
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
        if i < j:
            i, j = j, i
        if i == j:
            j = -1
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
