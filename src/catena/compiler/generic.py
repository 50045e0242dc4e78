"""Life one: the kernels compiled once by Numba, for any mechanism of any size.

Compiled code finds a mechanism's arrays through a `handle`, the address of a small table of addresses: handing over one
integer costs nothing, where handing over forty arrays would cost more than the dynamics. The functions here fill rows of
results for rows of states; `one_state` has those that a single state takes. Each is compiled at its first use and kept.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import types
from numba.extending import register_jitable as kernel

from ..kernels import dynamics, kinematics
from ..kernels.constrained_dynamics import constrained_dynamics, constrained_dynamics_dense
from ..kernels.constraint_rows import Constraints, active_rows, constraints, evaluate_rows, row_jacobian
from ..kernels.coriolis import coriolis_matrix as _coriolis
from ..kernels.motion import BALL
from ..kernels.reactions import BodyTable, body_table, joint_wrenches
from ..kernels.tree import SNAP, Layout, Tree
from ..kernels.workspace import Work
from . import numba_cache
from .array_view import grid, viewer

ARITHMETIC = {"error_model": "numpy", "fastmath": {"contract", "nsz"}}
OPTIONS = {"nogil": True, **ARITHMETIC}

UNIT = 1e-6  # a quaternion's squared length may differ from one by so much
SINGULAR = 1e13  # an inertia so many times its own pivot cannot be inverted in doubles

_I, _R = types.int64, types.float64
_VEC, _MAT, _CUBE = _R[::1], _R[:, ::1], _R[:, :, ::1]


class Handle:
    """A mechanism's arrays, with scratch memory of its own, behind one integer address.

    Not for two threads at once: each thread makes its own with `again()`.
    """

    def __init__(self, layout: Layout, snap: float = SNAP, tree: Tree | None = None, bodies: BodyTable | None = None):
        value = lambda x: x if isinstance(x, float) else float(x.subs(layout.mechanism.parameters))  # noqa: E731
        self.layout = layout
        self.tree = tree if tree is not None else layout.tree(snap=snap)
        self.bodies = bodies if bodies is not None else body_table(layout, value)
        self.constraints = constraints(layout, value, active_rows(layout))
        n, nv, count = len(layout.nodes), layout.nv, len(self.bodies.node)
        freedoms = sum(3 if k == BALL else 1 for k in self.tree.motion)
        self.work = Work.empty(n)
        scratch = (np.zeros(nv), np.zeros((n, 6)), np.zeros((nv, nv) if nv <= 4000 else (0, 0)), np.zeros((count, 6)))
        rows = (np.zeros((freedoms, 6)), np.zeros((freedoms, 6)))
        m = len(self.constraints.kind)
        wide = (m, nv)
        shapes = ((m, 12), (m,), (m,), (m,), wide, wide, (m, m), (m, m), (2, m), (m,), wide if layout.coupled else (0, 0))
        closing = (*self.constraints, *(np.zeros(shape) for shape in shapes))
        self._arrays = (*self.tree, *self.work, *scratch, *self.bodies, *rows, *closing)
        sizes = (n, layout.nq, nv, count, freedoms, m)
        self._table = np.array([*sizes, *(a.ctypes.data for a in self._arrays)], np.int64)
        self.address = int(self._table.ctypes.data)

    def again(self) -> Handle:
        """The same mechanism with scratch memory of its own."""
        return Handle(self.layout, tree=self.tree, bodies=self.bodies)


# ------------------------------------------------------------------------------------------ from address to views
_ints1, _ints2 = viewer(types.int64), viewer(types.int64, 2)
_vec, _r3, _r6, _r33 = viewer(types.float64), viewer(types.float64, 3), viewer(types.float64, 6), viewer(types.float64, 3, 3)
_r12, _r23 = viewer(types.float64, 12), viewer(types.float64, 2, 3)


@kernel
def _vector(x):
    """A vector that was handed over, as a view."""
    return _vec(x.ctypes.data, len(x))


@kernel
def _part(x, b, n):
    """The first n entries of row b of a matrix, as a view."""
    return _vec(x.ctypes.data + 8 * b * x.shape[1], n)


@kernel
def _row(x, b):
    """Row b of a matrix, as a view."""
    return _part(x, b, x.shape[1])


@kernel
def _six(x, b):
    """Row b of a matrix, as rows of six."""
    return _r6(x.ctypes.data + 8 * b * x.shape[1], x.shape[1] // 6)


@kernel
def _cleared(M):
    """The matrix, with zeros in it."""
    for i in range(len(M)):
        row = M[i]
        for j in range(len(row)):
            row[j] = 0.0
    return M


@kernel
def _sizes(handle):
    table = _ints1(handle, 5)
    return table[0], table[1], table[2]


@kernel
def _tree(handle):
    t = _ints1(handle, 20)
    n, nv = t[0], t[2]
    return Tree(
        _ints1(t[6], n), _ints1(t[7], n), _ints1(t[8], n), _ints1(t[9], n), _vec(t[10], n), _vec(t[11], n), _vec(t[12], n),
        _r33(t[13], n), _r3(t[14], n), _vec(t[15], n), _r3(t[16], n), _r6(t[17], n),
        _vec(t[18], nv), _vec(t[19], 3),
    )  # fmt: skip


@kernel
def _work(handle):
    t = _ints1(handle, 41)
    n = t[0]
    return Work(
        _vec(t[20], n), _vec(t[21], n), _r33(t[22], n), _r3(t[23], n), _r3(t[24], n),
        _r3(t[25], n), _r3(t[26], n), _r3(t[27], n), _r33(t[28], n), _r3(t[29], n),
        _r3(t[30], n), _vec(t[31], n), _r3(t[32], n), _r6(t[33], n), _r6(t[34], n),
        _r33(t[35], n), _r6(t[36], n), _r6(t[37], n), _r3(t[38], n), _r33(t[39], n),
        _r3(t[40], n),
    )  # fmt: skip


@kernel
def _zeros(handle):
    t = _ints1(handle, 45)
    return _vec(t[41], t[2]), _r6(t[42], t[0])


@kernel
def _square(handle):
    t = _ints1(handle, 45)
    return grid(t[43], t[2], t[2])


@kernel
def _bodies(handle):
    t = _ints1(handle, 54)
    b = t[3]
    return BodyTable(
        _ints1(t[45], b), _ints1(t[46], b), _r33(t[47], b), _r3(t[48], b), _vec(t[49], b),
        _r3(t[50], b), _r6(t[51], b),
    ), _r6(t[44], b)  # fmt: skip


@kernel
def _closing(handle):
    """The constraint rows, and their scratch memory W, gamma, error, rate, Y, H, S, G, L, lam."""
    t = _ints1(handle, 75)
    m, nv = t[5], t[2]
    con = Constraints(
        _ints1(t[54], m), _ints2(t[55], m), _r23(t[56], m), _r3(t[57], m), _r3(t[58], m),
        _r3(t[59], m), _vec(t[60], m), _ints1(t[61], m), _vec(t[62], nv), _vec(t[63], m),
    )  # fmt: skip
    return con, (
        _r12(t[64], m), _vec(t[65], m), _vec(t[66], m), _vec(t[67], m), grid(t[68], m, nv), grid(t[69], m, nv),
        grid(t[70], m, m), grid(t[71], m, m), grid(t[72], 2, m), _vec(t[73], m),
    ), grid(t[74], m, nv)  # fmt: skip


# ------------------------------------------------------------------------------------------ rows of states
@kernel
def _constrained(handle, tree, q, v, tau, wrench, coupled, a):
    """a under the loops' rows; the multipliers stay in the handle's memory."""
    con, (W, gamma, error, rate, Y, H, S, G, L, lam), A = _closing(handle)
    zeros, x = _zeros(handle)[0], _work(handle)
    for k in range(len(gamma)):
        gamma[k] = 0.0
    if coupled:
        M = _cleared(_square(handle))
        constrained_dynamics_dense(
            tree, con, q, v, tau, wrench, zeros, x, W, gamma, error, rate, Y, H, S, G, L, a, lam, M, _cleared(A)
        )
    else:
        constrained_dynamics(tree, con, q, v, tau, wrench, zeros, x, W, gamma, error, rate, Y, H, S, G, L, a, lam)


def constrained_dynamics_rows(handle, q, v, tau, wrench, coupled, out):
    """a and the multipliers, side by side, by rows."""
    tree, none, nv = _tree(handle), _zeros(handle)[1], v.shape[1]
    lam = _closing(handle)[1][9]
    for b in range(len(q)):
        loads = _six(wrench, b) if len(wrench) else none
        _constrained(handle, tree, _row(q, b), _row(v, b), _row(tau, b), loads, coupled, _part(out, b, nv))
        for k in range(len(lam)):
            out[b, nv + k] = lam[k]


def constraint_rows(handle, q, v, out):
    """By rows: residuals (m), their rates (m), gamma (m), then A (m nv) row by row."""
    tree, x, zeros = _tree(handle), _work(handle), _zeros(handle)[0]
    con, (W, gamma, error, rate, Y, _, _, _, _, _), _ = _closing(handle)
    m, nv = len(gamma), v.shape[1]
    for b in range(len(q)):
        evaluate_rows(tree, con, _row(q, b), _row(v, b), zeros, x, W, gamma, error, rate)
        row_jacobian(tree, con, W, x, _cleared(Y))
        for k in range(m):
            out[b, k], out[b, m + k], out[b, 2 * m + k] = error[k], rate[k], gamma[k]
            for i in range(nv):
                out[b, 3 * m + k * nv + i] = Y[k, i]


def inverse_dynamics(handle, q, v, a, wrench, out):
    """tau by rows; wrench is (rows, 6 n) or has no rows."""
    tree, x, none = _tree(handle), _work(handle), _zeros(handle)[1]
    for b in range(len(q)):
        loads = _six(wrench, b) if len(wrench) else none
        dynamics.inverse_dynamics(tree, _row(q, b), _row(v, b), _row(a, b), loads, x, _row(out, b))


def forward_dynamics(handle, q, v, tau, wrench, out):
    """a by rows, by the articulated-body pass."""
    tree, x = _tree(handle), _work(handle)
    zeros, none = _zeros(handle)
    for b in range(len(q)):
        loads = _six(wrench, b) if len(wrench) else none
        dynamics.forward_dynamics(tree, _row(q, b), _row(v, b), _row(tau, b), loads, zeros, x, _row(out, b))


def forward_dynamics_dense(handle, q, v, tau, wrench, out):
    """a by rows, by the mass matrix."""
    tree, x, M = _tree(handle), _work(handle), _square(handle)
    zeros, none = _zeros(handle)
    for b in range(len(q)):
        loads = _six(wrench, b) if len(wrench) else none
        dynamics.forward_dynamics_dense(tree, _row(q, b), _row(v, b), _row(tau, b), loads, zeros, x, _row(out, b), _cleared(M))


def mass_matrix(handle, q, out):
    """M by rows."""
    tree, x = _tree(handle), _work(handle)
    for b in range(len(q)):
        out[b] = 0.0
        dynamics.mass_matrix(tree, _row(q, b), x, out[b])


def coriolis_matrix(handle, q, v, out):
    """C by rows."""
    tree, x, t = _tree(handle), _work(handle), _ints1(handle, 54)
    S, dS = _r6(t[52], t[4]), _r6(t[53], t[4])
    I, B = np.zeros((t[0], 6, 6)), np.zeros((t[0], 6, 6))
    X, F = np.zeros((6, 6)), np.zeros((3, 6))
    for b in range(len(q)):
        out[b] = 0.0
        _coriolis(tree, _row(q, b), _row(v, b), x, S, dS, I, B, X, F, out[b])


def energy(handle, q, v, out):
    """Kinetic and potential energy by rows."""
    tree, x = _tree(handle), _work(handle)
    for b in range(len(q)):
        out[b, 0], out[b, 1] = kinematics.energy(tree, _row(q, b), _row(v, b), x)


def momentum(handle, q, v, out):
    """Mass, centre of mass, its velocity and the angular momentum about it, by rows of ten."""
    tree, x = _tree(handle), _work(handle)
    for b in range(len(q)):
        mass, com, velocity, L = kinematics.momentum(tree, _row(q, b), _row(v, b), x)
        out[b, 0] = mass
        for k in range(3):
            out[b, 1 + k], out[b, 4 + k], out[b, 7 + k] = com[k], velocity[k], L[k]


@kernel
def _pose_of(X):
    R = ((X[0, 0], X[0, 1], X[0, 2]), (X[1, 0], X[1, 1], X[1, 2]), (X[2, 0], X[2, 1], X[2, 2]))
    return R, (X[0, 3], X[1, 3], X[2, 3])


def pose(handle, q, node, X, out):
    """The (3, 4) pose of a frame, X on its node, by rows."""
    tree, x = _tree(handle), _work(handle)
    R_NF, p_NF = _pose_of(X)
    for b in range(len(q)):
        kinematics.poses(tree, _row(q, b), x)
        R, p = kinematics.frame_pose(node, R_NF, p_NF, x)
        for k in range(3):
            out[b, k, 0], out[b, k, 1], out[b, k, 2], out[b, k, 3] = R[k][0], R[k][1], R[k][2], p[k]


def jacobian(handle, q, node, X, out):
    """The (6, nv) Jacobian of a frame in the ground's axes, by rows."""
    tree, x = _tree(handle), _work(handle)
    R_NF, p_NF = _pose_of(X)
    for b in range(len(q)):
        kinematics.poses(tree, _row(q, b), x)
        _, p = kinematics.frame_pose(node, R_NF, p_NF, x)
        out[b] = 0.0
        kinematics.jacobian(tree, node, p, x, out[b])


