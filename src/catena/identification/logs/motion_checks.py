"""Checks of positions and speeds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .log_checks import LOG_CHECKS, MIN_ROWS, REST, LogCase, LogCheck

Array = NDArray[np.float64]
MIN_TRAVEL = 0.05  # rad or m, of a joint in a log to fit
AGREEMENT = 0.9  # correlation of a speed with the rate of its position
FROZEN_SECONDS = 0.3  # a position that stands exactly still for so long while the speed is not zero
MAX_DELAY_STEPS = 3.0  # between position and speed


def _moving(x: LogCase) -> list[int]:
    """Return the joints whose positions move."""
    return [k for k in range(len(x.names)) if np.ptp(x.q[:, k]) > MIN_TRAVEL]


def stuck(x: LogCase) -> list[str]:
    """Return sentences about a position that never changes although its speed is not zero."""
    if x.v is None:
        return []
    return [
        f"the position of {x.names[k]} stands at {x.q[0, k]:.4g} while its speed reaches"
        f" {np.abs(x.v[:, k]).max():.3g}; the encoder or its column is stuck"
        for k in range(len(x.names))
        if np.ptp(x.q[:, k]) < 1e-6 and np.abs(x.v[:, k]).max() > 5 * REST
    ]


def dead_speed(x: LogCase) -> list[str]:
    """Return sentences about a speed that is zero while its position moves."""
    if x.v is None:
        return []
    return [
        f"the speed of {x.names[k]} is constant while its position travels"
        f" {np.ptp(x.q[:, k]):.3g}; leave the speeds out, they are then derived from positions"
        for k in _moving(x)
        if np.ptp(x.v[:, k]) < 1e-9
    ]


def frozen(x: LogCase) -> list[str]:
    """Return sentences about a position that does not change at all for a while and then jumps."""
    found = []
    rows = max(5, int(FROZEN_SECONDS / np.median(np.diff(x.t))))
    for k in _moving(x):
        still = np.concatenate([[0], (np.diff(x.q[:, k]) == 0).astype(int)])
        ends = np.flatnonzero(np.diff(np.concatenate([still, [0]])) < 0)
        starts = np.flatnonzero(np.diff(np.concatenate([[0], still])) > 0)
        usual = np.median(np.abs(np.diff(x.q[:, k])[np.diff(x.q[:, k]) != 0]))
        for a, b in zip(starts.tolist(), ends.tolist()):
            jump = abs(x.q[min(b + 1, len(x.q) - 1), k] - x.q[b, k])
            if b - a >= rows and jump > 10 * usual:
                found.append(
                    f"the position of {x.names[k]} stands still from {x.t[a]:.4g} to {x.t[b]:.4g} s"
                    f" and then jumps by {jump:.3g}; the encoder dropped out: cut that part"
                )
                break
    return found


def wraps(x: LogCase) -> list[str]:
    """Return sentences about a position that jumps by a full turn."""
    found = []
    for k in range(len(x.names)):
        step = np.diff(x.q[:, k])
        for turn, word in ((2 * np.pi, "2 pi"), (np.pi, "pi"), (360.0, "360")):
            bad = np.flatnonzero(np.abs(np.abs(step) - turn) < 0.05 * turn)
            if len(bad):
                found.append(
                    f"the position of {x.names[k]} jumps by {word} at {x.t[bad[0] + 1]:.4g} s; it"
                    " wraps: unwrap it (numpy.unwrap)"
                )
                break
    return found


def jumps(x: LogCase) -> list[str]:
    """Return sentences about a position that jumps and does not return, as from an encoder that
    lost counts.
    """
    found = []
    for k in _moving(x):
        step = np.abs(np.diff(x.q[:, k]))
        at = int(np.argmax(step))
        others = np.delete(step, at).max(initial=0.0)
        after = x.q[min(at + 2, len(x.q) - 1), k]
        stays = abs(after - x.q[at + 1, k]) < 0.5 * step[at]
        turn = min(abs(step[at] - n * np.pi) for n in (1, 2)) < 0.2
        if step[at] > 10 * others and step[at] > 0.02 and stays and not turn:
            found.append(
                f"the position of {x.names[k]} jumps by {step[at]:.3g} at {x.t[at + 1]:.4g} s and"
                " stays there; counts were lost, or two logs are joined: split the log there"
            )
    return found


def _slopes(x: LogCase) -> tuple[Array, Array]:
    """Return slope and correlation (n, n) of speed j against the rate of position k."""
    assert x.v is not None
    v, r = x.v - x.v.mean(axis=0), x.rate - x.rate.mean(axis=0)
    inner = v.T @ r
    size_v, size_r = np.linalg.norm(v, axis=0), np.linalg.norm(r, axis=0)
    slope = inner / np.maximum(size_r**2, 1e-300)
    return slope, inner / np.maximum(np.outer(size_v, size_r), 1e-300)


def speed_signs(x: LogCase) -> list[str]:
    """Return sentences about a speed with the opposite sign of its position's rate."""
    if x.v is None:
        return []
    _, agreement = _slopes(x)
    return [
        f"the speed of {x.names[k]} has the opposite sign of the rate of its position; one of both"
        " columns has its sign swapped"
        for k in _moving(x)
        if agreement[k, k] < -AGREEMENT
    ]


