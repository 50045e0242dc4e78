"""Life one: the kernels compiled once by Numba, for any mechanism of any size.

Compiled code finds a mechanism's arrays through a `handle`, the address of a small table of addresses: handing over one
integer costs nothing, where handing over forty arrays would cost more than the dynamics. Functions named `*_one` take one
state and return a fresh result; all others fill rows of results for rows of states. Each is compiled at its first use and
kept in Numba's cache on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numba as nb
import numpy as np
from numba import types
from numba.extending import intrinsic
from numba.extending import register_jitable as kernel

from ..kernels import dynamics, kinematics
from ..kernels.constraints import (
    Constraints,
    active_rows,
    constrained_dynamics,
    constrained_dynamics_dense,
    constraints,
    evaluate_rows,
    row_jacobian,
)
from ..kernels.coriolis import coriolis_matrix as _coriolis
from ..kernels.motion import BALL, SLIDE
from ..kernels.reactions import BodyTable, body_table, joint_wrenches
from ..kernels.tree import SNAP, Layout, Tree
from ..kernels.work import Work

OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy", "fastmath": {"contract", "nsz"}}

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
        shapes = ((m, 12), (m,), (m,), (m,), (m, nv), (m, m), (m + 1, m), (m,), (m, nv) if layout.coupled else (0, 0))
        closing = (*self.constraints, *(np.zeros(shape) for shape in shapes))
        self._arrays = (*self.tree, *self.work, *scratch, *self.bodies, *rows, *closing)
        sizes = (n, layout.nq, nv, count, freedoms, m)
        self._table = np.array([*sizes, *(a.ctypes.data for a in self._arrays)], np.int64)
        self.address = int(self._table.ctypes.data)

    def again(self) -> Handle:
        """The same mechanism with scratch memory of its own."""
        return Handle(self.layout, tree=self.tree, bodies=self.bodies)


# ------------------------------------------------------------------------------------------ from address to arrays
def _pointer_to(kind: Any) -> Any:
    @intrinsic
    def pointer(typing_context, address):
        def generate(context, builder, signature, arguments):
            return builder.inttoptr(arguments[0], context.get_value_type(types.CPointer(kind)))

        return types.CPointer(kind)(types.int64), generate

    return pointer


_reals_at, _ints_at = _pointer_to(types.float64), _pointer_to(types.int64)


@kernel
def _reals(address, shape):
    return nb.carray(_reals_at(address), shape)


@kernel
def _ints(address, shape):
    return nb.carray(_ints_at(address), shape)


@kernel
def _sizes(handle):
    table = _ints(handle, 5)
    return table[0], table[1], table[2]


@kernel
def _tree(handle):
    t = _ints(handle, 20)
    n, nv = t[0], t[2]
    return Tree(
        _ints(t[6], n), _ints(t[7], n), _ints(t[8], n), _ints(t[9], n), _reals(t[10], n), _reals(t[11], n), _reals(t[12], n),
        _reals(t[13], (n, 3, 3)), _reals(t[14], (n, 3)), _reals(t[15], n), _reals(t[16], (n, 3)), _reals(t[17], (n, 6)),
        _reals(t[18], nv), _reals(t[19], 3),
    )  # fmt: skip


@kernel
def _work(handle):
    t = _ints(handle, 41)
    n = t[0]
    return Work(
        _reals(t[20], n), _reals(t[21], n), _reals(t[22], (n, 3, 3)), _reals(t[23], (n, 3)), _reals(t[24], (n, 3)),
        _reals(t[25], (n, 3)), _reals(t[26], (n, 3)), _reals(t[27], (n, 3)), _reals(t[28], (n, 3, 3)), _reals(t[29], (n, 3)),
        _reals(t[30], (n, 3)), _reals(t[31], n), _reals(t[32], (n, 3)), _reals(t[33], (n, 6)), _reals(t[34], (n, 6)),
        _reals(t[35], (n, 3, 3)), _reals(t[36], (n, 6)), _reals(t[37], (n, 6)), _reals(t[38], (n, 3)), _reals(t[39], (n, 3, 3)),
        _reals(t[40], (n, 3)),
    )  # fmt: skip


@kernel
def _zeros(handle):
    t = _ints(handle, 45)
    return _reals(t[41], t[2]), _reals(t[42], (t[0], 6))


@kernel
def _square(handle):
    t = _ints(handle, 45)
    return _reals(t[43], (t[2], t[2]))


@kernel
def _bodies(handle):
    t = _ints(handle, 54)
    b = t[3]
    return BodyTable(
        _ints(t[45], b), _ints(t[46], b), _reals(t[47], (b, 3, 3)), _reals(t[48], (b, 3)), _reals(t[49], b),
        _reals(t[50], (b, 3)), _reals(t[51], (b, 6)),
    ), _reals(t[44], (b, 6))  # fmt: skip


@kernel
def _closing(handle):
    """The constraint rows, and their scratch memory W, gamma, error, rate, Y, S, L, lam."""
    t = _ints(handle, 71)
    m, nv = t[5], t[2]
    con = Constraints(
        _ints(t[54], m), _ints(t[55], (m, 2)), _reals(t[56], (m, 2, 3, 3)), _reals(t[57], (m, 2, 3)), _reals(t[58], (m, 3)),
        _reals(t[59], (m, 3)), _reals(t[60], m), _ints(t[61], m),
    )  # fmt: skip
    return con, (
        _reals(t[62], (m, 12)), _reals(t[63], m), _reals(t[64], m), _reals(t[65], m), _reals(t[66], (m, nv)),
        _reals(t[67], (m, m)), _reals(t[68], (m + 1, m)), _reals(t[69], m),
    ), _reals(t[70], (m, nv))  # fmt: skip


@kernel
def _checked(x, n):
    if x.shape[0] != n:
        raise ValueError("shape")


@kernel
def _checked_q(tree, q, nq):
    """The right length, and quaternions of length one."""
    _checked(q, nq)
    for i in range(len(tree.parent)):
        if tree.motion[i] == BALL:
            k = tree.qi[i]
            length = q[k] * q[k] + q[k + 1] * q[k + 1] + q[k + 2] * q[k + 2] + q[k + 3] * q[k + 3]
            if not abs(length - 1.0) < UNIT:
                raise ValueError("quaternion")


@kernel
def _regular(tree, x):
    """No pivot of the articulated pass that is nothing beside the inertia it belongs to."""
    for i in range(len(tree.parent)):
        if tree.motion[i] != BALL:
            S = x.C if tree.motion[i] == SLIDE else x.A
            if not (S[i, 0] + S[i, 3] + S[i, 5]) * x.D[i, 0] < SINGULAR:
                raise ValueError("singular")


@kernel
def _finite(x):
    total = 0.0
    for k in range(x.shape[0]):
        total += x[k] * 0.0
    if total != 0.0:
        raise ValueError("finite")


# ------------------------------------------------------------------------------------------ one state
def inverse_dynamics_one(handle, q, v, a):
    """tau of one state."""
    _, nq, nv = _sizes(handle)
    tree = _tree(handle)
    _checked_q(tree, q, nq)
    _checked(v, nv)
    _checked(a, nv)
    tau = np.empty(nv)
    dynamics.inverse_dynamics(tree, q, v, a, _zeros(handle)[1], _work(handle), tau)
    _finite(tau)
    return tau


def forward_dynamics_one(handle, q, v, tau):
    """a of one state, by the articulated-body pass."""
    _, nq, nv = _sizes(handle)
    tree = _tree(handle)
    _checked_q(tree, q, nq)
    _checked(v, nv)
    _checked(tau, nv)
    zeros, wrench = _zeros(handle)
    a, x = np.empty(nv), _work(handle)
    dynamics.forward_dynamics(tree, q, v, tau, wrench, zeros, x, a)
    _finite(a)
    _regular(tree, x)
    return a


def forward_dynamics_dense_one(handle, q, v, tau):
    """a of one state, by the mass matrix."""
    _, nq, nv = _sizes(handle)
    tree = _tree(handle)
    _checked_q(tree, q, nq)
    _checked(v, nv)
    _checked(tau, nv)
    zeros, wrench = _zeros(handle)
    a, M = np.empty(nv), _square(handle)
    M[:] = 0.0
    dynamics.forward_dynamics_dense(tree, q, v, tau, wrench, zeros, _work(handle), a, M)
    _finite(a)
    return a


def mass_matrix_one(handle, q):
    """M of one state."""
    _, nq, nv = _sizes(handle)
    tree = _tree(handle)
    _checked_q(tree, q, nq)
    M = np.zeros((nv, nv))
    dynamics.mass_matrix(tree, q, _work(handle), M)
    _finite(M.ravel())
    return M


def bias_one(handle, q, v):
    """tau of a = 0, of one state."""
    _, nq, nv = _sizes(handle)
    tree = _tree(handle)
    _checked_q(tree, q, nq)
    _checked(v, nv)
    zeros, wrench = _zeros(handle)
    tau = np.empty(nv)
    dynamics.inverse_dynamics(tree, q, v, zeros, wrench, _work(handle), tau)
    _finite(tau)
    return tau


def gravity_one(handle, q):
    """tau of a = v = 0, of one state."""
    _, nq, nv = _sizes(handle)
    tree = _tree(handle)
    _checked_q(tree, q, nq)
    zeros, wrench = _zeros(handle)
    tau = np.empty(nv)
    dynamics.inverse_dynamics(tree, q, zeros, zeros, wrench, _work(handle), tau)
    _finite(tau)
    return tau


@kernel
def _constrained(handle, tree, q, v, tau, wrench, coupled, a):
    """a under the loops' rows; the multipliers stay in the handle's memory."""
    con, (W, gamma, error, rate, Y, S, L, lam), A = _closing(handle)
    zeros, x = _zeros(handle)[0], _work(handle)
    gamma[:] = 0.0
    if coupled:
        M = _square(handle)
        M[:] = 0.0
        A[:] = 0.0
        constrained_dynamics_dense(tree, con, q, v, tau, wrench, zeros, x, W, gamma, error, rate, Y, S, L, a, lam, M, A)
    else:
        constrained_dynamics(tree, con, q, v, tau, wrench, zeros, x, W, gamma, error, rate, Y, S, L, a, lam)


def constrained_dynamics_one(handle, q, v, tau, coupled):
    """a of one state of a mechanism with loops."""
    _, nq, nv = _sizes(handle)
    tree = _tree(handle)
    _checked_q(tree, q, nq)
    _checked(v, nv)
    _checked(tau, nv)
    a = np.empty(nv)
    _constrained(handle, tree, q, v, tau, _zeros(handle)[1], coupled, a)
    _finite(a)
    return a


# ------------------------------------------------------------------------------------------ rows of states
def constrained_dynamics_rows(handle, q, v, tau, wrench, coupled, out):
    """a and the multipliers, side by side, by rows."""
    tree, none, nv = _tree(handle), _zeros(handle)[1], v.shape[1]
    lam = _closing(handle)[1][7]
    for b in range(len(q)):
        loads = wrench[b].reshape((len(tree.parent), 6)) if len(wrench) else none
        _constrained(handle, tree, q[b], v[b], tau[b], loads, coupled, out[b, :nv])
        out[b, nv:] = lam


def constraint_rows(handle, q, v, out):
    """By rows: residuals (m), their rates (m), gamma (m), then A (m nv) row by row."""
    tree, x, zeros = _tree(handle), _work(handle), _zeros(handle)[0]
    con, (W, gamma, error, rate, Y, _, _, _), _ = _closing(handle)
    m, nv = len(gamma), len(zeros)
    for b in range(len(q)):
        evaluate_rows(tree, con, q[b], v[b], zeros, x, W, gamma, error, rate)
        Y[:] = 0.0
        row_jacobian(tree, con, W, x, Y)
        out[b, :m], out[b, m : 2 * m], out[b, 2 * m : 3 * m] = error, rate, gamma
        out[b, 3 * m :] = Y.ravel()


def inverse_dynamics(handle, q, v, a, wrench, out):
    """tau by rows; wrench is (rows, 6 n) or has no rows."""
    tree, x, none = _tree(handle), _work(handle), _zeros(handle)[1]
    for b in range(len(q)):
        loads = wrench[b].reshape((len(tree.parent), 6)) if len(wrench) else none
        dynamics.inverse_dynamics(tree, q[b], v[b], a[b], loads, x, out[b])


def forward_dynamics(handle, q, v, tau, wrench, out):
    """a by rows, by the articulated-body pass."""
    tree, x = _tree(handle), _work(handle)
    zeros, none = _zeros(handle)
    for b in range(len(q)):
        loads = wrench[b].reshape((len(tree.parent), 6)) if len(wrench) else none
        dynamics.forward_dynamics(tree, q[b], v[b], tau[b], loads, zeros, x, out[b])


def forward_dynamics_dense(handle, q, v, tau, wrench, out):
    """a by rows, by the mass matrix."""
    tree, x, M = _tree(handle), _work(handle), _square(handle)
    zeros, none = _zeros(handle)
    for b in range(len(q)):
        M[:] = 0.0
        loads = wrench[b].reshape((len(tree.parent), 6)) if len(wrench) else none
        dynamics.forward_dynamics_dense(tree, q[b], v[b], tau[b], loads, zeros, x, out[b], M)


def mass_matrix(handle, q, out):
    """M by rows."""
    tree, x = _tree(handle), _work(handle)
    for b in range(len(q)):
        out[b] = 0.0
        dynamics.mass_matrix(tree, q[b], x, out[b])


def coriolis_matrix(handle, q, v, out):
    """C by rows."""
    tree, x, t = _tree(handle), _work(handle), _ints(handle, 54)
    S, dS = _reals(t[52], (t[4], 6)), _reals(t[53], (t[4], 6))
    I, B = np.zeros((t[0], 6, 6)), np.zeros((t[0], 6, 6))
    X, F = np.zeros((6, 6)), np.zeros((3, 6))
    for b in range(len(q)):
        out[b] = 0.0
        _coriolis(tree, q[b], v[b], x, S, dS, I, B, X, F, out[b])


def energy(handle, q, v, out):
    """Kinetic and potential energy by rows."""
    tree, x = _tree(handle), _work(handle)
    for b in range(len(q)):
        out[b, 0], out[b, 1] = kinematics.energy(tree, q[b], v[b], x)


def momentum(handle, q, v, out):
    """Mass, centre of mass, its velocity and the angular momentum about it, by rows of ten."""
    tree, x = _tree(handle), _work(handle)
    for b in range(len(q)):
        mass, com, velocity, L = kinematics.momentum(tree, q[b], v[b], x)
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
        kinematics.poses(tree, q[b], x)
        R, p = kinematics.frame_pose(node, R_NF, p_NF, x)
        for k in range(3):
            out[b, k, 0], out[b, k, 1], out[b, k, 2], out[b, k, 3] = R[k][0], R[k][1], R[k][2], p[k]


def jacobian(handle, q, node, X, out):
    """The (6, nv) Jacobian of a frame in the ground's axes, by rows."""
    tree, x = _tree(handle), _work(handle)
    R_NF, p_NF = _pose_of(X)
    for b in range(len(q)):
        kinematics.poses(tree, q[b], x)
        _, p = kinematics.frame_pose(node, R_NF, p_NF, x)
        out[b] = 0.0
        kinematics.jacobian(tree, node, p, x, out[b])


