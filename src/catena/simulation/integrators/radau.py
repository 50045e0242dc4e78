"""Stiff systems: SciPy's Radau IIA of order 5, with the exact Jacobian of the compiled equations.

A stiff spring or damper forces an explicit method to steps as short as its time constant, long
after it has come to rest. Radau's steps follow the motion that is left. It advances one state at a
time, with the logic of a step in Python: for the few thousand steps that stiff systems need.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..terms import guard_sides
from ..terms.error_scales import FINEST
from . import drivers, lane_events
from .engine import Engine, Segment

Array = np.ndarray


def advance(engine: Engine, t: float, end: float, times: Array) -> Segment:
    """Advance a run as the adaptive driver does: from t to `end` (s), with rows at `times`, stopped
    by the first guard that falls to zero.
    """
    from scipy.integrate import Radau

    rate = partial(_evaluated, engine, "derivative")
    guard = partial(_evaluated, engine, "guard") if engine.guard is not None else None
    n = len(engine.x)
    x = engine.x[:, 0].copy()
    rows: list[Array] = []

    def done(status: int, at: float, state: Array, event: int = -1) -> Segment:
        engine.x[:, 0] = state
        if guard is not None:
            if event < 0:
                guard_sides.record_pause(engine.sides, g, 0, 0, 1)
            guard_sides.record_values(engine.sides, guard(at, state), 0, 0, 1)
        engine.tally.evaluations += solver.nfev if solver is not None else 0
        return Segment(
            status, at, np.array(rows)[:, :, None] if rows else np.empty((0, n, 1)), event
        )

    solver = None
    g = guard(t, x) if guard is not None else np.zeros(0)
    guard_sides.resume(engine.sides, g, 0, 0, 1)
    if t >= end:
        return done(drivers.REACHED, t, x)
    try:
        chosen, fast = engine.scales.first_step(abs(engine.h), x, rate(t, x))
        first = min(chosen if engine.h < 0.0 else engine.h, end - t, engine.largest)
        jacobian = lambda s, y: _evaluated(engine, "jacobian", s, y).reshape(n, n)  # noqa: E731
        solver = Radau(
            rate,
            t,
            x,
            end,
            engine.largest,
            engine.rtol,
            _allowed(engine, x, first, fast),
            jacobian,
            first_step=first,
        )
        solver.rtol = FINEST  # `atol` has the relative part too
        while solver.status == "running":
            if engine.tally.accepted >= engine.most:
                return done(drivers.TOO_MANY, solver.t, solver.y)
            before, solver.atol = solver.y, _allowed(engine, solver.y, solver.h_abs, fast)
            if solver.step() is not None:
                return done(drivers.TOO_SMALL, solver.t, before)
            if not np.isfinite(solver.y).all():
                return done(drivers.NOT_FINITE, solver.t_old, before)
            fast = 0.0
            engine._count(1, 0, 0, solver.step_size)
            engine.h, dense, stop, event = solver.h_abs, solver.dense_output(), solver.t, -1
            if guard:
                start = g
                event, stop, g = _locate(guard, dense, solver.t_old, solver.t, solver.y, g)
                end_values = guard(solver.t, solver.y)
                guard_sides.record_step(engine.sides, start, end_values, 0, 0, 1)
                if event >= 0:
                    values = guard(stop, dense(stop))
                    guard_sides.record_event(engine.sides, g, values, event, 0, 0, 1)
            while (
                len(rows) < len(times)
                and times[len(rows)] <= stop
                and not (times[len(rows)] == solver.t and event < 0)
            ):
                rows.append(_projected(engine, times[len(rows)], dense(times[len(rows)])))
            if event >= 0:
                return done(drivers.EVENT, stop, _projected(engine, stop, dense(stop)), event)
            if engine.settle is not None:
                solver.y = _projected(engine, solver.t, solver.y)
                solver.f = rate(solver.t, solver.y)
            while len(rows) < len(times) and times[len(rows)] <= solver.t:
                rows.append(solver.y)
    except (ValueError, np.linalg.LinAlgError):  # the Jacobian is not finite
        return done(drivers.NOT_FINITE, solver.t if solver else t, solver.y if solver else x)
    return done(drivers.REACHED, end, solver.y)


def _allowed(engine: Engine, x: Array, h: float, least: float) -> Array:
    """Return (size,): the errors allowed in a step of h (s) from x, by how far and how fast the run
    has been. least: a lower bound of `fast`, 1/s. It is that of the first step at first and zero
    later, because an acceleration may decay within a long step.
    """
    now = engine.scales.moved(x, engine.origin[0])
    engine.moved[0] = np.maximum(engine.moved[0], now)
    far = engine.moved[0, 0]
    fast = max(engine.moved[0, 1], least)
    return engine.scales.allowed(engine.rtol, x, x, engine.origin[0], max(far, h * fast), fast, h)


def _evaluated(engine: Engine, name: str, t: float, x: Array) -> Array:
    """Return the output (n,) of one of the system's compiled expressions at t (s) and the state x
    (size,).
    """
    return engine.evaluate(name, t, x[:, None])[0][:, 0]


def _projected(engine: Engine, t: float, x: Array) -> Array:
    """Return the state x projected onto its constraints."""
    return x if engine.settle is None else _evaluated(engine, "settle", t, x)


def _locate(
    guard: Callable[..., Any], dense: Callable[..., Any], old: float, new: float, y: Array, g: Array
) -> tuple[int, float, Array]:
    """Return the first guard that falls to zero between two instants (-1: none), the time at which
    it does (s), and all guards just before it, or at the later instant where there is none. g: the
    guards at the earlier instant; y: the state at the later one.
    """
    low = old
    apart = (new - old) / lane_events.LOOKS
    way = apart / lane_events.turned(g, g, apart, 0, 1)
    while low < new:
        high = new if low + way >= new - 1e-3 * way else low + way
        values = guard(high, y if high == new else dense(high))
        event = lane_events.fell(g, values, 0, 1)
        if event >= 0:
            break
        if high - low > lane_events.CLOSEST_LOOKS * (new - old) and lane_events.dips(
            g, values, high - low, 0, 1
        ):
            way = 0.5 * (high - low)
            continue
        low, g, way = high, values, apart / lane_events.turned(g, values, apart, 0, 1)
    else:
        return -1, new, g
    while high - low > 4 * np.spacing(high):
        middle = 0.5 * (low + high)
        found = lane_events.fell(g, guard(middle, dense(middle)), 0, 1)
        low, high, event = (low, middle, found) if found >= 0 else (middle, high, event)
    return event, high, g
