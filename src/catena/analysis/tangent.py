"""Tangent: the exact derivatives of a mechanism's equations at one state, including loops, by
CasADi.

The tape of a mechanism with hundreds of bodies takes long to differentiate; its derivatives at rest
are computed by finite differences (`differences.py`).

    r(q, v, a, lam) = M a + b - A' lam,      c(q, v, a) = A a - gamma,      s(q, v) = A v

d/dq is along the speeds: column k is the change when the coordinates move along the k-th speed.
States (n, ...) are evaluated in lanes; their rows must have the same rank.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np

from ..compiler import Tracer, compile_lanes
from ..kernels import BALL
from ..machine import Machine, Spaces, metric, spaces
from .differences import differences, long

Array = np.ndarray
# of each machine {name: CasADi function}, and their machine code
_tapes: WeakKeyDictionary[Machine, dict[Any, Any]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Rest:
    """Derivatives at rest: mass matrix M (nv, nv), constraint Jacobian A (m, nv) of the rows that
    can act, its spaces, and dr/dq (nv, nv).
    """

    M: Array
    A: Array
    spaces: Spaces
    r_q: Array


@dataclass(frozen=True)
class Tangent(Rest):
    """Derivatives in motion: those of Rest, and dr/dv (nv, nv); dc/dq, dc/dv and ds/dq (m, nv)."""

    r_v: Array
    c_q: Array
    c_v: Array
    s_q: Array


def row_forces(machine: Machine, q: Array, v: Array, need: Array) -> Array:
    """Return the multipliers lam of the rows in `machine.rows` with A' lam = need, of least norm,
    for one state or many.
    """
    if not machine.rows:
        return np.zeros((*need.shape[:-1], 0))
    inverse = spaces(machine.constraint_rows(q, v)[3], metric(machine)).inverse
    return np.einsum("...ij,...i->...j", inverse, need)


def rest(machine: Machine, q: Array, lam: Array) -> Rest:
    """Return the derivatives at q with v = a = 0 and multipliers lam of the rows in
    `machine.rows`.
    """
    if long(machine):
        one_by_one = [
            differences(machine, *both) for both in zip(np.atleast_2d(q), np.atleast_2d(lam))
        ]
        A, r_q = (np.array(x).reshape(*q.shape[:-1], -1, machine.nv) for x in zip(*one_by_one))
        return Rest(machine.mass_matrix(q), A, spaces(A, metric(machine)), r_q)
    A, r_q = _evaluated(machine, "resting", q, lam)
    return Rest(machine.mass_matrix(q), A, spaces(A, metric(machine)), r_q)


def tangent(machine: Machine, q: Array, v: Array, a: Array, lam: Array) -> Tangent:
    """Return the derivatives at (q, v, a) with multipliers lam of the rows in `machine.rows`."""
    A, r_q, r_v, c_q, c_v, s_q = _evaluated(machine, "moving", q, v, a, lam)
    return Tangent(machine.mass_matrix(q), A, spaces(A, metric(machine)), r_q, r_v, c_q, c_v, s_q)


def load_damping(machine: Machine, q: Array) -> Array:
    """Return the damping matrix of the loads at rest, C = -d(generalised forces)/dv at v = 0: (n,
    nv, nv) for states (n, nq), or (nv, nv) if it is constant or for one state.
    """
    springs = machine.spec.springs
    if springs is not None or not machine.mechanism.loads:
        C = np.zeros((machine.nv, machine.nv))
        if springs is not None:
            np.add.at(C, (springs.speed, springs.speed), springs.c)
        return C
    return _evaluated(machine, "damping", q)[0].reshape(*q.shape[:-1], machine.nv, machine.nv)


def _evaluated(machine: Machine, name: str, *given: Array) -> list[Array]:
    """Return the outputs (..., rows, nv) of an expression of the machine: by CasADi for one state,
    in lanes for many states (n, ...).
    """
    tape = _tape(machine, name, _trace_damping if name == "damping" else _trace)
    p = _values(machine)
    if given[0].ndim == 1:
        return [np.array(x).reshape(-1, machine.nv) for x in tape.call([*given, p, 0.0])]
    own, n = _tapes[machine], len(given[0])
    if (name, "lanes") not in own:
        own[name, "lanes"] = compile_lanes(tape)
    inputs = [*(np.ascontiguousarray(x) for x in given), np.array(p, float), np.zeros(1)]
    return [
        x.reshape(n, -1, machine.nv)
        for x in own[name, "lanes"](inputs, n, threads=machine.threads)[0]
    ]


def _tape(machine: Machine, name: str, make: Callable[[Machine, str], ca.Function]) -> ca.Function:
    """Return the CasADi function of that name, which `make` traces once per machine."""
    own = _tapes.setdefault(machine, {})
    if name not in own:
        own[name] = make(machine, name)
    return own[name]


def _trace_damping(machine: Machine, name: str) -> ca.Function:
    """Trace the damping matrix of the loads at v = 0."""
    s = Tracer(machine.layout, machine.snap)
    felt = ca.substitute(-ca.jacobian(s.applied.generalised(), s.v), s.v, ca.SX.zeros(machine.nv))
    return ca.Function(name, [s.q, s.p, s.t], [ca.densify(felt)])


def _values(machine: Machine) -> list[float]:
    """Return the values of the mechanism's parameters."""
    return list(machine.mechanism.parameters.values())


