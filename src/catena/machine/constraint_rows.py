"""The rows of a mechanism at one state, and the spaces they leave: what may move, what may push without moving anything.

    A v + B = 0,     A a = gamma,     M a + bias = tau + A' lam

`machine.rows` leaves out the rows that can never act (a planar loop in space says nothing across its plane that its joints
do not say already). A report of mobility and the reactions need them too: they are all here. Speed rows (a wheel that rolls, a
knife edge) come last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..kernels.constraint_rows import Constraints, constraints, evaluate_rows, loop_rows, row_jacobian
from ..kernels.lifting import Lift
from ..kernels.tree import Tree
from ..kernels.workspace import Work
from ..model.loads import KnifeEdge, Nonholonomic, SpeedRow
from ..model.mechanism import GROUND
from ..model.validation import value_of

if TYPE_CHECKING:
    from .machine import Machine

Array = np.ndarray
RANK = 1e-9  # singular values this small beside the largest are zero


@dataclass(frozen=True)
class Rows:
    """Every row of every loop and every speed row, at one state.

    names: (joint or row, direction) of each. between: (parent, child), the bodies it joins. error, rate, gamma (m,): residual
    (m, or the cosine of an angle; zero for speed rows), its rate, and A a. A: (m, nv). wrench: (m, 6), torque first: what one
    unit of the row's multiplier does to the child, about the ground's origin in the ground's axes (the parent feels the
    opposite); zero for a speed row given as a text, which acts along the speeds as motors do.
    """

    names: tuple[tuple[str, str], ...]
    between: tuple[tuple[str, str], ...]
    error: Array
    rate: Array
    gamma: Array
    A: Array
    wrench: Array


class Spaces(NamedTuple):
    """What a matrix of rows leaves: its rank, T (nv, nv - rank) with A T = 0, N (m, m - rank) with N' A = 0."""

    rank: int
    T: Array
    N: Array
    values: Array  # the singular values, largest first


_tables: WeakKeyDictionary[Machine, tuple[Tree, Constraints, Callable[..., Lift]]] = WeakKeyDictionary()


def rows_at(machine: Machine, q: Array, v: Array | None = None, t: float = 0.0) -> Rows:
    """Every row at one state (q, v) and time t (s); v defaults to rest."""
    v = np.zeros(machine.nv) if v is None else v
    m = machine.mechanism
    if machine not in _tables:
        value = partial(value_of, parameters=m.parameters)
        tree = machine.layout.tree(snap=machine.snap)
        _tables[machine] = tree, constraints(machine.layout, value), partial(Lift, machine.layout, value)
    tree, con, lift_at = _tables[machine]
    found = [(j, row.label) for j in m.loops for row in loop_rows(j)]
    W, A, x = np.zeros((len(found), 12)), np.zeros((len(found), machine.nv)), Work.empty(len(machine.layout.nodes))
    gamma, error, rate = np.zeros((3, len(found)))
    if found:
        lift = lift_at(q)
        nodes = (np.array(part) for part in (lift.q, lift.v(v), lift.a(v, np.zeros(machine.nv))))
        evaluate_rows(tree, con, *nodes, x, W, gamma, error, rate)
        of_nodes = np.zeros((len(found), len(lift.q) - machine.nq + machine.nv))
        row_jacobian(tree, con, W, x, of_nodes)
        A = np.array([lift.back(row) for row in of_nodes])
    names, between = tuple((j.name, label) for j, label in found), tuple((j.parent, j.child) for j, _ in found)
    loops = Rows(names, between, error, rate, gamma, A, _on_child(con, x, W))
    return _and_speed_rows(machine, q, v, t, loops) if m.nonholonomic else loops


def loop_count(machine: Machine) -> int:
    """How many of `machine.rows` belong to loops: they come first, the speed rows last."""
    loops = {j.name for j in machine.mechanism.loops}
    return sum(name in loops for name, _ in machine.rows) if machine.mechanism.nonholonomic else len(machine.rows)


def _and_speed_rows(machine: Machine, q: Array, v: Array, t: float, loops: Rows) -> Rows:
    first, found = loop_count(machine), machine.constraint_rows(q, v, t=t)
    own = [wrench for row in machine.mechanism.nonholonomic for wrench in speed_row_wrenches(machine, q, row)]
    both = zip((loops.error, loops.rate, loops.gamma, loops.A), found)
    error, rate, gamma, A = (np.concatenate([x, y[first:]]) for x, y in both)
    between = (*loops.between, *((GROUND, body) for body, _ in own))
    wrench = np.vstack([loops.wrench, *(w for _, w in own)])
    return Rows((*loops.names, *machine.rows[first:]), between, error, rate, gamma, A, wrench)


def speed_row_wrenches(machine: Machine, q: Array, row: Nonholonomic) -> list[tuple[str, Array]]:
    """(body, wrench) of each row of a speed constraint: what its multiplier does to the body, about the ground's origin."""
    if isinstance(row, SpeedRow):
        return [(GROUND, np.zeros(6))]
    body, X = machine.mechanism.frame(row.frame).body, machine.pose(q, row.frame)
    R, p = X[:3, :3], X[:3, 3]
    if isinstance(row, KnifeEdge):
        pushes, point = [R @ row.direction], p
    else:
        n, axis = np.array(row.normal), R @ row.axis
        up = n - (n @ axis) * axis
        pushes, point = list(np.eye(3)), p - value_of(row.radius, machine.mechanism.parameters) * up / np.linalg.norm(up)
    return [(body, np.concatenate([np.cross(point, f), f])) for f in pushes]


def _on_child(con: Constraints, x: Work, W: Array) -> Array:
    """The wrench pairs as one wrench on the child, about the ground's origin: the two ends feel opposite ones."""
    found = np.zeros((len(W), 6))
    for k, (parent, child) in enumerate(con.node):
        node, sign, pair = (child, 1.0, W[k, 6:]) if child >= 0 else (parent, -1.0, W[k, :6])
        if node >= 0:
            f = x.R[node] @ pair[3:]
            found[k] = sign * np.concatenate([x.R[node] @ pair[:3] + np.cross(x.p[node], f), f])
    return found


def spaces(A: Array, tolerance: float = RANK) -> Spaces:
    """Rank and null spaces of a matrix, by its singular values.

    >>> spaces(np.array([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])).rank
    1
    """
    m, n = A.shape
    if not m or not n:
        return Spaces(0, np.eye(n), np.eye(m), np.zeros(0))
    U, s, Vt = np.linalg.svd(A)
    rank = int((s > tolerance * max(s[0], 1e-300)).sum())
    return Spaces(rank, Vt[rank:].T, U[:, rank:], s)
