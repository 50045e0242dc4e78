"""Kernels with loops that straight-line code calls, because unrolled they would be most of its
instructions.

    tape (SX)     ... -> call of `row_forces_48_12_0` -> ...
                  one node with many operands, and one for each of its results
    lanes         stores the operands one after another, calls the kernel's machine code
                  (`BlockFunction`), reads the results
    CasADi        the call's own body, a few hundred operations on matrices (MX): what its
                  interpreter evaluates, and what is differentiated

So the loops and the body are two routes to the same numbers. Derivatives of a call are other
functions: `tape.read` unrolls them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import casadi as ca

from ..kernels import RANK, HeldRows, OffRows, switched_rows
from ..kernels import constrained_forward_dynamics as constrained_dynamics
from .block_function import BlockFunction, Record

Sizes = tuple[int, ...]
Shapes = Sequence[tuple[int, ...]]


class Looped(NamedTuple):
    """A kernel: its machine code, records of inputs, outputs (columns) and scratch memory, their
    shapes for some sizes, and its body as a CasADi function.
    """

    kernel: Callable[..., Any]
    records: tuple[Any, Any, Any]
    shapes: Callable[..., tuple[Shapes, Shapes, Shapes]]
    body: Callable[..., list[ca.MX]]


class Callee(NamedTuple):
    """A kernel for given sizes, in the form in which a tape calls it. name: of its function;
    inputs: their (rows, columns); outputs, behind: the numbers of results, and of the scratch
    entries that follow them.
    """

    name: str
    inputs: tuple[tuple[int, int], ...]
    outputs: int
    behind: int


# --- bodies
def _factored(S: ca.MX, on: Callable[[int, ca.MX], ca.MX]) -> list[tuple[ca.MX, ca.MX, ca.MX]]:
    """Return S = L' D L (m, m), factored from the last row: for each row, in increasing order, its
    entries of L, of D, and whether the row is kept: `on(row, pivot)`.
    """
    floor = constrained_dynamics.PIVOT_ROUNDING * ca.diag(S)
    found = []
    for k in reversed(range(S.shape[0])):
        pivot, u = S[k, k], S[:k, k]
        kept = on(k, pivot)
        d = kept / (kept * ca.fmax(pivot, floor[k]) + (1.0 - kept))
        S = S[:k, :k] - d * ca.mtimes(u, u.T)
        found.append((d * u, d, kept))
    return found[::-1]


def _solved(L: list[tuple[ca.MX, ca.MX, ca.MX]], b: ca.MX) -> ca.MX:
    """Return y with L' D L y = b in the rows that are kept, zero in the others."""
    known = []
    for k, (row, _, _) in reversed(list(enumerate(L))):
        known.append(b[k])
        b = b[:k, 0] - row * b[k]
    y = ca.MX.zeros(0)
    for (row, d, _), left in zip(L, reversed(known)):
        y = ca.vertcat(y, d * left - ca.dot(row, y))
    return y


def _independent(G: ca.MX, size: ca.MX) -> ca.MX:
    """Return (m,): 1 where a row is independent of the rows after it. size: the scales N, 0 for a
    row that is scaled by its entries (`kernels.rank.independent`).
    """
    size = size + (size == 0.0) * ca.diag(G)
    return ca.vertcat(
        *(kept for _, _, kept in _factored(G, lambda k, pivot: pivot > RANK * size[k]))
    )


def _unit_inverse(L: ca.MX) -> ca.MX:
    """Return the inverse of the lower triangle of L (n, n), its diagonal taken as one."""
    unit = ca.DM.eye(L.shape[0])
    rows = ca.MX(unit[:1, :])
    for k in range(1, L.shape[0]):
        rows = ca.vertcat(rows, unit[k, :] - L[k, :k] @ rows)
    return rows


def _forces_body(p: HeldRows) -> list[ca.MX]:
    """Return the body of the CasADi function that computes what the kernel
    `switched_rows.row_forces` does.
    """
    rows = ca.vertcat(ca.diag(p.z) @ p.B, p.others)
    keep = _independent(rows @ ca.diag(p.column) @ rows.T, p.size)[: p.z.numel()]
    Y, D = p.W @ p.F.T, ca.diag(p.weight)
    size = ca.fabs(ca.sum2(p.B * Y.T))
    unit = keep / (size + (size == 0.0))
    r = unit * (p.gamma - p.B @ p.a)
    own = ca.diag(unit) @ p.B
    L = _factored(own @ ((Y @ D @ Y.T) @ own.T), lambda k, _: keep[k])
    f = p.share * (p.z > 0.5)
    for _ in range(switched_rows.ROUNDS):
        f = f + p.weight * (Y.T @ (own.T @ _solved(L, r - own @ (Y @ f))))
    return [f * (p.z > 0.5), p.F.T @ (f * (p.z > 0.5))]


