"""The choice of modes after an event: which speeds are held, by friction or on a stop, and in which
direction the others slip.

A speed at rest is held if the force that this requires lies in the interval that friction and stops
allow; otherwise it slips. Which speeds are held is one boxed complementarity problem of all of them
(`contact.boxed_problem`), whose response is a block of the inverse mass matrix. Constraint rows of
loops, locks and contacts change that response, and share forces with the held speeds. There the
forces of the compiled equations decide, and a mode that contradicts them is switched.

All thresholds are in the metric of the mass matrix: a speed counts as zero relative to the largest
kinetic energy so far, and a force relative to the forces that act there. The functions over arrays
serve single runs and many runs at once (`batch_events.py`); n is the number of runs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...contact import boxed_forces
from ..terms.guards import LOWER, UPPER
from ..terms.switched_constraints import NO_LIMIT, SpeedMode
from .accumulation import Impacts
from .context import HandlerContext

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
# speed relative to the one that the largest kinetic energy at any event so far would give: a slower
# one counts as zero
ZERO_SPEED = 1e-14
# speed of an impact at a stop, relative to the same: a slower one throws nothing off other stops,
# so that stops which open each other in turn come to rest
THROWING_SPEED = 1e-7
# force outside the interval of friction and stops, relative to the forces that act: a joint is
# released where it is larger
INTERVAL_SLACK = 1e-10
HELD, WAY, LOW, HIGH = range(4)  # the fields of `SpeedMode`


# --- over arrays
def locked(modes: Array) -> Flags:
    """Return (...,): whether speeds are held by a lock, which has no force limits, for modes (...,
    4).
    """
    return (
        (modes[..., HELD] > 0.5) & (modes[..., LOW] <= -NO_LIMIT) & (modes[..., HIGH] >= NO_LIMIT)
    )


def slow(v: Array, M: Array, energy: Array, ratio: float = ZERO_SPEED) -> Flags:
    """Return (n, k): whether speeds v (n, k) with the inertias M (n, k) are negligible relative to
    twice the largest kinetic energy (n,), J; `ratio` is that of the speeds.
    """
    return (v == 0.0) | (M * v**2 <= ratio**2 * energy[:, None])


def candidates(before: Array, v: Array, still: Flags, touching: Flags, dry: Array) -> Array:
    """Return the modes (n, k, 4) in which everything that could hold a speed does hold it. before:
    the modes so far; v, dry (n, k): speeds and dry friction; still (n, k): which speeds are zero;
    touching (n, k, 2): which stops are touched.
    """
    high = np.where(touching[..., 0], NO_LIMIT, dry)
    low = np.where(touching[..., 1], -NO_LIMIT, -dry)
    rest = np.stack([(high > 0.0) | (low < 0.0), np.zeros(dry.shape), low, high], axis=-1)
    slips = np.stack([np.zeros(dry.shape), np.sign(v), -dry, dry], axis=-1)
    chosen = np.where(still[..., None], rest, slips)
    return np.where(locked(before)[..., None], before, chosen)


def widened(modes: Array, slack: Array) -> Array:
    """Return the modes with force intervals that are wider by the slack (n, k) at both ends."""
    wider = modes.copy()
    for column, by in ((LOW, -slack), (HIGH, slack)):
        wider[..., column] += np.where(np.abs(modes[..., column]) >= NO_LIMIT, 0.0, by)
    return wider


def force_slack(dry: Array, inertia: Array, size: Array) -> Array:
    """Return the tolerance (n, k) by which the force on a speed may exceed its interval. inertia
    (n, k): the diagonal of M; size (n,): f' M^-1 f of the forces f that act.
    """
    return INTERVAL_SLACK * (dry + np.sqrt(inertia * np.maximum(size, 0.0)[:, None]))


def held_or_slipping(modes: Array, tried: Flags, W: Array, a: Array, slack: Array) -> Array:
    """Return the modes (n, k, 4) in which each speed in `tried` is held or slips, as its force
    allows. W (n, k, k): the response of the speeds to forces along them; a (n, k): the
    accelerations while none of these speeds is held and friction does not act on them. A force
    beyond half the slack releases a speed, so that a speed which was released at the end of its
    widened interval is not held again.
    """
    some = tried.any(axis=0)  # the others have no part in any of the problems
    part, response = tried[:, some], W[:, some][:, :, some]
    low, high = (np.where(part, modes[:, some, column], 0.0) for column in (LOW, HIGH))
    both = part[:, :, None] & part[:, None, :]
    side = np.zeros(tried.shape)
    _, side[:, some] = boxed_forces(
        np.where(both, response, 0.0),
        np.where(part, a[:, some], 0.0),
        low,
        high,
        0.5 * slack[:, some],
    )
    chosen = modes.copy()
    chosen[..., HELD] = np.where(tried, side == 0.0, modes[..., HELD])
    chosen[..., WAY] = np.where(tried, -side, modes[..., WAY])
    return chosen


# --- one run
def choose(handler: HandlerContext, t: float) -> None:
    """Set the modes of all holdable speeds at time t (s)."""
    speeds = handler.constraints.speeds
    if not speeds:
        return
    index = handler.indices
    before = handler.engine.modes[: 4 * len(speeds), 0].reshape(-1, 4).copy()
    v, M = handler.state_of()[1], handler.inertia.matrix
    fixed = locked(before)
    if v[index][~fixed].any():
        handler.energy = max(handler.energy, float(v @ M @ v))
    still = slow(v[None, index], np.diagonal(M)[None, index], np.array([handler.energy]))[0]
    _leave_stops(handler, ~still & ~fixed)
    touching = np.zeros((len(index), 2), bool)
    for k, side in handler.touching:
        touching[k, 0 if side == LOWER.name else 1] = True
    modes = candidates(before[None], v[None, index], still[None], touching[None], handler.dry[None])
    tried = (modes[0, :, HELD] > 0.5) & ~fixed
    _set_modes(handler, modes[0])
    if tried.any():
        _solve(handler, t, modes, tried)


def _solve(handler: HandlerContext, t: float, modes: Array, tried: Flags) -> None:
    """Determine which of the speeds in `tried` are held and which slip."""
    index, M, inverse = handler.indices, handler.inertia.matrix, _inverse(handler)
    free = modes[0].copy()
    free[tried, HELD] = 0.0
    _set_modes(handler, free)
    if handler.is_open:
        a = _accelerations(handler, t)
        f = M @ a
        W = inverse
    else:
        a, mu = (x[:, 0] for x in handler.engine.evaluate("forces", t))
        others, rows = _rows(handler, t)
        f = M @ a - rows.T @ mu
        W = _bound(inverse, others)
    inertia = np.diagonal(M)[index]
    slack = force_slack(handler.dry[None], inertia[None], np.array([f @ inverse @ f]))
    modes = held_or_slipping(
        modes, tried[None], W[np.ix_(index, index)][None], a[None, index], slack
    )
    _set_modes(handler, widened(modes, slack)[0])
    for _ in range(0 if handler.is_open else 4 * len(index)):
        if not _correct_worst(handler, t, slack[0], inertia, np.flatnonzero(tried)):
            break
    held = handler.engine.modes[: 4 * len(index) : 4, 0] > 0.5
    _leave_stops(handler, tried & ~held)


def _accelerations(handler: HandlerContext, t: float) -> Array:
    """Return the accelerations (nv,) in the present modes, where single speeds are all that is
    held.
    """
    s, e = handler.system, handler.engine
    if not s.equations.state_is_qv:
        return e.evaluate("forces", t)[0][:, 0]
    held = s.holding.held(e.modes[:, 0])  # a tape that is compiled anyway
    (rate,) = e.evaluate("derivative" if held else "free_derivative", t)
    return rate[s.nq : s.nq + s.nv, 0]


def _leave_stops(handler: HandlerContext, which: Flags) -> None:
    """Record that these speeds (k,) no longer touch their stops."""
    for k in np.flatnonzero(which).tolist():
        handler.touching -= {(k, LOWER.name), (k, UPPER.name)}


def at_rest(handler: HandlerContext, speed: int, v: Array, ratio: float = ZERO_SPEED) -> bool:
    """Return whether a speed is negligible relative to the largest kinetic energy so far. ratio:
    the threshold, as a ratio of speeds.
    """
    if v[speed] == 0.0:
        return True
    M = handler.inertia.matrix
    handler.energy = max(handler.energy, float(v @ M @ v))
    inertia, energy = M[speed, [speed]][None], np.array([handler.energy])
    return bool(slow(v[None, [speed]], inertia, energy, ratio)[0, 0])


def _set_modes(handler: HandlerContext, modes: Array) -> None:
    """Set the modes (k, 4) of the holdable speeds."""
    handler.engine.modes[: modes.size, 0] = modes.ravel()


def _rows(handler: HandlerContext, t: float) -> tuple[Array, Array]:
    """Return the constraint rows that always hold (loops, driven speeds), and the rows of
    everything that can be switched.
    """
    q, v = handler.state_of()
    modes = handler.engine.modes[:, 0]
    _, A, _, B, _, z = (np.array(x) for x in handler.system.binding(t, q, v, handler.p, modes))
    return np.vstack([A, B[z.ravel() > 0.5]]), B


def _inverse(handler: HandlerContext) -> Array:
    """Return the inverse (nv, nv) of the mass matrix of the speeds that no motion prescribes, with
    zeros for those that one does: these need no inertia.
    """
    if handler.system.driven is None:
        return handler.inertia.inverse
    M = handler.inertia.matrix
    free = np.delete(np.arange(len(M)), handler.system.driven.speeds)
    inverse = np.zeros_like(M)
    inverse[np.ix_(free, free)] = np.linalg.inv(M[np.ix_(free, free)])
    return inverse


def _bound(inverse: Array, R: Array) -> Array:
    """Return the inverse mass matrix (nv, nv) while the rows R hold: M^-1 - M^-1 R' (R M^-1 R')^+ R
    M^-1.
    """
    Y = inverse @ R.T
    return inverse - Y @ np.linalg.pinv(R @ Y, rcond=1e-12, hermitian=True) @ Y.T


def _correct_worst(
    handler: HandlerContext, t: float, slack: Array, inertia: Array, tried: NDArray[np.intp]
) -> bool:
    """Switch the one speed at rest whose mode is violated most, in units of its slack. A held one
    is released where its force is outside its interval; a released one is held again where it would
    move against the direction of its slip. Return whether there was one.
    """
    a, forces = (x[:, 0] for x in handler.engine.evaluate("forces", t))
    worst, most, mode = -1, 0.0, SpeedMode()
    for k in tried.tolist():
        now = handler.mode(k)
        l = handler.constraints.speeds[k].index
        below = now.low - forces[k]
        above = forces[k] - now.high
        wrong = (
            max(below, above) + 0.5 * slack[k]
            if now.held
            else -now.way * a[l] * inertia[k] - 0.5 * slack[k]
        )
        wrong = wrong / (slack[k] or 1.0) if wrong > 0.0 else 0.0
        if wrong > most:
            way = (1.0 if below > above else -1.0) if now.held else 0.0
            worst = k
            most = wrong
            mode = now._replace(held=1.0 - now.held, way=way)
    if worst < 0:
        return False
    handler.set_mode(worst, mode)
    return True


def log_changes(handler: HandlerContext, t: float, before: Array) -> None:
    """Log what has changed in the modes of the holdable speeds since `before` (k, 4)."""
    now = handler.engine.modes[: before.size, 0].reshape(-1, 4)
    for k in np.flatnonzero(now[:, HELD] != before[:, HELD]).tolist():
        _log_change(handler, t, k, SpeedMode(*before[k]))


def _log_change(handler: HandlerContext, t: float, k: int, before: SpeedMode) -> None:
    """Log what has changed in the mode of speed k; a lock logs its own changes."""
    now = handler.mode(k)
    name = handler.constraints.speeds[k].name
    if now.held == before.held or now.locked or before.locked:
        return  # the event of a lock has its own entry in the log
    stop = now.stop or before.stop
    if stop is None:
        handler.say(t, f"{name} {'sticks' if now.held else 'slips'}")
    elif not now.held:
        handler.say(t, f"{name} leaves {handler.stop_named(k, stop)}")
    else:
        # a series that has not ended goes on: stops can throw each other off in turn
        series = handler.impacts.get((k, stop.name), Impacts())
        limit = series.limit
        if limit is not None:
            del handler.impacts[k, stop.name]
        series_note = f", the limit of {series.number} impacts" if limit is not None else ""
        handler.say(
            t if limit is None else limit,
            f"{name} rests on {handler.stop_named(k, stop)}{series_note}",
        )
