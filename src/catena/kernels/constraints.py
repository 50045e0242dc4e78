"""Closed loops in O(n): the rows that loop joints add, and forward dynamics under them.

    M a + bias = tau + A' lambda,      A a = gamma

A row is a pair of wrenches, one on each of the two bodies it joins, about their nodes' origins in their nodes' axes: the
wrench that one unit of its multiplier exerts. A and A' then never need to be written out: A' lambda is a pair of wrenches,
and A a is what those wrenches do along the motion of the two nodes. `constrained_dynamics` needs one articulated pass, then
one `respond` for each row. Rows that say the same thing twice, and configurations where rows lose rank, are met by a
proximal solve: bounded always, exact where the rows are consistent, least-norm multipliers where they are redundant.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..closure import Row, RowKind, rows
from ..mechanism import Joint
from ..spatial import add, atan2, cross, dot, floor, get, get33, kernel, neg, put, rotate, scale, sub, unrotate
from ..validate import value_of
from .dynamics import articulate, factor, net_forces, respond, solve
from .dynamics import inverse_dynamics as _inverse_dynamics
from .dynamics import mass_matrix as _mass_matrix
from .kinematics import accelerations, poses, velocities
from .motion import BALL, component, out, speeds
from .tree import Layout, as_array
from .work import Work

ACROSS_P, ACROSS_C, ANGLE, SCREW_ROW = (int(k) for k in RowKind)
TURN = 6.283185307179586
PROXIMAL, ROUNDS = 1e-9, 4  # damping beside the mean diagonal of A M^-1 A', and how often the solve is repeated


class Constraints(NamedTuple):
    """Arrays over m rows: the two seats of each row, and its vectors there."""

    kind: np.ndarray  # (m,) a RowKind
    node: np.ndarray  # (m, 2) the nodes of P and C, -1 for the ground
    R: np.ndarray  # (m, 2, 3, 3) rotation of the joint's frame on its node
    p: np.ndarray  # (m, 2, 3) origin of the joint's frame on its node
    a: np.ndarray  # (m, 3) vector of P
    b: np.ndarray  # (m, 3) vector of C
    value: np.ndarray  # (m,) cosine or pitch
    loop: np.ndarray  # (m,) index of the loop joint


def constraints(layout: Layout, value: Any, keep: Any = None) -> Constraints:
    """The table of a layout's loops; `keep` lists the rows to keep, by default all."""
    found: list[tuple[int, Joint, Row]] = [(k, j, row) for k, j in enumerate(layout.mechanism.loops) for row in loop_rows(j)]
    found = [found[k] for k in keep] if keep is not None else found
    m = len(found)
    columns: dict[str, list] = {name: [] for name in ("R", "p", "a", "b", "value")}
    nodes = np.zeros((m, 2), np.int64)
    for k, (_, j, row) in enumerate(found):
        seats = [(layout.seats[j.parent], j.placement), (layout.seats[j.child], j.offset)]
        X = [seat.pose @ pose for seat, pose in seats]
        nodes[k] = [seat.node for seat, _ in seats]
        columns["R"].append([[[value(x) for x in r] for r in pose.rotation] for pose in X])
        columns["p"].append([[value(x) for x in pose.position] for pose in X])
        columns["a"].append(list(row.a))
        columns["b"].append(list(row.b))
        columns["value"].append(value(row.value))
    shapes = {"R": (m, 2, 3, 3), "p": (m, 2, 3), "a": (m, 3), "b": (m, 3), "value": (m,)}
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
    m, nv, rng = len(con.kind), layout.nv, np.random.default_rng(0)
    size = np.zeros(m)
    for _ in range(3 if m else 0):
        q, x = rng.standard_normal(layout.nq), Work.empty(len(layout.nodes))
        for node in layout.nodes:
            if node.motion == BALL:
                q[node.qi : node.qi + 4] /= np.linalg.norm(q[node.qi : node.qi + 4])
        W, A, zeros = np.zeros((m, 12)), np.zeros((m, nv)), np.zeros(nv)
        evaluate_rows(tree, con, q, zeros, zeros, x, W, *np.zeros((3, m)))
        row_jacobian(tree, con, W, x, A)
        size = np.maximum(size, np.abs(A).max(axis=1))
    return [k for k in range(m) if size[k] > 1e-9 * size.max(initial=0.0)]


def row_names(layout: Layout) -> list[tuple[str, str]]:
    """(joint, direction) of every active row, in order."""
    found = [(j.name, row.label) for j in layout.mechanism.loops for row in loop_rows(j)]
    return [found[k] for k in active_rows(layout)]


@kernel
def _end(con, k, side, x):
    """One end of row k in the ground's axes: rotation and origin of its frame, its angular velocity and velocity, and
    the accelerations it has with a = 0."""
    i = con.node[k, side]
    R0 = get33(con.R[k], side)
    p0 = get(con.p[k], side)
    zero = 0.0 * p0[0]
    if i < 0:
        return R0, p0, (zero, zero, zero), (zero, zero, zero), (zero, zero, zero), (zero, zero, zero)
    N = get33(x.R, i)
    R = (rotate(N, (R0[0][0], R0[1][0], R0[2][0])), rotate(N, (R0[0][1], R0[1][1], R0[2][1])),
         rotate(N, (R0[0][2], R0[1][2], R0[2][2])))  # fmt: skip
    R = ((R[0][0], R[1][0], R[2][0]), (R[0][1], R[1][1], R[2][1]), (R[0][2], R[1][2], R[2][2]))
    w, u = get(x.w, i), get(x.u, i)
    dw, du = get(x.dw, i), add(get(x.du, i), rotate(get33(x.T, i), p0))
    return (R, add(get(x.p, i), rotate(N, p0)), rotate(N, w), rotate(N, add(u, cross(w, p0))), rotate(N, dw), rotate(N, du))


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


