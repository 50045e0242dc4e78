"""The constraint rows of loop joints.

    M a + bias = tau + A' lambda,      A a = gamma

A row is a pair of wrenches, one on each of the two bodies that it joins, about their nodes' origins
in their nodes' axes: the wrenches of one unit of its multiplier. A and A' then never need to be
formed: A' lambda is a pair of wrenches, and A a is the power of these wrenches along the motion of
the two nodes. `constrained_dynamics` has the dynamics under them.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..model import ClosureRow, Joint, RowKind, value_of
from ..spatial import (
    add,
    atan2,
    cross,
    dot,
    floor,
    get,
    get33,
    kernel,
    neg,
    rotate,
    scale,
    sub,
    sweep,
    unrotate,
)
from .kinematics import accelerations, states
from .lifting import Lift
from .motion import BALL, component, out, speeds
from .rank import EXACT, column_scales, loop_length
from .tree import Layout, as_array
from .workspace import Work

ACROSS_P, ACROSS_C, ANGLE, SCREW_ROW = (int(k) for k in RowKind)
TURN = 6.283185307179586


class Constraints(NamedTuple):
    """Arrays over m rows: the two seats (places on nodes) of each row, and its vectors there."""

    kind: np.ndarray  # (m,) a RowKind
    node: np.ndarray  # (m, 2) the nodes of P and C, -1 for the ground
    p: np.ndarray  # (m, 2, 3) origin of the joint's frame on its node
    a: np.ndarray  # (m, 3) the row's vector a on P, in its node's axes
    b: np.ndarray  # (m, 3) the row's vector b on C, in its node's axes
    c: np.ndarray  # (m, 3) b on P, in its node's axes: where b lies when a screw has not turned
    value: np.ndarray  # (m,) cosine or pitch
    loop: np.ndarray  # (m,) index of the loop joint
    column: np.ndarray  # (nv,) the scale C of the speeds, and
    size: np.ndarray  # (m,) that of the rows, N, where rank is decided (`rank`)


def constraints(layout: Layout, value: Any, keep: Any = None) -> Constraints:
    """Return the table of the loops of a layout; `keep` lists the rows to include, by default
    all.
    """
    found: list[tuple[int, Joint, ClosureRow]] = [
        (k, j, row) for k, j in enumerate(layout.mechanism.loops) for row in j.closure
    ]
    found = [found[k] for k in keep] if keep is not None else found
    m = len(found)
    columns: dict[str, list[Any]] = {name: [] for name in ("p", "a", "b", "c", "value")}
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
    lengths = [loop_length(layout, j) for j in layout.mechanism.loops]
    sizes = np.array([1.0 if row.kind == RowKind.ANGLE else lengths[k] ** 2 for k, _, row in found])
    return Constraints(
        kind=kinds, node=nodes, loop=loops, column=column_scales(layout), size=sizes, **arrays
    )


_active: WeakKeyDictionary[Layout, list[int]] = WeakKeyDictionary()


def active_rows(layout: Layout) -> list[int]:
    """Return the indices of the rows that are not zero at every configuration; the result is
    cached.

    In space, a planar loop has rows out of its plane that its joints imply already; such rows are
    dropped.
    """
    if layout not in _active:
        _active[layout] = _found_active(layout)
    return _active[layout]


def _found_active(layout: Layout) -> list[int]:
    value = lambda x: x if isinstance(x, float) else value_of(x, layout.mechanism.parameters)  # noqa: E731
    con = constraints(layout, value)
    tree = layout.tree()
    m = len(con.kind)
    n = layout.nv + len(layout.followers)
    rng = np.random.default_rng(0)
    size = np.zeros(m)
    scale = np.sqrt(con.column)
    for _ in range(3 if m else 0):
        q = layout.sample(rng)
        x = Work.empty(len(layout.nodes))
        for place in layout.coordinates:
            if place.motion != BALL:
                q[place.qi] *= scale[place.vi]
        W = np.zeros((m, 12))
        A = np.zeros((m, n))
        zeros = np.zeros(n)
        lift = Lift(layout, value, q)
        evaluate_rows(tree, con, np.array(lift.q), zeros, zeros, x, W, *np.zeros((3, m)))
        row_jacobian(tree, con, W, x, A)
        size = np.maximum(
            size, np.abs([lift.back(row) * scale for row in A]).max(axis=1) / np.sqrt(con.size)
        )
    return [k for k in range(m) if size[k] > EXACT]


def row_names(layout: Layout) -> list[tuple[str, str]]:
    """Return (joint, direction) of every active row, in order."""
    found = [(j.name, row.label) for j in layout.mechanism.loops for row in j.closure]
    return [found[k] for k in active_rows(layout)]


@kernel
def _end(con, k, side, base, x):
    """Return the state of one end of row k in the ground's axes: its node's rotation, its origin,
    angular velocity and velocity, and its accelerations for a = 0, where the ground has the
    acceleration `base`.
    """
    i = con.node[k, side]
    p0 = get(con.p[k], side)
    zero = 0.0 * p0[0]
    none = (zero, zero, zero)
    if i < 0:
        one = 1.0 + zero
        return ((one, zero, zero), (zero, one, zero), (zero, zero, one)), p0, none, none, none, base
    N, w = get33(x.R, i), get(x.w, i)
    u = add(get(x.u, i), cross(w, p0))
    du = add(get(x.du, i), rotate(get33(x.T, i), p0))
    return (
        N,
        add(get(x.p, i), rotate(N, p0)),
        rotate(N, w),
        rotate(N, u),
        rotate(N, get(x.dw, i)),
        rotate(N, du),
    )


@kernel
def _pull(con, k, side, x, n, f, W):
    """Store in W[k] the wrench of row k on one side: torque n at the joint's frame and force f, in
    the ground's axes.
    """
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
    """Evaluate the rows at a state: wrench pairs W (m, 12), gamma with A a = gamma, the residuals
    `error` and their rates.

    Assembly and projection drive error and rate to zero. Leaves poses and velocities in x.
    """
    base = (zeros[0] * 0.0, zeros[0] * 0.0, zeros[0] * 0.0)
    accelerations(tree, q, v, zeros, base, x)
    rows_of_motion(tree, con, v, base, x, W, gamma, error, rate)


@sweep
def rows_of_motion(tree, con, v, base, x, W, gamma, error, rate):
    """Evaluate the rows as `evaluate_rows`, where `accelerations` with a = 0 and that base are in x
    already.
    """
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
            A = rotate(RP, get(con.a, k))
            B = rotate(RC, get(con.b, k))
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
                h = con.value[k]
                side_C = rotate(RC, get(con.b, k))
                side_P = rotate(RP, get(con.c, k))
                error[k] -= h * atan2(dot(side_C, cross(D, side_P)), dot(side_C, side_P))
                # whole turns do not count
                error[k] -= (TURN * h) * floor(error[k] / (TURN * h) + 0.5)
                rate[k] -= h * dot(D, sub(wC, wP))
                gamma[k] += h * (dot(D, sub(dwC, dwP)) + dot(D1, sub(wC, wP)))
                onP = add(onP, scale(h, D))
                onC = sub(onC, scale(h, D))
            _pull(con, k, 0, x, onP, neg(D), W)
            _pull(con, k, 1, x, onC, D, W)


@sweep
def row_jacobian(tree, con, W, x, A):
    """Fill A (m, nv), zeros on entry: each wrench pair is carried to the root. Needs placed nodes
    in x.
    """
    for k in range(len(con.kind)):
        for side in range(2):
            i, o = con.node[k, side], 6 * side
            if i < 0:
                continue
            t = (W[k, o], W[k, o + 1], W[k, o + 2])
            f = (W[k, o + 3], W[k, o + 4], W[k, o + 5])
            while i >= 0:
                for j in range(speeds(tree.motion[i])):
                    A[k, tree.vi[i] + j] += component(tree, i, j, t, f)
                f = out(tree, i, x, f)
                t = add(out(tree, i, x, t), cross(get(x.r, i), f))
                i = tree.parent[i]


@kernel
def on_child(con, x, W, k):
    """Return the wrench pair of row k as one wrench on its child, about the ground's origin in its
    axes; the two ends have opposite ones.
    """
    side = 1 if con.node[k, 1] >= 0 else 0
    i = con.node[k, side]
    o = 6 * side
    sign = 1.0 if side else -1.0
    if i < 0:
        return (0.0,) * 6
    N = get33(x.R, i)
    f = scale(sign, rotate(N, (W[k, o + 3], W[k, o + 4], W[k, o + 5])))
    return (
        *add(scale(sign, rotate(N, (W[k, o], W[k, o + 1], W[k, o + 2]))), cross(get(x.p, i), f)),
        *f,
    )
