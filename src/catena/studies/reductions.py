"""Reductions: from a quantity over the rows of a run to one number. A registry; files and the
command line refer to them by name.

Each takes t (rows,), s, and x (runs, rows), and returns (runs,): NaN where there is no such number,
which is recorded as a failure of that run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..registry import Registry

Array = NDArray[np.float64]
# A quantity has settled within this band, relative to its largest distance from its last value.
SETTLING_BAND = 0.02


@dataclass(frozen=True)
class Reduction:
    """A reduction over time.

    of: the function (t, x, *more) -> (runs,). doc: one line. more: how many further arguments it
    may take. never: why it may have no value.
    """

    name: str
    of: Callable[..., Array]
    doc: str
    more: int = 0
    never: str = "it is not a finite number"


def _integral(t: Array, x: Array) -> Array:
    """Return the integral over time, by Simpson's rule on the rows."""
    from scipy.integrate import simpson

    return np.asarray(simpson(x, x=t, axis=-1)) if len(t) > 1 else np.zeros(len(x))


def _mean(t: Array, x: Array) -> Array:
    """Return the mean over time."""
    return _integral(t, x) / (t[-1] - t[0]) if len(t) > 1 else x[:, 0]


def _rms(t: Array, x: Array) -> Array:
    """Return the root of the mean square over time."""
    return np.sqrt(np.maximum(_mean(t, x * x), 0.0))


def _crossing(t: Array, x: Array) -> Array:
    """Return the first time at which x is zero, interpolated linearly between rows; NaN if never,
    s.
    """
    below = x < 0.0
    change = (below[:, 1:] != below[:, :-1]) | (x[:, 1:] == 0.0)
    found = np.where(x[:, 0] == 0.0, t[0], np.nan)
    k = change.argmax(axis=1)
    runs = np.flatnonzero(change.any(axis=1) & np.isnan(found))
    a = x[runs, k[runs]]
    b = x[runs, k[runs] + 1]
    found[runs] = t[k[runs]] + (t[k[runs] + 1] - t[k[runs]]) * (a / (a - b))
    return found


def _settling(t: Array, x: Array, band: Array | float = SETTLING_BAND) -> Array:
    """Return the time (s) from which x stays within `band` times its largest distance from its
    last value.
    """
    distance = np.abs(x - x[:, -1:])
    outside = distance > np.reshape(band, (-1, 1)) * distance.max(axis=1, keepdims=True)
    last = outside.shape[1] - outside[:, ::-1].argmax(axis=1)  # the row after the last one outside
    return np.where(outside.any(axis=1), t[np.minimum(last, len(t) - 1)], t[0])


REDUCTIONS: Registry[Reduction] = Registry(
    "reduction",
    [
        Reduction("max", lambda t, x: x.max(axis=-1), "the largest value of the rows"),
        Reduction("min", lambda t, x: x.min(axis=-1), "the smallest"),
        Reduction("first", lambda t, x: x[:, 0], "the value at the start"),
        Reduction("final", lambda t, x: x[:, -1], "the value at the end"),
        Reduction("mean", _mean, "the mean over time"),
        Reduction("rms", _rms, "the root of the mean square over time"),
        Reduction("integral", _integral, "the integral over time, by Simpson's rule on the rows"),
        Reduction(
            "time_of",
            _crossing,
            "when it is first zero (s), as in time_of(q['elbow'] - 1)",
            never="it does not meet zero during the run",
        ),
        Reduction("time_of_max", lambda t, x: t[x.argmax(axis=-1)], "when it is largest (s)"),
        Reduction("time_of_min", lambda t, x: t[x.argmin(axis=-1)], "when it is smallest (s)"),
        Reduction(
            "settling",
            _settling,
            "from when it stays near its last value (s), within 2 % of its largest distance from"
            " it, or settling(x, 0.05)",
            more=1,
        ),
    ],
)


def markdown() -> str:
    """Return the reductions as a Markdown table, which docs/studies.md includes."""
    return "\n".join(
        [
            "| over time | gives |",
            "|---|---|",
            *(f"| `{r.name}` | {r.doc} |" for r in REDUCTIONS.values()),
        ]
    )