@kernel
def evaluate_rows(tree, con, q, v, zeros, x, W, gamma, error, rate):
    """The rows at a state: wrench pairs W (m, 12), gamma with A a = gamma, residuals and their rates.

    error and rate are what assembly and projection drive to zero. Leaves poses and velocities in x.
    """
    poses(tree, q, x)
    velocities(tree, q, v, x)
    accelerations(tree, q, v, zeros, (zeros[0] * 0.0, zeros[0] * 0.0, zeros[0] * 0.0), x)
    for k in range(len(con.kind)):
        RP, pP, wP, uP, dwP, aP = _end(con, k, 0, x)
        RC, pC, wC, uC, dwC, aC = _end(con, k, 1, x)
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
                h, side_C, side_P = con.value[k], rotate(RC, get(con.b, k)), rotate(RP, get(con.b, k))
                error[k] -= h * atan2(dot(side_C, cross(D, side_P)), dot(side_C, side_P))
                error[k] -= (TURN * h) * floor(error[k] / (TURN * h) + 0.5)  # whole turns do not count
                rate[k] -= h * dot(D, sub(wC, wP))
                gamma[k] += h * (dot(D, sub(dwC, dwP)) + dot(D1, sub(wC, wP)))
                onP, onC = add(onP, scale(h, D)), sub(onC, scale(h, D))
            _pull(con, k, 0, x, onP, neg(D), W)
            _pull(con, k, 1, x, onC, D, W)


@kernel
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


@kernel
def _done(con, k, W, x):
    """A_k a for the motion J a that `respond` left in x."""
    total = 0.0 * W[k, 0]
    for side in range(2):
        i, o = con.node[k, side], 6 * side
        if i >= 0:
            total += dot((W[k, o], W[k, o + 1], W[k, o + 2]), get(x.dw, i))
            total += dot((W[k, o + 3], W[k, o + 4], W[k, o + 5]), get(x.du, i))
    return total


@kernel
def proximal(S, b, lam, L):
    """lam with S lam = b: repeated (S + e) lam' = b + e lam from zero. Bounded, least-norm where S is singular."""
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
    factor_rows(L, m)
    y = L[m]
    for _ in range(ROUNDS):
        for i in range(m):
            y[i] = b[i]
            for j in range(m):
                y[i] -= S[i, j] * lam[j]
        solve_rows(L, y, m)
        for i in range(m):
            lam[i] += y[i]


@kernel
def factor_rows(L, n):
    """As `dynamics.factor`, for the first n rows of L."""
    for k in range(n - 1, -1, -1):
        d = 1.0 / L[k, k]
        for i in range(k - 1, -1, -1):
            g = d * L[k, i]
            for j in range(i, -1, -1):
                L[i, j] -= g * L[k, j]
            L[k, i] = g


@kernel
def solve_rows(L, b, n):
    """As `dynamics.solve`, for the first n rows of L."""
    for i in range(n - 1, -1, -1):
        for j in range(i):
            b[j] -= L[i, j] * b[i]
    for i in range(n):
        b[i] = b[i] / L[i, i]
        for j in range(i):
            b[i] -= L[i, j] * b[j]


@kernel
def constrained_dynamics(tree, con, q, v, tau, wrench, zeros, x, W, gamma, error, rate, Y, S, L, a, lam):
    """a and lam of the forces tau under the rows, by articulated passes: one full, one `respond` a row.

    Scratch: W (m, 12), gamma, error, rate (m,), Y (m, nv), S (m, m), L (m + 1, m). gamma comes in as what is to be added
    to it (a stabilising term, or zeros).
    """
    m, n = len(con.kind), len(tree.parent)
    for k in range(m):
        lam[k] = gamma[k]
    evaluate_rows(tree, con, q, v, zeros, x, W, gamma, error, rate)
    net_forces(tree, q, v, zeros, wrench, x)
    articulate(tree, x)
    respond(tree, tau, x, a)
    for k in range(m):
        gamma[k] += lam[k] - _done(con, k, W, x)
    for k in range(m):
        for i in range(n):
            put(x.t, i, (0.0 * x.r[i, 0], 0.0 * x.r[i, 0], 0.0 * x.r[i, 0]))
            put(x.f, i, (0.0 * x.r[i, 0], 0.0 * x.r[i, 0], 0.0 * x.r[i, 0]))
        for side in range(2):
            i, o = con.node[k, side], 6 * side
            if i >= 0:
                for d in range(3):
                    x.t[i, d] -= W[k, o + d]
                    x.f[i, d] -= W[k, o + 3 + d]
        respond(tree, zeros, x, Y[k])
        for l in range(m):
            S[l, k] = _done(con, l, W, x)
    proximal(S, gamma, lam, L)
    for k in range(m):
        for i in range(len(a)):
            a[i] += Y[k, i] * lam[k]


@kernel
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
