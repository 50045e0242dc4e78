"""What an event does to a variation: the saltation matrix.

    dt  = -(g_x dx + g_p dp) / g'                              the event comes later by so much; g' = g_t + g_x f-
    dx+ = J_x (dx + f- dt) + J_p dp + J_t dt - f+ dt           x+ = J(t, x, p): the jump; f-, f+: the rates on both sides

After [Leine2004], ch. 7. Where g' vanishes, the event grazes, and no derivative exists; that is refused by name.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..errors import StudyError
from ..simulation.guards import LOWER, Meaning
from .grazing import ADVICE, GRAZES, named
from .legs import Leg, Turn
from .linearised import Linearised

Array = NDArray[np.float64]
SAME = 1e-7  # a jump that is traced, beside the one of the run


@dataclass(frozen=True)
class Saltation:
    """dx+ = X dx + P dp, dt = tx dx + tp dp: X (size, size), P (size, parameters), tx (size,), tp (parameters,)."""

    X: Array
    P: Array
    tx: Array
    tp: Array


def saltation(tapes: Linearised, leg: Leg, before: Array, after: Array, p: Array, held_after: Array) -> Saltation:
    """The saltation of the turn at the end of a leg, at states (size,) with their integrals."""
    turn = leg.turn
    assert turn is not None
    J_x, J_p, J_t = _jump(tapes, turn, before, after, p)
    rate = np.array(tapes.flow(turn.t, before, leg.held, p)).ravel()
    if turn.guard is None:
        return Saltation(J_x, J_p, np.zeros(tapes.size), np.zeros(tapes.np))
    tx, tp = _time(tapes, leg, turn, before, p, rate)
    then = np.zeros(tapes.size) if turn.ends else np.array(tapes.flow(turn.t, after, held_after, p)).ravel()
    moved = J_x @ rate + J_t - then
    return Saltation(J_x + np.outer(moved, tx), J_p + np.outer(moved, tp), tx, tp)


def _time(tapes: Linearised, leg: Leg, turn: Turn, x: Array, p: Array, rate: Array) -> tuple[Array, Array]:
    """How the time of the event changes along the state and the parameters. A StudyError where it grazes."""
    assert turn.guard is not None
    value, here = turn.guard.value, tapes.inputs
    t, X, _, P = here
    f = tapes.flow(*here)
    rise = ca.jtimes(value, X, f) + ca.jacobian(value, t)
    bend = ca.jtimes(rise, X, f) + ca.jacobian(rise, t)
    outputs = [ca.densify(ca.jacobian(value, w)) for w in (X, P)] + [rise, bend]
    g_x, g_p, rises, bends = (np.array(y) for y in ca.Function("guard", here, outputs)(turn.t, x, leg.held, p))
    speed, scale = rises.item(), abs(bends.item()) * (leg.end - leg.begin)
    if not abs(speed) > GRAZES * scale:
        raise StudyError(f"at t = {turn.t:.9g} s {turn.said}: {named(tapes.system, turn.guard)} grazes, it comes to zero with a rate of {speed:.3g} only. {ADVICE}")  # fmt: skip
    return -g_x.ravel() / speed, -g_p.ravel() / speed


# ---------------------------------------------------------------------------------------------------- jumps
def _jump(tapes: Linearised, turn: Turn, before: Array, after: Array, p: Array) -> tuple[Array, Array, Array]:
    """The derivatives of the jump along state, parameters and time."""
    size, small = tapes.size, SAME * max(1.0, np.abs(before).max(), np.abs(after).max())
    work = tapes.system.size - 1
    moved = np.abs(np.delete(after - before, work)).max() > small
    meaning = turn.guard.meaning if turn.guard is not None else None
    if meaning in (Meaning.REACHES_STOP, Meaning.COMES_TO_REST):
        J = _impact(tapes, turn)
        t, X, _, P = tapes.inputs
        found, J_x, J_p, J_t = (np.array(y) for y in ca.Function("jump", tapes.inputs, [J, *(ca.densify(ca.jacobian(J, w)) for w in (X, P, t))])(
            turn.t, before, turn.held, p))  # fmt: skip
        if np.abs(np.delete(found.ravel() - after, work)).max() <= small:
            return J_x, J_p, J_t.ravel()
    elif not moved and meaning in (None, Meaning.LETS_GO, Meaning.HAPPENS):
        return np.eye(size), np.zeros((size, tapes.np)), np.zeros(size)
    raise StudyError(f"at t = {turn.t:.9g} s {turn.said}: this jump has no derivative here. Sensitivities go through single stops, joints that stick and "
                     "slip, and events that record or end a run; contacts, impulses, locks, several impacts at once and their accumulation are not among them")  # fmt: skip


def _impact(tapes: Linearised, turn: Turn) -> ca.SX:
    """x+ = J(t, x, p) where one speed jumps and the rows that hold stay: M dv = R' L, R dv = what is missing."""
    s, guard = tapes.system, turn.guard
    assert guard is not None
    h = s.holding.speeds[guard.subject]
    lower, upper, _ = s.bounds(tapes.P)
    q, v, restitution = s.q, s.v, 0.0
    if guard.meaning is Meaning.REACHES_STOP and guard.side is not None:
        place = (lower if guard.side is LOWER else upper)[guard.subject]
        q = ca.vertcat(*(place if k == h.coordinate else q[k] for k in range(s.nq)))
        restitution = h.restitution
    M, A, rate, B, held, _ = s.binding(tapes.t, q, v, tapes.P, tapes.U[s.nv :])
    rows, missing, n = [A], [-rate], len(s.holding.speeds)
    on = np.array(s.binding(turn.t, *(np.zeros(k.numel()) for k in (q, v)), np.zeros(tapes.np), turn.held[s.nv :])[5]).ravel() > 0.5
    rows += [B[k, :] for k in range(n, len(on)) if on[k]]
    missing += [-held[k] for k in range(n, len(on)) if on[k]]
    still = {part.index: -v[part.index] for k, part in enumerate(s.holding.speeds) if _fixed(s, k, turn)}
    still[h.index] = -(1.0 + restitution) * v[h.index]
    for k, change in still.items():
        rows.append(ca.SX.eye(s.nv)[k, :])
        missing.append(change)
    R, wanted = ca.densify(ca.vertcat(*rows)), ca.vertcat(*missing)
    MR = ca.solve(M, R.T)
    v = v + MR @ ca.solve(R @ MR, wanted)
    rest = tapes.X[s.nq + s.nv :]
    return ca.densify(ca.vertcat(q, v, rest))


def _fixed(s: object, k: int, turn: Turn) -> bool:
    """Whether a speed is locked, or rests on a stop, before the turn."""
    mode = s.holding.mode(k, turn.held[s.nv :])  # type: ignore[attr-defined]
    return bool(mode.locked or mode.stop is not None)
