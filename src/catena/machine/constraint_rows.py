"""The constraint rows of a mechanism at one state, the null space of its constraint Jacobian A and
that of A'.

    A v + B = 0,     A a = gamma,     M a + bias = tau + A' lam

`machine.rows` leaves out the rows that can never act: those of a planar loop across its plane
repeat what the joints of the tree impose. Mobility and reactions need these too, so that this
module has all rows. After the loops come the rows of constraints (gears, cams, expressions), and
speed rows (a wheel that rolls, a knife edge) come last.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..kernels import (
    EXACT,
    Work,
    evaluate_rows,
    on_child,
    row_jacobian,
)
from ..model import GROUND, value_of
from ..model.loads import Nonholonomic
from .row_metric import Metric as Metric
from .row_metric import metric as metric
from .row_metric import row_table

if TYPE_CHECKING:
    from .machine import Machine

Array = np.ndarray


@dataclass(frozen=True)
class Rows:
    """Every row of every loop, constraint and speed row, at one state.

    names: (joint or row, direction) of each row. between: (parent, child), the bodies that it
    joins. error, rate, gamma (m,): the residual (m, or the cosine of an angle; zero for speed
    rows), its rate, and A a. A: (m, nv). wrench: (m, 6), torque first: the wrench of one unit of
    the row's multiplier on the child, about the ground's origin in the ground's axes (the parent
    feels the opposite). It is zero for constraints and for speed rows that are given as
    expressions, which act along the speeds as motors do.
    """

    names: tuple[tuple[str, str], ...]
    between: tuple[tuple[str, str], ...]
    error: Array
    rate: Array
    gamma: Array
    A: Array
    wrench: Array


class Spaces(NamedTuple):
    """The rank and the null spaces of constraint rows A (m, nv).

    T (nv, nv - rank): A T = 0. N (m, m - rank): N' A = 0. values: the singular values of A~,
    largest first. inverse (nv, m) = C^1/2 (A~)+ N^-1/2: the least d with A d = r is inverse r, and
    the least lam with A' lam = f is inverse' f, in the metric of `kernels.rank`.
    """

    rank: int
    T: Array
    N: Array
    values: Array  # the singular values of A~, largest first
    inverse: Array


def openings(machine: Machine, rows: Rows) -> Array:
    """Return the absolute residuals of all rows relative to the sizes of their rows, (m,)."""
    return np.abs(metric(machine, acting=False).relative(rows.error, rows.A))


def rows_at(machine: Machine, q: Array, v: Array | None = None, t: float = 0.0) -> Rows:
    """Return every row at one state (q, v) and time t (s). v: by default zero."""
    v = np.zeros(machine.nv) if v is None else v
    m = machine.mechanism
    tree, con, lift_at, _ = row_table(machine)
    found = [(j, row.label) for j in m.loops for row in j.closure]
    W = np.zeros((len(found), 12))
    A = np.zeros((len(found), machine.nv))
    x = Work.empty(len(machine.layout.nodes))
    gamma, error, rate = np.zeros((3, len(found)))
    if found:
        lift = lift_at(q)
        nodes = (np.array(part) for part in (lift.q, lift.v(v), lift.a(v, np.zeros(machine.nv))))
        evaluate_rows(tree, con, *nodes, x, W, gamma, error, rate)
        of_nodes = np.zeros((len(found), len(lift.q) - machine.nq + machine.nv))
        row_jacobian(tree, con, W, x, of_nodes)
        A = np.array([lift.back(row) for row in of_nodes])
    names = tuple((j.name, label) for j, label in found)
    between = tuple((j.parent, j.child) for j, _ in found)
    wrench = np.array([on_child(con, x, W, k) for k in range(len(found))]).reshape(-1, 6)
    loops = Rows(names, between, error, rate, gamma, A, wrench)
    return _and_others(machine, q, v, t, loops) if m.row_records else loops


def position_count(machine: Machine) -> int:
    """Return how many of `machine.rows` are rows of positions, which belong to loops and
    constraints. They come first, and the speed rows last.
    """
    return len(machine.rows) - sum(len(row.labels) for row in machine.mechanism.nonholonomic)


def _and_others(machine: Machine, q: Array, v: Array, t: float, loops: Rows) -> Rows:
    """Return the rows of loops, followed by those of constraints and by the speed rows."""
    m = machine.mechanism
    found = machine.constraint_rows(q, v, t=t)
    first = len(machine.rows) - sum(len(row.labels) for row in m.row_records)
    own = [(GROUND, np.zeros(6)) for row in m.constraints for _ in row.labels]
    own += [wrench for row in m.nonholonomic for wrench in speed_row_wrenches(machine, q, row)]
    both = zip((loops.error, loops.rate, loops.gamma, loops.A), found)
    error, rate, gamma, A = (np.concatenate([x, y[first:]]) for x, y in both)
    between = (*loops.between, *((GROUND, body) for body, _ in own))
    wrench = np.vstack([loops.wrench, *(w for _, w in own)])
    return Rows((*loops.names, *machine.rows[first:]), between, error, rate, gamma, A, wrench)


def speed_row_wrenches(machine: Machine, q: Array, row: Nonholonomic) -> list[tuple[str, Array]]:
    """Return (body, wrench) for each row of a speed constraint: the wrench of one unit of its
    multiplier on the body, about the ground's origin in the ground's axes.
    """
    if row.text is not None:
        return [(GROUND, np.zeros(6))]
    body = machine.mechanism.frame(row.frame).body
    X = machine.pose(q, row.frame)
    R, p = X[:3, :3], X[:3, 3]
    arm, directions = row.contact(
        R.tolist(), partial(value_of, parameters=machine.mechanism.parameters)
    )
    return [(body, np.concatenate([np.cross(p + arm, f), f])) for f in directions]


def spaces(A: Array, by: Metric | None = None, tolerance: float = EXACT) -> Spaces:
    """Return the rank and the null spaces of a matrix, from the singular values of A~ = N^-1/2 A
    C^1/2.

    A (..., m, n): a batch must have one rank (`ranks`). by: the scales C and N; by default C is one
    and rows are measured by their entries. tolerance: singular values of A~ up to this are zero; A~
    has entries of order one.

    >>> spaces(np.array([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])).rank
    1
    """
    m, n = A.shape[-2:]
    if not m or not n:
        return Spaces(0, np.eye(n), np.eye(m), np.zeros(0), np.zeros((n, m)))
    by = by or Metric(np.ones(n), np.zeros(m))
    U, s, Vt = np.linalg.svd(by.scaled(A))
    rank = int((s > tolerance).sum(axis=-1).max())
    V = across(Vt) * np.sqrt(by.column)[:, None]
    W = U / np.sqrt(by.sizes(A))[..., None]
    inverse = V[..., :rank] / s[..., None, :rank] @ across(W[..., :rank])
    return Spaces(
        rank, _orthonormal(V[..., rank:], by.column), _orthonormal(W[..., rank:]), s, inverse
    )


def least_multipliers(
    machine: Machine,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    wrenches: Any = None,
    parameters: Any = None,
    t: ArrayLike = 0.0,
    check: bool = True,
) -> Array:
    """Return lambda (..., rows), as `Machine.multipliers` does.

    check: whether to raise for states that break the rows. The rows of a run are evaluated without
    it: the ledger says how well they satisfied the constraints.
    """
    (lam,) = machine.evaluate(
        "multipliers", q, v, tau, wrenches=wrenches, parameters=parameters, t=t, check=check
    )
    short = (lam == 0.0).any(axis=-1)  # redundant rows were left out of these states
    if short.any():
        A = np.broadcast_to(
            machine.constraint_rows(q, v, parameters, t=t)[3],
            (*short.shape, lam.shape[-1], machine.nv),
        )[short]
        by = metric(machine)
        lam[short] = [spaces(rows, by).inverse.T @ (rows.T @ x) for rows, x in zip(A, lam[short])]
    return lam


def ranks(A: Array, by: Metric, tolerance: float = EXACT) -> Array:
    """Return the rank of each of the matrices A (..., m, n), an array (...,)."""
    if not A.shape[-2] or not A.shape[-1]:
        return np.zeros(A.shape[:-2], int)
    return (np.linalg.svd(by.scaled(A), compute_uv=False) > tolerance).sum(axis=-1)


def across(A: Array) -> Array:
    """Return the transposes of matrices (..., m, n)."""
    return np.swapaxes(A, -1, -2)


def all_rows(machine: Machine, A: Array) -> Array:
    """Return A (..., m, nv) of the rows in `machine.rows`, at the indices that they have among all
    rows in `rows_at`. Rows that can never act are zero.
    """
    loops = sum(len(j.closure) for j in machine.mechanism.loops)
    active = row_table(machine)[3]
    at = [*active, *range(loops, loops + A.shape[-2] - len(active))]
    found = np.zeros((*A.shape[:-2], loops + A.shape[-2] - len(active), A.shape[-1]))
    found[..., at, :] = A
    return found


def _orthonormal(T: Array, scale: Array | None = None) -> Array:
    """Return an orthonormal basis of the columns of T. scale: the sizes of the rows of T; rows are
    factored largest first, so that small ones keep their digits.
    """
    if not T.size:
        return T
    order = np.argsort(-scale, kind="stable") if scale is not None else np.arange(T.shape[-2])
    return np.linalg.qr(T[..., order, :])[0][..., np.argsort(order), :]


def least_change(
    M: Array, A: Array, r: Array, by: Metric, tolerance: float = EXACT
) -> tuple[Array, Array]:
    """Return d (..., nv) with A d = r and the least d' M d, and lam (..., m) with M d = A' lam.
    Rows that contradict each other are met in the least-squares sense.

    The rank is that of A~, which does not depend on masses. The residual of the rows is corrected
    twice: where rows share a light body, A M^-1 A' loses as many digits as that body's mass is
    smaller than the others'.
    """
    size = np.sqrt(by.sizes(A))
    U, s, _ = np.linalg.svd(by.scaled(A), full_matrices=False)
    keep = s > tolerance
    to = np.swapaxes(U, -1, -2)
    R = keep[..., None] * (to @ (A / size[..., None]))
    wanted = keep * np.einsum("...ij,...j->...i", to, r / size)
    H = np.linalg.solve(M, np.swapaxes(R, -1, -2))
    S = R @ H
    unit = 1.0 / np.sqrt(np.where(keep, np.einsum("...ii->...i", S), 1.0))
    S = unit[..., None] * S * unit[..., None, :] + np.eye(S.shape[-1]) * ~keep[..., None]
    d = np.zeros(np.broadcast_shapes(H.shape[:-1], r.shape[:-1] + H.shape[-2:-1]))
    lam = np.zeros_like(wanted)
    for _ in range(3):
        left = wanted - np.einsum("...ij,...j->...i", R, d)
        y = unit * np.linalg.solve(S, (unit * left)[..., None])[..., 0]
        d = d + np.einsum("...ij,...j->...i", H, y)
        lam = lam + y
    return d, np.einsum("...ij,...j->...i", U, lam) / size