def _trace(machine: Machine, name: str) -> ca.Function:
    """Trace (q, v, a, lam, p, t) to the fields of a Tangent without M and `spaces` if the name is
    "moving", else (q, lam, p, t) to those of a Rest.
    """
    moving = name == "moving"
    t = Tracer(machine.layout, machine.snap)
    m = len(machine.rows)
    lam = ca.SX.sym("lam", m)
    N = ca.jacobian(t.coordinate_rate(), t.v)
    A = ca.SX.zeros(0, machine.nv)
    c = ca.SX.zeros(0)
    s = ca.SX.zeros(0)
    r = t.inverse_dynamics() if moving else t.gravity()
    if m:
        _, s, gamma, A = t.constraint_rows()
        r, c = r - A.T @ lam, A @ t.a - gamma

    def along(f: ca.SX) -> ca.SX:
        """Return the derivative of an expression f by displacements along the speeds."""
        return ca.densify(ca.jacobian(f, t.q) @ N)

    def with_v(f: ca.SX) -> ca.SX:
        """Return the derivative of an expression f by the speeds v."""
        return ca.densify(ca.jacobian(f, t.v))

    if moving:
        outputs = [A, along(r), with_v(r), along(c), with_v(c), along(s)]
        return ca.Function(name, [t.q, t.v, t.a, lam, t.p, t.t], ca.cse(outputs))
    # dampers depend on speeds
    still = ca.substitute([A, along(r)], [t.v], [ca.SX.zeros(machine.nv)])
    return ca.Function(name, [t.q, lam, t.p, t.t], ca.cse(still))


def turning(machine: Machine, v: Array) -> Array:
    """Return W (..., nv, nv) for speeds v (..., nv): a small rotation d of a ball joint changes at
    the rate d' = dv - W d, W d = w x d; zero for every other coordinate.

    The rate of a small change along a ball joint's speeds is not the change of these speeds,
    because their axes rotate with it.
    """
    W = np.zeros((*v.shape, machine.nv))
    for node in machine.layout.nodes:
        if node.motion == BALL:
            k = node.vi
            x, y, z = np.moveaxis(v[..., k : k + 3], -1, 0)
            for i, j, w in ((0, 1, -z), (0, 2, y), (1, 0, z), (1, 2, -x), (2, 0, -y), (2, 1, x)):
                W[..., k + i, k + j] = w
    return W