def frame_velocity(handle, q, v, node, X, out):
    """Angular velocity and velocity of a frame on a node, in its own axes, by rows."""
    tree, x = _tree(handle), _work(handle)
    R_NF, p_NF = _pose_of(X)
    for b in range(len(q)):
        kinematics.velocities(tree, _row(q, b), _row(v, b), x)
        w, u = kinematics.frame_velocity(node, R_NF, p_NF, x)
        for k in range(3):
            out[b, k], out[b, 3 + k] = w[k], u[k]


def frame_acceleration(handle, q, v, a, node, X, out):
    """Angular acceleration and acceleration of a frame's origin, in its own axes, by rows."""
    tree, x = _tree(handle), _work(handle)
    R_NF, p_NF = _pose_of(X)
    for b in range(len(q)):
        kinematics.accelerations(tree, _row(q, b), _row(v, b), _row(a, b), (0.0, 0.0, 0.0), x)
        w, u = kinematics.frame_acceleration(node, R_NF, p_NF, x)
        for k in range(3):
            out[b, k], out[b, 3 + k] = w[k], u[k]


def reactions(handle, q, v, a, wrench, out):
    """The (joints, 6) wrenches in the joints, by rows; wrench is (rows, 6 bodies) or has no rows."""
    tree, x = _tree(handle), _work(handle)
    bodies, none = _bodies(handle)
    for b in range(len(q)):
        loads = _six(wrench, b) if len(wrench) else none
        joint_wrenches(tree, bodies, _row(q, b), _row(v, b), _row(a, b), loads, x, out[b])


