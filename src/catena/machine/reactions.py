"""Reactions: the wrench in every joint, those that close loops included. Components that are not
determined are NaN.

The multipliers follow from the motion, A' lam = M a + b - tau. Where rows depend on each other, lam
is known up to a vector n with A' n = 0: an internal load, which does not move the mechanism (as in
a door on three hinges). A component of a joint's wrench that such a vector changes is not
determined by rigid bodies; it is returned as NaN, not as zero.

Which components are determined depends on the axes: in a planar loop those in its plane are, along
axes that lie in it. Choose the axes by `axes` ("body", "joint", "world", or any frame), or rotate a
result with `rotated`: the product R @ w would be NaN in all components, because 0 times NaN is NaN.

The forces of gears, cams, belts, racks and screws act where their records state (`row_actions`).
Data that a record does not state, such as the pressure angle of gears, leave components in the
joints that carry the force undetermined too; `undetermined` names these joints and the reasons.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..compiler import LaneKernel, generic, generic_binding
from ..errors import QuestionError, StateError, UnknownNameError
from ..kernels import DOUBTFUL
from ..model import GROUND, Joint, Mechanism, value_of
from . import arguments
from .constraint_rows import metric
from .generic_kernels import rows as contiguous
from .lookup import machine_of, where
from .row_actions import EVERY_ROW, Acting, RowActions, all_joints, row_actions
from .terms import name_of

if TYPE_CHECKING:
    from .machine import Machine

Array = NDArray[np.float64]
AXES = ("body", "joint", "world")
# Tolerance on the forces that the rows cannot provide, relative to the largest force along the
# speeds: less is rounding.
CONTRADICTION_TOLERANCE = 1e-6
ZERO_ROTATION_ENTRY = 1e-12  # entries of a rotation matrix below this are zero


def reactions(
    m: Mechanism | Machine,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    tau: ArrayLike | None = None,
    wrenches: arguments.Wrenches | None = None,
    axes: str = "body",
    t: ArrayLike = 0.0,
    check: bool = True,
) -> dict[str, Array]:
    """Return the wrench on the child of every joint, loops included, torque first: {joint: (...,
    6)} (N m, N).

    It is the action of the parent on the child through the joint, its motor included. axes: "body",
    about the child body's origin in its axes; "joint", at the joint's frame on the child, in its
    axes; "world", about the child's origin in the ground's axes; the name of a frame or body, about
    the child's origin in that frame's axes. tau (..., nv): the joint forces of the motion (N m, N),
    by default zero; with loops the motion alone does not determine them. t: time, s. check: whether
    to raise for states that leave a loop open or have speeds that open one; the rows of a run are
    evaluated without it, because the ledger says how well they satisfied the constraints.

    A component is NaN where it is not determined, because rows are redundant or because a
    constraint does not state where it acts (`undetermined`). A QuestionError is raised where tau
    and a contradict each other.
    """
    machine = machine_of(m)
    frames = (
        *AXES,
        *(f.name for f in machine.mechanism.frames),
        *(b.name for b in machine.mechanism.bodies),
    )
    if axes not in frames:
        raise UnknownNameError("axes", axes, frames, "reactions")
    if several := [
        x.name for x in machine.mechanism.constraints if x.name not in machine.spec.pushed
    ]:
        raise QuestionError(
            f"reactions: constraint {several[0]!r} of {where(machine)} acts on several bodies with"
            " forces that are not opposite pairs, so that it is not known which joints carry"
            " them; write it in terms of coordinates, or as loops"
        )
    tau = np.zeros(machine.nv) if tau is None else tau
    q, v, a, tau = [
        arguments.array(machine, "reactions", name, x)
        for name, x in (("q", q), ("v", v), ("a", a), ("tau", tau))
    ]
    if check:
        machine.require_possible("reactions", q, v, t=t)
    tree = machine._ask("reactions", (q, v, a), wrenches, t=t)[0]
    joints = joints_of(machine)
    if machine.mechanism.loops or machine.rows:
        moved, still = (machine.inverse_dynamics(q, v, x, wrenches, t=t) for x in (a, 0.0 * a))
        table, left = under_rows(machine, q, tree, moved - tau, axes, t)
        _check(machine, np.abs(moved) + np.abs(still) + np.abs(tau), left)
    else:
        table = _turned(machine, q, tree, axes)
    return {j.name: table[..., k, :] for k, j in enumerate(joints)}


def joints_of(machine: Machine) -> tuple[Joint, ...]:
    """Return all joints: those of the tree, then those that close loops."""
    return all_joints(machine.mechanism)


def undetermined(m: Mechanism | Machine) -> dict[str, tuple[str, ...]]:
    """Return {joint: reasons} for the joints that carry forces of constraints or speed rows whose
    place or size is not stated. Some or all components of their wrenches are NaN.
    """
    return row_actions(machine_of(m)).undetermined


def under_rows(
    machine: Machine,
    q: Array,
    tree: Array,
    need: Array,
    axes: str = "body",
    t: ArrayLike = 0.0,
    steady: bool = True,
) -> tuple[Array, Array]:
    """Return the wrenches (..., joints, 6) if the constraint rows provide the forces `need` (...,
    nv), and the part of `need` that they cannot provide, (..., nv). tree (..., joints of the tree,
    6): the wrenches without rows, in the children's axes. steady: whether forces that act at all
    times are included, such as the pretension of belts; they have no part in an impact.
    """
    A, wrench, R, p = machine._router.ask(EVERY_ROW, (q,), t=t)
    rows = row_actions(machine)
    said = rows.at(A, R, p)
    if said:
        wrench = np.array(np.broadcast_to(wrench, (*A.shape[:-1], 6)))
        for x in said:
            wrench[..., x.index, :] = x.wrench
    joints = joints_of(machine)
    lead = np.broadcast_shapes(need.shape[:-1], A.shape[:-2])
    whole = np.zeros((*tree.shape[:-2], len(joints), 6))
    whole[..., : tree.shape[-2], :] = tree
    turn, arm = _frames(machine, q, R.reshape(*R.shape[:-1], 3, 3), axes)
    by = metric(machine, acting=False)
    batch = int(np.prod(lead))
    given = (
        (A, 2),
        (need, 1),
        (by.column, 1),
        (by.size, 1),
        (R, 2),
        (p, 2),
        (turn, 3),
        (arm, 2),
        (rows.shares, 2),
        (wrench, 2),
        (whole, 2),
    )
    flat = [
        contiguous(x.reshape(*x.shape[: x.ndim - n], -1), lead, batch) if x.ndim > n else x.ravel()
        for x, n in given
    ]
    kernel = _kernel(len(by.size), machine.nv, len(joints))
    (found,), _ = kernel(flat, batch, threads=machine.threads)
    table, left, sizes = np.split(
        found.reshape(*lead, -1), np.cumsum([6 * len(joints), machine.nv]), axis=-1
    )
    table = table.reshape(*lead, len(joints), 6)
    if said or any(rows.blind):
        seen = Seen(R.reshape(*R.shape[:-1], 3, 3), p, turn, arm)
        table = _with_actions(rows, said, seen, table, sizes, steady)
    return table, left


class Seen(NamedTuple):
    """The frames in which the wrenches of joints are expressed: R_WB (..., joints, 3, 3) and p_WB
    (..., joints, 3) of the children, R_BF (turn) and p_BF (arm) of the frames relative to them.
    """

    R: Array
    p: Array
    turn: Array
    arm: Array

    def wrenches(self, w: Array, share: Array) -> Array:
        """Return the part (..., joints, 6) of a wrench w (..., 6), about the ground's origin in the
        ground's axes, that each joint carries. share (joints,): the factor for each joint.
        """
        w = share[:, None] * w[..., None, :]
        t, f = w[..., :3], w[..., 3:]
        t = _turned_by(self.R, t - np.cross(self.p, f))
        f = _turned_by(self.R, f)
        t = _turned_by(self.turn, t - np.cross(self.arm, f))
        return np.concatenate([t, _turned_by(self.turn, f)], axis=-1)


def _turned_by(R: Array, x: Array) -> Array:
    """Return the product R' x of the transposed rotation and the vector of each joint."""
    return np.einsum("...ji,...j->...i", R, x)


