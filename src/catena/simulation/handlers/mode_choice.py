"""The choice of modes after an event: which speeds are held, by friction or on a stop, and which
way the others slip.

An active-set search. Every speed at rest is tried: it is held if the force that this takes lies in
the interval that friction and stops allow. The one farthest outside is released first, then all are
evaluated again; one that was released and would move the other way is held again. All thresholds
are in the metric of the mass matrix: a speed counts as zero relative to the largest kinetic energy
so far, and a force relative to the forces that act there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..terms.guards import LOWER, UPPER
from ..terms.switched_constraints import NO_LIMIT, SpeedMode
from .context import HandlerContext

Array = NDArray[np.float64]
# speed relative to the one that the largest kinetic energy at any event so far would give: a slower
# one counts as zero
ZERO_SPEED = 1e-14
# force outside the interval of friction and stops, relative to the forces that act: a joint is
# released where it is larger
INTERVAL_SLACK = 1e-10


def choose(handler: HandlerContext, t: float) -> None:
    """Set the modes of all holdable speeds at time t (s), and log what has changed."""
    parts = range(len(handler.constraints.speeds))
    if not parts:
        return
    before = [handler.mode(k) for k in parts]
    _, v = handler.state_of()
    for k in parts:
        handler.set_mode(k, _candidate(handler, k, v))
    if any(handler.mode(k).held for k in parts):
        _release_violated(handler, t)
    for k in parts:
        _log_change(handler, t, k, before[k])


def _release_violated(handler: HandlerContext, t: float) -> None:
    """Widen every interval by its slack, then release the speeds that cannot be held."""
    slack = INTERVAL_SLACK * _forces_that_act(handler, t)
    for k, s in enumerate(slack):
        mode = handler.mode(k)
        handler.set_mode(k, mode._replace(low=_widened(mode.low, -s), high=_widened(mode.high, s)))
    tried = [k for k in range(len(slack)) if handler.mode(k).held and not handler.mode(k).locked]
    for _ in range(4 * len(slack)):
        if not _correct_worst(handler, t, slack, tried):
            break
    for k in tried:
        if not handler.mode(k).held:
            handler.touching -= {(k, LOWER.name), (k, UPPER.name)}


def at_rest(handler: HandlerContext, speed: int, v: Array) -> bool:
    """Whether this speed is zero relative to the largest kinetic energy so far."""
    if v[speed] == 0.0:
        return True
    M = _mass_matrix(handler)
    handler.energy = max(handler.energy, float(v @ M @ v))
    return bool(M[speed, speed] * v[speed] ** 2 <= ZERO_SPEED**2 * handler.energy)


def _candidate(handler: HandlerContext, k: int, v: Array) -> SpeedMode:
    """Return the mode of a speed if everything that could hold it does."""
    mode = handler.mode(k)
    h = handler.constraints.speeds[k]
    F = float(handler.dry[k])
    if mode.locked:
        return mode
    if not at_rest(handler, h.index, v):
        handler.touching -= {(k, LOWER.name), (k, UPPER.name)}
        return SpeedMode(0.0, float(np.sign(v[h.index])), -F, F)
    high = NO_LIMIT if (k, LOWER.name) in handler.touching else F
    low = -NO_LIMIT if (k, UPPER.name) in handler.touching else -F
    return SpeedMode(float(high > 0.0 or low < 0.0), 0.0, low, high)


def _widened(limit: float, by: float) -> float:
    """Return the limit of a force widened by `by`; no limit stays none."""
    return limit if abs(limit) >= NO_LIMIT else limit + by


def _forces_that_act(handler: HandlerContext, t: float) -> Array:
    """Return the scale of forces along each holdable speed: its friction plus sqrt(M_kk f' M^-1 f)
    of the forces f that act.
    """
    a, mu = (x[:, 0] for x in handler.engine.evaluate("forces", t))
    q, v = handler.state_of()
    M, _, _, B, _, _ = (
        np.array(x) for x in handler.system.binding(t, q, v, handler.p, handler.engine.modes[:, 0])
    )
    f = M @ a - B.T @ mu
    size = max(float(f @ np.linalg.lstsq(M, f, rcond=None)[0]), 0.0)
    index = [h.index for h in handler.constraints.speeds]
    return handler.dry + np.sqrt(np.diagonal(M)[index] * size)


def _correct_worst(handler: HandlerContext, t: float, slack: Array, tried: list[int]) -> bool:
    """Switch the one speed at rest whose mode is violated most, in units of its slack. Return
    whether there was one.

    A held one is released where its force is outside its interval; a released one is held again
    where it would go the other way.
    """
    a, forces = (x[:, 0] for x in handler.engine.evaluate("forces", t))
    M = _mass_matrix(handler)
    worst, most, mode = -1, 0.0, SpeedMode()
    for k in tried:
        now = handler.mode(k)
        l = handler.constraints.speeds[k].index
        below = now.low - forces[k]
        above = forces[k] - now.high
        wrong = (
            max(below, above) + 0.5 * slack[k]
            if now.held
            else -now.way * a[l] * M[l, l] - 0.5 * slack[k]
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


def _mass_matrix(handler: HandlerContext) -> Array:
    """Return the mass matrix (nv, nv) at the present state."""
    return handler.machine.mass_matrix(handler.state_of()[0], parameters=handler.parameters)


def _log_change(handler: HandlerContext, t: float, k: int, before: SpeedMode) -> None:
    """Log what has changed in the mode of speed k; locks log their own changes."""
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
        series = handler.impacts.pop((k, stop.name), None)
        limit = series.limit if series is not None else None
        series_note = (
            f", the limit of {series.number} impacts"
            if series is not None and limit is not None
            else ""
        )
        handler.say(
            t if limit is None else limit,
            f"{name} rests on {handler.stop_named(k, stop)}{series_note}",
        )