SIGNATURES: dict[str, tuple] = {
    "constrained_dynamics_rows": (_I, _MAT, _MAT, _MAT, _MAT, types.boolean, _MAT),
    "constraint_rows": (_I, _MAT, _MAT, _MAT),
    "inverse_dynamics": (_I, _MAT, _MAT, _MAT, _MAT, _MAT),
    "forward_dynamics": (_I, _MAT, _MAT, _MAT, _MAT, _MAT),
    "forward_dynamics_dense": (_I, _MAT, _MAT, _MAT, _MAT, _MAT),
    "mass_matrix": (_I, _MAT, _CUBE),
    "coriolis_matrix": (_I, _MAT, _MAT, _CUBE),
    "energy": (_I, _MAT, _MAT, _MAT),
    "momentum": (_I, _MAT, _MAT, _MAT),
    "pose": (_I, _MAT, _I, _MAT, _CUBE),
    "jacobian": (_I, _MAT, _I, _MAT, _CUBE),
    "frame_velocity": (_I, _MAT, _MAT, _I, _MAT, _MAT),
    "frame_acceleration": (_I, _MAT, _MAT, _MAT, _I, _MAT, _MAT),
    "reactions": (_I, _MAT, _MAT, _MAT, _MAT, _CUBE),
}


@cache
def compiled(name: str) -> Callable[..., Any]:
    """The compiled function of that name; from the cache where it was compiled before."""
    return numba_cache.njit(*SIGNATURES[name], **OPTIONS)(globals()[name])