def _with_actions(
    rows: RowActions, said: list[Acting], seen: Seen, table: Array, sizes: Array, steady: bool
) -> Array:
    """Return wrenches (..., joints, 6) with the forces of rows that do no work added: those
    proportional to the multiplier and the steady ones; NaN where these are not known. said: the
    actions that records state. sizes (..., m): the multipliers, NaN where they are not determined.
    """
    table = np.array(table)
    for x in said:
        share = rows.shares[:, x.index]
        size = sizes[..., x.index]
        if x.sideways is not None:
            table += seen.wrenches(np.abs(np.nan_to_num(size))[..., None] * x.sideways, share)
            table[_touched(rows, seen, x.sideways, share) & np.isnan(size)[..., None, None]] = (
                np.nan
            )
        if x.steady is not None and steady:
            table += seen.wrenches(x.steady, share)
        for w in x.unknown:
            table[np.broadcast_to(_touched(rows, seen, w, share), table.shape)] = np.nan
    table[..., rows.blind, :] = np.nan
    return table


def _touched(rows: RowActions, seen: Seen, w: Array, share: Array) -> Array:
    """Return which components of the joints' wrenches a wrench w changes by more than rounding,
    (..., joints, 6): relative to its force; for torques, relative to its torque plus its force
    times a typical length of the mechanism.
    """
    found = np.abs(seen.wrenches(w, share))
    force = np.linalg.norm(w[..., None, 3:], axis=-1, keepdims=True)
    torque = force * rows.length + np.linalg.norm(w[..., None, :3], axis=-1, keepdims=True)
    return np.concatenate(
        [found[..., :3] > DOUBTFUL * torque, found[..., 3:] > DOUBTFUL * force], axis=-1
    )