def speed_order(x: LogCase) -> list[str]:
    """Return sentences about speeds in another order of joints than the positions."""
    if x.v is None:
        return []
    _, agreement = _slopes(x)
    found = []
    for k in _moving(x):
        best = int(np.argmax(np.abs(agreement[:, k])))
        if abs(agreement[k, k]) < 0.5 and best != k and abs(agreement[best, k]) > AGREEMENT:
            found.append(
                f"the rate of the position of {x.names[k]} is in the column of the speed of"
                f" {x.names[best]}; positions and speeds are in different orders of joints"
            )
    return found


def speed_units(x: LogCase) -> list[str]:
    """Return sentences about positions or speeds in degrees."""
    if x.v is None:
        return []
    slope, agreement = _slopes(x)
    degrees = 180 / np.pi
    found = []
    for k in _moving(x):
        if abs(agreement[k, k]) < AGREEMENT:
            continue
        size = abs(slope[k, k])
        if 0.7 / degrees < size < 1.4 / degrees:
            found.append(f"the position of {x.names[k]} is in degrees, its speed in rad/s")
        elif 0.7 * degrees < size < 1.4 * degrees:
            found.append(f"the speed of {x.names[k]} is in degrees per second, its position in rad")
        elif not 0.7 < size < 1.4 and 1e-2 < size < 1e2:
            found.append(
                f"the speed of {x.names[k]} is {size:.3g} times the rate of its position; one of"
                " both has another scale (a gear ratio, turns per minute)"
            )
    return found


def disagreement(x: LogCase) -> list[str]:
    """Return sentences about a speed that is unrelated to its position."""
    if x.v is None:
        return []
    _, agreement = _slopes(x)
    return [
        f"the speed of {x.names[k]} does not follow its position (correlation"
        f" {agreement[k, k]:.2f}); the columns may be others"
        for k in _moving(x)
        if np.abs(agreement[:, k]).max() < 0.5 and np.ptp(x.v[:, k]) > 1e-9
    ]


def degrees(x: LogCase) -> list[str]:
    """Return sentences about positions that exceed the joints' limits by the factor of degrees."""
    if x.v is not None and speed_units(x):
        return []
    lower, upper, _ = x.limits
    hinges = np.isfinite(lower) & np.isfinite(upper)
    size = np.abs(x.q).max(axis=0)
    reach = np.where(hinges, np.maximum(np.abs(lower), np.abs(upper)), 4 * np.pi)
    return (
        [
            f"positions reach {size.max():.4g} rad, {size.max() / reach[np.argmax(size)]:.3g} times"
            " what the joints allow; they are in degrees"
        ]
        if (size > 4 * reach).any()
        else []
    )


def beyond_limits(x: LogCase) -> list[str]:
    """Return sentences about positions slightly beyond the limits."""
    if degrees(x):
        return []
    lower, upper, _ = x.limits
    return [
        f"{x.names[k]} is between {x.q[:, k].min():.4g} and {x.q[:, k].max():.4g}, and its limits"
        f" are {lower[k]:.4g} and {upper[k]:.4g}; the zero of the encoder or the order of joints"
        " may be another"
        for k in range(len(x.names))
        if x.q[:, k].min() < lower[k] - 0.02 or x.q[:, k].max() > upper[k] + 0.02
    ]


def too_fast(x: LogCase) -> list[str]:
    """Return sentences about speeds above the limits."""
    *_, speed = x.limits
    return [
        f"{x.names[k]} moves at up to {np.abs(x.speed[:, k]).max():.3g}, and its limit is"
        f" {speed[k]:.3g}"
        for k in range(len(x.names))
        if np.isfinite(speed[k]) and np.percentile(np.abs(x.speed[:, k]), 99) > 1.2 * speed[k]
    ]


