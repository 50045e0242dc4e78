"""The map of a variation across an event: the saltation matrix.

    dt  = -(g_x dx + g_p dp) / g'                the delay of the event; g' = g_t + g_x f-
    dx+ = J_x (dx + f- dt) + J_p dp + J_t dt - f+ dt
            x+ = J(t, x, p): the jump; f-, f+: the rates on both sides

After [Leine2004], ch. 7. Where g' vanishes, the event grazes, and no derivative exists; that raises
a StudyError with the name of the guard.
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
from .grazing import ADVICE, GRAZING_RATE, guard_name
from .linearised import Linearised
from .smooth_segments import Segment, Transition

Array = NDArray[np.float64]
# difference of the traced jump from that of the run, relative to the largest entry of the state
JUMP_TOLERANCE = 1e-7
# multiple of the speed `still`, below which a slip has no direction, at which variations end
SLIP_END_FACTOR = 4.0
# relative to the duration of a segment that ends with a slip: variations end at least so much
# earlier
SLIP_END_MARGIN = 1e-8
# relative to the duration of the segment: the step of the difference quotient of a guard's rate
RATE_PROBE_STEP = 1e-6
MAX_DIRECTION_ITERATIONS = 200  # iterations for the direction in which a slip ends


@dataclass(frozen=True)
class Saltation:
    """The linear map of small changes across an event: dx+ = X dx + P dp of the state just after
    it, and dt = tx dx + tp dp of its time. X (size, size), P (size, parameters), tx (size,), tp
    (parameters,).
    """

    X: Array
    P: Array
    tx: Array
    tp: Array


def saltation(
    tapes: Linearised,
    plan: RunPlan,
    segment: Segment,
    before: Array,
    after: Array,
    p: Array,
    held_after: Array,
) -> Saltation:
    """Return the saltation of the transition at the end of a segment.

    before, after: the states (size,) with their integrals. held_after: the inputs (nu,) after it.
    """
    transition = segment.transition
    assert transition is not None
    J_x, J_p, J_t = _jump(tapes, plan, transition, before, after, p)
    if transition.guard is None:
        return Saltation(J_x, J_p, np.zeros(tapes.size), np.zeros(tapes.np))
    guard, held, _ = ended_slip(tapes, transition, before, segment.held, p)
    rate = np.array(tapes.flow(transition.t, before, held, p)).ravel()
    tx, tp = _time(tapes, segment, transition, guard, before, held, p)
    then = (
        np.zeros(tapes.size)
        if transition.ends
        else np.array(tapes.flow(transition.t, after, held_after, p)).ravel()
    )
    moved = J_x @ rate + J_t - then
    return Saltation(J_x + np.outer(moved, tx), J_p + np.outer(moved, tp), tx, tp)


def _time(
    tapes: Linearised,
    segment: Segment,
    transition: Transition,
    value: ca.SX,
    x: Array,
    held: Array,
    p: Array,
) -> tuple[Array, Array]:
    """Return the derivatives of the time of the event along state and parameters.

    Raises StudyError where the event grazes.
    """
    assert transition.guard is not None
    f = tapes.of_guards.get(transition.number) if value is transition.guard.value else None
    if f is None:
        f = _slopes(tapes, value)
    if value is transition.guard.value:
        tapes.of_guards[transition.number] = f
    g_x, g_p, rises, rate = (np.array(y) for y in f(transition.t, x, held, p))
    step = RATE_PROBE_STEP * (segment.end - segment.begin)
    bends = (np.array(f(transition.t + step, x + step * rate.ravel(), held, p)[2]) - rises) / step
    speed = rises.item()
    scale = abs(bends.item()) * (segment.end - segment.begin)
    if not abs(speed) > GRAZING_RATE * scale:
        raise StudyError(
            f"at t = {transition.t:.9g} s {transition.description}:"
            f" {guard_name(tapes.system, transition.guard)} grazes, it comes to zero with a rate of"
            f" {speed:.3g} only. {ADVICE}"
        )
    return -g_x.ravel() / speed, -g_p.ravel() / speed


def _slopes(tapes: Linearised, value: ca.SX) -> ca.Function:
    """Return the function (t, x, u, p) -> g_x, g_p, g' along the motion, and x'."""
    t, X, _, P = here = tapes.inputs
    f = tapes.flow(*here)
    rise = ca.jtimes(value, X, f) + ca.jacobian(value, t)
    return ca.Function(
        "guard", here, [*(ca.densify(ca.jacobian(value, w)) for w in (X, P)), rise, f]
    )


# --- the end of a slip
def ended_slip(
    tapes: Linearised, transition: Transition, x: Array, held: Array, p: Array
) -> tuple[ca.SX, Array, float]:
    """Return the guard of a transition, the held inputs before it, and a duration (s).

    Within that duration before the transition a slip that ends there is too slow to have a
    direction; it is zero where no slip ends. Where a slip ends its guard is u . d, and its friction
    acts along d, the direction in which it came: that of -u'(d). While it is slower than `still`
    the run uses an older direction.
    """
    s, guard = tapes.system, transition.guard
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
    if np.linalg.norm(np.array(both(transition.t, x, held, p)[0])) > mode.still:
        return guard.value, held, 0.0  # the slip has only turned and goes on
    held = held.copy()
    place = s.nv + h.slots[guard.subject].start
    d = held[place + 2 : place + 4]
    for _ in range(MAX_DIRECTION_ITERATIONS):
        slower = np.array(both(transition.t, x, held, p)[1]).ravel()
        new = -slower / np.linalg.norm(slower)
        change, d[:] = np.abs(new - d).max(), new
        if change < 1e-14:
            return (
                u[0] * d[0] + u[1] * d[1],
                held,
                SLIP_END_FACTOR * mode.still / float(np.linalg.norm(slower)),
            )
    raise StudyError(
        f"at t = {transition.t:.9g} s {transition.description}: its slip ends without a direction,"
        f" and the run has no derivative there. {ADVICE}"
    )


def end_before_rest(tapes: Linearised, segment: Segment, p: Array) -> Segment:
    """Return the segment with its variations ended shortly before a slip ends.

    Across the direction of the slip variations are stiff, and go to zero with it.
    """
    if segment.transition is None or segment.transition.guard is None:
        return segment
    x = np.append(segment.transition.before, np.zeros(tapes.size - tapes.system.size))
    slow = ended_slip(tapes, segment.transition, x, segment.held, p)[2]
    return (
        replace(segment, short=max(slow, SLIP_END_MARGIN * (segment.end - segment.begin)))
        if slow
        else segment
    )


# --- jumps
def _jump(
    tapes: Linearised, plan: RunPlan, transition: Transition, before: Array, after: Array, p: Array
) -> tuple[Array, Array, Array]:
    """Return the derivatives of the jump along state, parameters and time.

    Raises StudyError where the traced jump is not that of the run.
    """
    t, X, _, P = tapes.inputs
    J = Jump(tapes, plan, transition, before, p).state()
    f = ca.Function("jump", tapes.inputs, [J, *(ca.densify(ca.jacobian(J, w)) for w in (X, P, t))])
    found, J_x, J_p, J_t = (np.array(y) for y in f(transition.t, before, transition.held, p))
    far = np.abs(np.delete(found.ravel() - after, tapes.system.size - 1)).max()
    if not far <= JUMP_TOLERANCE * max(np.abs(before).max(), np.abs(after).max()):
        raise StudyError(
            f"at t = {transition.t:.9g} s {transition.description}: this jump has no derivative"
            " here. Sensitivities go through stops, joints that stick and slip, contacts, impulses,"
            " locks of joints, and events that record or end a run; the accumulation of impacts,"
            " stops that are met at the same instant, impacts one after the other at one instant,"
            " and paradoxes are not among them"
        )
    return J_x, J_p, J_t.ravel()
