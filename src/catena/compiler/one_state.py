"""One state from Python: the generic life's kernels as built-in functions, from arrays to a new array.

Each is called with plain vectors of doubles, and the time where a quantity may depend on it, and answers a new array. A
state it cannot take (a batch, another type, numbers that are not finite, a quaternion that is not of length one, a pivot
that is nothing beside its inertia) it passes on to the function it was bound with. The lock of the interpreter is held, so
the scratch memory behind a table serves one call at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from numba import types
from numba.extending import register_jitable as kernel

from ..kernels import dynamics
from ..kernels.motion import BALL, SLIDE
from ..kernels.tree import Layout
from . import fastcall, numba_cache
from .array_view import grid
from .fastcall import OWN, data_of, dropped, new, refused, table_of, vector
from .generic import (
    ARITHMETIC,
    SINGULAR,
    UNIT,
    Handle,
    _cleared,
    _constrained,
    _ints1,
    _sizes,
    _square,
    _tree,
    _vec,
    _work,
    _zeros,
)


@kernel
def _handle(table):
    return _ints1(table, OWN + 1)[OWN]


@kernel
def _unit(tree, q):
    """Whether quaternions have length one."""
    good = True
    for i in range(len(tree.parent)):
        if tree.motion[i] == BALL:
            k = tree.qi[i]
            length = q[k] * q[k] + q[k + 1] * q[k + 1] + q[k + 2] * q[k + 2] + q[k + 3] * q[k + 3]
            good = good and abs(length - 1.0) < UNIT
    return good


@kernel
def _regular(tree, x):
    """No pivot of the articulated pass that is nothing beside the inertia it belongs to."""
    good = True
    for i in range(len(tree.parent)):
        if tree.motion[i] != BALL:
            S = x.C if tree.motion[i] == SLIDE else x.A
            good = good and (S[i, 0] + S[i, 3] + S[i, 5]) * x.D[i, 0] < SINGULAR
    return good


@kernel
def _finite(x):
    total = 0.0
    for k in range(len(x)):
        total += x[k] * 0.0
    return total == 0.0


@kernel
def _begin(me, arguments, count, wanted, vectors, ndim):
    """The table, the handle, q and up to two more vectors (q stands for those not taken), and a new array: 0 if refused."""
    table = table_of(me)
    handle = _handle(table)
    _, nq, nv = _sizes(handle)
    if count != wanted:
        return table, handle, 0, 0, 0, 0
    q = vector(table, arguments, 0, nq)
    v = vector(table, arguments, 1, nv) if vectors > 1 else q
    x = vector(table, arguments, 2, nv) if vectors > 2 else q
    if q == 0 or v == 0 or x == 0 or not _unit(_tree(handle), _vec(q, nq)):
        return table, handle, 0, 0, 0, 0
    if not (_finite(_vec(q, nq)) and (vectors < 2 or _finite(_vec(v, nv))) and (vectors < 3 or _finite(_vec(x, nv)))):
        return table, handle, 0, 0, 0, 0
    return table, handle, q, v, x, new(table, ndim, table + 8 * (OWN + 1))


@kernel
def _vectors(handle, q, v, x, out):
    """Addresses as views."""
    _, nq, nv = _sizes(handle)
    return _vec(q, nq), _vec(v, nv), _vec(x, nv), _vec(data_of(out), nv)


def inverse_dynamics(me, arguments, count):
    """tau of q, v, a and the time."""
    table, handle, q, v, x, out = _begin(me, arguments, count, 4, 3, 1)
    if out == 0:
        return refused(table, arguments, count)
    q, v, a, tau = _vectors(handle, q, v, x, out)
    dynamics.inverse_dynamics(_tree(handle), q, v, a, _zeros(handle)[1], _work(handle), tau)
    return out if _finite(tau) else dropped(table, out, arguments, count)


def bias(me, arguments, count):
    """tau of q, v, the time, and a = 0."""
    table, handle, q, v, x, out = _begin(me, arguments, count, 3, 2, 1)
    if out == 0:
        return refused(table, arguments, count)
    q, v, _, tau = _vectors(handle, q, v, x, out)
    zeros, wrench = _zeros(handle)
    dynamics.inverse_dynamics(_tree(handle), q, v, zeros, wrench, _work(handle), tau)
    return out if _finite(tau) else dropped(table, out, arguments, count)


def gravity(me, arguments, count):
    """tau of q, the time, and v = a = 0."""
    table, handle, q, v, x, out = _begin(me, arguments, count, 2, 1, 1)
    if out == 0:
        return refused(table, arguments, count)
    q, _, _, tau = _vectors(handle, q, v, x, out)
    zeros, wrench = _zeros(handle)
    dynamics.inverse_dynamics(_tree(handle), q, zeros, zeros, wrench, _work(handle), tau)
    return out if _finite(tau) else dropped(table, out, arguments, count)


def mass_matrix(me, arguments, count):
    """M of q."""
    table, handle, q, _, _, out = _begin(me, arguments, count, 1, 1, 2)
    if out == 0:
        return refused(table, arguments, count)
    _, nq, nv = _sizes(handle)
    M = _cleared(grid(data_of(out), nv, nv))
    dynamics.mass_matrix(_tree(handle), _vec(q, nq), _work(handle), M)
    return out if _finite(_vec(data_of(out), nv * nv)) else dropped(table, out, arguments, count)


def forward_dynamics(me, arguments, count):
    """a of q, v, tau, by the articulated-body pass."""
    table, handle, q, v, x, out = _begin(me, arguments, count, 4, 3, 1)
    if out == 0:
        return refused(table, arguments, count)
    q, v, tau, a = _vectors(handle, q, v, x, out)
    tree, work = _tree(handle), _work(handle)
    zeros, wrench = _zeros(handle)
    dynamics.forward_dynamics(tree, q, v, tau, wrench, zeros, work, a)
    return out if _finite(a) and _regular(tree, work) else dropped(table, out, arguments, count)


def forward_dynamics_dense(me, arguments, count):
    """a of q, v, tau, by the mass matrix."""
    table, handle, q, v, x, out = _begin(me, arguments, count, 4, 3, 1)
    if out == 0:
        return refused(table, arguments, count)
    q, v, tau, a = _vectors(handle, q, v, x, out)
    zeros, wrench = _zeros(handle)
    dynamics.forward_dynamics_dense(_tree(handle), q, v, tau, wrench, zeros, _work(handle), a, _cleared(_square(handle)))
    return out if _finite(a) else dropped(table, out, arguments, count)


@kernel
def _closed(me, arguments, count, coupled):
    table, handle, q, v, x, out = _begin(me, arguments, count, 4, 3, 1)
    if out == 0:
        return refused(table, arguments, count)
    q, v, tau, a = _vectors(handle, q, v, x, out)
    _constrained(handle, _tree(handle), q, v, tau, _zeros(handle)[1], coupled, a)
    return out if _finite(a) else dropped(table, out, arguments, count)


def constrained_dynamics(me, arguments, count):
    """a of q, v, tau under the rows of loops."""
    return _closed(me, arguments, count, False)


def constrained_dynamics_dense(me, arguments, count):
    """The same, where joints mimic others."""
    return _closed(me, arguments, count, True)


def accelerations(layout: Layout) -> Callable[..., int]:
    """Which of the four is the forward dynamics of a mechanism."""
    closed, coupled = bool(layout.mechanism.loops), layout.coupled
    if closed:
        return constrained_dynamics_dense if coupled else constrained_dynamics
    return forward_dynamics_dense if coupled else forward_dynamics


SIGNATURE = types.int64(types.int64, types.int64, types.int64)


@cache
def _address(kernel: Callable[..., int]) -> int:
    return numba_cache.address(kernel, SIGNATURE, **ARITHMETIC)


def bound(kernel: Callable[..., int], handle: Handle, rest: Callable[..., Any]) -> Callable[..., Any]:
    """One of the functions above for one mechanism; `rest` answers what it refuses. It holds both."""
    own = handle.address, handle.layout.nv, handle.layout.nv
    return fastcall.builtin(kernel.__name__, _address(kernel), fastcall.table(rest, own, handle))
