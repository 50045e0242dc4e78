"""Generic kernels: compiled once for any mechanism of any size, over lanes of states.

    void kernel(ptr table, ptr x, ptr y, ptr w)      x, y, w: inputs, outputs and scratch memory,
                                                     each [numbers][W]

`table` describes one mechanism: its sizes, then the addresses of its arrays. A kernel here is a
function in the subset of Python that `kernel_compiler` compiles. Its parameters are found by their
names: the description of the mechanism in the table, inputs in x, `out` in y, everything else in w.
The kernel of one mechanism consists of a few instructions around that code: see `generic_binding`.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .. import spatial
from ..kernels import (
    BALL,
    SNAP,
    BodyTable,
    Constraints,
    JointRows,
    Layout,
    Tree,
    Work,
    active_rows,
    body_table,
    constraints,
    coriolis,
    dynamics,
    kinematics,
    reactions,
)
from ..kernels import constrained_forward_dynamics as constrained
from ..kernels import constraint_rows as rows
from ..kernels import loop_reactions as _loop_reactions
from ..model import value_of
from . import host
from .kernel_compiler import Module
from .kernel_intrinsics import INTRINSICS, intrinsic
from .kernel_text import Array, Value

# nodes, coordinates, speeds, bodies, freedoms, rows; the node of a frame
SIZES = ("n", "nq", "nv", "b", "f", "m", "node")
# parameter -> its record, and the shapes of its arrays
RECORDS: dict[str, tuple[type, dict[str, tuple[Any, ...]]]] = {
    "tree": (
        Tree,
        dict.fromkeys(Tree._fields, ("n",))
        | {
            "E": ("n", 3, 3),
            "r": ("n", 3),
            "h": ("n", 3),
            "J": ("n", 6),
            "armature": ("nv",),
            "gravity": (3,),
        },
    ),
    "bodies": (
        BodyTable,
        {
            "node": ("b",),
            "parent": ("b",),
            "R": ("b", 3, 3),
            "p": ("b", 3),
            "mass": ("b",),
            "h": ("b", 3),
            "J": ("b", 6),
        },
    ),
    "con": (
        Constraints,
        {
            "kind": ("m",),
            "node": ("m", 2),
            "p": ("m", 2, 3),
            "a": ("m", 3),
            "b": ("m", 3),
            "c": ("m", 3),
            "value": ("m",),
            "loop": ("m",),
            "column": ("nv",),
            "size": ("m",),
        },
    ),
}
WHOLE = {"parent", "motion", "qi", "vi", "node", "kind", "loop"}  # arrays of whole numbers
INPUTS = {
    "q": ("nq",),
    "v": ("nv",),
    "a": ("nv",),
    "tau": ("nv",),
    "wrench": ("n", 6),
    "body_wrench": ("b", 6),
    "rows": ("m", "nv"),
    "need": ("nv",),
    "column": ("nv",),
    "size": ("m",),
    "R_WB": ("b", 3, 3),
    "p_WB": ("b", 3),
    "R_BF": ("b", 3, 3),
    "p_BF": ("b", 3),
    "share": ("b", "m"),
    "row_wrench": ("m", 6),
    "tree_wrench": ("b", 6),
}
SCRATCH = {
    "zeros": ("nv",),
    "M": ("nv", "nv"),
    "W": ("m", 12),
    "gamma": ("m",),
    "error": ("m",),
    "rate": ("m",),
    "Y": ("m", "nv"),
    "H": ("m", "nv"),
    "S": ("m", "m"),
    "G": ("m", "m"),
    "L": (2, "m"),
    "lam": ("m",),
    "A": ("m", "nv"),
    "acc": ("nv",),
    "F6": ("f", 6),
    "dF6": ("f", 6),
    "I": ("n", 6, 6),
    "B": ("n", 6, 6),
    "X6": (6, 6),
    "F3": (3, 6),
    "P": ("m", "m"),
    "W6": ("b", 6),
    "doubt": ("b", 6),
    "sizes": ("m",),
}


def _work_shape(name: str) -> tuple[Any, ...]:
    one = Work.empty(1)
    return ("n", *getattr(one, name).shape[1:])


# --- the kernels' scalars
intrinsic(spatial.sin)(lambda m, x: m.sine_and_cosine(x)[0])
intrinsic(spatial.cos)(lambda m, x: m.sine_and_cosine(x)[1])
intrinsic(spatial.sines)(
    lambda m, s, c: m.sines(s.pointer, c.pointer, m.later(s.shape[0], "int").name)
)
intrinsic(spatial.atan2)(lambda m, y, x: m.binary("atan2", y, x))
intrinsic(spatial.sqrt)(lambda m, x: m.unary("sqrt", x))
intrinsic(spatial.floor)(lambda m, x: m.unary("floor", x))
intrinsic(spatial.select)(lambda m, condition, a, b: m.selected(condition, a, b))
intrinsic(spatial.larger)(INTRINSICS[max])
intrinsic(spatial.smaller)(INTRINSICS[min])
intrinsic(spatial.entry)(lambda m, table, i: m.gathered(table, i))
intrinsic(spatial.any_lane)(lambda m, condition: m.any_lane(condition))
intrinsic(spatial.vanishes)(lambda m, x: False)
intrinsic(spatial.filled)(lambda m, row, n: m.call(range, m.arithmetic(ast.Sub, n, 1), -1, -1))


# --- kernels
def clear(M):
    """Set all entries of a matrix to zero."""
    for i in range(M.shape[0]):
        for j in range(M.shape[1]):
            M[i, j] = 0.0


def still(zeros):
    """Set a vector, such as the speeds, to zero."""
    for i in range(len(zeros)):
        zeros[i] = 0.0


def inverse_dynamics(tree, q, v, a, wrench, x, out):
    """Compute the forces tau (nv,) of a motion."""
    dynamics.inverse_dynamics(tree, q, v, a, wrench, x, out)


def forward_dynamics(tree, q, v, tau, wrench, zeros, x, out):
    """Compute the accelerations a (nv,) under given forces, by the articulated-body pass."""
    still(zeros)
    dynamics.forward_dynamics(tree, q, v, tau, wrench, zeros, x, out)


def forward_dynamics_dense(tree, q, v, tau, wrench, zeros, x, M, out):
    """Compute the accelerations a (nv,) under given forces, from the mass matrix."""
    still(zeros)
    clear(M)
    dynamics.forward_dynamics_dense(tree, q, v, tau, wrench, zeros, x, out, M)


def constrained_dynamics(
    tree, con, q, v, tau, wrench, zeros, x, W, gamma, error, rate, Y, H, S, G, L, acc, lam, out
):
    """Compute the accelerations a under the constraint rows of loops, then the multipliers, the
    residuals and their rates.
    """
    still(zeros)
    constrained.constrained_dynamics(
        tree, con, q, v, tau, wrench, zeros, x, W, gamma, error, rate, Y, H, S, G, L, acc, lam
    )
    _after_another(acc, lam, error, rate, out)


def constrained_dynamics_dense(
    tree,
    con,
    q,
    v,
    tau,
    wrench,
    zeros,
    x,
    W,
    gamma,
    error,
    rate,
    Y,
    H,
    S,
    G,
    L,
    acc,
    lam,
    M,
    A,
    out,
):
    """Compute accelerations, multipliers, residuals and rates as `constrained_dynamics` does, but
    from the mass matrix; used where joints mimic others.
    """
    still(zeros)
    clear(M)
    clear(A)
    constrained.constrained_dynamics_dense(
        tree, con, q, v, tau, wrench, zeros, x, W, gamma, error, rate, Y, H, S, G, L, acc, lam, M, A
    )
    _after_another(acc, lam, error, rate, out)


def _after_another(a, lam, error, rate, out):
    """Store accelerations, then multipliers, residuals and rates of the rows, one after another, in
    `out`.
    """
    nv, m = len(a), len(lam)
    for i in range(nv):
        out[i] = a[i]
    for k in range(m):
        out[nv + k], out[nv + m + k], out[nv + 2 * m + k] = lam[k], error[k], rate[k]


def constraint_rows(tree, con, q, v, zeros, x, W, gamma, error, rate, Y, out):
    """Compute residuals (m), their rates (m), gamma (m), then A (m nv) row by row."""
    still(zeros)
    still(gamma)
    rows.evaluate_rows(tree, con, q, v, zeros, x, W, gamma, error, rate)
    clear(Y)
    rows.row_jacobian(tree, con, W, x, Y)
    m, nv = len(gamma), len(v)
    for k in range(m):
        out[k], out[m + k], out[2 * m + k] = error[k], rate[k], gamma[k]
        for i in range(nv):
            out[3 * m + k * nv + i] = Y[k, i]


def mass_matrix(tree, q, x, out):
    """Compute the mass matrix M (nv, nv)."""
    clear(out)
    dynamics.mass_matrix(tree, q, x, out)


def coriolis_matrix(tree, q, v, x, F6, dF6, I, B, X6, F3, out):
    """Compute the Coriolis matrix C (nv, nv)."""
    clear(out)
    coriolis.coriolis_matrix(tree, q, v, x, F6, dF6, I, B, X6, F3, out)


def energy(tree, q, v, x, out):
    """Compute kinetic and potential energy."""
    out[0], out[1] = kinematics.energy(tree, q, v, x)


def momentum(tree, q, v, x, out):
    """Compute mass, centre of mass, its velocity and the angular momentum about it."""
    mass, com, velocity, L = kinematics.momentum(tree, q, v, x)
    out[0] = mass
    for k in range(3):
        out[1 + k], out[4 + k], out[7 + k] = com[k], velocity[k], L[k]


def _frame(X):
    R = ((X[0, 0], X[0, 1], X[0, 2]), (X[1, 0], X[1, 1], X[1, 2]), (X[2, 0], X[2, 1], X[2, 2]))
    return R, (X[0, 3], X[1, 3], X[2, 3])


def pose(tree, q, x, node, X, out):
    """Compute the pose (3, 4) of a frame, given by X on its node."""
    R_NF, p_NF = _frame(X)
    kinematics.poses(tree, q, x)
    R, p = kinematics.frame_pose(node, R_NF, p_NF, x)
    for k in range(3):
        out[k, 0], out[k, 1], out[k, 2], out[k, 3] = R[k][0], R[k][1], R[k][2], p[k]


def jacobian(tree, q, x, node, X, out):
    """Compute the Jacobian (6, nv) of a frame in the ground's axes."""
    R_NF, p_NF = _frame(X)
    kinematics.poses(tree, q, x)
    _, p = kinematics.frame_pose(node, R_NF, p_NF, x)
    clear(out)
    kinematics.jacobian(tree, node, p, x, out)


