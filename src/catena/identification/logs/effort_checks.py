"""Checks of efforts: constant, clipped, frozen, of the wrong sign, joint or unit, or delayed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .log_checks import LOG_CHECKS, MAX_DELAY, MIN_ROWS, LogCase, LogCheck
from .motion_checks import MIN_TRAVEL, at_rest

Array = NDArray[np.float64]
CLIPPED_SHARE = 0.01  # of the rows, exactly at the largest or the smallest effort
SPIKE = 20.0  # relative to the usual deviation from the median of neighbours
SIGN_DEVIATIONS = 8.0  # by which friction would have to be negative
MIN_DELAY_STEPS = 4
WEAK_EFFORT = 0.15  # relative to the force of the model along the motion: less is a free joint


def constant(x: LogCase) -> list[str]:
    """Return sentences about efforts that do not change."""
    return [
        f"the effort of {x.names[k]} is {x.effort[0, k]:.4g} in all rows; its sensor or column is"
        " dead"
        for k in range(len(x.names))
        if np.ptp(x.effort[:, k]) == 0.0 and np.ptp(x.q[:, k]) > MIN_TRAVEL
    ]


def clipped(x: LogCase) -> list[str]:
    """Return sentences about efforts that stay at a limit of the drive or of the sensor."""
    found = []
    for k, name in enumerate(x.names):
        e = x.effort[:, k]
        if np.ptp(e) == 0.0 or len(np.unique(e)) < 20:
            continue
        for bound in (e.max(), e.min()):
            share = float(np.mean(e == bound))
            if share > CLIPPED_SHARE and len(e) * share >= 5:
                found.append(
                    f"the effort of {name} is exactly {bound:.4g} in {100 * share:.2g} % of the"
                    " rows: it is clipped; leave these rows out or use slower motions"
                )
    return found


def frozen(x: LogCase) -> list[str]:
    """Return sentences about efforts that do not change at all for a while."""
    found = []
    rows = max(10, int(0.5 / np.median(np.diff(x.t))))
    for k, name in enumerate(x.names):
        same = np.diff(x.effort[:, k]) == 0
        if np.ptp(x.effort[:, k]) == 0.0 or same.mean() > 0.5 or clipped(x):
            continue
        run = 0
        for i, still in enumerate(same):
            run = run + 1 if still else 0
            if run >= rows:
                found.append(
                    f"the effort of {name} stands exactly still for {rows} rows or more up to"
                    f" {x.t[i + 1]:.4g} s; the sensor dropped out: cut that part"
                )
                break
    return found


def spikes(x: LogCase) -> list[str]:
    """Return sentences about single values far from their neighbours."""
    from scipy.ndimage import median_filter

    found = []
    for k, name in enumerate(x.names):
        away = np.abs(x.effort[:, k] - median_filter(x.effort[:, k], 5, mode="nearest"))
        usual = 1.4826 * np.median(away) + 1e-3 * np.ptp(np.percentile(x.effort[:, k], [1, 99]))
        bad = np.flatnonzero(away > SPIKE * usual)
        if len(bad):
            found.append(
                f"the effort of {name} has {len(bad)} spikes, first at {x.t[bad[0]]:.4g} s; single"
                " ones are replaced by the median of their neighbours"
            )
    return found


def _moving(x: LogCase) -> list[int]:
    """Return the joints that move and whose efforts change; an empty list where there are few
    rows.
    """
    if len(x.t) < MIN_ROWS:
        return []
    return [
        k
        for k in range(len(x.names))
        if np.ptp(x.q[:, k]) > MIN_TRAVEL and np.ptp(x.effort[:, k]) > 0.0
    ]


def _weak(x: LogCase) -> list[int]:
    """Return the joints whose forces are small relative to those of the model file: they may swing
    freely, and their efforts be noise, which the motion does not explain.
    """
    if x.unit_unknown:
        return []
    size = np.sqrt(np.mean(x.effort**2, axis=0))
    return [k for k in _moving(x) if size[k] < WEAK_EFFORT * x.model_size[k]]


def sign(x: LogCase) -> list[str]:
    """Return sentences about efforts with the opposite sign, for which friction would drive the
    joint.
    """
    found = []
    opposite = np.sum(x.smooth_effort * x.model_force, axis=0) < 0.0
    for k in _moving(x):
        power, deviation = x.explanations[k].friction_power(x.smooth_effort[:, k])
        share = x.explanations[k].share(x.smooth_effort[:, k])
        if opposite[k] and share > 0.5 and power < -SIGN_DEVIATIONS * deviation:
            found.append(
                f"the effort of {x.names[k]} would drive its own friction: its sign is opposite to"
                " that of the joint's axis; change one of both"
            )
    return found


def order(x: LogCase) -> list[str]:
    """Return sentences about efforts in another order of joints than the positions."""
    moving = [k for k in _moving(x) if k not in _weak(x)]
    found = []
    if len(moving) < 2 or at_rest(x):
        return []
    for k in moving:
        own = x.explanations[k].share(x.smooth_effort[:, k])
        if own > 0.9:
            continue
        other = {j: x.explanations[j].share(x.smooth_effort[:, k]) for j in moving if j != k}
        best = max(other, key=lambda j: other[j])
        if 1.0 - other[best] < 0.3 * (1.0 - own) and other[best] > 0.8:
            found.append(
                f"the effort of {x.names[k]} follows from the motion of {x.names[best]} (share"
                f" {other[best]:.3f}, its own {own:.3f}); efforts are in another order of joints"
            )
    return found


def unexplained(x: LogCase) -> list[str]:
    """Return sentences about efforts that the motion does not explain at all."""
    if order(x):
        return []
    found = []
    for k in _moving(x):
        if k in _weak(x):
            continue
        share = x.explanations[k].share(x.smooth_effort[:, k])
        if share < 0.3:
            found.append(
                f"the motion explains {100 * max(share, 0):.2g} % of the changes of the effort of"
                f" {x.names[k]}; the log may be of another robot, or the column another one"
            )
    return found


def delay(x: LogCase) -> list[str]:
    """Return sentences about a delay between efforts and motion."""
    if order(x) or unexplained(x):
        return []
    step = float(np.median(np.diff(x.t)))
    lags = np.arange(-MAX_DELAY, MAX_DELAY + 1)
    total = np.zeros(len(lags))
    for k in _moving(x):
        total += [x.explanations[k].share(x.smooth_effort[:, k], int(n)) for n in lags]
    best = int(lags[int(np.argmax(total))])
    if not _moving(x) or abs(best) < MIN_DELAY_STEPS:
        return []
    return [
        f"efforts are {'later' if best > 0 else 'earlier'} than the motion by about"
        f" {abs(best) * step:.3g} s; shift their clock"
    ]


def scale(x: LogCase) -> list[str]:
    """Return sentences about forces in another unit than that of the model file."""
    if x.unit_unknown or at_rest(x):
        return []
    size = x.model_size
    strong = [k for k in range(len(x.names)) if size[k] > 0.1 * size.max()]
    ratio = float(np.median(np.sqrt(np.mean(x.effort**2, axis=0))[strong] / size[strong]))
    if 0.05 < ratio < 50:
        return []
    return [
        f"forces are {ratio:.3g} times those of the model: they may be in another unit (mN m, or"
        " currents named as forces)"
    ]


for _check in (
    LogCheck("dead effort", "an effort is constant", constant),
    LogCheck("clipped effort", "an effort stands at its largest value", clipped, fatal=False),
    LogCheck("effort dropped out", "an effort stands exactly still", frozen, fatal=False),
    LogCheck("spikes", "single efforts far from their neighbours", spikes, fatal=False),
    LogCheck("sign of effort", "friction would drive the joint", sign),
    LogCheck("order of efforts", "efforts are in another order than positions", order),
    LogCheck("effort without motion", "the motion does not explain an effort", unexplained),
    LogCheck("delay of efforts", "efforts and motion have different clocks", delay, fatal=False),
    LogCheck("unit of force", "forces are far from those of the model file", scale, fatal=False),
):
    LOG_CHECKS.register(_check)
