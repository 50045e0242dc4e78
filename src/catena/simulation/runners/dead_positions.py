"""Dead positions: where the other joints of a loop cannot follow a prescribed motion any further,
because the links that would have to are in line.

A crank that is driven and cannot turn all the way comes to such a position. There the rows of the
loop lose rank in the columns of the joints that are free: one of them would have to move infinitely
fast, and beyond it the loop cannot be closed at all. A run ends there, and says where that is.
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
# a singular value of the rows in the columns of the free joints, relative to the largest: as small
# is only that of a position close to a dead one
NEAR = 1e-2
# of a loop's length: it is closed, so that the dead position is looked for from there
CLOSED = 1e-6
# Steps between two looks at whether a prescribed motion has torn a loop. A look costs as much as
# some fifty steps of a small linkage.
WATCHED = 2000
# Steps between two looks from where a longer slice has opened one: that slice is computed once
# more, so that the loop is known to be closed shortly before it is torn.
CLOSELY = 200
HALVINGS = 60  # of the time between the last closed row and the first torn one


class Deadlock(NamedTuple):
    """How close a loop is to a dead position: the joint that closes it, the free speed that would
    have to be infinite there, and the smallest singular value relative to the largest.
    """

    loop: str
    joint: str
    value: float


def deadlock(
    machine: Machine, system: System, t: float, q: Array, v: Array, p: Array | None
) -> Deadlock | None:
    """How close this state is to a dead position; None where there is no loop, or nothing free."""
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
    # rows of planar loops that repeat others have the value zero, and say nothing
    rank = int(np.sum(values > 1e-12 * values[0])) if len(values) and values[0] > 0.0 else 0
    if not rank:
        return None
    row = int(np.abs(U[:, rank - 1]).argmax())
    joint = free[int(np.abs(W[rank - 1]).argmax())]
    return Deadlock(
        machine.rows[row][0], machine.speed_names[joint], float(values[rank - 1] / values[0])
    )


def openings(plan: RunPlan, t: Array, x: Array, held: Array, p: Array) -> Array:
    """(n,): how far loops are open at states x (n, size), relative to the length of each loop."""
    given = [np.ascontiguousarray(a) for a in (t[:, None], x, held, p)]
    outs, _ = plan.system.kernel("observe")(given, len(t))  # type: ignore[misc]
    error = outs[5][:, : outs[5].shape[1] // 2]
    found: Array = np.abs(error / plan.row_sizes).max(axis=1, initial=0.0)
    found[~np.isfinite(found)] = np.inf
    return found


def can_tear(plan: RunPlan) -> bool:
    """Whether a motion that is prescribed could tear a loop of these runs."""
    s = plan.system
    moves = s.driven is not None or plan.machine.spec.rheonomic
    return bool(moves and s.mechanism.constrained and plan.machine.rows)


def is_torn(opening: Array) -> NDArray[np.bool_]:
    """Whether a loop is so far open that the ledger does not trust the state."""
    return opening > OPEN


def sentence(plan: RunPlan, last: float, x: Array, torn: float, p: Array) -> str:
    """What stops a run: a loop that is closed in state x at time `last`, and torn at time `torn`
    (s). p: the parameters.
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
    # of a drive that is a constraint, only rows tell
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
    """The last time until `torn` (s) at which the loops can be closed, and q and v there."""
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