def frame_velocity(tree, q, v, x, node, X, out):
    """Compute angular velocity and velocity of a frame, in its own axes."""
    R_NF, p_NF = _frame(X)
    kinematics.velocities(tree, q, v, x)
    w, u = kinematics.frame_velocity(node, R_NF, p_NF, x)
    for k in range(3):
        out[k], out[3 + k] = w[k], u[k]


def frame_acceleration(tree, q, v, a, x, node, X, out):
    """Compute angular acceleration and acceleration of a frame's origin, in its own axes."""
    R_NF, p_NF = _frame(X)
    kinematics.accelerations(tree, q, v, a, (0.0, 0.0, 0.0), x)
    w, u = kinematics.frame_acceleration(node, R_NF, p_NF, x)
    for k in range(3):
        out[k], out[3 + k] = w[k], u[k]


def joint_wrenches(tree, bodies, q, v, a, body_wrench, x, out):
    """Compute the wrenches (b, 6) in the joints."""
    reactions.joint_wrenches(tree, bodies, q, v, a, body_wrench, x, out)


def loop_reactions(
    rows,
    need,
    column,
    size,
    R_WB,
    p_WB,
    R_BF,
    p_BF,
    share,
    row_wrench,
    tree_wrench,
    H,
    Y,
    S,
    P,
    gamma,
    rate,
    lam,
    acc,
    doubt,
    W6,
    sizes,
    error,
    out,
):
    """Compute the wrenches (b, 6) in the joints under rows, then the forces (nv) that no
    multipliers account for, then the multipliers (m).
    """
    on = JointRows(R_WB, p_WB, R_BF, p_BF, share, row_wrench)
    _loop_reactions(
        rows,
        need,
        column,
        size,
        on,
        tree_wrench,
        H,
        Y,
        S,
        P,
        gamma,
        rate,
        lam,
        doubt,
        W6,
        acc,
        sizes,
        error,
    )
    for i in range(len(W6)):
        for d in range(6):
            out[6 * i + d] = W6[i, d]
    for i in range(len(acc)):
        out[6 * len(W6) + i] = acc[i]
    for k in range(len(sizes)):
        out[6 * len(W6) + len(acc) + k] = sizes[k]