def _change_body(p: OffRows) -> list[ca.MX]:
    """Return the body of the CasADi function that computes what the kernel
    `switched_rows.row_change` does.
    """
    A = ca.diag(p.z) @ p.A
    keep = _independent(A @ ca.diag(p.column) @ A.T, p.size)
    N = _unit_inverse(p.factor)
    H = N @ (ca.diag(ca.diag(p.factor)) @ (N.T @ A.T))  # M^-1 A'
    L = _factored(A @ H, lambda k, _: keep[k])
    r = p.z * p.right
    a = ca.MX.zeros(p.column.numel())
    for _ in range(constrained_dynamics.REFINEMENT_STEPS):
        a = a + H @ _solved(L, r - A @ a)
    return [a]


# --- the kernels
def _forces_shapes(m: int, n: int, k: int) -> tuple[Shapes, Shapes, Shapes]:
    most = m + k
    return (
        ((m, n), (m, n), (n, n), (n,), *((m,),) * 4, (k, n), (most,), (n,)),
        ((m,), (n,)),
        ((most, n), (most, n), (most, most), (n, n), *((most,),) * 6, (n,)),
    )


def _change_shapes(m: int, n: int) -> tuple[Shapes, Shapes, Shapes]:
    return (
        ((m, n), (n, n), (m,), (m,), (m,), (n,)),
        ((n,),),
        ((m, n), (m, n), (m, m), (m, m), *((m,),) * 5),
    )


LOOPED = {
    "row_forces": Looped(
        switched_rows.row_forces,
        (HeldRows, switched_rows.HeldForces, switched_rows.HeldMemory),
        _forces_shapes,
        _forces_body,
    ),
    "row_change": Looped(
        switched_rows.row_change,
        (OffRows, switched_rows.Change, switched_rows.ChangeMemory),
        _change_shapes,
        _change_body,
    ),
}


@cache
def function(name: str, *sizes: int) -> ca.Function:
    """Return a kernel as a CasADi function of dense arguments."""
    own = LOOPED[name]
    shapes = [_matrix(shape) for shape in own.shapes(*sizes)[0]]
    given = own.records[0](
        *(ca.MX.sym(x, *shape) for x, shape in zip(own.records[0]._fields, shapes))
    )
    return ca.Function(
        "_".join((name, *map(str, sizes))), list(given), [ca.densify(y) for y in own.body(given)]
    )


def call(name: str, sizes: Sizes, *given: Any) -> list[ca.SX]:
    """Call a kernel within an expression, and return its results."""
    found: list[ca.SX] = function(name, *sizes).call(
        [ca.densify(ca.SX(x)) for x in given], False, True
    )
    return found


def callee(f: ca.Function) -> Callee | None:
    """Return the kernel of a function; None for other functions."""
    if (found := _sizes(f.name())) is None:
        return None
    name, sizes = found
    inputs, outputs, _ = LOOPED[name].shapes(*sizes)
    scratch = _records(name, sizes)[2]
    return Callee(
        f.name(),
        tuple(map(_matrix, inputs)),
        sum(r * c for r, c in map(_matrix, outputs)),
        scratch.large,
    )


@cache
def code(name: str, width: int) -> BlockFunction:
    """Return the machine code of a kernel, by the name of its function, for `width` lanes."""
    found = _sizes(name)
    assert found is not None, name
    return BlockFunction(LOOPED[found[0]].kernel, *_records(*found), width)


def _records(name: str, sizes: Sizes) -> tuple[Record, Record, Record]:
    own = LOOPED[name]
    inputs, outputs, scratch = (
        Record(kind, shapes) for kind, shapes in zip(own.records, own.shapes(*sizes))
    )
    return inputs, outputs, scratch


def _sizes(name: str) -> tuple[str, Sizes] | None:
    """Return a kernel and its sizes, from the name of a function."""
    for known in LOOPED:
        rest = name.removeprefix(f"{known}_").split("_")
        if name.startswith(f"{known}_") and all(x.isdigit() for x in rest):
            return known, tuple(map(int, rest))
    return None


def _matrix(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return (rows, columns) of an argument; a vector is a column."""
    return (shape[0], shape[1]) if len(shape) == 2 else (shape[0], 1)