def at_rest(x: LogCase) -> list[str]:
    """Return sentences about a log in which nothing moves."""
    if _moving(x) or stuck(x):
        return []
    return [
        f"no joint travels more than {MIN_TRAVEL:g} rad or m: friction and inertia cannot be found"
        " from it; give a log with motion, and this one to --validate"
    ]


def little_motion(x: LogCase) -> list[str]:
    """Return sentences about joints that hardly move."""
    moving = _moving(x)
    if not moving or stuck(x):
        return []
    still = [n for k, n in enumerate(x.names) if k not in moving]
    if not still:
        return []
    return [
        f"{', '.join(still)} travel less than {MIN_TRAVEL:g} rad or m: their friction cannot be"
        " found from this log"
    ]


def one_way(x: LogCase) -> list[str]:
    """Return sentences about joints that move in one direction only."""
    return [
        f"{x.names[k]} moves in one direction only: its Coulomb friction cannot be distinguished"
        " from an offset"
        for k in _moving(x)
        if min(np.mean(x.speed[:, k] > REST), np.mean(x.speed[:, k] < -REST)) < 0.02
    ]


def lockstep(x: LogCase) -> list[str]:
    """Return sentences about two joints with equal columns."""
    found = []
    moving = _moving(x)
    for a in moving:
        for b in moving:
            if a < b and np.allclose(x.q[:, a], x.q[:, b], rtol=0, atol=1e-9):
                found.append(
                    f"{x.names[a]} and {x.names[b]} have the same positions; a column was taken"
                    " twice"
                )
    return found


def coarse(x: LogCase) -> list[str]:
    """Return sentences about positions with few digits."""
    found = []
    for k in _moving(x):
        step = np.abs(np.diff(x.q[:, k]))
        least = step[step > 0].min(initial=np.inf)
        moved = step[np.abs(x.speed[1:, k]) > REST]
        still = float((moved == 0).sum()) / max(1, len(moved))
        if still > 0.5 and least > 1e-4:
            found.append(
                f"the position of {x.names[k]} has steps of {least:.2g}: log it with more digits"
            )
    return found


def delay(x: LogCase) -> list[str]:
    """Return sentences about a delay between positions and speeds."""
    if x.v is None or not _moving(x) or speed_signs(x) or speed_order(x) or dead_speed(x):
        return []
    if len(x.t) < MIN_ROWS:
        return []
    step = float(np.median(np.diff(x.t)))
    lags = np.arange(-30, 31)
    t = np.arange(x.t[0], x.t[-1], step)
    total = np.zeros(len(lags))
    for k in _moving(x):
        v, r = np.interp(t, x.t, x.v[:, k]), np.interp(t, x.t, x.rate[:, k])
        total += [np.corrcoef(v[30 + n : len(v) - 30 + n], r[30 : len(r) - 30])[0, 1] for n in lags]
    best = int(lags[int(np.argmax(total))])
    if abs(best) <= MAX_DELAY_STEPS:
        return []
    return [
        f"speeds are {'later' if best > 0 else 'earlier'} than the rates of the positions by"
        f" {abs(best) * step:.3g} s; the columns have different clocks"
    ]


for _check in (
    LogCheck("stuck encoder", "a position stands still while its speed does not", stuck),
    LogCheck("dead speed", "a speed is constant while its position moves", dead_speed),
    LogCheck("encoder dropped out", "a position stands still for a while and then jumps", frozen),
    LogCheck("wrapped position", "a position jumps by a turn or half a turn", wraps),
    LogCheck("lost counts", "a position jumps and stays there", jumps),
    LogCheck("sign of speed", "a speed has the opposite sign of its position's rate", speed_signs),
    LogCheck("order of speeds", "speeds are in another order than positions", speed_order),
    LogCheck("unit of speed", "degrees with radians, or another scale", speed_units),
    LogCheck("speed without position", "a speed does not follow its position", disagreement),
    LogCheck("degrees", "positions far beyond the joints' limits", degrees),
    LogCheck(
        "beyond limits", "positions outside of the joints' limits", beyond_limits, fatal=False
    ),
    LogCheck("above speed limit", "speeds above the joints' limits", too_fast, fatal=False),
    LogCheck("no motion", "nothing moves", at_rest),
    LogCheck("little motion", "some joints hardly move", little_motion, fatal=False),
    LogCheck("one direction", "a joint moves in one direction only", one_way, fatal=False),
    LogCheck("same positions", "two joints have the same numbers", lockstep),
    LogCheck("coarse positions", "positions with few digits", coarse, fatal=False),
    LogCheck("delay of speeds", "speeds and positions have different clocks", delay),
):
    LOG_CHECKS.register(_check)
