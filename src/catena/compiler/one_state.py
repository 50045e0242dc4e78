"""One state from Python: the generic life's kernels as built-in functions, from arrays to a new array.

Each is called with plain vectors of doubles and answers a new array, or None where the state is not one it can take: a
batch, another type, a quaternion that is not of length one, a result that is not finite, a pivot that is nothing beside
its inertia. The lock of the interpreter is held, so the scratch memory behind a table serves one call at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import types
from numba.extending import register_jitable as kernel

from ..kernels import dynamics
from ..kernels.motion import BALL, SLIDE
from . import fastcall, numba_cache
from .array_view import grid
from .fastcall import OBJECTS, data_of, dropped, new, none, table_of, vector
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
    return _ints1(table, OBJECTS + 1)[OBJECTS]


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
def _begin(me, arguments, count, wanted, ndim):
    """The table, the handle, q and up to two more vectors (the last stands for those not wanted), and a new array: 0 if refused."""
    table = table_of(me)
    handle = _handle(table)
    _, nq, nv = _sizes(handle)
    if count != wanted:
        return table, handle, 0, 0, 0, 0
    q = vector(table, arguments, 0, nq)
    v = vector(table, arguments, 1, nv) if wanted > 1 else q
    x = vector(table, arguments, 2, nv) if wanted > 2 else q
    if q == 0 or v == 0 or x == 0 or not _unit(_tree(handle), _vec(q, nq)):
        return table, handle, 0, 0, 0, 0
    return table, handle, q, v, x, new(table, ndim, table + 8 * (OBJECTS + 1))


@kernel
def _vectors(handle, q, v, x, out):
    """Addresses as views."""
    _, nq, nv = _sizes(handle)
    return _vec(q, nq), _vec(v, nv), _vec(x, nv), _vec(data_of(out), nv)


def inverse_dynamics(me, arguments, count):
    """tau of q, v, a."""
    table, handle, q, v, x, out = _begin(me, arguments, count, 3, 1)
    if out == 0:
        return none(table)
    q, v, a, tau = _vectors(handle, q, v, x, out)
    dynamics.inverse_dynamics(_tree(handle), q, v, a, _zeros(handle)[1], _work(handle), tau)
    return out if _finite(tau) else dropped(table, out)


def bias(me, arguments, count):
    """tau of q, v and a = 0."""
    table, handle, q, v, x, out = _begin(me, arguments, count, 2, 1)
    if out == 0:
        return none(table)
    q, v, _, tau = _vectors(handle, q, v, x, out)
    zeros, wrench = _zeros(handle)
    dynamics.inverse_dynamics(_tree(handle), q, v, zeros, wrench, _work(handle), tau)
    return out if _finite(tau) else dropped(table, out)


def gravity(me, arguments, count):
    """tau of q and v = a = 0."""
    table, handle, q, v, x, out = _begin(me, arguments, count, 1, 1)
    if out == 0:
        return none(table)
    q, _, _, tau = _vectors(handle, q, v, x, out)
    zeros, wrench = _zeros(handle)
    dynamics.inverse_dynamics(_tree(handle), q, zeros, zeros, wrench, _work(handle), tau)
    return out if _finite(tau) else dropped(table, out)


def mass_matrix(me, arguments, count):
    """M of q."""
    table, handle, q, _, _, out = _begin(me, arguments, count, 1, 2)
    if out == 0:
        return none(table)
    _, nq, nv = _sizes(handle)
    M = _cleared(grid(data_of(out), nv, nv))
    dynamics.mass_matrix(_tree(handle), _vec(q, nq), _work(handle), M)
    return out if _finite(_vec(data_of(out), nv * nv)) else dropped(table, out)


def forward_dynamics(me, arguments, count):
    """a of q, v, tau, by the articulated-body pass."""
    table, handle, q, v, x, out = _begin(me, arguments, count, 3, 1)
    if out == 0:
        return none(table)
    q, v, tau, a = _vectors(handle, q, v, x, out)
    tree, work = _tree(handle), _work(handle)
    zeros, wrench = _zeros(handle)
    dynamics.forward_dynamics(tree, q, v, tau, wrench, zeros, work, a)
    return out if _finite(a) and _regular(tree, work) else dropped(table, out)


def forward_dynamics_dense(me, arguments, count):
    """a of q, v, tau, by the mass matrix."""
    table, handle, q, v, x, out = _begin(me, arguments, count, 3, 1)
    if out == 0:
        return none(table)
    q, v, tau, a = _vectors(handle, q, v, x, out)
    zeros, wrench = _zeros(handle)
    dynamics.forward_dynamics_dense(_tree(handle), q, v, tau, wrench, zeros, _work(handle), a, _cleared(_square(handle)))
    return out if _finite(a) else dropped(table, out)


@kernel
def _closed(me, arguments, count, coupled):
    table, handle, q, v, x, out = _begin(me, arguments, count, 3, 1)
    if out == 0:
        return none(table)
    q, v, tau, a = _vectors(handle, q, v, x, out)
    _constrained(handle, _tree(handle), q, v, tau, _zeros(handle)[1], coupled, a)
    return out if _finite(a) else dropped(table, out)


def constrained_dynamics(me, arguments, count):
    """a of q, v, tau under the rows of loops."""
    return _closed(me, arguments, count, False)


def constrained_dynamics_dense(me, arguments, count):
    """The same, where joints mimic others."""
    return _closed(me, arguments, count, True)


SIGNATURE = types.int64(types.int64, types.int64, types.int64)


@cache
def _address(name: str) -> int:
    return numba_cache.address(globals()[name], SIGNATURE, **ARITHMETIC)


def bound(name: str, handle: Handle) -> Callable[..., Any]:
    """The function of that name for one mechanism. Whoever holds it must hold the handle too."""
    table = np.array([*fastcall.objects(), handle.address, handle.layout.nv, handle.layout.nv], np.int64)
    return fastcall.builtin(name, _address(name), table)