def frame_velocity(handle, q, v, node, X, out):
    """Angular velocity and velocity of a frame on a node, in its own axes, by rows."""
    tree, x = _tree(handle), _work(handle)
    R_NF, p_NF = _pose_of(X)
    for b in range(len(q)):
        kinematics.velocities(tree, q[b], v[b], x)
        w, u = kinematics.frame_velocity(node, R_NF, p_NF, x)
        for k in range(3):
            out[b, k], out[b, 3 + k] = w[k], u[k]


def frame_acceleration(handle, q, v, a, node, X, out):
    """Angular acceleration and acceleration of a frame's origin, in its own axes, by rows."""
    tree, x = _tree(handle), _work(handle)
    R_NF, p_NF = _pose_of(X)
    for b in range(len(q)):
        kinematics.accelerations(tree, q[b], v[b], a[b], (0.0, 0.0, 0.0), x)
        w, u = kinematics.frame_acceleration(node, R_NF, p_NF, x)
        for k in range(3):
            out[b, k], out[b, 3 + k] = w[k], u[k]


def reactions(handle, q, v, a, wrench, out):
    """The (joints, 6) wrenches in the joints, by rows; wrench is (rows, 6 bodies) or has no rows."""
    tree, x = _tree(handle), _work(handle)
    bodies, none = _bodies(handle)
    for b in range(len(q)):
        loads = wrench[b].reshape((len(bodies.node), 6)) if len(wrench) else none
        joint_wrenches(tree, bodies, q[b], v[b], a[b], loads, x, out[b])


SIGNATURES: dict[str, tuple] = {
    "inverse_dynamics_one": (_I, _VEC, _VEC, _VEC),
    "forward_dynamics_one": (_I, _VEC, _VEC, _VEC),
    "forward_dynamics_dense_one": (_I, _VEC, _VEC, _VEC),
    "constrained_dynamics_one": (_I, _VEC, _VEC, _VEC, types.boolean),
    "constrained_dynamics_rows": (_I, _MAT, _MAT, _MAT, _MAT, types.boolean, _MAT),
    "constraint_rows": (_I, _MAT, _MAT, _MAT),
    "mass_matrix_one": (_I, _VEC),
    "bias_one": (_I, _VEC, _VEC),
    "gravity_one": (_I, _VEC),
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
    """The compiled function of that name; from Numba's cache where it was compiled before."""
    return nb.njit(SIGNATURES[name], **OPTIONS)(globals()[name])