@dataclass(frozen=True)
class Generic:
    """A generic kernel, and the shape of its output."""

    kernel: Callable[..., None]
    out: tuple[Any, ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of its inputs, in order."""
        return tuple(name for name in inspect.signature(self.kernel).parameters if name in INPUTS)


KERNELS = {
    each.kernel.__name__: each
    for each in (
        Generic(inverse_dynamics, ("nv",)),
        Generic(forward_dynamics, ("nv",)),
        Generic(forward_dynamics_dense, ("nv",)),
        Generic(constrained_dynamics, ("nv+3m",)),
        Generic(constrained_dynamics_dense, ("nv+3m",)),
        Generic(constraint_rows, ("rows",)),
        Generic(mass_matrix, ("nv", "nv")),
        Generic(coriolis_matrix, ("nv", "nv")),
        Generic(energy, (2,)),
        Generic(momentum, (10,)),
        Generic(pose, (3, 4)),
        Generic(jacobian, (6, "nv")),
        Generic(frame_velocity, (6,)),
        Generic(frame_acceleration, (6,)),
        Generic(joint_wrenches, ("b", 6)),
        Generic(loop_reactions, ("6b+nv+m",)),
    )
}


# --- one mechanism's numbers
class Structure:
    """A mechanism in the form that generic kernels read: sizes, and arrays behind addresses."""

    def __init__(self, layout: Layout, snap: float = SNAP):
        value = lambda x: x if isinstance(x, float) else value_of(x, layout.mechanism.parameters)  # noqa: E731
        self.tree, self.bodies = layout.tree(snap=snap), body_table(layout, value)
        self.constraints = constraints(layout, value, active_rows(layout))
        freedoms = sum(3 if k == BALL else 1 for k in self.tree.motion)
        counts = (
            len(layout.nodes),
            layout.nq,
            layout.nv,
            len(self.bodies.node),
            freedoms,
            len(self.constraints.kind),
        )
        self.sizes = dict(zip(SIZES, counts))
        self.arrays: tuple[np.ndarray, ...] = (*self.tree, *self.bodies, *self.constraints)

    def table(self, node: int, X: np.ndarray) -> np.ndarray:
        """Return the table, for a frame at X (3, 4) on a node."""
        addresses = [a.ctypes.data for a in (*self.arrays, X)]
        return np.array([*(self.sizes[s] for s in SIZES[:-1]), node, *addresses], np.int64)

    def shape(self, shape: tuple[Any, ...]) -> tuple[int, ...]:
        """Return a shape with its sizes replaced by numbers."""
        return tuple(_size(self.sizes.__getitem__, s) for s in shape)


class SizesOnly(Structure):
    """Sizes without a mechanism, for kernels whose inputs contain all data."""

    def __init__(self, **sizes: int):
        self.sizes = dict.fromkeys(SIZES, 0) | sizes
        self.arrays = ()


def _size(of: Callable[[str], Any], size: Any) -> Any:
    """Return a size of a mechanism, given by its name or as a number."""
    if isinstance(size, int):
        return size
    derived = {
        "nv+3m": lambda: of("nv") + of("m") + of("m") + of("m"),
        "6b+nv+m": lambda: of("b") * 6 + of("nv") + of("m"),
        "rows": lambda: of("m") * (of("nv") + 3),
    }
    return derived[size]() if size in derived else of(size)


def scratch(kernel: Callable[..., None]) -> list[tuple[str, tuple[Any, ...]]]:
    """Return the arrays that a kernel needs in w, in order."""
    found: list[tuple[str, tuple[Any, ...]]] = []
    for name in inspect.signature(kernel).parameters:
        if name == "x":
            found += [(f"x.{field}", _work_shape(field)) for field in Work._fields]
        elif name in SCRATCH:
            found.append((name, SCRATCH[name]))
    return found


# --- machine code
class _Symbol(NamedTuple):
    """A size that is known only at run time, with the arithmetic that shapes need."""

    module: Module
    value: Any

    def _with(self, op: str, other: Any) -> _Symbol:
        import ast

        return _Symbol(
            self.module,
            self.module.arithmetic(
                getattr(ast, op), self.value, other.value if isinstance(other, _Symbol) else other
            ),
        )

    def __add__(self, other: Any) -> _Symbol:
        return self._with("Add", other)

    def __mul__(self, other: Any) -> _Symbol:
        return self._with("Mult", other)


def text(name: str, width: int) -> str:
    """Return the LLVM text of a generic kernel."""
    m = Module(width, host.has_fma())
    generic = KERNELS[name]
    with m.function("kernel", "ptr table", "ptr x", "ptr y", "ptr w") as (table, x, y, w):

        def cell(k: int, kind: str) -> str:
            return m.new(f"load {kind}, ptr {m.new(f'getelementptr i64, ptr {table}, i64 {k}')}")

        sizes = {s: Value("int", cell(k, "i64")) for k, s in enumerate(SIZES)}
        of = lambda s: _Symbol(m, sizes[s])  # noqa: E731
        known: dict[str, Any] = {"node": sizes["node"]}
        shaped = lambda shape: tuple(s if isinstance(s, int) else _size(of, s).value for s in shape)  # noqa: E731
        at = len(SIZES)
        taken = inspect.signature(generic.kernel).parameters
        for parameter, (record, shapes) in RECORDS.items():
            if parameter in taken:
                arrays = [
                    Array(
                        cell(at + k, "ptr"),
                        shaped(shapes[field]),
                        "int" if field in WHOLE else "double",
                    )
                    for k, field in enumerate(record._fields)  # type: ignore[attr-defined]
                ]
                known[parameter] = record(*arrays)
            at += len(shapes)
        if "X" in taken:
            known["X"] = Array(cell(at, "ptr"), (3, 4), "double")
        known["out"] = Array(y, shaped(generic.out))
        offset = 0
        for parameter in generic.inputs:
            known[parameter] = _next(m, x, offset, shaped(INPUTS[parameter]))
            offset = _after(m, offset, known[parameter])
        offset, fields = 0, {}
        for parameter, shape in scratch(generic.kernel):
            fields[parameter] = _next(m, w, offset, shaped(shape))
            offset = _after(m, offset, fields[parameter])
        known |= fields
        if "x.c" in fields:
            known["x"] = Work(*(fields[f"x.{field}"] for field in Work._fields))  # type: ignore[arg-type]  # arrays of the code
        m.call(generic.kernel, *(known[p] for p in taken))
    m.text.table()
    return str(m)


def _next(m: Module, base: str, offset: Any, shape: tuple[Any, ...]) -> Array:
    """Return the array that begins `offset` vectors of lanes after a pointer."""
    return Array(
        m.new(f"getelementptr {m.V}, ptr {base}, i64 {m.later(offset, 'int').name}"), shape
    )


def _after(m: Module, offset: Any, array: Array) -> Any:
    import ast

    return m.arithmetic(ast.Add, offset, m.product(array.shape))
