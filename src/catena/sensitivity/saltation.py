"""What an event does to a variation: the saltation matrix.

    dt  = -(g_x dx + g_p dp) / g'                the event comes later by so much; g' = g_t + g_x f-
    dx+ = J_x (dx + f- dt) + J_p dp + J_t dt - f+ dt
            x+ = J(t, x, p): the jump; f-, f+: the rates on both sides

After [Leine2004], ch. 7. Where g' vanishes, the event grazes, and no derivative exists; that is
refused by name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..errors import StudyError
from ..simulation.planning import RunPlan
from ..simulation.terms import Meaning
from .event_maps import Jump
from .grazing import ADVICE, GRAZES, named
from .linearised import Linearised
from .smooth_segments import Leg, Turn

Array = NDArray[np.float64]
SAME = 1e-7  # a jump that is traced, beside the one of the run
SLOW = 4.0  # times the speed below which a slip has no direction
SHORT = 1e-8  # of a leg that ends with a slip: by so much its variations end earlier
NEXT = 1e-6  # of a leg: how far on a guard's rate is taken once more, to see how it changes
DIRECTIONS = 200  # rounds in which the direction of a slip that ends is found


@dataclass(frozen=True)
class Saltation:
    """dx+ = X dx + P dp, dt = tx dx + tp dp: X (size, size), P (size, parameters), tx (size,), tp
    (parameters,).
    """

    X: Array
    P: Array
    tx: Array
    tp: Array


def saltation(
    tapes: Linearised,
    plan: RunPlan,
    leg: Leg,
    before: Array,
    after: Array,
    p: Array,
    held_after: Array,
) -> Saltation:
    """The saltation of the turn at the end of a leg, at states (size,) with their integrals."""
    turn = leg.turn
    assert turn is not None
    J_x, J_p, J_t = _jump(tapes, plan, turn, before, after, p)
    if turn.guard is None:
        return Saltation(J_x, J_p, np.zeros(tapes.size), np.zeros(tapes.np))
    guard, held, _ = ended_slip(tapes, turn, before, leg.held, p)
    rate = np.array(tapes.flow(turn.t, before, held, p)).ravel()
    tx, tp = _time(tapes, leg, turn, guard, before, held, p)
    then = (
        np.zeros(tapes.size)
        if turn.ends
        else np.array(tapes.flow(turn.t, after, held_after, p)).ravel()
    )
    moved = J_x @ rate + J_t - then
    return Saltation(J_x + np.outer(moved, tx), J_p + np.outer(moved, tp), tx, tp)


def _time(
    tapes: Linearised, leg: Leg, turn: Turn, value: ca.SX, x: Array, held: Array, p: Array
) -> tuple[Array, Array]:
    """How the time of the event changes along the state and the parameters. A StudyError where it
    grazes.
    """
    assert turn.guard is not None
    f = tapes.of_guards.get(turn.number) if value is turn.guard.value else None
    if f is None:
        f = _slopes(tapes, value)
    if value is turn.guard.value:
        tapes.of_guards[turn.number] = f
    g_x, g_p, rises, rate = (np.array(y) for y in f(turn.t, x, held, p))
    step = NEXT * (leg.end - leg.begin)
    bends = (np.array(f(turn.t + step, x + step * rate.ravel(), held, p)[2]) - rises) / step
    speed = rises.item()
    scale = abs(bends.item()) * (leg.end - leg.begin)
    if not abs(speed) > GRAZES * scale:
        raise StudyError(
            f"at t = {turn.t:.9g} s {turn.said}: {named(tapes.system, turn.guard)} grazes, it comes"
            f" to zero with a rate of {speed:.3g} only. {ADVICE}"
        )
    return -g_x.ravel() / speed, -g_p.ravel() / speed


def _slopes(tapes: Linearised, value: ca.SX) -> ca.Function:
    """(t, x, u, p) -> g_x, g_p, g' along the motion, and x'."""
    t, X, _, P = here = tapes.inputs
    f = tapes.flow(*here)
    rise = ca.jtimes(value, X, f) + ca.jacobian(value, t)
    return ca.Function(
        "guard", here, [*(ca.densify(ca.jacobian(value, w)) for w in (X, P)), rise, f]
    )


# --- the end of a slip
def ended_slip(
    tapes: Linearised, turn: Turn, x: Array, held: Array, p: Array
) -> tuple[ca.SX, Array, float]:
    """The guard of a turn, the held inputs before it, and how long before (s) a slip that ends
    there is too slow to have a direction.

    Where a slip comes to an end its guard is u . d, and its friction acts along d, the direction in
    which it came: that of -u'(d). While it is slower than `still` the run has an older direction
    there.
    """
    s, guard = tapes.system, turn.guard
    assert guard is not None
    if guard.meaning is not Meaning.SLIP_TURNS:
        return guard.value, held, 0.0
    h, here = s.holding, tapes.inputs
    mode = h.mode(guard.subject, held[s.nv :])
    at = h.contact_rows()[guard.subject - h.first_contact]
    u = s.binding(tapes.t, s.q, s.v, tapes.P, tapes.U[s.nv :])[4][at][1:]
    both = ca.Function(
        "slip",
        here,
        [ca.densify(u), ca.jtimes(u, tapes.X, tapes.flow(*here)) + ca.jacobian(u, tapes.t)],
    )
    if np.linalg.norm(np.array(both(turn.t, x, held, p)[0])) > mode.still:
        return guard.value, held, 0.0  # it has only turned
    held = held.copy()
    place = s.nv + h.slots[guard.subject].start
    d = held[place + 2 : place + 4]
    for _ in range(DIRECTIONS):
        slower = np.array(both(turn.t, x, held, p)[1]).ravel()
        new = -slower / np.linalg.norm(slower)
        change, d[:] = np.abs(new - d).max(), new
        if change < 1e-14:
            return (
                u[0] * d[0] + u[1] * d[1],
                held,
                SLOW * mode.still / float(np.linalg.norm(slower)),
            )
    raise StudyError(
        f"at t = {turn.t:.9g} s {turn.said}: its slip ends without a direction, and the run has no"
        f" derivative there. {ADVICE}"
    )


def before_rest(tapes: Linearised, leg: Leg, p: Array) -> Leg:
    """A leg whose variations end a little before a slip does: across its direction they are stiff,
    and go to zero with it.
    """
    if leg.turn is None or leg.turn.guard is None:
        return leg
    x = np.append(leg.turn.before, np.zeros(tapes.size - tapes.system.size))
    slow = ended_slip(tapes, leg.turn, x, leg.held, p)[2]
    return replace(leg, short=max(slow, SHORT * (leg.end - leg.begin))) if slow else leg


# --- jumps
def _jump(
    tapes: Linearised, plan: RunPlan, turn: Turn, before: Array, after: Array, p: Array
) -> tuple[Array, Array, Array]:
    """The derivatives of the jump along state, parameters and time; it must be the jump of the
    run.
    """
    t, X, _, P = tapes.inputs
    J = Jump(tapes, plan, turn, before, p).state()
    f = ca.Function("jump", tapes.inputs, [J, *(ca.densify(ca.jacobian(J, w)) for w in (X, P, t))])
    found, J_x, J_p, J_t = (np.array(y) for y in f(turn.t, before, turn.held, p))
    far = np.abs(np.delete(found.ravel() - after, tapes.system.size - 1)).max()
    if not far <= SAME * max(np.abs(before).max(), np.abs(after).max()):
        raise StudyError(
            f"at t = {turn.t:.9g} s {turn.said}: this jump has no derivative here. Sensitivities go"
            " through stops, joints that stick and slip, contacts, impulses, locks of joints, and"
            " events that record or end a run; the accumulation of impacts, stops that are met at"
            " the same instant, impacts one after the other at one instant, and paradoxes are not"
            " among them"
        )
    return J_x, J_p, J_t.ravel()