@functools.cache
def _kernel(rows: int, nv: int, joints: int) -> LaneKernel:
    """Return the compiled function for this number of rows, speeds and joints."""
    return generic_binding.bind("loop_reactions", generic.SizesOnly(m=rows, nv=nv, b=joints))


def _check(machine: Machine, forces: Array, left: Array) -> None:
    """Raise a QuestionError where the rows cannot provide the forces that the motion requires, to
    CONTRADICTION_TOLERANCE relative to the forces along the speeds, in the units of `kernels.rank`.
    """
    unit = np.sqrt(metric(machine).column)
    largest = (forces * unit).max(axis=-1, initial=0.0)
    short = (np.abs(left) * unit).max(axis=-1, initial=0.0) > CONTRADICTION_TOLERANCE * largest
    if short.any():
        name, size = name_of(machine, left[short][0])
        raise QuestionError(
            f"reactions: {where(machine)} does not move like this under these joint forces:"
            f" {name!r} is short of {size:.4g} (N m or N); pass the tau that forward_dynamics was"
            " given, or the one inverse_dynamics finds for the motors"
        )


# --- axes
def _frames(machine: Machine, q: Array, R: Array, axes: str) -> tuple[Array, Array]:
    """Return R_BF (..., joints, 3, 3) and p_BF (..., joints, 3) of the frame in which the wrench of
    each joint is expressed, relative to its child. R: R_WB of the children.
    """
    joints = joints_of(machine)
    arm = np.zeros((len(joints), 3))
    if axes == "body":
        return np.tile(np.eye(3), (len(joints), 1, 1)), arm
    if axes == "joint":
        value = machine.mechanism.parameters
        rotations = [
            [[value_of(x, value) for x in row] for row in j.offset.rotation] for j in joints
        ]
        return np.array(rotations, float), np.array(
            [[value_of(x, value) for x in j.offset.position] for j in joints], float
        )
    turn = np.swapaxes(R, -1, -2)
    return (turn if axes == "world" else turn @ machine.pose(q, axes)[..., None, :3, :3]), arm


def _turned(machine: Machine, q: Array, tree: Array, axes: str) -> Array:
    """Return wrenches (..., joints, 6), given in the children's axes, in the requested axes."""
    if axes == "body":
        return tree
    R = np.stack(
        [
            np.eye(4) if j.child == GROUND else machine.pose(q, j.child)
            for j in machine.mechanism.ordered
        ],
        axis=-3,
    )
    turn, arm = _frames(machine, q, R[..., :3, :3], axes)
    t, f = tree[..., :3], tree[..., 3:]
    halves = [_turned_by(turn, x) for x in (t - np.cross(arm, f), f)]
    return np.concatenate(halves, axis=-1)


def rotated(R: ArrayLike, wrench: ArrayLike) -> Array:
    """Return wrenches, or other pairs of vectors, (..., 6) along other axes: R (..., 3, 3) times
    each half.

    A component that is not determined (NaN) makes only those components NaN that R mixes it into.
    """
    R = arguments.numbers("rotated", "R", R)
    w = arguments.numbers("rotated", "the wrench", wrench)
    if R.shape[-2:] != (3, 3) or w.shape[-1:] != (6,):
        raise StateError(
            f"rotated: R has shape {R.shape} and the wrench {w.shape}; they are (..., 3, 3) and"
            " (..., 6)"
        )
    R = R[..., None, :, :]
    halves = w.reshape(*w.shape[:-1], 2, 1, 3)
    found = np.where(np.abs(R) < ZERO_ROTATION_ENTRY, 0.0, R * halves).sum(axis=-1)
    return found.reshape(*found.shape[:-2], 6)
