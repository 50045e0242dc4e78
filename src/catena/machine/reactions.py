"""Reactions: the wrench in every joint, those that close loops included; what is not determined is
said to be so.

The multipliers follow from the motion, A' lam = M a + b - tau. Where rows say the same thing twice,
lam is known up to a vector n with A' n = 0: a load that the mechanism carries inside itself without
moving (a door on three hinges). A component of a joint's wrench that such a vector changes is not
determined by rigid bodies at all; it comes back as NaN, not as zero.

Which components are determined depends on the axes: in a planar loop those in its plane are, along
axes that lie in it. Ask for the axes you want (`axes`: "body", "joint", "world", or any frame), or
turn what you have with `rotated`: a product R @ w would make NaN of everything, because 0 times NaN
is NaN.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..compiler import generic, generic_binding
from ..compiler.lanes import LaneKernel
from ..compiler.trace import Tracer
from ..errors import QuestionError, StateError, UnknownNameError
from ..model.mechanism import GROUND, Joint, Mechanism
from ..model.values import value_of
from . import arguments
from .constraint_rows import between, metric
from .generic_kernels import rows as contiguous
from .lookup import machine_of, where
from .quantities import Output, Quantity
from .terms import name_of

if TYPE_CHECKING:
    from .machine import Machine

Array = NDArray[np.float64]
AXES = ("body", "joint", "world")
CONSISTENT = 1e-6  # forces that fail the motion by less, beside the largest, are rounding
ALIGNED = 1e-12  # entries of a rotation below this are zeros

EVERY_ROW = Quantity(
    "every_row",
    ("q",),
    (
        Output(
            "A",
            "every row of every loop along the speeds, then the speed rows",
            ("every_row", "nv"),
        ),
        Output(
            "wrench",
            "what one unit of a row does to its child, about the ground's origin in its axes",
            ("every_row", 6),
        ),
        Output(
            "R",
            "rotation of the children of all joints, loops included, into the ground's axes",
            ("all_joints", 9),
        ),
        Output("p", "their origins, m", ("all_joints", 3)),
    ),
    "What rows do to joints.",
    Tracer.every_row,
    time=True,
)


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
    """{joint: (..., 6)}: the wrench on the child of every joint, loops included, torque first (N m,
    N).

    What the parent does to the child through the joint, its motor included. axes: "body", about the
    child body's origin in its axes; "joint", at the joint's frame on the child, in its axes;
    "world", about the child's origin in the ground's axes; the name of a frame or body, about the
    child's origin in that frame's axes. tau (..., nv): the joint forces of the motion, by default
    zero. With loops they must be given: a motion alone does not say which motors push. A
    QuestionError says where tau and a do not belong together. NaN: not determined, rows are
    redundant. check: refuse states that leave a loop open or have speeds that open one; False takes
    them as they are (rows of a run, whose ledger says how well they were kept).
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
            f"reactions: constraint {several[0]!r} of {where(machine)} pushes several bodies"
            " without pushing them against each other, and what of it a joint carries is not"
            " known; write it in coordinates, or as loops"
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
    """All joints: those of the tree, then those that close loops."""
    return (*machine.mechanism.ordered, *machine.mechanism.loops)


def under_rows(
    machine: Machine, q: Array, tree: Array, need: Array, axes: str = "body", t: ArrayLike = 0.0
) -> tuple[Array, Array]:
    """The wrenches (..., joints, 6) where the rows give `need` (..., nv), and what they cannot give
    of it (..., nv).

    tree (..., joints of the tree, 6): the wrenches without rows, in the children's axes.
    """
    A, wrench, R, p = machine._router.ask(EVERY_ROW, (q,), t=t)
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
        (_shares(machine), 2),
        (wrench, 2),
        (whole, 2),
    )
    flat = [
        contiguous(x.reshape(*x.shape[: x.ndim - n], -1), lead, batch) if x.ndim > n else x.ravel()
        for x, n in given
    ]
    kernel = _kernel(len(by.size), machine.nv, len(joints))
    (found,), _ = kernel(flat, batch, threads=machine.threads)
    table, left = np.split(found.reshape(*lead, -1), [6 * len(joints)], axis=-1)
    return table.reshape(*lead, len(joints), 6), left


@functools.cache
def _kernel(rows: int, nv: int, joints: int) -> LaneKernel:
    """The kernel for so many rows, speeds and joints."""
    return generic_binding.bind("loop_reactions", generic.SizesOnly(m=rows, nv=nv, b=joints))


def _check(machine: Machine, forces: Array, left: Array) -> None:
    """A QuestionError where the rows do not give what the motion needs, beside the forces along the
    speeds (`kernels.rank` has the units).
    """
    unit = np.sqrt(metric(machine).column)
    short = (np.abs(left) * unit).max(axis=-1, initial=0.0) > CONSISTENT * (forces * unit).max(
        axis=-1, initial=0.0
    )
    if short.any():
        name, size = name_of(machine, left[short][0])
        raise QuestionError(
            f"reactions: {where(machine)} does not move like this under these joint forces:"
            f" {name!r} is short of {size:.4g} (N m or N); pass the tau that forward_dynamics was"
            " given, or the one inverse_dynamics finds for the motors"
        )


def _shares(machine: Machine) -> Array:
    """(joints, rows): how much of a row's wrench each joint carries.

    A tree joint carries whatever acts on the bodies beyond it: the row's wrench on its child, or
    its opposite on the parent, or nothing where it lies between two bodies beyond the joint.
    """
    loops = {j.name for j in machine.mechanism.loops}
    beyond = _beyond(machine.mechanism)

    def share(j: Joint, name: str, parent: str, child: str) -> float:
        if j.name in loops:
            return float(j.name == name)
        return float(parent in beyond[j.name]) - float(child in beyond[j.name])

    return np.array([[share(j, *row) for row in between(machine)] for j in joints_of(machine)])


def _beyond(m: Mechanism) -> dict[str, set[str]]:
    """The bodies that each tree joint carries."""
    found: dict[str, set[str]] = {}
    carried: dict[str, set[str]] = {}
    for j in reversed(m.ordered):
        found[j.name] = {j.child} | carried.get(j.child, set())
        carried.setdefault(j.parent, set()).update(found[j.name])
    return found


# --- axes
def _frames(machine: Machine, q: Array, R: Array, axes: str) -> tuple[Array, Array]:
    """R_BF (..., joints, 3, 3) and p_BF (..., joints, 3): where the wrench of each joint is wanted,
    seen from its child at R_WB.
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
    """Wrenches (..., joints, 6) of the children's axes, where they are wanted."""
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
    halves = [np.einsum("...ji,...j->...i", turn, x) for x in (t - np.cross(arm, f), f)]
    return np.concatenate(halves, axis=-1)


def rotated(R: ArrayLike, wrench: ArrayLike) -> Array:
    """Wrenches or other pairs of vectors (..., 6) along other axes: R (..., 3, 3) times each half.

    Components that are not determined (NaN) make only those undetermined that R mixes them into.
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
    found = np.where(np.abs(R) < ALIGNED, 0.0, R * halves).sum(axis=-1)
    return found.reshape(*found.shape[:-2], 6)
