"""Reactions: the wrench in every joint, those that close loops included; what is not determined is said to be so.

The multipliers follow from the motion, A' lam = M a + b - tau. Where rows say the same thing twice, lam is known up to a
vector n with A' n = 0: a load that the mechanism carries inside itself without moving (a door on three hinges). A component
of a joint's wrench that such a vector changes is not determined by rigid bodies at all; it comes back as NaN, not as zero.

Which components are determined depends on the axes: in a planar loop those in its plane are, along axes that lie in it. Ask
for the axes you want (`axes`: "body", "joint", "world", or any frame), or turn what you have with `rotated`: a product R @ w
would make NaN of everything, because 0 times NaN is NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import QuestionError, StateError, UnknownNameError
from ..model.mechanism import GROUND, Joint, Mechanism
from ..model.values import value_of
from . import arguments
from .constraint_rows import Rows, metric, rows_at, spaces
from .lookup import machine_of, where
from .terms import each_state, name_of

if TYPE_CHECKING:
    from .machine import Machine

Array = NDArray[np.float64]
AXES = ("body", "joint", "world")
CONSISTENT = 1e-6  # forces that fail the motion by less, beside the largest, are rounding
DOUBTFUL = 1e-8  # a component that inner loads change by more, beside the largest change of its kind, is not determined
ALIGNED = 1e-12  # entries of a rotation below this are zeros


def reactions(
    m: Mechanism | Machine, q: ArrayLike, v: ArrayLike, a: ArrayLike, tau: ArrayLike | None = None,
    wrenches: arguments.Wrenches | None = None, axes: str = "body", t: ArrayLike = 0.0,
) -> dict[str, Array]:  # fmt: skip
    """{joint: (..., 6)}: the wrench on the child of every joint, loops included, torque first (N m, N).

    What the parent does to the child through the joint, its motor included. axes: "body", about the child body's origin in
    its axes; "joint", at the joint's frame on the child, in its axes; "world", about the child's origin in the ground's axes;
    the name of a frame or body, about the child's origin in that frame's axes.
    tau (..., nv): the joint forces of the motion, by default zero. With loops they must be given: a motion alone does not say
    which motors push. A QuestionError says where tau and a do not belong together. NaN: not determined, rows are redundant.
    """
    machine = machine_of(m)
    frames = (*AXES, *(f.name for f in machine.mechanism.frames), *(b.name for b in machine.mechanism.bodies))
    if axes not in frames:
        raise UnknownNameError("axes", axes, frames, "reactions")
    tau = np.zeros(machine.nv) if tau is None else tau
    given = [arguments.array(machine, "reactions", name, x) for name, x in (("q", q), ("v", v), ("a", a), ("tau", tau))]
    joints = (*machine.mechanism.ordered, *machine.mechanism.loops)
    q, v, a, tau = given
    tree = machine._ask("reactions", (q, v, a), wrenches, t=t)[0]
    rows = bool(machine.mechanism.loops or machine.rows)
    need = size = np.zeros(machine.nv)
    if rows:
        moved, still = (machine.inverse_dynamics(q, v, x, wrenches, t=t) for x in (a, 0.0 * a))
        need, size = moved - tau, np.abs(moved) + np.abs(still) + np.abs(tau)
    tree = tree.reshape(*tree.shape[:-2], -1)
    lead, found = each_state(lambda *x: _one(machine, joints, axes, *x), q, v, tree, need, size)
    table = np.array(found).reshape(*lead, len(joints), 6)
    return {j.name: table[..., k, :] for k, j in enumerate(joints)}


def _one(machine: Machine, joints: tuple[Joint, ...], axes: str, q: Array, v: Array, tree: Array, need: Array, size: Array) -> Array:
    """(joints, 6) at one state."""
    count = len(machine.mechanism.ordered)
    wrench = np.zeros((len(joints), 6))
    wrench[:count] = tree.reshape(count, 6)
    turned = [change_of_frame(machine, q, j, axes) for j in joints]
    if not machine.mechanism.loops and not machine.rows:
        return np.array([X @ w for X, w in zip(turned, wrench)])
    rows = rows_at(machine, q, v)
    leave = spaces(rows.A, metric(machine, acting=False))
    lam = leave.inverse.T @ need
    _consistent(machine, need - rows.A.T @ lam, size)
    effect = influence(machine, q, joints, rows)  # (joints, 6, m)
    effect = np.array([X @ G for X, G in zip(turned, effect)])
    total = np.array([X @ w for X, w in zip(turned, wrench)]) + effect @ lam
    return np.where(undetermined(effect, leave.N), np.nan, total)


def undetermined(effect: Array, N: Array) -> Array:
    """(joints, 6): which components the inner loads N (m, k) change, beside the largest effect on a torque or a force."""
    inner = np.linalg.norm(effect @ N, axis=2)
    halves = [np.abs(part).max(initial=0.0) for part in (effect[:, :3], effect[:, 3:])]
    return inner > DOUBTFUL * np.repeat(halves, 3)


def rotated(R: ArrayLike, wrench: ArrayLike) -> Array:
    """Wrenches or other pairs of vectors (..., 6) along other axes: R (..., 3, 3) times each half.

    Components that are not determined (NaN) make only those undetermined that R mixes them into.
    """
    R, w = arguments.numbers("rotated", "R", R), arguments.numbers("rotated", "the wrench", wrench)
    if R.shape[-2:] != (3, 3) or w.shape[-1:] != (6,):
        raise StateError(f"rotated: R has shape {R.shape} and the wrench {w.shape}; they are (..., 3, 3) and (..., 6)")
    R, halves = R[..., None, :, :], w.reshape(*w.shape[:-1], 2, 1, 3)
    found = np.where(np.abs(R) < ALIGNED, 0.0, R * halves).sum(axis=-1)
    return found.reshape(*found.shape[:-2], 6)


def _consistent(machine: Machine, left: Array, size: Array) -> None:
    """Refuse forces that are left over, beside those that act (nv,) along the speeds; slides are measured as `kernels.rank` does."""
    unit = np.sqrt(metric(machine).column)
    if (np.abs(left) * unit).max(initial=0.0) > CONSISTENT * (size * unit).max(initial=0.0):
        name, short = name_of(machine, left)
        raise QuestionError(
            f"reactions: {where(machine)} does not move like this under these joint forces: {name!r} is short of {short:.4g} "
            "(N m or N); pass the tau that forward_dynamics was given, or the one inverse_dynamics finds for the motors"
        )


def influence(machine: Machine, q: Array, joints: tuple[Joint, ...], rows: Rows) -> Array:
    """(joints, 6, m): what one unit of each row's multiplier does to each joint's wrench, child's axes at its origin.

    A tree joint carries whatever acts on the bodies beyond it: the row's wrench on its child, or its opposite on the parent,
    or nothing where it lies between two bodies beyond the joint.
    """
    loops, beyond = {j.name for j in machine.mechanism.loops}, _beyond(machine.mechanism)
    found = np.zeros((len(joints), 6, len(rows.names)))
    for i, j in enumerate(joints):
        X = to_child(machine, q, j.child)
        for k, ((name, _), (parent, child)) in enumerate(zip(rows.names, rows.between)):
            if j.name in loops:
                share = float(j.name == name)
            else:
                share = float(parent in beyond[j.name]) - float(child in beyond[j.name])
            if share:
                found[i, :, k] = share * (X @ rows.wrench[k])
    return found


def _beyond(m: Mechanism) -> dict[str, set[str]]:
    """The bodies that each tree joint carries."""
    found: dict[str, set[str]] = {}
    carried: dict[str, set[str]] = {}
    for j in reversed(m.ordered):
        found[j.name] = {j.child} | carried.get(j.child, set())
        carried.setdefault(j.parent, set()).update(found[j.name])
    return found


def to_child(machine: Machine, q: Array, body: str) -> Array:
    """6 x 6: a wrench about the ground's origin in its axes, seen about the body's origin in the body's axes."""
    X = np.eye(4) if body == GROUND else machine.pose(q, body)
    R, p = X[:3, :3], X[:3, 3]
    return np.block([[R.T, -R.T @ _skew(p)], [np.zeros((3, 3)), R.T]])


def change_of_frame(machine: Machine, q: Array, j: Joint, axes: str) -> Array:
    """6 x 6: a wrench about the child's origin in its axes, seen as `axes` says."""
    if axes == "body":
        return np.eye(6)
    if axes != "joint":
        R = np.eye(3) if j.child == GROUND else machine.pose(q, j.child)[:3, :3]
        R = R if axes == "world" else machine.pose(q, axes)[:3, :3].T @ R
        return np.block([[R, np.zeros((3, 3))], [np.zeros((3, 3)), R]])
    value = machine.mechanism.parameters
    R = np.array([[value_of(x, value) for x in row] for row in j.offset.rotation], float)
    p = np.array([value_of(x, value) for x in j.offset.position], float)
    return np.block([[R.T, -R.T @ _skew(p)], [np.zeros((3, 3)), R.T]])


def _skew(p: Array) -> Array:
    return np.array([[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]])
