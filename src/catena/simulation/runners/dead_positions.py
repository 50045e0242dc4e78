"""Dead positions: where the other joints of a loop cannot follow a prescribed motion any further,
because the links that would have to move lie in one line.

A driven crank that cannot turn all the way comes to such a position. There the rows of the loop
lose rank in the columns of the joints that are free: one of them would have to move infinitely
fast, and beyond it the loop cannot be closed at all. A run ends there, and its message says where
that is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import CatenaError
from ...machine import Machine, metric
from ...results import OPEN, units

if TYPE_CHECKING:
    from ..planning.plan import RunPlan
    from ..system.first_order import System

Array = NDArray[np.float64]
# smallest singular value of the constraint rows in the columns of the free joints, relative to the
# largest: below it a dead position is near
DEAD_POSITION_VALUE = 1e-2
# opening of a loop relative to its length: with less it is closed, and the search for the dead
# position starts there
CLOSED_LOOP = 1e-6
# steps between two checks whether a prescribed motion has opened a loop; a check costs as much as
# some fifty steps of a small linkage
WATCHED_STEPS = 2000
# steps between two checks once a longer slice has opened a loop: that slice is computed once more,
# so that the loop is known to be closed shortly before it opens
STEPS_NEAR_TEAR = 200
HALVINGS = 60  # bisections of the time between the last closed row and the first open one


class Deadlock(NamedTuple):
    """How close a loop is to a dead position. loop: the joint that closes it. joint: the free speed
    that would have to be infinite there. value: the smallest singular value relative to the
    largest.
    """

    loop: str
    joint: str
    value: float


def deadlock(
    machine: Machine, system: System, t: float, q: Array, v: Array, p: Array | None
) -> Deadlock | None:
    """Return how close this state is to a dead position; None where there is no loop, or no joint
    is free.
    """
    d = system.driven
    fixed = d.speeds if d is not None else []
    free = [k for k in range(machine.nv) if k not in fixed]
    if not machine.rows or not free:
        return None
    A = machine.constraint_rows(q, v, p, t)[3]
    by = metric(machine)
    own = A[:, free] * np.sqrt(by.column[free])
    size = np.sqrt(by.sizes(A))
    U, values, W = np.linalg.svd(own / np.where(size > 0.0, size, 1.0)[:, None])
    # redundant rows of planar loops have the value zero, which does not count
    rank = int(np.sum(values > 1e-12 * values[0])) if len(values) and values[0] > 0.0 else 0
    if not rank:
        return None
    row = int(np.abs(U[:, rank - 1]).argmax())
    joint = free[int(np.abs(W[rank - 1]).argmax())]
    return Deadlock(
        machine.rows[row][0], machine.speed_names[joint], float(values[rank - 1] / values[0])
    )


def openings(plan: RunPlan, t: Array, x: Array, held: Array, p: Array) -> Array:
    """Return (n,): how far loops are open at states x (n, size), relative to the length of each
    loop. held: inputs and modes.
    """
    given = [np.ascontiguousarray(a) for a in (t[:, None], x, held, p)]
    outs, _ = plan.system.kernel("observe")(given, len(t))  # type: ignore[misc]
    error = outs[5][:, : outs[5].shape[1] // 2]
    found: Array = np.abs(error / plan.row_sizes).max(axis=1, initial=0.0)
    found[~np.isfinite(found)] = np.inf
    return found


def can_tear(plan: RunPlan) -> bool:
    """Whether a prescribed motion could open a loop in the runs of this plan."""
    s = plan.system
    moves = s.driven is not None or plan.machine.spec.rheonomic
    return bool(moves and s.mechanism.constrained and plan.machine.rows)


def is_torn(opening: Array) -> NDArray[np.bool_]:
    """Return whether loops are open so far that the ledger does not trust the state. opening: as
    `openings` returns it.
    """
    return opening > OPEN


def sentence(plan: RunPlan, last: float, x: Array, torn: float, p: Array) -> str:
    """Return the message for a run that ends because a loop which is closed in state x at time
    `last` (s) is open at time `torn` (s). p: the parameters.
    """
    s, m = plan.system, plan.machine
    q, v = (np.array(a).ravel() for a in s.equations.decode(x[: s.nx], p))
    t, q, v = _last_closed(s, last, q, v, torn, p)
    found = deadlock(m, s, t, q, v, p if len(p) else None)
    names, unit = list(m.coordinate_names), units(m.mechanism.moving)[0]
    shown = [s.driven.qi, list(range(len(q)))] if s.driven is not None else [[], range(len(q))]
    driven, others = (
        ", ".join(f"{names[k]} = {q[k]:.6g} {unit[k]}" for k in list(some)[:6]) for some in shown
    )
    # where a constraint drives the mechanism, the dead position is known to one output time only
    beyond = "beyond" if s.driven is not None else "much beyond"
    at = f"{beyond} t = {t:.9g} s, at {driven or others}"
    loop = f"the loop that {found.loop!r} closes" if found else "a loop"
    joint = f", where {found.joint!r} would have to move infinitely fast" if found else ""
    return (
        f"the prescribed motion cannot go on {at}: {loop} is at a dead position{joint}, and"
        " cannot be closed any further. Move what is driven less far, change the lengths of that"
        " loop, or drive another joint"
    )


def _last_closed(
    s: System, t: float, q: Array, v: Array, torn: float, p: Array
) -> tuple[float, Array, Array]:
    """Return the last time until `torn` (s) at which the loops can be closed, and q and v there."""
    if s.driven is None:
        return t, q, v
    for _ in range(HALVINGS):
        middle = 0.5 * (t + torn)
        if not t < middle < torn:
            break
        try:
            q, v = s.driven.start(middle, q, v, p)
            t = middle
        except CatenaError:
            torn = middle
    return t, q, v
