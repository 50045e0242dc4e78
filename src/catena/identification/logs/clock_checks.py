"""Checks of the clock and of missing numbers."""

from __future__ import annotations

import numpy as np

from .log_checks import LOG_CHECKS, REST, LogCase, LogCheck

MIN_DURATION = 2.0  # s
MIN_RATE = 10.0  # Hz
MAX_JITTER = 0.5  # of the steps, relative to the usual step
GAP = 5.0  # relative to the usual step
MAX_GAP_SHARE = 0.3  # of the duration


def not_finite(x: LogCase) -> list[str]:
    """Return sentences about rows with a value that is not finite."""
    found = []
    columns = {"time": x.t[:, None], "position": x.q, "effort": x.effort}
    if x.v is not None:
        columns["speed"] = x.v
    for what, values in columns.items():
        for k in range(values.shape[1]):
            bad = np.flatnonzero(~np.isfinite(values[:, k]))
            if len(bad):
                of = "" if what == "time" else f" of {x.names[k]}"
                found.append(
                    f"the {what}{of} has no finite number in {len(bad)} of {len(x.t)} rows, first"
                    f" in row {bad[0] + 1}; leave such rows out or fill them"
                )
    return found


def backwards(x: LogCase) -> list[str]:
    """Return sentences about times that decrease."""
    step = np.diff(x.t)
    bad = np.flatnonzero(step < 0)
    if not len(bad):
        return []
    k = int(bad[0])
    return [
        f"time falls from {x.t[k]:.6g} to {x.t[k + 1]:.6g} s at row {k + 2} ({len(bad)} times in"
        " all); two logs in one file, or a clock that was set: split the log there"
    ]


def repeated(x: LogCase) -> list[str]:
    """Return sentences about equal times in successive rows."""
    bad = np.flatnonzero(np.diff(x.t) == 0)
    if not len(bad):
        return []
    if len(bad) >= len(x.t) - 1:
        return ["all rows have the same time; the column of times may be another one"]
    return [
        f"{len(bad)} rows have the time of the row before, first row {bad[0] + 2}; remove"
        " duplicates, or log the time of the sample with more digits"
    ]


def clock_unit(x: LogCase) -> list[str]:
    """Return sentences about times in milliseconds, microseconds or nanoseconds, by whose factor
    speeds differ from position rates.
    """
    if x.v is None:
        step = float(np.median(np.diff(x.t)))
        return (
            [f"rows are {step:g} s apart; times in milliseconds or microseconds are not seconds"]
            if step >= 1.0
            else []
        )
    moving = (np.abs(x.v) > 0.1 * np.abs(x.v).max(axis=0)) & (np.abs(x.v) > REST)
    if not moving.any():
        return []
    ratio = np.median(np.abs(x.v[moving]) / np.maximum(np.abs(x.rate[moving]), 1e-12))
    for unit, factor in (("milliseconds", 1e3), ("microseconds", 1e6), ("nanoseconds", 1e9)):
        if factor / 3 < ratio < 3 * factor:
            return [
                f"measured speeds are {ratio:.3g} times the rates of the positions: times are in"
                f" {unit}; divide them by {factor:g}"
            ]
    return []


def gaps(x: LogCase) -> list[str]:
    """Return sentences about gaps in the log."""
    step = np.diff(x.t)
    long = step[step > GAP * np.median(step)]
    if not len(long):
        return []
    share = long.sum() / (x.t[-1] - x.t[0])
    return [
        f"{len(long)} gaps, the longest of {long.max():.3g} s, {100 * share:.2g} % of the log; they"
        " are left out"
    ]


def mostly_gaps(x: LogCase) -> list[str]:
    """Return sentences about a log that consists mostly of gaps."""
    step = np.diff(x.t)
    share = step[step > GAP * np.median(step)].sum() / (x.t[-1] - x.t[0])
    if share <= MAX_GAP_SHARE:
        return []
    return [f"{100 * share:.2g} % of the duration has no rows; at most {100 * MAX_GAP_SHARE:g} %"]


def uneven(x: LogCase) -> list[str]:
    """Return sentences about time steps that differ."""
    step = np.diff(x.t)
    usual = np.median(step)
    share = float(np.mean(np.abs(step - usual) > MAX_JITTER * usual))
    if share < 0.05:
        return []
    return [
        f"{100 * share:.2g} % of the steps differ from the usual {usual:.3g} s by more than"
        f" {100 * MAX_JITTER:g} %; values are interpolated on lines between rows"
    ]


def too_short(x: LogCase) -> list[str]:
    """Return sentences about a log that is too short."""
    duration = x.t[-1] - x.t[0]
    if duration >= MIN_DURATION:
        return []
    return [f"the log lasts {duration:.3g} s; at least {MIN_DURATION:g} s are needed"]


def too_slow(x: LogCase) -> list[str]:
    """Return sentences about a sample rate that is too low for accelerations."""
    rate = 1.0 / float(np.median(np.diff(x.t)))
    if rate >= MIN_RATE or not x.sound_clock:
        return []
    return [f"the log has {rate:.3g} rows per second; accelerations need {MIN_RATE:g} or more"]


for _check in (
    LogCheck("numbers missing", "rows without a finite number", not_finite, sound=False),
    LogCheck("time falls", "times that go backwards", backwards, sound=False),
    LogCheck("time repeats", "rows with the same time", repeated, sound=False),
    LogCheck("unit of time", "times in milliseconds, microseconds or nanoseconds", clock_unit),
    LogCheck("gaps", "longer steps than usual", gaps, fatal=False),
    LogCheck("mostly gaps", "most of the time has no rows", mostly_gaps),
    LogCheck("uneven times", "steps that differ", uneven, fatal=False),
    LogCheck("too short", f"less than {MIN_DURATION:g} s", too_short),
    LogCheck("sample rate", f"fewer than {MIN_RATE:g} rows per second", too_slow),
):
    LOG_CHECKS.register(_check)
